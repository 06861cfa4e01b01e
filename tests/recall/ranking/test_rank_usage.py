"""What use has shown decides among equals, and never against a clearly better match."""

from __future__ import annotations

from keeplore.recall.ranking.model import Evidence, Standing
from keeplore.recall.ranking.rank import rank
from keeplore.recall.request import OWN

FLOOR = 0.3


def order(cosines: tuple[float, float], weights: tuple[float, float]) -> list[str]:
    found = [
        Evidence(at, name, cosine=cosine)
        for at, (name, cosine) in enumerate(zip("ab", cosines, strict=True))
    ]
    standings = {
        name: Standing(OWN, feedback=weight)
        for name, weight in zip("ab", weights, strict=True)
    }
    return [entry.memory for entry in rank(found, standings, FLOOR)]


def test_of_two_that_match_alike_the_one_that_was_of_use_comes_first() -> None:
    assert order((0.6, 0.6), (1.0, 1.0)) == ["a", "b"]
    assert order((0.6, 0.6), (1.0, 1.1)) == order((0.6, 0.6), (0.8, 1.0)) == ["b", "a"]


def test_a_clearly_better_match_wins_against_all_the_use_of_another() -> None:
    assert order((0.7, 0.6), (0.5, 2.0)) == order((0.7, 0.6), (0.0, 1e9)) == ["a", "b"]
