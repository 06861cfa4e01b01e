"""When are the prompt of a payload and one of Cursor's transcript the same, though their words
differ?
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Origin, Turn, Work
from keeplore_hooks.hosts.cursor.cursor_payload_log import (
    CursorTurn,
    PayloadLog,
    key_of,
    turn_id_of,
)

ORIGIN = Origin("cursor", "s")
AT = "2026-02-09T15:00:0{}Z"
# every word stands once, so that a part is found in one place only
MANY = "".join(f"{number:03} " for number in range(100)).strip()
STAMP = "<timestamp>Monday, Feb 9, 2026, 3:00 PM (UTC)</timestamp>\n"

# what the payload told, what stands in the line of the transcript
ONE = {
    "the same words": ("Explain a.py", "Explain a.py"),
    "other white space": ("Explain\n\n a.py ", "Explain a.py"),
    "within an element": ("Explain a.py", "<user_query>\nExplain a.py\n</user_query>"),
    "behind what the host injects": (
        "Explain a.py",
        f"{STAMP}<rules>short</rules>Explain a.py",
    ),
    "elements in the payload": ("<rules>short</rules>Explain a.py", "Explain a.py"),
    "a picture": ("Explain a.py", "[Image]\n<user_query>Explain a.py</user_query>"),
    "an attachment behind it": (
        "Explain @a.py to me",
        "Explain @a.py to me\n\nand b.py",
    ),
    "an attachment before it": ("explain it to me", "@a.py explain it to me"),
    "an attachment in the payload": ("@a.py explain it to me", "explain it to me"),
    "just half of it": ("abcd", "abcd wxy"),
    "sixty characters of many": (MANY[101:161], MANY),
}
TWO = {
    "other words": ("Explain the parser", "Explain the lexer"),
    "less than half of it": ("abcd", "abcd wxyz"),
    "less than half, in the payload": ("abcd wxyz", "abcd"),
    "fifty-nine characters of many": (MANY[102:161], MANY),
    "the same letters in other words": ("Explain a.py", "Exp lain a.py"),
}


def cases(one: dict[str, tuple[str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("told", "written"), one.values(), ids=one.keys())


@pytest.fixture
def session(cursor_in: Any, tmp_path: Path) -> Any:
    return cursor_in(tmp_path)


@pytest.fixture
def log(cursor_log: Any) -> Any:
    return cursor_log()


def payload_first(session: Any, log: Any, told: str, written: str) -> list[Any]:
    events = list(session.hear("beforeSubmitPrompt", AT.format(1), prompt=told).events)
    log.line("user", written)
    log.say("1")
    session.write(log.bytes())
    return [*events, *session.hear("stop", AT.format(2)).events]


def transcript_first(session: Any, log: Any, told: str, written: str) -> list[Any]:
    log.line("user", written)
    session.write(log.bytes())
    events = list(session.hear("beforeSubmitPrompt", AT.format(1), prompt=told).events)
    log.say("1")
    session.write(log.bytes())
    return [*events, *session.hear("stop", AT.format(2)).events]


FIRST = pytest.mark.parametrize("hear", [payload_first, transcript_first])


@FIRST
@cases(ONE)
def test_one_prompt_in_other_words_is_one_turn(
    session: Any, log: Any, final: Any, hear: Any, told: str, written: str
) -> None:
    (turn,) = final(hear(session, log, told, written))
    (recorded,) = session.turns(log.bytes())
    assert (turn.user, turn.replies, turn.is_complete) == (recorded.user, ("1",), True)


@FIRST
@cases(TWO)
def test_two_prompts_that_share_words_are_two_turns(
    session: Any, log: Any, final: Any, hear: Any, told: str, written: str
) -> None:
    turns = final(hear(session, log, told, written))
    assert sorted((turn.user, turn.is_complete) for turn in turns) == sorted(
        [(told, True), (written, True)]
    )


def test_a_prompt_that_was_told_of_stands_for_one_of_the_transcript_only(
    session: Any, log: Any, final: Any
) -> None:
    told = list(
        session.hear("beforeSubmitPrompt", AT.format(1), prompt="Explain a.py").events
    )
    for number, words in enumerate(("Explain a.py now", "Explain a.py, please")):
        log.user(words)
        log.say(str(number))
    session.write(log.bytes())
    told += session.hear("stop", AT.format(2)).events
    assert [(turn.user, turn.replies) for turn in final(told)] == [
        ("Explain a.py now", ("0",)),
        ("Explain a.py, please", ("1",)),
    ]


def test_a_prompt_that_says_more_than_one_that_was_told_of_is_another(
    session: Any, log: Any, final: Any
) -> None:
    told = list(
        session.hear("beforeSubmitPrompt", AT.format(1), prompt="Explain a.py").events
    )
    log.user("Explain a.py")
    log.say("1")
    session.write(log.bytes())
    told += session.hear(
        "beforeSubmitPrompt", AT.format(2), prompt="Explain a.py now"
    ).events
    assert [(turn.user, turn.replies, turn.is_complete) for turn in final(told)] == [
        ("Explain a.py", ("1",), True),
        ("Explain a.py now", (), False),
    ]


def test_a_prompt_that_is_typed_again_is_another() -> None:
    last = Turn("first", ORIGIN, AT.format(1), "continue")
    log = PayloadLog(announced={key_of("continue"): 1}, has_joined=True)
    turn = log.announce("s", "continue", "g2", AT.format(2), last)
    assert (turn.id, turn.alias, turn.number) == (
        turn_id_of("s", key_of("continue"), 1),
        "",
        1,
    )


def test_a_turn_that_is_read_again_keeps_its_id() -> None:
    log = PayloadLog()
    told = log.announce("s", "Explain a.py", "g1", AT.format(1))
    assert log.id_of("own", "Explain a.py now", None) == "own"
    assert log.id_of("own", "Explain a.py now", {}) == told.id
    assert log.id_of("own", "other words by now", None) == told.id
    assert log.id_of("another", "Explain a.py now", {}) == "another"


@pytest.mark.parametrize(("told", "written", "later"), [(3, 5, 5), (5, 3, 5)])
def test_a_turn_of_the_transcript_is_given_what_it_lacks(
    told: int, written: int, later: int
) -> None:
    payload = CursorTurn(
        "t", "Explain", AT.format(0), work=Work(("a.py", "b.py"), ("make",))
    )
    for words in ("First one.", "Second.", "Second."):
        payload.say(words, AT.format(told))
    turn = Turn(
        "t",
        ORIGIN,
        AT.format(1),
        "Explain a.py",
        ("First\none.",),
        ended_at=AT.format(written),
        work=Work(("b.py", "c.py")),
    )
    assert PayloadLog([payload]).completed(turn) == Turn(
        "t",
        ORIGIN,
        AT.format(1),
        "Explain a.py",
        ("First\none.", "Second."),
        ended_at=AT.format(later),
        work=Work(("b.py", "c.py", "a.py"), ("make",)),
    )
    assert PayloadLog().completed(turn) == turn
