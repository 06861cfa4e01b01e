"""A note says its sentence once."""

from __future__ import annotations

import time

import pytest

from keeplore.errors import StoreError
from keeplore.memory import CATEGORIES, Quote
from keeplore.memory.note import (
    DEFAULT_CATEGORY,
    NoteDraft,
    note_of,
    stated_hashes,
    title_and_text,
)
from keeplore.text.similarity import content_hash

SAID = "We use go-git to read branches that are not checked out."
MOMENT = "2026-02-09T14:00:00Z"


def body(text: str, quoted: str, *, speaker: str = "user") -> str:
    draft = NoteDraft(text, scope="workspace", quotes=(Quote(quoted, speaker, "t1"),))
    return note_of(draft, MOMENT).body


@pytest.mark.parametrize(
    "quoted", [SAID, f"({SAID.lower()})", SAID.replace("go-git", "**go-git**")]
)
def test_a_quotation_that_has_no_word_of_its_own_is_left_out(quoted: str) -> None:
    assert body(SAID, quoted) == f"# {SAID}\n"


def test_a_quotation_stays_where_it_adds_words() -> None:
    assert body(SAID, f"I think {SAID}") == (
        f"# {SAID}\n\n> “I think {SAID}” — user, turn t1\n"
    )


def test_a_quotation_of_someone_else_stays() -> None:
    assert body(SAID, SAID, speaker="assistant") == (
        f"# {SAID}\n\n> “{SAID}” — assistant, turn t1\n"
    )


def test_a_note_is_known_by_each_of_its_sentences() -> None:
    text = f"go-git is a library. {SAID}"
    note = note_of(NoteDraft(text, scope="workspace"), MOMENT)
    assert stated_hashes(note) == {
        content_hash(said) for said in (text, "go-git is a library.", SAID)
    }


def test_a_text_of_a_megabyte_without_an_end_holds_nobody_up() -> None:
    note = note_of(NoteDraft("Queue. " + "x" * 900_000, scope="workspace"), MOMENT)
    began_s = time.process_time()
    assert content_hash("Queue.") in stated_hashes(note)
    assert time.process_time() - began_s < 2  # by trying at each place it took hours


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Use pnpm everywhere. It is faster.", "Use pnpm everywhere."),
        ("Use pnpm everywher. It is so.", "Use pnpm everywher. It is so."),
        ("a" * 80, "a" * 80),
        (f"{'a' * 40} {'b' * 40}", f"{'a' * 40}…"),
        ("# Ports\n\nStaging has 5433.", "Ports"),
    ],
    ids=["20 signs", "19 signs", "80 signs", "81 signs", "a heading"],
)
def test_a_title_is_a_sentence_that_says_something_or_a_line_of_80_signs(
    text: str, title: str
) -> None:
    assert title_and_text(text)[0] == title


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ({"scope": "galaxy"}, "'galaxy' is not one of user, workspace, project, agent"),
        ({"scope": "agent:"}, "'agent:' is not one of user, workspace, project, agent"),
        ({"category": "weather"}, f"'weather' is not one of {', '.join(CATEGORIES)}"),
        # which only a scope may be
        (
            {"category": "agent:ada"},
            f"'agent:ada' is not one of {', '.join(CATEGORIES)}",
        ),
        ({"scope": "project"}, "this directory belongs to no project"),
        ({"scope": "agent:ada"}, "this directory belongs to no project"),
    ],
)
def test_a_note_of_a_place_that_does_not_exist_is_refused(
    place: dict[str, str], problem: str
) -> None:
    with pytest.raises(StoreError) as caught:
        note_of(NoteDraft(SAID, **place), MOMENT)
    assert caught.value.message == problem


@pytest.mark.parametrize(
    ("given", "scope", "category"),
    [
        ({}, "workspace", DEFAULT_CATEGORY),
        ({"project": "shop"}, "project", DEFAULT_CATEGORY),
        ({"scope": "user", "category": "gotchas"}, "user", "gotchas"),
        ({"scope": "agent:ada", "project": "shop"}, "agent:ada", DEFAULT_CATEGORY),
    ],
)
def test_a_note_counts_for_the_project_that_it_names_else_for_the_workspace(
    given: dict[str, str], scope: str, category: str
) -> None:
    note = note_of(NoteDraft(SAID, **given), MOMENT)
    assert (note.scope, note.category) == (scope, category)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "an empty text"),
        (" \n", "an empty text"),
        ("…", "a text without words, which nobody could find again"),
    ],
)
def test_a_note_without_words_is_refused(text: str, what: str) -> None:
    with pytest.raises(StoreError) as caught:
        note_of(NoteDraft(text), MOMENT)
    assert caught.value.message == f"there is nothing to remember in {what}"
    assert caught.value.remedy == 'Say it in words: `keeplore remember "…"`'
