"""The numbers by which topics are told apart: each on both of its sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from keeplore.capture import segmenter
from keeplore.capture.follow_ups import (
    amends_proposal,
    echoes_reply,
    is_again,
    takes_up,
)
from keeplore.capture.segmenter import Segmenter, TopicShift, boundary, learned_shift
from keeplore.capture.text_tiling import compact
from keeplore.capture.topic_model import EmbeddedExchange
from keeplore_hooks.events import Origin, Turn, Work

FAR = TopicShift(0.0, 0.4, 0.2)
FIVE = "restyle invoice header brand colours"  # five words that say something
OPTION_C = "**Option C: a database for each customer**"


class TurningEmbedder:
    """Vectors by the first words of a text: the number there is the cosine with (1, 0)."""

    model = fingerprint = "turning:0:0"
    dim = 2
    floor = 0.5

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        cosines = [float(text.split()[0]) for text in texts]
        return np.array([(c, math.sqrt(1 - c * c)) for c in cosines])


def turn(user: str) -> Turn:
    return Turn("t", Origin("test", "one"), "2026-03-01T10:30:00Z", user, ())


def talk(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [
        {"id": str(n), "at": "2026-03-01T10:20:00Z", "user": user, "assistant": answer}
        for n, (user, answer) in enumerate(pairs)
    ]


def padded(words: str, chars: int, *, mark: str = ".") -> str:
    """Words that end at so many characters, behind a line that says nothing."""
    return mark * (chars - len(words) - 1) + " " + words


@pytest.mark.parametrize(
    ("count", "need"),
    [(0, 0.9), (1, 0.9), (2, 0.9), (3, 0.4), (8, 0.4), (9, 0.35), (40, 0.35)],
)
def test_by_rule_the_need_falls_with_the_number_of_exchanges(
    count: int, need: float
) -> None:
    exchanges = talk(*[("the queue loses jobs", "It leases them.")] * count)
    shifts = [
        Segmenter(None).shift_of(exchanges, turn(message), Work())
        for message in ("our login page is slow", "and that login page is slow")
    ]
    assert [(one.need, one.need_maybe) for one in shifts] == [
        (need, 0.2),
        (need + 0.2, 0.2),
    ]


@pytest.mark.parametrize(("chars", "why"), [(199_999, ""), (200_000, "size")])
def test_a_talk_is_full_at_a_number_of_characters(chars: int, why: str) -> None:
    exchanges = talk(("log", "x" * (chars - 7)), ("a", "yes"))
    assert boundary(exchanges, turn("how long is the lease"), FAR) == why


@pytest.mark.parametrize(("exchanges", "why"), [(99, ""), (100, "size")])
def test_a_talk_is_full_at_a_number_of_exchanges(exchanges: int, why: str) -> None:
    whole = talk(*[("a", "b")] * exchanges)
    assert boundary(whole, turn("how long is the lease"), FAR) == why


@pytest.mark.parametrize(
    ("message", "answer_chars", "need"),
    [
        (FIVE, 1, 0.4),
        (FIVE, 250, 0.375),
        (FIVE, 25_000, 0.35),
        (f"{FIVE} page", 25_000, 0.35),
        ("restyle invoice header brand", 25_000, 0.55),
        ("restyle invoice header", 25_000, 0.75),
        ("restyle invoice header", 1, 0.4),
        (f"and also {FIVE}", 25_000, 0.55),
        (f"and also {FIVE}", 1, 0.4),
        (f"of option C: {FIVE}", 25_000, 0.6),
        (f"of option C: {FIVE}", 1, 0.65),
    ],
)
def test_the_learned_need_is_mixed_of_that_in_a_chat_and_that_with_an_assistant(
    message: str, answer_chars: int, need: float
) -> None:
    units = [EmbeddedExchange("where do they lie?", OPTION_C, None)]
    units += [EmbeddedExchange("and why?", "x" * answer_chars, None)] * 7
    shift = learned_shift(0.2, [*units, EmbeddedExchange(message, "", None)])
    assert shift == pytest.approx(TopicShift(0.2, need, 0.25), abs=1e-5)


@pytest.mark.parametrize(("answer_chars", "need"), [(1, 0.4), (25_000, 0.7)])
def test_the_learned_need_is_higher_behind_a_single_answer_of_an_assistant(
    answer_chars: int, need: float
) -> None:
    units = [
        EmbeddedExchange("and why?", "x" * answer_chars, None),
        EmbeddedExchange(FIVE, "", None),
    ]
    assert learned_shift(0.2, units).need == pytest.approx(need, abs=1e-5)


@pytest.mark.parametrize(("chars", "is_read"), [(600, True), (601, False)])
def test_the_name_of_an_option_counts_in_the_head_of_a_message(
    chars: int, is_read: bool
) -> None:
    message = padded("why option C", chars, mark="?")
    assert (len(message), takes_up(message, [OPTION_C])) == (chars, is_read)


@pytest.mark.parametrize(("chars", "is_read"), [(600, True), (601, False)])
def test_the_number_of_a_point_counts_in_the_head_of_a_message(
    chars: int, is_read: bool
) -> None:
    message = "1. weekly\n" + padded("2. n", chars - 10) + "o"
    assert message[:chars].endswith(" 2. n")
    asked = "1. How often?\n2. Mails as well?\n\nThanks."
    assert takes_up(message, [asked]) is is_read


@pytest.mark.parametrize(("chars", "is_read"), [(300, True), (301, False)])
def test_a_change_of_what_was_proposed_counts_in_the_head_of_a_message(
    chars: int, is_read: bool
) -> None:
    message = "yes, " + padded("but 6", chars - 5)
    assert (len(message), amends_proposal(message)) == (chars, is_read)


@pytest.mark.parametrize(
    ("message", "reply", "expected"),
    [
        ("mattermost, channel alarms", "Shall mattermost get the alarms?", True),
        ("mattermost", "Shall mattermost get the alarms?", True),
        ("one two mattermost alarms five six", "mattermost alarms one", True),
        (
            "one two mattermost alarms five six x",
            "mattermost alarms one two five",
            False,
        ),
        ("mattermost, channel alarms, page, mail", "mattermost alarms", False),
        ("mattermost, channel alarms, page", "mattermost alarms", True),
        ("mattermost?", "mattermost", False),
        ("/mattermost", "mattermost", False),
        ("of it", "of it", False),
        ("mattermost", "mattermost" + "." * 3990, True),
        ("mattermost", "mattermost" + "." * 3991, False),
    ],
)
def test_few_words_half_of_which_are_of_the_reply_take_something_of_it(
    message: str, reply: str, expected: bool
) -> None:
    assert echoes_reply(message, reply) is expected


HEAD = "restyle the header of the invoice page in our brand colours "


@pytest.mark.parametrize(
    ("message", "before", "expected"),
    [
        ("fix the parser", "fix the parser", False),  # too short to say so
        ("fix the parsers", "fix the parsers", True),
        ("fix the parsers", "Fix  the\nparsers today", True),
        (HEAD + "today", HEAD + "tomorrow, and the footer", True),
        (HEAD[:59] + "x", HEAD[:59] + "x and more", True),
        (HEAD[:58] + "x", HEAD[:58] + "y", False),
        (HEAD[:59] + " x", HEAD[:59] + " y", True),
        (" " * 226 + HEAD, HEAD, False),
        (" " * 225 + HEAD, HEAD, True),
    ],
)
def test_a_message_is_the_one_before_again_by_its_head(
    message: str, before: str, expected: bool
) -> None:
    assert is_again(message, before) is is_again(before, message) is expected


@pytest.mark.parametrize(
    ("user", "assistant", "expected"),
    [
        ("why?", "Since.", "why?\nSince."),
        (" why\n\nso? ", "", "why so?"),
        ("", "", ""),
        ("a" * 401, "b" * 301, f"{'a' * 400}\n{'b' * 300}"),
        (" " * 401 + "a" * 400, "", "a" * 399),
        ("why?", "One. Two. Three. Four.", "why?\nOne. Two. Three."),
    ],
)
def test_the_heads_of_an_exchange_are_embedded(
    user: str, assistant: str, expected: str
) -> None:
    assert compact(user, assistant) == expected


FOUR = "invoice header brand colours"
QUEUE, LEASE, JOBS = (
    ("the queue", ""),
    ("the lease", ""),
    ("the jobs", ""),
)  # nothing in common
NEW, HALF_KNOWN, KNOWN = (
    0.25 / 0.35,
    -0.25 / 0.35,
    -0.75 / 0.35,
)  # a quarter of the words is usual


@pytest.mark.parametrize(
    ("said", "message", "size"),
    [
        ([], FOUR, 0.0),
        ([QUEUE], FOUR, NEW),
        ([("invoice", "")], FOUR, 0.0),
        ([("invoice", "Header.")], FOUR, HALF_KNOWN),
        ([("invoice header", "Brand colours.")], FOUR, KNOWN),
        # of less than three words it is told in part
        ([QUEUE], "invoice header", NEW * 4 / 9),
        ([QUEUE], "invoice", NEW / 9),
        ([QUEUE], "why", 0.0),
        ([QUEUE], "invoice header" + padded("qa", 400 - 14), NEW),
        ([QUEUE], "invoice header" + padded("qa", 401 - 14), NEW * 4 / 9),
        # heads alone are compared
        ([(padded("brand", 800), "Header.")], FOUR, HALF_KNOWN),
        ([(padded("brand", 801), "Header.")], FOUR, 0.0),
        ([("header", padded("brand", 1200))], FOUR, HALF_KNOWN),
        ([("header", padded("brand", 1201))], FOUR, 0.0),
        ([("brand", "")], "invoice header colours" + padded("brand", 800 - 22), 0.0),
        ([("brand", "")], "invoice header colours" + padded("brand", 801 - 22), NEW),
        # with the three exchanges before, where nothing was in common so far
        ([QUEUE, LEASE], FOUR, 1.5 / 7 / 0.35),
        ([("brand", ""), QUEUE, LEASE], FOUR, (1.5 / 8 - 0.25) / 0.35),
        ([("brand", ""), QUEUE, LEASE, JOBS], FOUR, 1.5 / 9 / 0.35),
        ([QUEUE, QUEUE], FOUR, 2.5 / 7 / 0.35),
    ],
)
def test_the_shift_by_words_is_how_far_it_lies_below_what_is_usual(
    said: list[tuple[str, str]], message: str, size: float
) -> None:
    shift = Segmenter(None).shift_of(talk(*said), turn(message), Work())
    assert shift.size == pytest.approx(size, abs=1e-6)


@pytest.mark.parametrize(
    ("said", "cosine", "size"),
    [
        # 0.6 is usual above a floor of 0.5
        (["1.0"], 0.6, 0.0),
        (["1.0"], 0.3, 2.0),
        (["1.0"], 0.9, -2.0),
        # the last one counts and the nearest
        (["0.0", "1.0"], 0.6, (3.6 / 7 - 0.7) / 0.15),
        (["1.0", "0.0"], 0.6, (3.6 / 7 - 0.8) / 0.15),
        (["0.6", "1.0", "1.0", "1.0"], 0.6, (6.2 / 9 - 0.6) / 0.15),
    ],
)
def test_the_shift_is_half_of_it_by_words_and_half_by_vectors(
    said: list[str], cosine: float, size: float
) -> None:
    exchanges = talk(*((text, "") for text in said))
    message = turn(f"{cosine} {FOUR}")
    by_words = Segmenter(None).shift_of(exchanges, message, Work()).size
    shift = Segmenter(TurningEmbedder()).shift_of(exchanges, message, Work())
    assert shift.size == pytest.approx((by_words + size) / 2, abs=1e-6)


def test_so_many_vectors_are_kept() -> None:
    embedder = TurningEmbedder()
    cutter = Segmenter(embedder)
    for n in (*range(segmenter.CACHED), 1, 0):
        cutter.shift_of(talk(("1.0", "")), turn(f"0.5 {n}"), Work())
    texts = ["1.0", *(f"0.5 {n}" for n in range(512))]
    assert embedder.asked == [*texts, "0.5 0"]
