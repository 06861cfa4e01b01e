"""The weights that tell what lasts: they are there, and weigh the form of a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.capture.notes import lasting_model
from keeplore.capture.notes.lasting_model import PlacedSentence, chance, features, names

TRAP = (
    "`jq` never fails when the filter finds nothing, so only `jq -e` stops the script."
)


def test_each_weight_is_of_a_feature_that_is_weighed() -> None:
    lines = lasting_model.WEIGHTS.read_text(encoding="ascii").splitlines()
    named = {line.split()[0] for line in lines}
    assert named == {*features(PlacedSentence("")), lasting_model.INTERCEPT}


def test_a_trap_is_likelier_to_last_than_a_report() -> None:
    report = "All tests pass now and the new `jq` filter works correctly."
    assert chance(PlacedSentence(TRAP)) > 0.3 > 0.1 > chance(PlacedSentence(report))


def test_what_is_said_again_is_likelier_to_last() -> None:
    assert chance(PlacedSentence(TRAP, repeats=3)) > chance(PlacedSentence(TRAP))


def test_a_heading_over_the_work_makes_it_less_likely() -> None:
    assert chance(PlacedSentence(TRAP, heading="Changes")) < chance(
        PlacedSentence(TRAP)
    )


@pytest.mark.parametrize("text", ["", "named 1.0\n", "intercept x\n", "a b c\n"])
def test_without_sound_weights_nothing_is_likely(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasting_model, "WEIGHTS", tmp_path / "weights.txt")
    assert chance(PlacedSentence(TRAP)) == 0.0
    (tmp_path / "weights.txt").write_text(text)
    lasting_model._load.cache_clear()
    assert chance(PlacedSentence(TRAP)) == 0.0
    lasting_model._load.cache_clear()


def test_names_are_code_identifiers_and_capitals_inside_a_sentence() -> None:
    said = "The `git log` of read_file in Postgres is long"
    assert names(said) == {"git log", "read_file", "Postgres"}
