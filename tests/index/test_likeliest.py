"""Questions in common words, for which only the likeliest of many passages are scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keeplore.index import Index, PassageMatch, ScopeFilter, full_text
from keeplore.memory import Memory

NOTES = 60
QUESTION = "the queue of the retries and a worker"
KASHA = ScopeFilter((("project", "kasha"),))
EMPTY = ScopeFilter((("project", "nobody"),))


@pytest.fixture
def common(
    files: Any,
    index: Index,
    make_note: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> Index:
    """Each note speaks of a queue, every second of retries, every fifth of a worker."""
    for n in range(NOTES):
        words = ["queue", "retries" * (n % 2 == 0), "worker" * (n % 5 == 0)]
        text = f"Page {n}: {' and '.join(filter(None, words))}."
        project = "kasha" if n % 3 else "lore"
        files.put(make_note(f"Note {n}", text, scope="project", project=project))
    index.refresh()
    monkeypatch.setattr(full_text, "MOST_SCORED", 20)
    return index


def search(index: Index, allowed: ScopeFilter = ScopeFilter()) -> list[PassageMatch]:  # noqa: B008  # frozen
    return index.text_search(QUESTION, allowed, NOTES)


def numbers(index: Index, found: list[PassageMatch]) -> set[int]:
    rows = index.passages([match.passage for match in found])
    return {int(row.title.removeprefix("Note ")) for row in rows}


def test_all_are_scored_where_they_are_not_more_than_the_likeliest(
    common: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    likeliest = {match.passage: match.score for match in search(common)}
    monkeypatch.setattr(full_text, "MOST_SCORED", 10_000)
    every = {match.passage: match.score for match in search(common)}
    assert likeliest == pytest.approx(every)
    assert len(likeliest) == NOTES


def test_those_with_most_of_the_words_are_scored_with_all_that_are_like_the_last(
    common: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = {match.passage: match.score for match in search(common)}
    monkeypatch.setattr(full_text, "LIKELIEST", 8)
    found = search(common)
    # six notes have all three words, six more the rarer one and not the other
    assert numbers(common, found) == set(range(0, NOTES, 5))
    assert {match.passage: match.score for match in found} == pytest.approx(
        {match.passage: every[match.passage] for match in found}
    )
    scores = [match.score for match in found]
    assert scores == sorted(scores, reverse=True)


def test_the_likeliest_are_those_of_the_scopes_that_are_asked(
    common: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "LIKELIEST", 3)
    found = search(common, KASHA)
    assert numbers(common, found) == {n for n in range(0, NOTES, 10) if n % 3}
    assert search(common, EMPTY) == []


def test_a_scope_with_few_of_the_passages_is_scored_whole(
    common: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "LIKELIEST", 3)
    monkeypatch.setattr(full_text, "MOST_SCORED", 80)
    assert numbers(common, search(common, KASHA)) == {n for n in range(NOTES) if n % 3}


def test_common_words_are_left_out_where_walking_their_passages_is_dear(
    common: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "COMMON_FROM", 10)
    monkeypatch.setattr(full_text, "MOST_WALKED", 50)
    assert numbers(common, search(common)) == {
        n for n in range(NOTES) if n % 2 == 0 or n % 5 == 0
    }
