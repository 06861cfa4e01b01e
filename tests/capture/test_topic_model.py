"""The learned shift of subject: what it weighs, and for which vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.capture import segmenter, topic_model
from keeplore.capture.segmenter import Segmenter
from keeplore.capture.topic_model import EmbeddedExchange
from keeplore.index import embedder_for
from keeplore_hooks.events import Origin, Turn, Work

QUEUE = (
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
)
OTHER = (
    "please restyle the invoice page header with our brand colours",
    "The header now uses the brand palette.",
)
SAME = (
    "should a dead worker lose the lease on its queue job at once?",
    "No: the job row's lease runs out by itself.",
)


def unit(user: str, assistant: str, seed: int = 0) -> EmbeddedExchange:
    vector = np.random.default_rng(seed).normal(size=topic_model.DIM).astype(np.float32)
    return EmbeddedExchange(user, assistant, vector / np.linalg.norm(vector))


def said(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [
        {"id": str(n), "at": "", "user": user, "assistant": answer}
        for n, (user, answer) in enumerate(pairs)
    ]


@pytest.fixture
def packaged(tmp_path: Path) -> Any:
    return embedder_for("packaged", tmp_path)


def test_the_packaged_weights_hold_for_the_packaged_embedding_model(
    packaged: Any,
) -> None:
    assert packaged.fingerprint == topic_model.FITTED_FOR
    model = topic_model.model_for(packaged.fingerprint)
    assert model is not None
    units = [unit(*pair, seed) for seed, pair in enumerate([*QUEUE, OTHER])]
    assert len(model.weights) == len(topic_model.features(units)) + 1
    assert topic_model.WEIGHTS.stat().st_size < 20_000


def test_vectors_of_another_model_are_not_judged_by_them() -> None:
    assert topic_model.model_for("another:0:256") is None


@pytest.mark.parametrize(
    "content",
    [b"", b"no numbers", b"0.5\n" * 3, b"\xff\xfe", b"nan\n" * 1216],
    ids=["empty", "words", "short", "binary", "not a number"],
)
def test_weights_that_are_not_as_they_were_built_are_not_used(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "topics.txt"
    path.write_bytes(content)
    monkeypatch.setattr(topic_model, "WEIGHTS", path)
    assert topic_model.model_for(topic_model.FITTED_FOR) is None
    monkeypatch.setattr(topic_model, "WEIGHTS", tmp_path / "missing.txt")
    assert topic_model.model_for(topic_model.FITTED_FOR) is None


def test_another_subject_is_likelier_to_open_a_topic(packaged: Any) -> None:
    cutter = Segmenter(packaged)
    # as long as an assistant answers
    exchanges = said(
        *((user, f"{answer} {answer.lower()} " * 3) for user, answer in QUEUE)
    )
    same, other = (
        cutter.shift_of(exchanges, Turn("t", Origin("test", ""), "", u, (a,)), Work())
        for u, a in (SAME, OTHER)
    )
    assert other.size >= other.need
    assert same.size < same.need
    assert segmenter.LIKELY_ASSISTED <= same.need <= segmenter.LIKELY
    assert same.need_maybe == segmenter.LIKELY_MAYBE


def test_a_few_words_to_an_assistant_open_a_topic_only_where_that_is_nearly_sure(
    packaged: Any,
) -> None:
    cutter = Segmenter(packaged)
    exchanges = said(
        *((user, f"{answer} {answer.lower()} " * 3) for user, answer in QUEUE)
    )
    needs = [
        cutter.shift_of(
            exchanges, Turn("t", Origin("test", ""), "", user, (OTHER[1] * 4,)), Work()
        ).need
        for user in (
            "I use brave",
            "restyle the invoice header",
            "restyle the invoice page header with brand colours",
        )
    ]
    assert needs[0] > needs[1] > needs[2]
    assert needs[2] <= segmenter.LIKELY


def test_a_single_exchange_with_an_assistant_is_left_only_for_what_is_nearly_sure() -> (
    None
):
    units = [
        unit(user, answer * 30, seed)
        for seed, (user, answer) in enumerate([*QUEUE, OTHER])
    ]
    few, one = (
        segmenter.learned_shift(0.5, units),
        segmenter.learned_shift(0.5, units[-2:]),
    )
    assert one.need == pytest.approx(few.need + segmenter.ALONE, abs=0.02)


@pytest.mark.parametrize("opening", ["And also:", "Go on and", "Of option B:"])
def test_a_message_that_takes_up_what_was_said_needs_more_to_open_a_topic(
    opening: str,
) -> None:
    before = [
        unit(user, f"{answer} Option A is Kafka, option B is Redis. " * 9, seed)
        for seed, (user, answer) in enumerate(QUEUE)
    ]
    taken_up, fresh = (
        segmenter.learned_shift(0.5, [*before, unit(message, OTHER[1] * 30, 9)]).need
        for message in (f"{opening} {OTHER[0]}", OTHER[0])
    )
    assert taken_up > fresh + 0.1


def test_a_name_that_was_met_before_holds_a_topic_together() -> None:
    before = [unit(user, answer * 4, seed) for seed, (user, answer) in enumerate(QUEUE)]
    model = topic_model.model_for(topic_model.FITTED_FOR)
    assert model is not None
    again, fresh = (
        model.chance(
            [
                *before,
                unit(
                    f"what does {name} cost us each month in total?",
                    f"{name} costs little. " * 20,
                    9,
                ),
            ]
        )
        for name in ("postgres", "terraform")
    )
    assert again < fresh


def test_what_was_said_counts_only_where_people_chat() -> None:
    chat = [
        unit("do you like jazz?", "I love it", 1),
        unit("my dog is ill", "oh no", 2),
    ]
    work = [
        EmbeddedExchange(u.user, "An answer of an assistant. " * 60, u.vector)
        for u in chat
    ]
    assert topic_model.assistant_likeness(chat) < 0.01
    assert topic_model.assistant_likeness(work) > 0.99
    content = slice(2 * topic_model.SCALARS + 1, None)
    assert (
        np.abs(topic_model.features(chat)[content]).max()
        > 10 * np.abs(topic_model.features(work)[content]).max()
    )


def test_only_so_much_of_a_long_conversation_is_looked_at() -> None:
    units = [unit(f"message {n}", "answer", n) for n in range(topic_model.SPAN + 6)]
    assert (
        topic_model.features(units)
        == topic_model.features(units[-topic_model.SPAN - 1 :])
    ).all()


@given(
    st.lists(
        st.tuples(st.text(max_size=60), st.text(max_size=200)), min_size=2, max_size=5
    )
)
def test_any_text_has_a_probability(pairs: list[tuple[str, str]]) -> None:
    model = topic_model.model_for(topic_model.FITTED_FOR)
    assert model is not None
    units = [unit(*pair, seed) for seed, pair in enumerate(pairs)]
    assert topic_model.features(units).shape == (
        2 * topic_model.SCALARS + 1 + 3 * topic_model.DIM,
    )
    assert 0.0 < model.chance(units) < 1.0
