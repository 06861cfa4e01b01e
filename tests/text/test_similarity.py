from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.text.similarity import (
    SIMILAR,
    content_hash,
    similarity,
    spaced_words,
    without_accents,
)


def test_white_space_case_and_the_last_full_stop_do_not_count() -> None:
    assert content_hash("Use  pnpm,\nnever npm.") == content_hash("use pnpm, never npm")
    assert content_hash("Use pnpm, never npm") != content_hash("Use pnpm never, npm")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use pnpm, never npm", "Use pnpm instead of npm, never npm"),
        ("The staging database runs on port 5433", "Staging database port is 5433"),
        ("Request timeout is 30 seconds", "The request timeout is 60 seconds"),
        ("データベースはPostgreSQLを使う", "データベースにはPostgreSQLを使う"),
    ],
)
def test_two_ways_of_saying_it_are_similar(one: str, other: str) -> None:
    assert similarity(one, other) >= SIMILAR


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use pnpm, never npm", "The staging database runs on port 5433"),
        ("Prices are kept in cents", "Prices are shown with two decimals in reports"),
        (
            "Tests run against a real PostgreSQL",
            "Deploys run from the main branch on Fridays",
        ),
        ("Use tabs in Makefiles", "Use spaces in Python files"),
    ],
)
def test_two_things_are_not_similar(one: str, other: str) -> None:
    assert similarity(one, other) < SIMILAR


@given(st.text(), st.text())
def test_similarity_is_symmetric_and_within_bounds(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert 0.0 <= similarity(one, other) <= 1.0
    assert similarity(one, one) == 1.0


def test_words_with_spaces_around_them_are_compared_whole() -> None:
    assert spaced_words("Use pnpm, not npm!") == " use pnpm not npm "
    assert spaced_words("npm") in spaced_words("Use npm.")
    assert spaced_words("npm") not in spaced_words("Use pnpm.")


def test_a_text_without_accents_keeps_its_case_and_folds_full_width() -> None:
    assert without_accents("Café, Ünal, ＡＢＣ, ß") == "Cafe, Unal, ABC, ß"
