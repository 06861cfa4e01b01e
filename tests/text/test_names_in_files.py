"""Slugs, the names and scopes of agents, and ids of turns."""

from __future__ import annotations

import pytest

from keeplore.text.agent_scope import (
    agent_name,
    agent_of,
    is_agent_name,
    is_of_project,
    key_of,
    long_place,
    scope_meta,
    short_place,
)
from keeplore.text.slugs import slugify
from keeplore.text.turn_ids import matches_turn, short_turn, shown_turn

LONG = "every word of this title is a word of the name of its file until"
V4 = "3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
V7 = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Vectors are derived, text is the truth!", 60, "vectors-are-derived-text-is-the-truth"),
        (LONG, 60, "every-word-of-this-title-is-a-word-of-the-name-of-its-file"),
        (LONG, 10, "every-word"),
        (LONG, 9, "every"),
        ("abcdefghij", 4, "abcd"),
        ("Größe µ", 60, "grosse-m"),
        ("向量数据库", 60, "xiang-liang-shu-ju-ku"),
        ("Ångström Ⅳ", 60, "angstrom-iv"),
        ("CON", 60, "con-x"),
        ("com7", 60, "com7-x"),
        ("lpt9", 60, "lpt9-x"),
        ("com0", 60, "com0"),
        ("nul", 60, "nul-x"),
        ("?!", 60, "untitled"),
        ("", 60, "untitled"),
        ("\ud800 a", 60, "a"),
    ],
)  # fmt: skip
def test_a_slug_is_words_that_every_file_system_takes(
    text: str, limit: int, expected: str
) -> None:
    assert slugify(text, limit) == expected


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("Code  Reviewer!", "code-reviewer"),
        ("reviewer", "reviewer"),
        ("a" * 40, "a" * 40),
        ("a" * 41, f"{'a' * 31}-c0f8bd4d"),
        ("Prüferin", "pruferin-871a0cf3"),
        ("_-_", ""),
        (" ", ""),
    ],
)
def test_an_agent_has_one_name_whatever_a_host_calls_it(
    named: str, expected: str
) -> None:
    assert agent_name(named) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reviewer", True),
        ("code-reviewer-2", True),
        ("a" * 40, True),
        ("a" * 41, False),
        ("Reviewer", False),
        ("code--reviewer", False),
        ("-reviewer", False),
        ("reviewer-", False),
        ("reviewer\n", False),
        ("con", False),
        ("", False),
    ],
)
def test_the_name_of_an_agent_is_words_joined_by_dashes(
    text: str, expected: bool
) -> None:
    assert is_agent_name(text) is expected
    assert key_of(text) == (f"agent:{text}" if expected else "agent:")


@pytest.mark.parametrize(
    ("scope", "project", "facts"),
    [
        (
            "agent:reviewer",
            "shop",
            (
                "reviewer",
                True,
                {"scope": "agent", "project": "shop", "agent": "reviewer"},
                "shop/reviewer",
                "agent reviewer of shop",
            ),
        ),
        (
            "project",
            "shop",
            (
                "",
                True,
                {"scope": "project", "project": "shop", "agent": None},
                "shop",
                "project shop",
            ),
        ),
        (
            "user",
            "",
            (
                "",
                False,
                {"scope": "user", "project": None, "agent": None},
                "user",
                "user scope",
            ),
        ),
    ],
)
def test_where_a_memory_belongs(
    scope: str, project: str, facts: tuple[object, ...]
) -> None:
    assert facts == (
        agent_of(scope),
        is_of_project(scope),
        scope_meta(scope, project),
        short_place(scope, project),
        long_place(scope, project),
    )


@pytest.mark.parametrize(
    ("turn", "short", "shown"),
    [
        (V4, "3f0c9a2e", "3f0c9a2e"),
        (V4.replace("-4", "-5"), "3f0c9a2e", "3f0c9a2e"),
        (V7, V7, V7),
        ("codex:0123456789abcdef", "codex:0123456789abcdef", "01234567"),
        ("codex:0123", "codex:0123", "codex:0123"),
        ("turn-1", "turn-1", "turn-1"),
    ],
)
def test_a_turn_is_shown_by_what_tells_it_from_others(
    turn: str, short: str, shown: str
) -> None:
    assert (short_turn(turn), shown_turn(turn)) == (short, shown)
    assert matches_turn(turn, shown)
    assert matches_turn(turn, turn)
    assert not matches_turn(turn, "")
    assert not matches_turn(turn, "zz")
