"""What gives the same thing another value comes after what was said of it later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from keeplore.recall.question import parse_question
from keeplore.recall.request import RecallHit
from keeplore.recall.since.newer_values import (
    ConversationContext,
    as_stated,
    holds_instead,
    newest_first,
)

IN_TALK = yaml.load(
    Path(__file__).with_name("values_in_talk.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)


def hit(at: str, passage: str, *, project: str = "kasha-api") -> RecallHit:
    return RecallHit(
        memory_id=f"mem_{at}",
        title="t",
        changed_at=at,
        kind="conversation",
        scope="project",
        project=project,
        category="",
        trust="user",
        score=0.9,
        passage=passage,
        turn="",
        path="a.md",
        changes=0,
        at=at,
    )


def nothing_said(_: RecallHit) -> ConversationContext:
    return ConversationContext()


def order(question: str, *passages: str) -> list[str]:
    """The passages as they come out, each said a month after the one before it."""
    hits = [hit(f"2026-0{n}-01", said) for n, said in enumerate(passages, 1)]
    return [
        one.passage
        for one in newest_first(hits, parse_question(question), nothing_said)
    ]


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        (
            "Which port does the staging database listen on?",
            "The staging database listens on port 5433.",
            "The staging database listens on port 5440 now.",
        ),
        (
            "What is the deadline for the beta of the importer?",
            "Our deadline for the beta of the importer is May 4.",
            "I moved things around, the importer's beta has its deadline on June 1.",
        ),
        (
            "How many seats does the team plan include?",
            "The team plan costs 40 a month and includes 5 seats.",
            "Let us be generous: 8 seats are included in the team plan from now on.",
        ),
        (
            "How long may an upload to the archive take?",
            "An upload to the archive may take 30 seconds.",
            "An upload to the archive may take 90 seconds.",
        ),
        (
            "How large is the cache of the docs?",
            "The cache of the docs has 20 MB.",
            "The cache of the docs has 50 MB.",
        ),
    ],
)
def test_the_newer_value_comes_first(question: str, old: str, new: str) -> None:
    assert order(question, old, new) == [new, old]
    assert order(question, f"Hello. {old}", f"{new} Thanks.") == [
        f"{new} Thanks.",
        f"Hello. {old}",
    ]


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        (  # another thing
            "Which port does the production database listen on?",
            "The production database listens on port 6500.",
            "The staging database listens on port 5440.",
        ),
        (  # the same value
            "How many seats does the team plan include?",
            "The team plan includes 5 seats.",
            "All 5 seats of the team plan are taken.",
        ),
        (  # another matter
            "How many seats does the team plan include?",
            "The team plan includes 5 seats.",
            "The plan of the flight has 3 legs.",
        ),
        (  # no figure is asked for
            "why does the team plan include seats",
            "The team plan includes 5 seats because teams grow.",
            "Seats of the team plan went up by 2 for some reason.",
        ),
        (  # the past is asked for
            "How many seats did the team plan include before?",
            "The team plan includes 5 seats.",
            "The team plan includes 8 seats.",
        ),
        (
            "How many seats does the team plan include?",
            "Does the team plan include 5 seats?",
            "Does the team plan include 8 seats?",
        ),
    ],
)
def test_what_says_something_else_keeps_its_place(
    question: str, first: str, second: str
) -> None:
    assert order(question, first, second) == [first, second]


def test_of_notes_the_newer_comes_first_without_a_figure_too() -> None:
    old, new = "We deploy the docs to Netlify.", "We deploy the docs to Cloudflare."
    hits = [
        replace(hit("2026-01-01", old), kind="note"),
        replace(hit("2026-02-01", new), kind="note", score=0.3),
    ]
    found = newest_first(
        hits, parse_question("where do we deploy the docs"), nothing_said
    )
    # it is as likely to answer as what it replaces: no hit stands before a likelier one
    assert [(one.passage, one.score) for one in found] == [(new, 0.9), (old, 0.9)]


def test_an_older_value_and_one_of_another_project_replace_nothing() -> None:
    question = parse_question("Which port does the staging database listen on?")
    old = hit("2026-01-01", "The staging database listens on port 5433.")
    new = hit("2026-02-01", "The staging database listens on port 5440.")
    other = hit(
        "2026-03-01", "The staging database listens on port 7.", project="lumen-web"
    )
    entries = {
        name: as_stated(one, question)
        for name, one in {"old": old, "new": new, "other": other}.items()
    }
    replacing = {
        (one, two)
        for one in entries
        for two in entries
        if holds_instead(entries[one], entries[two], question)
    }
    assert replacing == {("new", "old")}


def test_words_that_turn_a_meaning_round_do_not_say_what_it_is_about() -> None:
    asked = parse_question("squash the commits of the branch")
    old = "And my rule of thumb is: never squash commits."
    new = "I thought again, and squashing the commits helps whoever reads them."
    earlier = as_stated(hit("2026-01-01", old), asked)
    later = as_stated(hit("2026-02-01", new), asked)
    assert holds_instead(later, earlier, asked)
    assert not holds_instead(earlier, later, asked)


def test_hits_without_a_word_of_the_question_stay_as_they_are() -> None:
    passages = ("One 1.", "Two 2.", "")
    assert order("Which port is it?", *passages) == [*passages]


@pytest.mark.parametrize("shown", ["", "Assistant: Certainly! Here are some steps."])
@pytest.mark.parametrize("part", ["changed", "others"])
def test_a_figure_of_a_message_counts_whether_it_is_shown_or_not(
    part: str, shown: str
) -> None:
    wrong = []
    for pair in IN_TALK[part]:
        messages = {"2026-01-01": pair["old"], "2026-02-01": pair["new"]}
        hits = [hit(at, shown or f"User: {said}") for at, said in messages.items()]
        found = newest_first(
            hits,
            parse_question(pair["ask"]),
            lambda one, messages=messages: ConversationContext(
                messages[one.at] if shown else ""
            ),
        )
        is_moved = [one.at for one in found] != [*messages]
        if is_moved != (part == "changed"):
            wrong.append(pair)
    assert wrong == []


def ordered_talks(question: str, *hits: RecallHit, decides: bool = True) -> list[str]:
    """The times of talks of different sessions as they come out."""
    talks = [replace(one, session=one.at) for one in hits]
    found = newest_first(
        talks, parse_question(question), lambda _: ConversationContext(decides=decides)
    )
    return [f"{one.at} {one.score}" for one in found]


def test_a_later_talk_that_decides_comes_before_one_that_is_about_as_likely() -> None:
    question = "how do we get the data out of the registry"
    old = hit("2026-01-01", "I would rather take the full export every night.")
    new = hit("2026-02-01", "Then we shall do it that way: changes nightly.")
    in_order, moved = (
        ["2026-01-01 0.9", f"2026-02-01 {score}"] for score in (0.75, 0.9)
    )
    near, far, unlikely = (replace(new, score=s) for s in (0.75, 0.65, 0.55))
    assert ordered_talks(question, old, near) == moved[::-1]
    assert ordered_talks(question, old, near, decides=False) == in_order
    assert ordered_talks(question, old, far) == ["2026-01-01 0.9", "2026-02-01 0.65"]
    weak = replace(old, score=0.58)
    assert ordered_talks(question, weak, unlikely) == [
        "2026-01-01 0.58",
        "2026-02-01 0.55",
    ]
    note = replace(old, kind="note")
    assert ordered_talks(question, note, near) == in_order
    past = "how did we originally get the data out of the registry"
    assert ordered_talks(past, old, near) == in_order


def test_files_of_one_session_stay_in_their_order() -> None:
    question = parse_question("how do we get the data out of the registry")
    hits = [
        hit("2026-01-01", "The full export."),
        hit("2026-01-02", "Changes nightly."),
    ]
    found = newest_first(hits, question, lambda _: ConversationContext(decides=True))
    assert [one.at for one in found] == ["2026-01-01", "2026-01-02"]
