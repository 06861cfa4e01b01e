from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from example_count import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keeplore.index import Index, ScopeFilter, full_text
from keeplore.memory import Memory

EVERYTHING = ScopeFilter()
SYNTAX = st.text(
    st.sampled_from("\"'()*^:-+{}ANDORNTE rdis\x00\ud800中é𞤀\n;%_"), max_size=60
)


def titles(index: Index, query: str) -> list[str]:
    rows = index.passages(
        [match.passage for match in index.text_search(query, EVERYTHING, 10)]
    )
    known = index.memories([row.memory_id for row in rows])
    return [known[row.memory_id].title for row in rows]


@pytest.fixture
def searched(files: Any, index: Index, make_note: Callable[..., Memory]) -> Index:
    texts = {
        "Redis": "We dropped redis because sessions leak. See src/cache/redis_client.py and "
        "v1.2.3.",
        "Users": "getUserById is slow; café opens at nine.",
        "Deploy": "Deploy on Thursday, never on Friday. The vector-db stays.",
        "Chinese": "我们决定使用缓存。",
        "Filler one": "Something about nothing in particular.",
        "Filler two": "Another page of plain words about sessions.",
    }
    for title, body in texts.items():
        files.put(make_note(title, body))
    index.refresh()
    return index


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("why did we drop Redis?", "Redis"),
        ("redis_client", "Redis"),
        ("src/cache/redis_client.py", "Redis"),
        ("v1.2.3", "Redis"),
        ("get user by id", "Users"),
        ("getuserbyid", "Users"),
        ("cafe", "Users"),
        ("vector db", "Deploy"),
        ("deploying", "Deploy"),
        ("决定", "Chinese"),
        ("sessions leak", "Redis"),
        ("leak sessions zebra", "Redis"),
    ],
)
def test_a_memory_is_found_by_the_words_a_person_would_use(
    query: str, title: str, searched: Index
) -> None:
    assert titles(searched, query)[0] == title


def test_what_has_all_the_words_comes_before_what_has_some(searched: Index) -> None:
    assert titles(searched, "sessions leak") == ["Redis", "Filler two"]


def test_scores_fall_from_first_to_last(searched: Index) -> None:
    scores = [
        match.score
        for match in searched.text_search("sessions redis deploy", EVERYTHING, 10)
    ]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", ["", "   ", '"', "zebra", "?!", "\x00"])
def test_a_query_without_words_that_occur_finds_nothing(
    query: str, searched: Index
) -> None:
    assert searched.text_search(query, EVERYTHING, 10) == []


def test_no_more_than_asked_for_is_found(searched: Index) -> None:
    assert len(searched.text_search("sessions redis deploy", EVERYTHING, 2)) == 2
    assert searched.text_search("sessions", EVERYTHING, 0) == []


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.one_of(st.text(max_size=80), SYNTAX))
def test_no_text_is_an_error_as_a_query(searched: Index, query: str) -> None:
    before = searched._database.file.stat().st_ino
    for match in searched.text_search(query, EVERYTHING, 5):
        assert match.score > 0
    # an FTS5 syntax error would look like damage and have the file made anew
    assert searched._database.file.stat().st_ino == before


def test_a_page_of_text_is_a_query_too(searched: Index) -> None:
    assert titles(searched, "word " * 50_000 + "redis leak")[:1] == ["Redis"]


@pytest.fixture
def pages(files: Any, index: Index, make_note: Callable[..., Memory]) -> dict[str, str]:
    """Memories by title: two of twelve sections that speak of mules in six of them and in one, and
    a short one.
    """
    filler = "Plain words about the weather of the day. " * 20
    mules, once = "The mules carry salt over the pass. ", "Salt is a mineral. "
    texts = {
        "Caravan": "\n\n".join(
            f"## Day {n}\n\n{mules * (n % 2)}{filler}" for n in range(12)
        ),
        "Weather": "\n\n".join(
            f"## Day {n}\n\n{mules if n == 3 else ''}{filler}" for n in range(12)
        ),
        "Salt": once,
    }
    notes = {title: make_note(title, text) for title, text in texts.items()}
    for note in notes.values():
        files.put(note)
    index.refresh()
    return {title: note.id for title, note in notes.items()}


def test_a_memory_that_speaks_of_a_thing_in_more_places_says_more_of_it(
    index: Index, pages: dict[str, str]
) -> None:
    scores = index.memory_scores("salt mules", list(pages.values()))
    by_title = {title: scores[id_] for title, id_ in pages.items()}
    assert by_title["Caravan"] > 2 * by_title["Weather"] > 0
    assert by_title["Salt"] > 0


def test_only_the_memories_that_are_asked_for_have_a_score_and_a_title_gives_none(
    index: Index, pages: dict[str, str]
) -> None:
    wanted = [pages["Weather"], "mem_00000000-0000-4000-8000-000000000000"]
    assert index.memory_scores("caravan weather", wanted).keys() == {pages["Weather"]}
    assert index.memory_scores("caravan", [pages["Caravan"]]) == {pages["Caravan"]: 0.0}
    assert index.memory_scores("", [pages["Caravan"]]) == {pages["Caravan"]: 0.0}
    assert index.memory_scores("salt", []) == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(query=SYNTAX)
def test_any_text_can_be_asked_of_whole_memories(
    query: str, index: Index, pages: dict[str, str]
) -> None:
    scores = index.memory_scores(query, list(pages.values()))
    assert all(score >= 0.0 for score in scores.values())


def test_a_term_is_counted_once_until_passages_change(
    searched: Index,
    files: Any,
    make_note: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[str] = []
    count = full_text._count

    def spy(connection: sqlite3.Connection, term: str) -> int:
        counted.append(term)
        return count(connection, term)

    monkeypatch.setattr(full_text, "_count", spy)
    assert titles(searched, "deploy") == ["Deploy"]
    [memory] = [
        row.memory_id
        for row in searched.passages(
            [match.passage for match in searched.text_search("deploy", EVERYTHING, 1)]
        )
    ]
    before = searched.memory_scores("deploy", [memory])
    assert counted == ['"deploy"']
    files.put(make_note("Deploy again", "We deploy on Monday too."))
    searched.refresh()
    assert searched.memory_scores("deploy", [memory]) != before
    assert counted == ['"deploy"'] * 2
