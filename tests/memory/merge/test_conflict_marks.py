"""The versions that a merge by others left in one text."""

from __future__ import annotations

import pytest

from keeplore.memory.merge.conflict_marks import versions

LEFT, BASE, MIDDLE, RIGHT = (sign * 7 for sign in "<|=>")


def text(*lines: str) -> str:
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("a", "b"), None),
        (
            ("a", f"{LEFT} ours", "one", MIDDLE, "two", f"{RIGHT} theirs", "z"),
            (("a", "one", "z"), ("a", "two", "z")),
        ),
        (
            ("a", LEFT, "one", f"{BASE} base", "old", MIDDLE, "two", RIGHT, "z"),
            (("a", "one", "z"), ("a", "two", "z")),
        ),
        (
            (LEFT, "1", MIDDLE, "2", RIGHT, "m", LEFT, "3", MIDDLE, "4", RIGHT),
            (("1", "m", "3"), ("2", "m", "4")),
        ),
        ((LEFT, "same", MIDDLE, "same", RIGHT), (("same",),)),
        # longer marks around a conflict that was committed
        (
            (
                "<" * 9, LEFT, "1", MIDDLE, "2", RIGHT, "=" * 9, "3", ">" * 9,
            ),
            (("1",), ("2",), ("3",)),
        ),
        # marks of the same length, one conflict in another
        (
            (LEFT, "a", LEFT, "1", MIDDLE, "2", RIGHT, MIDDLE, "b", RIGHT),
            (("a", "1"), ("a", "2"), ("b",)),
        ),
        ((LEFT, "one", MIDDLE, "two"), None),
        ((LEFT, "one", RIGHT), None),
        ((MIDDLE, "heading above"), None),
        (("<" * 6, "one", "=" * 6, "two", ">" * 6), None),
        ((f"{LEFT}x", "one", MIDDLE, "two", RIGHT), None),
    ],
)  # fmt: skip
def test_the_sides_of_conflicts(
    lines: tuple[str, ...], expected: tuple[tuple[str, ...], ...] | None
) -> None:
    found = None if expected is None else tuple(text(*one) for one in expected)
    assert versions(text(*lines)) == found
    assert versions("\r\n".join(lines)) == found


@pytest.mark.parametrize(
    ("front", "first", "last"),
    [
        ("id: 1\ntitle: a\ntitle: b\n", "id: 1\ntitle: a\n", "id: 1\ntitle: b\n"),
        (
            "source:\n  host: a\nid: 1\nsource:\n  host: b\n",
            "source:\n  host: a\nid: 1\n",
            "source:\n  host: b\nid: 1\n",
        ),
    ],
)
def test_keys_that_stand_twice_are_two_versions(
    front: str, first: str, last: str
) -> None:
    assert versions(f"---\n{front}---\nbody: a\nbody: b\n") == (
        f"---\n{first}---\nbody: a\nbody: b\n",
        f"---\n{last}---\nbody: a\nbody: b\n",
    )


@pytest.mark.parametrize(
    "whole", ["---\nid: 1\ntitle: a\n---\nid: 1\nid: 2\n", "id: 1\nid: 2\n", ""]
)
def test_a_whole_text_has_no_versions(whole: str) -> None:
    assert versions(whole) is None
