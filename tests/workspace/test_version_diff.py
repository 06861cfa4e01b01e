"""What differs between two versions of a memory."""

from __future__ import annotations

import pytest
from sample_note import note

from keeplore.workspace.reading.version_diff import (
    MAX_WORDS,
    FieldChange,
    TextPiece,
    fields_changed,
    text_changed,
)

OLD = note("Retries", "We retry five times.\n")


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    changed = text_changed(note("Retries", before), note("Retries", after))
    return [(piece.sign, piece.text) for piece in changed]


def test_the_fields_that_a_person_sees_are_compared() -> None:
    links = [
        {"relationship": "supersedes", "id": "mem_a"},
        {"relationship": "refines", "id": "mem_b"},
        "broken",
        {"relationship": "relates-to", "id": "mem_c"},
    ]
    new = OLD.with_meta(
        title="Five retries",
        category=None,
        scope="project",
        project="shop",
        permanent=True,
        trust="user",
        related=links,
        updated_at="2026-03-01T00:00:00Z",
    )
    assert fields_changed(OLD, new) == (
        FieldChange("title", "Retries", "Five retries"),
        FieldChange("category", "gotchas", ""),
        FieldChange("scope", "workspace", "project"),
        FieldChange("project", "", "shop"),
        FieldChange("permanent", "", "yes"),
        FieldChange("trust", "", "user"),
        FieldChange("related", "", "refines mem_b, relates-to mem_c"),
    )
    superseding = OLD.with_meta(related=links[:1], permanent="yes")
    assert fields_changed(OLD, superseding) == ()
    assert fields_changed(OLD, OLD.with_meta(related="broken")) == ()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("We retry.\n", "We retry.\n", []),
        (
            "We retry five times.\n",
            "We retry three times, then park.\n",
            [
                (" ", "We retry "),
                ("-", "five"),
                ("+", "three"),
                (" ", " "),
                ("-", "times."),
                ("+", "times, then park."),
            ],
        ),
        ("We retry. Always.\n", "We retry.\n", [(" ", "We retry."), ("-", " Always.")]),
        ("We retry.\n", "So we retry.\n", [("-", "We"), ("+", "So we"), (" ", " retry.")]),
    ],
)  # fmt: skip
def test_words_that_went_and_came(
    before: str, after: str, expected: list[tuple[str, str]]
) -> None:
    assert pieces(before, after) == expected


def test_a_long_text_is_compared_by_lines() -> None:
    lines = [f"line {n}\n" for n in range(MAX_WORDS // 8)]  # four pieces each, twice
    fits = "".join(lines[:-1])
    assert [sign for sign, _ in pieces(fits, f"{fits}more")] == [" ", "+"]
    with_old = "".join((*lines[:5], "old\n", *lines[5:]))
    assert pieces(with_old, "".join(("new\n", *lines))) == [
        ("+", "new\n"),
        ("-", "old\n"),
    ]


def test_a_piece_is_a_sign_and_its_text() -> None:
    assert text_changed(OLD, note("Retries", "We retry.\n"))[0] == TextPiece(" ", "We ")
