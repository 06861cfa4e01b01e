"""How a talk is cut into parts that a model is shown."""

import pytest

from keeplore.memory import Exchange
from keeplore.refine.window import (
    HEAD,
    MAX_INPUT,
    TAIL,
    Segment,
    segments_of,
    windows,
)

ROOM = MAX_INPUT - len("[1 user] ") - 1
HALF = ROOM // 2
WORDS = "word " * 2000


def said(text: str, turn: str = "t1", speaker: str = "user") -> Segment:
    return Segment(turn, int(turn[1:]), speaker, speaker, text, text)


def shown(*segments: Segment) -> list[list[str]]:
    return [
        [segment.shown for segment in window.segments] for window in windows(segments)
    ]


@pytest.mark.parametrize(
    ("text", "at", "behind"),
    [
        pytest.param("x" * (ROOM + 1), ROOM, ROOM, id="nowhere to cut"),
        pytest.param(
            f"xxxxx{WORDS}{WORDS[:5000]}", ROOM - 1, ROOM - 1, id="at the last space"
        ),
        pytest.param(
            "x" * HALF + "\n" + WORDS, HALF, HALF + 1, id="at a line of the second half"
        ),
        pytest.param(
            "x" * (HALF - 1) + "\n" + WORDS,
            ROOM - 1,
            ROOM - 1,
            id="not at a line of the first half",
        ),
        pytest.param(
            "x" * 9000 + "\n\n\n" + "y" * 9000,
            9002,
            9003,
            id="behind all but one empty line",
        ),
    ],
)
def test_a_turn_that_no_part_holds_is_cut_where_it_hurts_least(
    text: str, at: int, behind: int
) -> None:
    assert shown(said(text)) == [[text[:at]], [text[behind:]]]


def test_a_turn_that_just_fits_is_not_cut() -> None:
    assert shown(said("x" * ROOM)) == [["x" * ROOM]]


def test_two_turns_share_a_part_that_just_holds_them() -> None:
    one, other = "x" * 5000, "y" * (MAX_INPUT - 5000 - 2 * len("[1 user] \n"))
    assert shown(said(one), said(other, "t2")) == [[one, other]]
    assert shown(said(one), said(f"{other}y", "t2")) == [[one], [f"{other}y"]]


def test_of_a_long_talk_what_the_assistant_wrote_at_length_loses_its_middle() -> None:
    whole = "answer " * (MAX_INPUT // 7)
    short = "x" * (HEAD + TAIL)
    got = shown(
        said(whole, "t1", "assistant"),
        said(short, "t2", "assistant"),
        said("yes", "t3"),
    )
    head = "answer " * ((HEAD - 1) // 7)
    tail = whole[-TAIL:].split(" ", 1)[1]
    assert got == [[f"{head.strip()} […] {tail}", short, "yes"]]


@pytest.mark.parametrize(("lines", "is_shown"), [(6, True), (7, False)])
def test_code_of_six_lines_is_shown_and_longer_code_counted(
    lines: int, *, is_shown: bool
) -> None:
    code = "```\n" + "x = 1\n" * lines + "```"
    exchange = Exchange("t1", "2026-03-01T10:00:00Z", f"Run this:\n{code}\nSee?")
    [segment] = segments_of([exchange], [exchange], lambda _: False)
    told = code if is_shown else f"[code, {lines} lines]"
    assert segment.shown == f"Run this:\n{told}\nSee?"
