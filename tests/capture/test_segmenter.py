"""Where one topic ends and the next begins, asked online."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from example_count import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore.capture import segmenter
from keeplore.capture.follow_ups import is_confirmation, takes_up
from keeplore.capture.segmenter import Segmenter, TopicShift, boundary
from keeplore.capture.task_change import TaskEvidence
from keeplore.errors import ModelUnavailable
from keeplore_hooks.events import Origin, Turn, Work

HERE = Origin("test", "one")


class LetterEmbedder:
    """Vectors by the letters of a text: alike texts are near, and nothing is loaded."""

    model = "letters"
    fingerprint = "letters:0:0"
    dim = 26
    floor = 0.75

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += len(texts)
        rows = np.array(
            [
                [t.lower().count(c) + 1e-3 for c in string.ascii_lowercase]
                for t in texts
            ],
            dtype=np.float32,
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class BrokenEmbedder(LetterEmbedder):
    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += 1
        raise ModelUnavailable("the model file is gone", "Run `keeplore doctor`")


def turn(user: str, assistant: str = "", at: str = "2026-03-01T10:30:00Z") -> Turn:
    return Turn("t", HERE, at, user, (assistant,) if assistant else ())


def talk(
    *pairs: tuple[str, str], at: str = "2026-03-01T10:20:00Z"
) -> list[dict[str, str]]:
    return [
        {"id": str(n), "at": at, "user": user, "assistant": answer}
        for n, (user, answer) in enumerate(pairs)
    ]


QUEUE = talk(
    (
        "the worker queue loses jobs when redis restarts",
        "Redis keeps the job queue in memory, so a restart drops jobs.",
    ),
    (
        "could the queue live in postgres instead of redis?",
        "Yes: a jobs table with SKIP LOCKED works as a queue.",
    ),
    (
        "how would workers lease jobs from that table?",
        "Each worker leases one job row with a deadline.",
    ),
    (
        "and when a worker dies, who takes back its job?",
        "The lease expires and the next worker takes the job row.",
    ),
)


@pytest.mark.parametrize(
    "message",
    [
        "yes",
        "Yes.",
        "go on",
        "do it",
        "1",
        "ok, continue",
        "A",
        "thanks!",
        "y",
        "lgtm",
        "👍",
    ],
)
def test_a_short_confirmation_never_opens_a_topic(message: str) -> None:
    assert is_confirmation(message)
    assert (
        boundary(
            QUEUE * 20,
            turn(message, at="2026-03-09T10:00:00Z"),
            shift=TopicShift(9.0, 0.4, 0.2),
        )
        == ""
    )


@pytest.mark.parametrize(
    "message",
    ["yes, but use sqlite", "go on with the login page", "fix it in parser.py", "why"],
)
def test_a_message_with_a_point_of_its_own_is_no_confirmation(message: str) -> None:
    assert not is_confirmation(message)


def test_a_confirmation_has_less_than_eighty_characters() -> None:
    just = "yes " * 19 + "yes"
    assert (len(just), is_confirmation(just), is_confirmation(f"{just}.")) == (
        79,
        True,
        False,
    )


def test_nothing_is_a_boundary_before_the_first_exchange() -> None:
    assert (
        boundary([], turn("next task: the login page"), shift=TopicShift(2.0, 0.4, 0.2))
        == ""
    )


def test_a_long_pause_is_a_boundary_whatever_the_words() -> None:
    assert (
        boundary(
            QUEUE,
            turn("the queue again", at="2026-03-01T12:20:00Z"),
            shift=TopicShift(-1.0, 0.4, 0.2),
        )
        == "pause"
    )
    assert (
        boundary(
            QUEUE,
            turn("the queue again", at="2026-03-01T12:19:00Z"),
            shift=TopicShift(-1.0, 0.4, 0.2),
        )
        == ""
    )


def test_after_an_hour_half_a_shift_is_a_boundary() -> None:
    later, sooner = (
        turn("our login page", at=f"2026-03-01T11:{minute}:00Z")
        for minute in ("20", "19")
    )
    assert boundary(QUEUE, later, shift=TopicShift(0.2, 0.4, 0.2)) == "pause"
    assert boundary(QUEUE, later, shift=TopicShift(0.1, 0.4, 0.2)) == ""
    assert boundary(QUEUE, sooner, shift=TopicShift(0.2, 0.4, 0.2)) == ""


@pytest.mark.parametrize(
    "message",
    [
        "and when a worker dies, who takes back its job?",
        "And when a worker dies, who  takes back its job? After how many seconds?",
    ],
)
def test_an_interrupted_message_that_is_sent_again_opens_no_topic(message: str) -> None:
    assert boundary(QUEUE, turn(message), shift=TopicShift(2.0, 0.4, 0.2)) == ""
    assert (
        boundary(QUEUE, turn("and who is paged?"), shift=TopicShift(2.0, 0.4, 0.2))
        == "shift"
    )


def test_words_that_begin_alike_are_another_message() -> None:
    before = talk(("go", "Done."), ("fix the parser", "Done."))
    assert (
        boundary(before[:1], turn("google sign-in"), shift=TopicShift(2.0, 0.4, 0.2))
        == "shift"
    )
    assert (
        boundary(before, turn("fix the printer"), shift=TopicShift(2.0, 0.4, 0.2))
        == "shift"
    )


def test_the_pause_counts_from_the_end_of_the_answer() -> None:
    busy = [*QUEUE[:-1], {**QUEUE[-1], "ended_at": "2026-03-01T12:00:00Z"}]
    assert (
        boundary(
            busy,
            turn("the queue again", at="2026-03-01T12:30:00Z"),
            shift=TopicShift(0.0, 0.4, 0.2),
        )
        == ""
    )


@pytest.mark.parametrize("at", ["", "yesterday", "2026-03-01", "2026-03-01T11:20:00"])
def test_a_time_that_cannot_be_compared_is_no_pause(at: str) -> None:
    assert (
        boundary(
            QUEUE, turn("how long is the lease", at=at), shift=TopicShift(0.0, 0.4, 0.2)
        )
        == ""
    )


@pytest.mark.parametrize(
    "message",
    [
        "ok, next: the login page",
        "Next task: rate limits",
        "moving on to the billing screen",
        "different topic: how do we name branches?",
        "new task. the export is slow",
        "Great, thanks! On to the next one",
        "Implement the following plan:\n\n# Plan: exports",
    ],
)
def test_words_that_open_a_subject_are_a_boundary(message: str) -> None:
    assert boundary(QUEUE, turn(message), shift=TopicShift(0.0, 0.4, 0.2)) == "words"


@pytest.mark.parametrize(
    "message",
    [
        "what happens in the next step of the lease?",
        "the job after that is a different topic for the broker",
        "is the new task row visible to other workers?",
        "so the next worker takes it",
    ],
)
def test_such_words_inside_a_sentence_are_none(message: str) -> None:
    assert boundary(QUEUE, turn(message), shift=TopicShift(0.1, 0.4, 0.2)) == ""


def test_words_that_may_open_a_subject_need_some_shift() -> None:
    message = turn("now let's work on the login page")
    assert boundary(QUEUE, message, shift=TopicShift(0.3, 0.4, 0.2)) == "words"
    assert boundary(QUEUE, message, shift=TopicShift(0.0, 0.4, 0.2)) == ""


def test_carrying_out_what_was_talked_about_goes_on() -> None:
    message = turn("ok, let's build this")
    assert boundary(QUEUE, message, shift=TopicShift(0.0, 0.4, 0.2)) == ""


BUSY = TaskEvidence(0.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.5)


def test_where_an_agent_works_a_reply_never_opens_a_topic() -> None:
    asked = [*QUEUE[:-1], {**QUEUE[-1], "assistant": "Done. Shall I push it?"}]
    sure = TopicShift(1.0, 0.3, 0.3, BUSY)
    message = turn("the export of invoices crashes on the second page")
    assert boundary(asked, message, shift=sure) == ""
    assert boundary(QUEUE, message, shift=sure) == "shift"
    assert boundary(asked, turn("next task: the export"), shift=sure) == "words"
    later = turn(message.user, at="2026-03-01T11:20:00Z")
    assert boundary(asked, later, shift=sure) == "shift"


def test_where_an_agent_works_a_pick_by_number_never_opens_a_topic() -> None:
    sure = TopicShift(1.0, 0.3, 0.3, BUSY)
    for message in ("address 41", "fix 2 and 3, please", "1. Yes, the table. 2. No"):
        assert boundary(QUEUE, turn(message), shift=sure) == "", message
    assert boundary(QUEUE, turn("10 invoices are lost"), shift=sure) == "shift"


def test_where_an_agent_works_silence_is_no_boundary() -> None:
    later = turn("and the queue's table?", at="2026-03-03T11:20:00Z")
    assert boundary(QUEUE, later, shift=TopicShift(0.29, 0.3, 0.3, BUSY)) == ""


def test_by_rule_a_young_conversation_needs_a_stronger_shift_than_an_old_one() -> None:
    needs = [
        Segmenter(None).shift_of(QUEUE * n, turn("our login page is slow"), Work()).need
        for n in (1, 3)
    ]
    assert (
        Segmenter(None).shift_of(QUEUE[:1], turn("our login page is slow"), Work()).need
        > needs[0]
        > needs[1]
    )


def test_by_rule_a_message_that_takes_up_what_was_said_needs_more() -> None:
    cutter = Segmenter(None)
    plain, taken_up = (
        cutter.shift_of(QUEUE, turn(f"{start} login page is slow"), Work())
        for start in ("the", "and that")
    )
    assert taken_up.need > plain.need


@pytest.mark.parametrize(
    "message",
    [
        "commit please, then push and open a PR",
        "Can we submit a PR?",
        "ok, please make a new pull request",
    ],
)
def test_handing_in_the_work_needs_more(message: str) -> None:
    cutter = Segmenter(None)
    assert (
        cutter.shift_of(QUEUE, turn(message), Work()).need
        > cutter.shift_of(QUEUE, turn("review the PR page"), Work()).need
    )


def test_a_file_does_not_grow_without_end() -> None:
    assert (
        boundary(
            QUEUE * 25, turn("how long is the lease"), shift=TopicShift(0.0, 0.4, 0.2)
        )
        == "size"
    )
    shorter = QUEUE * 24
    question = turn("how long is the lease")
    assert boundary(shorter, question, shift=TopicShift(0.0, 0.4, 0.2)) == ""
    assert boundary(QUEUE * 25, turn("yes"), shift=TopicShift(0.0, 0.4, 0.2)) == ""
    assert boundary(QUEUE * 50, turn("yes"), shift=TopicShift(0.0, 0.4, 0.2)) == "size"
    huge = talk(("log", "x" * segmenter.MAX_SIZE))
    assert (
        boundary(huge, turn("how long is the lease"), shift=TopicShift(0.0, 0.4, 0.2))
        == "size"
    )


@pytest.mark.parametrize("embedder", [None, LetterEmbedder()])
def test_the_shift_is_larger_for_another_subject(
    embedder: LetterEmbedder | None,
) -> None:
    cutter = Segmenter(embedder)
    same = cutter.shift_of(
        QUEUE,
        turn(
            "does the job lease in the postgres queue need a heartbeat from the worker?"
        ),
        Work(),
    )
    other = cutter.shift_of(
        QUEUE,
        turn("My CSS grid puffs up buggy fuzzy gifs: fix glyph padding, why huh?"),
        Work(),
    )
    assert other.size > 0.4 > same.size


def test_without_a_model_another_subject_is_still_found() -> None:
    cutter = Segmenter(None)
    assert (
        cutter.keeplore_segment(
            QUEUE,
            turn("Please restyle the invoice page header with our brand colours"),
            Work(),
        )
        == "shift"
    )
    assert (
        cutter.keeplore_segment(
            QUEUE,
            turn("should a dead worker lose the lease on its job at once?"),
            Work(),
        )
        == ""
    )


def test_a_message_of_few_words_says_too_little_to_be_measured() -> None:
    cutter = Segmenter(None)
    assert cutter.shift_of(QUEUE, turn("hm"), Work()).size == 0.0
    assert cutter.shift_of(QUEUE, turn("why mauve"), Work()).size < 0.4


def test_a_model_that_fails_is_not_asked_again() -> None:
    broken = BrokenEmbedder()
    cutter = Segmenter(broken)
    expected = Segmenter(None).shift_of(
        QUEUE, turn("restyle the invoice page header"), Work()
    )
    assert expected == cutter.shift_of(
        QUEUE, turn("restyle the invoice page header"), Work()
    )
    cutter.shift_of(QUEUE, turn("restyle the footer"), Work())
    assert broken.asked == 1


def test_each_text_is_embedded_once() -> None:
    embedder = LetterEmbedder()
    cutter = Segmenter(embedder)
    cutter.shift_of(QUEUE, turn("one question about leases"), Work())
    before = embedder.asked
    cutter.shift_of(QUEUE, turn("another question about leases"), Work())
    assert before + 1 == embedder.asked


def test_the_kept_embeddings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmenter, "CACHED", 3)
    cutter = Segmenter(LetterEmbedder())
    cutter.shift_of(QUEUE, turn("one question about leases"), Work())
    assert len(cutter._vectors) == 3


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=80), st.text(max_size=200)), max_size=6),
    st.text(max_size=200),
    st.text(max_size=25),
)
def test_any_text_gets_an_answer_and_always_the_same(
    pairs: list[tuple[str, str]], message: str, at: str
) -> None:
    exchanges = talk(*pairs)
    answers = {
        Segmenter(LetterEmbedder()).keeplore_segment(
            exchanges, turn(message, at=at), Work()
        )
        for _ in range(2)
    }
    assert len(answers) == 1
    assert answers <= {"", "pause", "words", "shift", "size"}


@pytest.mark.parametrize(
    ("message", "reply", "expected"),
    [
        (
            "What worries me about C is drift",
            "**Option C: a database for each customer**",
            True,
        ),
        ("about point 4: billing needs a copy", "1. a column\n4. Reports break.", True),
        ("1 yes. 2 not sure", "1. A queue?\n2. How many workers?", True),
        ("1. weekly\n2. no", "1. How often?\n2. Mails as well?\n\nThanks.", True),
        ("1 yes. 2 not sure", "1. I added a queue.\n2. I added workers.", False),
        ("2 pages print twice", "1. How often?\n2. Mails as well?", False),
        ("the bucket in Frankfurt", "Where should the backups go?", True),
        ("please, as a short page", "Shall I write this up?", True),
        ("please write the invoice page", "It is written.", False),
        ("what about C and its headers?", "The loader is written in Go.", False),
        (
            "restyle the invoice page",
            "**Option C: a database for each customer**",
            False,
        ),
    ],
)
def test_a_message_that_names_an_option_or_accepts_an_offer_goes_on(
    message: str, reply: str, expected: bool
) -> None:
    assert takes_up(message, [reply]) is expected
