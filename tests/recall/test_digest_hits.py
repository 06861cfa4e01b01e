"""What a digest among the hits tells, and what is left of the memories behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sample_note import note

from keeplore.index import Index
from keeplore.memory import Memory, Quote
from keeplore.memory.digest import Digest, DigestLine
from keeplore.recall.answer import recall
from keeplore.recall.digest_hits import (
    BEHIND_CHARS,
    most_with,
    told_lines,
    without_digest_lines,
)
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.question import parse_question
from keeplore.recall.request import BREAK, RecallHit, RecallRequest, SearchScope
from keeplore.recall.weights import DIGEST_CHARS
from keeplore.store import Store

QUEUE, CACHE, ELSEWHERE = (f"mem_{n * 8}-0000-4000-8000-000000000000" for n in "123")
LONG = "We keep " + "the long story of the ledger, " * 30 + "and no more."
LAST = "Deploys are on Tuesdays."
FOUND = RecallHit(
    memory_id=QUEUE,
    title="Queue",
    changed_at="2026-02-09T10:00:00Z",
    kind="conversation",
    scope="project",
    project="shop",
    category="",
    trust="user",
    score=0.9,
    passage="We drop Redis.",
    turn="t-1",
    path="a.md",
    changes=0,
    marks=("user", ""),
)
DIGEST = replace(FOUND, memory_id=ELSEWHERE, kind="digest", passage="2026-02-01: We drop Redis.")  # fmt: skip


def line(day: str, text: str, memory_id: str = QUEUE) -> DigestLine:
    return DigestLine(f"2026-02-{day}", Quote(text, "user", "t-1"), memory_id)


def digest(*lines: DigestLine) -> Memory:
    return note("Work", Digest("Work", (("Decided", lines),)).to_markdown())


def test_lines_of_known_memories_are_told_in_their_order() -> None:
    replaced = replace(
        line("02", "The cache is Valkey.", CACHE), before=line("01", "It is Redis.")
    )
    memory = digest(line("01", "Jobs wait in Postgres."), replaced, line("03", "A secret.", ELSEWHERE))  # fmt: skip
    assert told_lines(memory, parse_question("anything new?"), {QUEUE, CACHE}) == (
        "2026-02-01: Jobs wait in Postgres.\n"
        "2026-02-02: The cache is Valkey. (instead of: It is Redis.)"
    )


def test_where_room_is_short_words_of_the_question_come_first_then_the_newest() -> None:
    asked = parse_question("when are deploys?")
    first, second = line("02", LONG), line("03", LONG.replace("ledger", "market"))
    memory = digest(line("01", LAST), first, second, line("02", "It rains."))
    told = told_lines(memory, asked, {QUEUE})
    assert told.split("\n") == [
        line("01", LAST).told,
        second.told,
        "2026-02-02: It rains.",
    ]
    # of one day the last that is written
    memory = digest(line("02", LONG), line("02", LONG.upper()))
    assert told_lines(memory, asked, {QUEUE}) == f"2026-02-02: {LONG.upper()}"


def test_the_room_is_filled_to_its_end() -> None:
    room = DIGEST_CHARS - len("2026-02-01: \n")
    assert told_lines(digest(line("01", "x" * room)), parse_question("x"), {QUEUE})
    assert not told_lines(
        digest(line("01", "x" * (room + 1))), parse_question("x"), {QUEUE}
    )


def test_two_hits_come_behind_the_first_digest() -> None:
    assert most_with([]) == most_with([FOUND, FOUND]) == float("inf")
    assert most_with([DIGEST]) == 3
    assert most_with([FOUND, DIGEST, FOUND, DIGEST]) == 4


def test_what_a_digest_before_it_shows_is_not_shown_again() -> None:
    assert (
        without_digest_lines(FOUND, [replace(FOUND, passage="x We drop Redis.")])
        == FOUND
    )
    assert without_digest_lines(FOUND, [DIGEST]) == replace(FOUND, passage="", marks=())
    lines = ("We drop Redis.", "It lost jobs.", "Why?", "An answer.")
    said = replace(FOUND, passage=BREAK.join(lines), turns=("t-1", "t-2", "t-1", "t-3"))
    other = replace(DIGEST, passage="2026-02-03: Why?")
    assert without_digest_lines(said, [DIGEST, FOUND, other]) == replace(
        said,
        passage=BREAK.join(("It lost jobs.", "An answer.")),
        turns=("t-2", "t-3"),
        marks=(),
    )
    # words that run over the end of one digest's passage into another's are not there
    apart = replace(FOUND, passage="Redis.2026")
    assert without_digest_lines(apart, [DIGEST, other]).passage == "Redis.2026"


def test_lines_that_are_left_of_one_turn_stay_so() -> None:
    said = replace(
        FOUND, passage=BREAK.join(("We drop Redis.", "It lost jobs.", "Often."))
    )
    assert without_digest_lines(said, [DIGEST]) == replace(
        said, passage=BREAK.join(("It lost jobs.", "Often.")), marks=()
    )


PORTS = ("Staging", "Production", "Preview", "Metrics", "Search", "Mail", "Docs")


def test_a_broad_question_is_answered_by_the_digests_of_the_first_that_has_any(
    workspace_of: Callable[..., tuple[Index, Store]], memory_builders: SimpleNamespace
) -> None:
    make = memory_builders.note
    notes = [
        make(one, f"2026-02-{day:02}", f"{one} port", f"We decided that {one.lower()} listens on the port {6000 + day}.", project="shop")
        for day, one in enumerate(PORTS, 1)
    ]  # fmt: skip

    def gathered(key: str, *days: int, **fields: Any) -> Memory:
        sources = [notes[day - 1] for day in days]
        lines = tuple(
            line(f"{day:02}", f"Port {6000 + day}.", notes[day - 1].id) for day in days
        )
        body = Digest(key, (("Decided", lines),)).to_markdown()
        related = [{"id": one.id, "relationship": "relates-to"} for one in sources]
        made = make(
            key,
            "2026-02-20",
            key,
            "",
            **{"project": "shop", "related": related, **fields},
        )
        return replace(made, meta={**made.meta, "kind": "digest"}, body=body)

    digests = [
        gathered("Near", 2, 3),
        gathered("Also near", 2, 4),
        gathered("Far", 5, 6),
        gathered("Other", 1, 2, project="bank"),
    ]
    deps = RecallDeps(*workspace_of([*notes, *digests]), None)

    def titles(question: str, **wishes: Any) -> str:
        request = RecallRequest(question, Path("/"), **wishes)
        now = datetime(2026, 3, 1, tzinfo=UTC)
        answer = recall(deps, request, SearchScope("shop"), now=now)
        return ", ".join(hit.title.removesuffix(" port") for hit in answer.hits)

    every, one = "What did we decide about the ports?", "Summary of the production port"
    assert titles(every) == "Docs, Far, Metrics, Preview"
    assert titles(every, by_exchange=True) == "Docs, Mail, Search, Metrics, Preview"
    assert titles("ports") == "Docs, Mail, Search"
    # of one memory all digests, and those of other projects where these are looked through
    assert titles(one) == "Near, Also near"
    assert titles(one, wide=True) == "Near, Other, Also near"
    assert titles("production port") == "Production"


def test_behind_a_digest_a_passage_is_short_and_has_turns_for_what_is_left() -> None:
    lines = ("One. " * 20 + "End.", "Two. " * 20 + "End.", "Three.")
    said = replace(FOUND, passage=BREAK.join(lines), turns=("t-1", "t-2", "t-3"))
    left = without_digest_lines(said, [DIGEST])
    assert (len(left.passage) <= BEHIND_CHARS, left.turns) == (True, ("t-1", "t-2"))
    assert left.passage.startswith(f"{lines[0]}{BREAK}Two. Two.")
