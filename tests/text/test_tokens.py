"""Words, stems and search terms of a text."""

from __future__ import annotations

import math

import pytest

from keeplore.text.query_terms import (
    MAX_EXTRA,
    MAX_TERMS,
    extra_tokens,
    query_terms,
    spoken_day,
    token_count,
)
from keeplore.text.terms import (
    is_foreign,
    is_identifier,
    is_prose,
    stems,
    terms,
    weighted,
    words,
)

SAID = "The userStore isn't in src/user_store.py 3.11, C++ and Bob's queues fail"


def test_the_words_of_a_text() -> None:
    assert words(SAID) == [
        "The", "userStore", "isn't", "in", "src/user_store.py", "3.11", "C++", "and",
        "Bob's", "queues", "fail",
    ]  # fmt: skip
    assert len(words("ab " * 10_000)) == 6667


def test_terms_are_stems_with_the_parts_of_identifiers() -> None:
    assert terms(SAID) == (
        "userstor", "user", "stor", "src/user_store.py", "src", "user", "stor", "3.11",
        "c++", "bob", "queu", "fail",
    )  # fmt: skip
    assert stems(SAID) == {
        "userstor",
        "src/user_store.py",
        "3.11",
        "c++",
        "bob",
        "queu",
        "fail",
    }
    assert terms("a I x 数据库") == ("数据", "据库")
    assert stems("a I x 数据库") == {"数据", "据库"}


@pytest.mark.parametrize(
    ("text", "prose", "foreign"),
    [
        ("We keep the ledger, because auditors ask for every state that ever was.", True, False),
        ("npm ERR", False, False),
        ("build failed again", True, False),
        ("error code ENOENT syscall open errno path package json npm install", False, False),
        ("我们使用向量数据库", True, True),
        ("数据库", False, True),
        ("用向量数据", False, True),
        ("用向量数据库", True, True),
        ("Wir nehmen das nicht mit auf", True, True),
        ("die one", True, False),
        ("", False, False),
    ],
)  # fmt: skip
def test_whether_a_text_is_prose_and_in_which_language(
    text: str, prose: bool, foreign: bool
) -> None:
    assert (is_prose(text), is_foreign(text)) == (prose, foreign)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("snake_case", True),
        ("camelCase", True),
        ("a.py", True),
        ("GPT5", True),
        ("a/b", True),
        ("DB", True),
        ("Word", False),
        ("word", False),
    ],
)
def test_what_only_code_or_a_name_is_written_like(word: str, expected: bool) -> None:
    assert is_identifier(word) is expected


def test_a_term_weighs_more_the_fewer_texts_have_it() -> None:
    one, other = weighted(["ledger ledger queue", "queue"])
    assert one == {
        "ledger": pytest.approx((1 + math.log(2)) * math.log(3)),
        "queu": pytest.approx(math.log(2)),
    }
    assert other == {"queu": pytest.approx(math.log(2))}
    assert weighted([]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("word", 1),
        ("words", 1.25),
        ("wonderful", 1.25),
        ("wonderfully", 2.2),
        ("12", 1),
        ("123", 2),
        ("12345", 3),
        ("a, b!", 4),
        ("数据", 2),
        ("x1", 2),
    ],
)
def test_tokens_are_counted_without_a_tokenizer(text: str, expected: float) -> None:
    assert token_count(text) == pytest.approx(expected)


def test_identifiers_are_taken_apart_for_the_index() -> None:
    assert extra_tokens("userStore, HTTPServer2, userStore and Plain snake_case") == (
        "user Store\nHTTP Server 2"
    )
    assert extra_tokens("向量库") == "向量 量库"
    many = " ".join(f"aB{n}" for n in range(MAX_EXTRA + 5))
    assert extra_tokens(many).count("\n") == MAX_EXTRA - 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "Why did we drop Redis for the outbox?",
            [("drop",), ("Redis",), ("outbox",)],
        ),
        ("when do we roll out", [("roll", "rollout")]),
        ("who may log in", [("log", "login")]),
        ("the plugin is in main", [("plugin", "plug in"), ("main",)]),
        ("the rollout", [("rollout", "roll out")]),
        ("the userStore, userstore", [("userStore", "user Store")]),
        ("what is it", [("what",), ("is",), ("it",)]),
        ("what did we discuss", [("discuss",)]),
        ("what did we discuss about pnpm", [("pnpm",)]),
        ("it’s src/a.py", [("src/a.py",)]),
        ("", []),
    ],
)
def test_the_telling_words_of_a_query(
    query: str, expected: list[tuple[str, ...]]
) -> None:
    assert query_terms(query) == expected


def test_a_long_query_is_looked_at_up_to_a_limit() -> None:
    many = " ".join(f"word{n}" for n in range(MAX_TERMS + 5))
    assert query_terms(many) == [(f"word{n}",) for n in range(MAX_TERMS)]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2023-07-03T10:00:00Z", "3 July 2023 Monday"),
        ("2026-12-31", "31 December 2026 Thursday"),
        ("2026-13-01", ""),
        ("", ""),
    ],
)
def test_a_day_as_people_write_it(at: str, expected: str) -> None:
    assert spoken_day(at) == expected
