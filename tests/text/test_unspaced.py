"""Scripts without spaces are compared by pairs of letters, in what is written and what is asked."""

from __future__ import annotations

import unicodedata

import pytest

from keeplore.text.query_terms import extra_tokens, query_terms
from keeplore.text.unspaced import pairs, runs, telling_pairs, without_runs


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


def test_a_question_is_asked_by_what_it_is_about() -> None:
    assert telling_pairs("为什么不用 Redis 做队列？") == ["不用", "做队", "队列"]
    assert telling_pairs("キューは何ですか？") == ["キュ", "ュー"]
    assert telling_pairs("是什么？") == ["是什", "什么"]  # all it has
    assert query_terms("用Redis做队列") == [("Redis",), ("用",), ("做队",), ("队列",)]


def test_what_is_written_onto_such_a_run_is_indexed_as_a_word() -> None:
    assert extra_tokens("用Redis做队列v2，redis 不变").split("\n") == [
        "用",
        "做队 队列",
        "不变",
        "Redis",
        "v2",
    ]
