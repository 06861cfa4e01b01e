"""A hit is told with the figure that its talk gives further on for what is asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from keeplore.memory import Conversation, Exchange
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.question import parse_question
from keeplore.recall.request import (
    BREAK,
    LaterStatement,
    RecallHit,
    RecallRequest,
    SearchScope,
)
from keeplore.recall.since.asked_figures import asked_figure
from keeplore.recall.since.later_figures import later_figure

IN_TALK = yaml.load(
    Path(__file__).with_name("values_in_talk.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)
REPLY = "Certainly! Here are some steps."
ASKED = "How many sources are in my Zotero library?"


def talk(*messages: str) -> Conversation:
    exchanges = (
        Exchange(f"turn-{n}", f"2026-02-01T10:0{n}:00Z", said, (REPLY,))
        for n, said in enumerate(messages)
    )
    return Conversation("A talk", tuple(exchanges))


def hit(turn: str, passage: str = REPLY) -> RecallHit:
    return RecallHit(
        memory_id="mem_1",
        title="A talk",
        changed_at="2026-02-01T10:00:00Z",
        kind="conversation",
        scope="project",
        project="kasha-api",
        category="",
        trust="user",
        score=0.9,
        passage=passage,
        turn=turn,
        path="a.md",
        changes=0,
    )


def told(question: str, shown: RecallHit, conversation: Conversation) -> str:
    asked = asked_figure(parse_question(question))
    later = later_figure(shown, conversation, asked) if asked else None
    return later.text if later else ""


@pytest.mark.parametrize("part", ["changed", "others"])
def test_what_a_later_message_gives_another_figure_is_told(part: str) -> None:
    wrong = []
    for pair in IN_TALK[part]:
        text = told(pair["ask"], hit("turn-0"), talk(pair["old"], pair["new"]))
        is_right = text in pair["new"] if part == "changed" else not text
        if not is_right or bool(text) != (part == "changed"):
            wrong.append((pair["ask"], text))
    assert wrong == []


def test_of_several_the_last_is_told_and_behind_it_nothing() -> None:
    said = talk(
        "My Zotero library has 45 sources, how do I sort them?",
        "I've added 52 sources to my Zotero library, and it takes long to open.",
        "Thanks!",
        "So my Zotero library has reached 60 sources now. Is that much?",
    )
    last = "So my Zotero library has reached 60 sources now"
    assert [told(ASKED, hit(f"turn-{n}"), said) for n in range(4)] == [
        last,
        last,
        "",
        "",
    ]


def test_pasted_figures_and_those_of_a_shown_line_replace_nothing() -> None:
    said = talk(
        "My Zotero library has 45 sources, how do I sort them?",
        "The docs say:\n> Your Zotero library now has 52 sources.",
    )
    assert told(ASKED, hit("turn-0"), said) == ""
    assert told(ASKED, hit(""), said) == ""


RATHER = "Let's change the batch to be 4 parcels - rather than 12"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (RATHER, "Let's change the batch to be 4 parcels"),
        ("4 parcels, not 12", "4 parcels"),
        ("4 parcels instead of 12", "4 parcels instead of 12"),
        ("4 parcels rather than 9", ""),  # that was never said
        ("4 vans rather than 12", ""),
    ],
)
def test_a_figure_that_drops_the_old_one_takes_its_place(
    said: str, expected: str
) -> None:
    ask = "After how many parcels is the depot emptied?"
    old = "The depot is emptied after 12 parcels."
    later = talk("Empty the depot in time.", "Sort the vans.", said)
    assert told(ask, hit("turn-0", old), later) == expected


def test_of_a_hit_with_lines_of_several_turns_each_counts_at_its_place() -> None:
    ask = "After how many parcels is the depot emptied?"
    said = talk("Empty the depot in time.", RATHER, "Write the depot's log.")
    lines = "The depot is emptied after 12 parcels.", "The depot has a log now."
    shown = replace(hit("turn-2", BREAK.join(lines)), turns=("turn-0", "turn-2"))
    assert told(ask, shown, said) == "Let's change the batch to be 4 parcels"
    told_there = "Let's change the batch to be 4 parcels"
    known = replace(
        hit("turn-2", BREAK.join((lines[0], told_there))), turns=("turn-0", "turn-1")
    )
    assert told(ask, known, said) == ""


def test_recall_gives_it_with_the_hit(
    memory_builders: SimpleNamespace, tmp_path: Path
) -> None:
    reply = "How many sources are in a Zotero library matters little: tag each of them."
    said = memory_builders.conversation(
        "sources",
        "2026-02-01",
        "Sources",
        [
            ("Now that my Zotero library has 45 sources, where do I begin?", reply),
            ("The Zotero library has reached 52 sources, any ideas?", "Sort them."),
        ],
        project="kasha-api",
    )
    index, store = memory_builders.indexed(tmp_path, [said], None)
    answer = recall(
        RecallDeps(index, store),
        RecallRequest(ASKED),
        SearchScope("kasha-api"),
        now=datetime(2026, 4, 1, tzinfo=UTC),
    )
    index.close()
    assert [(one.turn, one.later) for one in answer.hits] == [
        (
            "sources-turn-0",
            LaterStatement(
                "The Zotero library has reached 52 sources",
                said.id,
                "sources-turn-1",
                "2026-02-01T10:07:00Z",
            ),
        )
    ]
