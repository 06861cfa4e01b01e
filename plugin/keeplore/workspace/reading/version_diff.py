"""What differs between two versions of a memory: fields, and the words of what it states."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from keeplore.memory import Memory
from keeplore.memory.note import statement_of

SHOWN_FIELDS = (
    "title",
    "kind",
    "category",
    "scope",
    "project",
    "permanent",
    "trust",
    "related",
)
MAX_WORDS = 2_000  # of both texts; comparing takes time with their product
_WORD = re.compile(r"\s+|[^\s]+")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that is "" before was added, after was removed."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of a text, which stayed (``sign`` is " "), went ("-") or came ("+")."""

    sign: str
    text: str


def fields_changed(old: Memory, new: Memory) -> tuple[FieldChange, ...]:
    """The fields that a person sees; links to earlier versions are no change."""
    before, after = _fields(old), _fields(new)
    return tuple(
        FieldChange(field, before[field], after[field])
        for field in SHOWN_FIELDS
        if before[field] != after[field]
    )


def text_changed(old: Memory, new: Memory) -> tuple[TextPiece, ...]:
    """The statement of the newer one with what went and what came; empty where it says the same.

    A long text is compared by lines, and only those that differ are given.
    """
    before, after = statement_of(old), statement_of(new)
    if before == after:
        return ()
    words, others = _WORD.findall(before), _WORD.findall(after)
    if len(words) + len(others) <= MAX_WORDS:
        return tuple(_diff_pieces(words, others))
    lines, rest = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return tuple(
        TextPiece(line[0], line[1:])
        for line in difflib.unified_diff(lines, rest, n=0)
        if not line.startswith(("---", "+++", "@@"))
    )


def _diff_pieces(before: list[str], after: list[str]) -> Iterator[TextPiece]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            yield TextPiece(" ", "".join(before[start:end]))
            continue
        if start < end:
            yield TextPiece("-", "".join(before[start:end]))
        if new_start < new_end:
            yield TextPiece("+", "".join(after[new_start:new_end]))


def _fields(memory: Memory) -> dict[str, str]:
    return {field: _field_text(field, memory.meta.get(field)) for field in SHOWN_FIELDS}


def _field_text(field: str, value: Any) -> str:
    if field == "permanent":
        return "yes" if value is True else ""
    if field == "related":
        links = value if isinstance(value, list) else []
        lines = (
            f"{link.get('relationship')} {link.get('id')}"
            for link in links
            if isinstance(link, dict)
        )
        return ", ".join(line for line in lines if not line.startswith("supersedes "))
    return "" if value is None else str(value)
