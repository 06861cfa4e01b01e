"""Which quotations are the strongest: by weight, and by how central they are where weight leaves a
choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.capture.distill.extracts import (
    MAX_RANKED,
    Extract,
    centrality,
    in_order,
    is_restated_in,
    pairwise_similarity,
    rank_extracts,
    strongest,
)
from keeplore.memory import Exchange, Quote

# each text stands for its vector
VECTORS = {
    "east": (1.0, 0.0),
    "north": (0.0, 1.0),
    "west": (-1.0, 0.0),
    "midway": (0.6, 0.8),
}


class Embedder:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.asked.append([*texts])
        return np.array([VECTORS[text] for text in texts])


def extracts(*weighed: tuple[str, float]) -> list[Extract]:
    return [
        Extract(Quote(text, "user", f"turn-{order}"), weight, order)
        for order, (text, weight) in enumerate(weighed)
    ]


def texts_of(found: Sequence[Extract]) -> list[str]:
    return [extract.text for extract in found]


def test_texts_are_alike_by_their_vectors_and_never_less_than_not_at_all() -> None:
    assert pairwise_similarity(["east", "midway", "west"], Embedder()) == [
        [1.0, 0.6, 0.0],
        [0.6, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ]


@pytest.mark.parametrize("embed", [None, lambda _: None])
def test_texts_are_alike_by_their_words_where_there_are_no_vectors(embed: Any) -> None:
    alike = pairwise_similarity(
        ["the red kettle", "a kettle, red", "a blue door"], embed
    )
    assert np.round(alike, 6).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_central_is_what_is_like_the_others() -> None:
    assert centrality(["east", "midway", "north"], Embedder()) == pytest.approx(
        [0.719156, 1.0, 0.772935], abs=1e-4
    )
    assert centrality(["east", "north"], Embedder()) == [1.0, 1.0]
    assert centrality(["east", "west", "west"], Embedder()) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("weighed", "room", "ranked", "asked"),
    [
        ([], 1, [], []),
        ([("east", 1.0), ("north", 2.0)], 2, ["north", "east"], []),
        # of the same weight what was said first comes first
        ([("east", 1.0), ("north", 1.0)], 2, ["east", "north"], []),
        ([("east", 1.0), ("north", 1.0)], 1, ["east", "north"], [["east", "north"]]),
        ([("east", 1.0), ("north", 2.0)], 1, ["north", "east"], []),
        ([("east", 1.0), ("north", 1.9)], 1, ["north", "east"], [["north", "east"]]),
        # what is central overtakes what weighs little more
        (
            [("east", 1.1), ("north", 1.05), ("midway", 1.0)],
            1,
            ["midway", "north", "east"],
            [["east", "north", "midway"]],
        ),
        (
            [
                ("west", 3.0),
                ("east", 1.1),
                ("north", 1.05),
                ("midway", 1.0),
                ("west", 0.0),
            ],
            2,
            ["west", "midway", "north", "east", "west"],
            [["east", "north", "midway"]],
        ),
    ],
)
def test_centrality_is_asked_of_those_whose_place_it_can_change(
    weighed: list[tuple[str, float]],
    room: int,
    ranked: list[str],
    asked: list[list[str]],
) -> None:
    embed = Embedder()
    assert texts_of(rank_extracts(extracts(*weighed), embed, room)) == ranked
    assert embed.asked == asked
    assert texts_of(strongest(extracts(*weighed), Embedder(), room)) == ranked[:room]


def test_no_more_than_so_many_are_ranked() -> None:
    many = extracts(*[("east", 1.0 + n) for n in range(MAX_RANKED + 6)])
    found = rank_extracts(many, None, MAX_RANKED)
    assert [extract.order for extract in found] == [*range(29, 5, -1)]


def test_what_was_chosen_is_told_in_the_order_in_which_it_was_said() -> None:
    found = extracts(("east", 1.0), ("north", 3.0), ("west", 2.0))
    assert in_order(reversed(found)) == tuple(extract.quote for extract in found)


@pytest.mark.parametrize(
    ("text", "others", "expected"),
    [
        ("East", [], False),
        ("East", ["West", "East"], True),
        ("East!", ["East"], False),
        ("The red kettle sings", ["A kettle that is red sings"], True),
        ("The red kettle sings", ["The red kettle"], True),
        ("The red kettle sings", ["The blue door creaks"], False),
    ],
)
def test_a_text_is_restated_where_another_has_most_of_its_words(
    text: str, others: list[str], expected: bool
) -> None:
    assert is_restated_in(text, others) is expected


def test_vectors_decide_which_of_many_decisions_are_told() -> None:
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> Any:
        asked.append([*texts])
        return np.array(
            [[1, 0] if int(text[9:11]) % 3 else [0.6, 0.8] for text in texts]
        )

    said = {n: f"Use store{n} for module{n}." for n in range(10, 40)}
    at = "2026-03-01T10:00:00Z"
    exchanges = [Exchange(f"t{n}", at, text, ("Ok.",)) for n, text in said.items()]
    told = distill(exchanges, embed)
    assert asked == [
        [said[n] for n in range(11, 35)],
        [said[n] for n in range(12, 36)],
    ]
    assert [quote.text for quote in told["decision"]] == [said[11]]
    # two thirds of them are alike
    alike = (13, 14, 16, 17, 19, 20, 22, 23, 25, 26)
    assert [quote.text for quote in told["also_decided"]] == [said[n] for n in alike]
