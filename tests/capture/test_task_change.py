"""One task of an agent and the next: what is weighed, and which way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.capture.segmenter import Segmenter, boundary
from keeplore.capture.task_change import (
    TaskEvidence,
    chance,
    evidence,
    first_sentence,
    minutes_between,
)
from keeplore.index import embedder_for
from keeplore_hooks.events import Origin, Turn, Work

HERE = Origin("test", "one")
WORKED = Work(files=("app/queue.py", "tests/test_queue.py"))
DONE = "The worker now leases a job row with a deadline. All tests pass."
REPORT = "The queue reads from postgres; redis keeps its settings until friday. " * 3
NEUTRAL = TaskEvidence(0.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.5)


def turn(user: str, *files: str, at: str = "2026-03-01T10:30:00Z") -> Turn:
    return Turn("t", HERE, at, user, ("Done.",), work=Work(files=files))


def talk(answer: str = DONE, minutes: int = 20) -> list[dict[str, str]]:
    return [
        {
            "id": "1",
            "at": "2026-03-01T10:00:00Z",
            "ended_at": f"2026-03-01T10:{minutes:02d}:00Z",
            "user": "move the job queue from redis to postgres",
            "assistant": answer,
        }
    ]


def test_all_that_is_weighed_is_read_from_the_turn_and_the_talk() -> None:
    asked = talk("Shall I also add a heartbeat? It costs one query.")
    new = turn("Invoices crash on export: see the log.", "app/queue.py", "app/new.py")
    found = evidence(9.0, asked, new, WORKED)
    rounded = found._replace(
        effort=round(found.effort, 2), report=round(found.report, 2)
    )
    assert rounded == TaskEvidence(
        subject=6.0,
        trouble=1.0,
        reacts=0.0,
        substance=0.5,
        same_files=0.5,
        effort=3.04,
        asked=1.0,
        new_words=0.0,
        report=0.44,
    )


def test_words_of_the_answer_that_were_not_said_before_speak_for_another_task() -> None:
    said = (
        "The leased rows carry a heartbeat; the invoice template lost its letterhead."
    )
    new = Turn("t", HERE, "2026-03-01T10:30:00Z", "the invoices, please", (said,))
    known = [{**talk()[0], "assistant": "Invoice templates have a letterhead."}]
    shares = [
        evidence(0.0, before, new, WORKED).new_words for before in (talk(), known)
    ]
    assert shares[0] > shares[1] > 0.0


def test_a_turn_that_is_said_to_end_after_the_next_began_took_the_time_between() -> (
    None
):
    late = [{**talk()[0], "ended_at": "2026-03-01T16:00:00Z"}]
    found = evidence(0.0, late, turn("and the lease?"), WORKED)
    assert round(found.effort, 2) == 3.43  # half an hour


@pytest.mark.parametrize(
    "message",
    [
        "no, the other table",
        "still fails with the same message",
        "ok. that's not what I asked for",
        "fix 4",
        "#12 please",
        "pr feedback: the lease is never renewed",
        "Code review for PR 17: rename the column",
        "why did you drop the index?",
        "nein, die andere Tabelle",
        "不对，是另一个表",
    ],
)
def test_a_message_that_judges_what_was_done_reacts(message: str) -> None:
    assert evidence(0.0, talk(), turn(message), WORKED).reacts == 1.0


@pytest.mark.parametrize(
    "message",
    ["can we rebase on main, please?", "write a demo of the queue", "northern region"],
)
def test_a_request_of_its_own_does_not(message: str) -> None:
    assert evidence(0.0, talk(), turn(message), WORKED).reacts == 0.0


@pytest.mark.parametrize(
    ("part", "is_more_likely"),
    [
        ("subject", True),
        ("trouble", True),
        ("reacts", False),
        ("substance", True),
        ("same_files", False),
        ("effort", True),
        ("asked", False),
        ("new_words", True),
        ("report", True),
    ],
)
def test_each_part_speaks_for_one_side(part: str, is_more_likely: bool) -> None:
    more = NEUTRAL._replace(**{part: getattr(NEUTRAL, part) + 1})
    assert (chance(more) > chance(NEUTRAL)) is is_more_likely


def test_a_first_sentence_ends_at_the_first_stop() -> None:
    assert first_sentence(" Fix the queue. Then push") == "Fix the queue"
    assert first_sentence("see app/queue.py\nand more") == "see app/queue.py"
    assert first_sentence("队列坏了。请修复") == "队列坏了"
    assert len(first_sentence("word " * 100)) == 250


def test_a_first_sentence_says_something() -> None:
    assert first_sentence("hmm ok... so the queue stalls. Why?") == "the queue stalls"
    assert first_sentence("Nice! Look. The queue stalls") == "Look. The queue stalls"


@pytest.mark.parametrize("at", ["", "yesterday", "2026-03-01T11:20:00"])
def test_a_time_that_cannot_be_compared_took_no_minutes(at: str) -> None:
    assert minutes_between("2026-03-01T10:00:00Z", at) == 0.0


@given(st.text(max_size=400), st.text(max_size=400), st.floats(-30, 30))
def test_any_text_has_a_probability(user: str, answer: str, score: float) -> None:
    found = evidence(score, talk(answer), turn(user), WORKED)
    assert 0.0 < chance(found) < 1.0


@pytest.fixture
def packaged(tmp_path: Path) -> Any:
    return embedder_for("packaged", tmp_path)


@pytest.mark.parametrize(
    ("message", "answer", "expected"),
    [
        (
            "The invoice page header is broken on phones, the logo covers the menu",
            "Below 480 px the logo kept its desktop width: web/invoice.css wraps it now.",
            "shift",
        ),
        (
            "no, keep the redis settings until friday",
            "The redis settings stay beside the postgres queue.",
            "",
        ),
        (
            "does the lease survive a restart of the worker?",
            "Yes: the row keeps its deadline, and the worker leases it anew.",
            "",
        ),
    ],
)
def test_a_task_of_its_own_after_a_finished_one_begins_a_conversation(
    message: str, answer: str, expected: str, packaged: Any
) -> None:
    new = replace(turn(message, "web/invoice.css"), replies=(answer,))
    before = talk(f"{DONE} {REPORT}", minutes=4)
    shift = Segmenter(packaged).shift_of(before, new, WORKED)
    assert (shift.need, shift.need_maybe) == (0.45, 0.45)
    assert boundary(before, new, shift) == expected
