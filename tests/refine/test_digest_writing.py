"""What a model is shown of talks for a digest, and which of its lines are taken."""

from __future__ import annotations

from collections import Counter
from typing import Any

from keeplore.refine.digest_writing import (
    MAX_LINES,
    DigestSource,
    LineGates,
    questions,
    written_lines,
)
from keeplore.refine.window import MAX_INPUT, Segment


def talk(number: int, *said: str, trust: str = "user") -> DigestSource:
    segments = tuple(
        Segment(f"t{number}-{n}", n, "user", trust, text, text)
        for n, text in enumerate(said, 1)
    )
    return DigestSource(f"2026-03-0{number}", f"Shop {number}", said, segments)


TALKS = (
    talk(1, "We use npm for the shop.", "Prices are kept in euros."),
    talk(2, "We use yarn for the shop.", "The cart expires after a week."),
    talk(3, "We use pnpm for the shop, not yarn.", "We use pnpm for the admin."),
    talk(4, "We use bun for the shop everywhere.", trust="document"),
)
GATES = LineGates(
    lambda text: text.replace("hunter2", "[REDACTED]"), lambda text: False, 0.5
)


def line(number: int, content: str, span: str, **fields: Any) -> dict[str, Any]:
    usual = {"part": "decided", "instead": "", "confidence": 0.9}
    return {"talk": number, "content": content, "span": span, **usual, **fields}


def written(*lines: dict[str, Any]) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    dropped = Counter[str]()
    found = written_lines({"lines": [*lines]}, TALKS, GATES, dropped)
    told = [
        (
            one.talk,
            one.statement,
            one.receipt.turn,
            one.instead and (one.instead[0], one.instead[1].turn),
            one.talks,
        )
        for one in found
    ]
    return told, {name: count for name, count in dropped.items() if count}


def test_a_line_names_where_what_it_replaces_stands_the_latest_talk_first() -> None:
    content = "The shop uses pnpm, not yarn."
    span = "We use pnpm for the shop"
    told, dropped = written(
        line(3, content, span, instead="for the shop"),
        line(3, content, span, instead="Prices are kept in euros"),
        line(3, content, span, instead="We use yarn for the shop"),
        line(3, "The admin uses pnpm.", "We use pnpm for the admin", instead=span),
        line(3, content, span, instead="We use pnpm for the admin"),
        line(3, content, span),
    )
    assert told == [
        (2, content, "t3-1", (1, "t2-1"), (2, 1)),
        (2, content, "t3-1", (0, "t1-2"), (2, 0)),
        (2, content, "t3-1", (1, "t2-1"), (2, 1)),
        (2, "The admin uses pnpm.", "t3-2", (2, "t3-1"), (2, 2)),
        (2, content, "t3-1", None, (2,)),
        (2, content, "t3-1", None, (2,)),
    ]
    assert dropped == {"lines: replaces nothing in the text": 1}


def test_what_the_words_do_not_bear_out_is_counted() -> None:
    sound = ("The cart expires after a week.", "The cart expires after a week")
    told, dropped = written(
        line(0, *sound),
        line(5, *sound),
        line(1, *sound),
        line(2, *sound, confidence=0.4),
        line(2, "The printer on the third floor needs toner.", sound[1]),
        line(2, "The cart never expires after a week.", sound[1]),
        line(4, "The shop uses bun everywhere.", "We use bun for the shop everywhere"),
        line(2, f"“ {sound[0]}", sound[1], part="outcome"),
    )
    assert [one[:2] for one in told] == [(1, sound[0])]
    assert dropped == {
        "lines: unknown talk": 2,
        "lines: span not in the text": 1,
        "lines: not sure enough": 1,
        "lines: not what was said": 2,
        "lines: span was pasted": 1,
    }


def test_no_more_lines_are_read_than_one_answer_may_have() -> None:
    one = line(2, "The cart expires after a week.", "The cart expires after a week")
    told, _ = written(*[one] * (MAX_LINES + 3))
    assert len(told) == MAX_LINES


def test_talks_are_shown_with_their_numbers_in_parts_of_one_call() -> None:
    long = DigestSource("2026-03-05", "Long", ("a" * 7_000, "a" * 7_000), ())
    endless = DigestSource("2026-03-06", "Endless", ("b" * 2 * MAX_INPUT,), ())
    first = "Talk 1, 2026-03-01: Shop 1\nWe use npm for the shop.\nPrices are kept in euros."
    assert [*questions(())] == []
    assert [*questions((TALKS[0], long, long, endless))] == [
        f"{first}\n\nTalk 2, 2026-03-05: Long\n{'a' * 7_000}",
        f"Talk 3, 2026-03-05: Long\n{'a' * 7_000}",
        f"Talk 4, 2026-03-06: Endless\n{'b' * 2 * MAX_INPUT}"[:MAX_INPUT],
    ]
