"""What is weighed of a task's end: each part on both sides of its limits."""

from __future__ import annotations

import math
from typing import Any

import pytest

from keeplore.capture.task_change import (
    TaskEvidence,
    chance,
    evidence,
    first_sentence,
    minutes_between,
    quotes,
)
from keeplore_hooks.events import Origin, Turn, Work

QUIET = TaskEvidence(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def talk(answer: str = "", *, user: str = "", ended: str = "") -> list[dict[str, str]]:
    at = "2026-03-01T10:00:00Z"
    return [{"at": at, "ended_at": ended, "user": user, "assistant": answer}]


def found(
    *,
    score: float = 0.0,
    exchanges: list[dict[str, str]] | None = None,
    user: str = "",
    answer: str = "",
    files: tuple[str, ...] = (),
    touched: tuple[str, ...] = (),
    at: str = "",
) -> TaskEvidence:
    new = Turn("t", Origin("test", "one"), at, user, (answer,), work=Work(files=files))
    return evidence(score, exchanges or talk(), new, Work(files=touched))


def behind(words: str, chars: int) -> str:
    """Words that begin after so many characters, behind dashes."""
    return "-" * (chars - 1) + " " + words


def hours(ended: str) -> list[dict[str, str]]:
    return talk(ended=f"2026-03-01T{ended}Z")


NAMES = "kestrel osprey merlin harrier"


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({}, {}),
        ({"score": 6.5}, {"subject": 6.0}),
        ({"score": 5.5}, {"subject": 5.5}),
        ({"score": -6.5}, {"subject": -6.0}),
        ({"score": -5.5}, {"subject": -5.5}),
        ({"user": "x" * 154 + " crash"}, {"trouble": 1.0, "substance": 0.25}),
        ({"user": "x" * 155 + " crash"}, {"substance": 0.25}),
        ({"user": " " * 316 + "nope"}, {"reacts": 1.0, "substance": 0.0}),
        ({"user": " " * 317 + "nope"}, {}),
        (
            {"user": "kestrel osprey merlin harrier buzzard kite hobby"},
            {"substance": 7 / 8},
        ),
        (
            {"user": "kestrel osprey merlin harrier buzzard kite hobby owl"},
            {"substance": 1.0},
        ),
        (
            {"user": "kestrel osprey merlin harrier buzzard kite hobby owl crow"},
            {"substance": 1.0},
        ),
        ({"files": ("a", "b"), "touched": ("b", "c")}, {"same_files": 0.5}),
        ({"files": ("b",), "touched": ("b", "c")}, {"same_files": 1.0}),
        ({"files": (), "touched": ("b", "c")}, {}),
        ({"exchanges": hours("10:20:00")}, {"effort": math.log1p(20)}),
        ({"exchanges": hours("11:00:00")}, {"effort": math.log1p(60)}),
        ({"exchanges": hours("11:01:00")}, {"effort": math.log1p(60)}),
        ({"exchanges": hours("09:50:00")}, {}),
        (
            {"exchanges": hours("10:40:00"), "at": "2026-03-01T10:30:00Z"},
            {"effort": math.log1p(30)},
        ),
        ({"exchanges": talk(), "at": "2026-03-01T10:30:00Z"}, {}),
        ({"answer": NAMES}, {"new_words": 1.0}),
        ({"answer": NAMES, "exchanges": talk(user="a kestrel")}, {"new_words": 0.75}),
        ({"answer": f"the {NAMES} and the", "exchanges": talk(user=NAMES)}, {}),
        (
            {
                "answer": f"kestrel {behind('merlin', 3986)}",
                "exchanges": talk(user="merlin"),
            },
            {"new_words": 0.5},
        ),
        (
            {
                "answer": f"kestrel {behind('merlin', 3987)}",
                "exchanges": talk(user="merlin"),
            },
            {"new_words": 1.0},
        ),
    ],
)
def test_each_part_of_the_evidence_is_read_by_itself(
    given: dict[str, Any], part: dict[str, float]
) -> None:
    assert found(**given) == QUIET._replace(**part)


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ("Shall I?", 1.0),
        ("好吗？", 1.0),
        ("I shall.", 0.0),
        ("?" + "." * 299, 1.0),
        ("?" + "." * 300, 0.0),
        ("", 0.0),
    ],
)
def test_a_question_waits_at_the_end_of_an_answer(answer: str, asked: float) -> None:
    assert found(exchanges=talk(answer)).asked == asked


@pytest.mark.parametrize(
    ("chars", "report"),
    [
        (0, 0.0),
        (1, math.log(2) / math.log(8001)),
        (400, math.log(401) / math.log(8001)),
        (7999, math.log(8000) / math.log(8001)),
        (8000, 1.0),
        (9000, 1.0),
    ],
)
def test_a_report_is_weighed_by_the_log_of_its_length(
    chars: int, report: float
) -> None:
    assert found(exchanges=talk("." * chars)).report == pytest.approx(report)


@pytest.mark.parametrize(
    ("earlier", "new_words"),
    [
        (talk(user=behind("kestrel", 1993)), 0.0),
        (talk(user=behind("kestrel", 1994)), 1.0),
        (talk(behind("kestrel", 19_993)), 0.0),
        (talk(behind("kestrel", 19_994)), 1.0),
        (talk(user="kestrel") + talk() * 15, 0.0),
        (talk(user="kestrel") + talk() * 16, 1.0),
    ],
)
def test_words_were_said_in_so_much_of_so_many_exchanges(
    earlier: list[dict[str, str]], new_words: float
) -> None:
    assert found(exchanges=earlier, answer="kestrel").new_words == new_words


@pytest.mark.parametrize(
    ("evidence", "score"),
    [
        (QUIET, -5.53),
        (QUIET._replace(subject=6.0), -4.15),
        (QUIET._replace(trouble=1.0), -4.69),
        (QUIET._replace(reacts=1.0), -6.16),
        (QUIET._replace(substance=1.0), -3.72),
        (QUIET._replace(same_files=1.0), -6.52),
        (QUIET._replace(effort=2.0), -4.53),
        (QUIET._replace(asked=1.0), -6.47),
        (QUIET._replace(new_words=1.0), -2.44),
        (QUIET._replace(report=1.0), -2.63),
        (TaskEvidence(6.0, 1.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0), 3.93),
    ],
)
def test_the_chance_is_the_logistic_of_the_weighed_parts(
    evidence: TaskEvidence, score: float
) -> None:
    assert chance(evidence) == pytest.approx(1 / (1 + math.exp(-score)))


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("", ""),
        ("fix it. Then push the rest", "fix it. Then push the rest"),
        ("fix the queue. Then push", "fix the queue"),
        ("fix the queue? Then push", "fix the queue"),
        ("fix the queue! Then push", "fix the queue"),
        ("fix the queue\nThen push", "fix the queue"),
        ("fix the queue.Then push", "fix the queue.Then push"),
        ("fix the queue... Then push", "fix the queue... Then push"),
        ("修复队列！然后推送", "修复队列"),
        ("修复队列？然后推送", "修复队列"),
        ("ok, thanks, fix the queue. Then push", "fix the queue"),
        ("ok. " * 100 + "fix the queue", "fix the queue"),
        ("ok. " * 124 + "fix the queue", "fix "),
        ("x" * 260, "x" * 250),
        (" " * 300 + "x" * 260, "x" * 250),
        ("ok, " + "x" * 260, "x" * 250),
    ],
)
def test_a_first_sentence_is_what_a_message_says_first(
    message: str, sentence: str
) -> None:
    assert first_sentence(message) == sentence


RUNS = "ka kb kc kd ke kf kg kh ki kj kk kl km"  # ten runs of four words


@pytest.mark.parametrize(
    ("message", "answers", "expected"),
    [
        ("ka kb kc kd", ["they are ka kb kc kd"], True),
        ("KA kb, kc: kd", ["They are: ka KB (kc) kd."], True),
        ("ka kb kc kd", ["something else", "ka kb kc kd"], True),
        ("ka kb kc", ["ka kb kc"], False),
        ("ka kb kc kd", ["ka kb kc", "kd"], False),
        ("ka kb kc kd", [], False),
        (RUNS, ["ka kb kc kd ke kf"], True),
        (RUNS, ["ka kb kc kd ke"], False),
        (behind("ka kb kc kd", 589), ["ka kb kc kd"], True),
        (behind("ka kb kc kd", 590), ["ka kb kc kd"], False),
        ("ka kb kc kd", [behind("ka kb kc kd", 19_989)], True),
        ("ka kb kc kd", [behind("ka kb kc kd", 19_990)], False),
    ],
)
def test_a_message_quotes_where_a_part_of_it_is_word_for_word_of_an_answer(
    message: str, answers: list[str], expected: bool
) -> None:
    assert quotes(message, answers) is expected


@pytest.mark.parametrize(
    ("earlier", "later", "minutes"),
    [
        ("2026-03-01T10:00:00Z", "2026-03-01T10:01:30Z", 1.5),
        ("2026-03-01T10:00:00Z", "2026-03-01T09:59:00Z", -1.0),
        ("2026-03-01T10:00:00+01:00", "2026-03-01T10:00:00Z", 60.0),
        ("2026-03-01T10:00:00", "2026-03-01T10:30:00", 30.0),
        ("", "2026-03-01T10:00:00Z", 0.0),
    ],
)
def test_minutes_lie_between_two_times(
    earlier: str, later: str, minutes: float
) -> None:
    assert minutes_between(earlier, later) == minutes
