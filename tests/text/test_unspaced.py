"""Scripts without spaces are compared by pairs of letters, in what is written and what is asked."""

from __future__ import annotations

import unicodedata

import pytest

from keeplore.text.query_terms import extra_tokens, query_terms
from keeplore.text.unspaced import (
    attached_words,
    distinctive_pairs,
    distinctive_parts,
    pairs,
    runs,
    without_runs,
    word_count,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain ASCII, no runs", []),
        ("用Redis做队列。", ["用", "做队列"]),
        ("キューは db7 です", ["キューは", "です"]),
        ("데이터베이스를 옮겼다", ["데이터베이스를", "옮겼다"]),
        # vowels and tones above and below are marks, and stand in no pair
        ("ที่เก็บ", ["ทเกบ"]),
        ("straße naïve привет", []),
    ],
)
def test_runs_are_the_stretches_without_spaces(text: str, found: list[str]) -> None:
    assert runs(text) == found


def test_decomposed_letters_are_the_same_as_composed_ones() -> None:
    for text in ("データベース", "데이터베이스"):
        decomposed = unicodedata.normalize("NFD", text)
        assert decomposed != text
        assert runs(decomposed) == runs(text)
        assert without_runs(f"a {decomposed} b") == "a   b"


def test_a_single_letter_is_a_pair_of_its_own() -> None:
    assert pairs("队") == ["队"]
    assert pairs("做队列") == ["做队", "队列"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("为什么不用 Redis 做队列？", ["不用", "做队列"]),
        ("订单什么时候取消？", ["订单", "取消"]),
        ("注文を取り消すにはどうしますか？", ["注文", "取", "消"]),
        ("캐시 키에는 무엇을 넣어야 하나요?", ["캐시", "넣어"]),
        ("webhook에서 주문을 취소하려면 어떻게 하나요?", ["주문", "취소"]),
        # without marks, as runs are
        ("ทำไมแคชช้า", ["แคชชา"]),
        # all it has
        ("是什么？", ["是什么"]),
        # about nothing
        ("继续", []),
        ("続けて", []),
        ("고마워요", []),
        ("ขอบคุณ", []),
    ],
)
def test_a_question_is_asked_by_what_it_is_about(
    question: str, parts: list[str]
) -> None:
    assert distinctive_parts(question) == parts


def test_a_question_is_looked_up_by_the_pairs_of_its_parts() -> None:
    assert distinctive_pairs("为什么不用 Redis 做队列？") == ["不用", "做队", "队列"]
    assert query_terms("用Redis做队列") == [("Redis",), ("用",), ("做队",), ("队列",)]


def test_two_letters_count_as_a_word() -> None:
    assert word_count("用 Redis 做队列") == 1 + 1 + 2
    assert word_count("three plain words") == 3


def test_what_is_written_onto_such_a_run_is_indexed_as_a_word() -> None:
    assert extra_tokens("用Redis做队列v2，redis 不变").split("\n") == [
        "用",
        "做队 队列",
        "不变",
        "Redis",
        "v2",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("用Redis做队列", ["Redis"]),
        ("Redis做 db7は", ["Redis", "db7"]),
        ("用Redis_db做 naïve做 ß 用", ["Redis", "db", "naïve"]),
        ("plain words", []),
        ("straße naïve привет", []),
    ],
)
def test_words_that_no_space_parts_from_such_writing_are_found(
    text: str, found: list[str]
) -> None:
    assert attached_words(text) == found


def test_a_word_of_a_million_letters_is_looked_at_once() -> None:
    long = "x" * 1_000_000
    assert attached_words(f"用 {long} {long}做") == [long]
