"""An item of a key-value store as a note: its words for people and for search, and the very value
below as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from keeplore.errors import StoreError
from keeplore.memory import Memory
from keeplore.memory.model import without_empty
from keeplore.memory.note import NoteDraft, statement_of
from keeplore.redact import is_secret_id
from keeplore.redact.field_redaction import FieldRedaction
from keeplore.text.fences import sanitise

HOST = "langgraph"
SEPARATOR = "."  # no label of a namespace may hold it
TRUST = "assistant"  # a program says so, whatever it has it from
_OPEN, _CLOSE = "```json\n", "\n```"
_UNUSUAL = re.compile(r"[^ -~]")  # every character but plain ones
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, other: bool(value == other),
    "$ne": lambda value, other: bool(value != other),
    "$gt": lambda value, other: bool(value > other),
    "$gte": lambda value, other: bool(value >= other),
    "$lt": lambda value, other: bool(value < other),
    "$lte": lambda value, other: bool(value <= other),
}


@dataclass(frozen=True, slots=True)
class Value:
    namespace: tuple[str, ...]
    key: str
    content: dict[str, Any]
    created_at: str  # RFC 3339, UTC: of the first version


def draft_of(
    value: Value, redact: Callable[[str], str], *, scope: str, project: str, id_: str
) -> NoteDraft:
    """The note of a value. Raises StoreError for a name with line breaks, TypeError for what JSON
    cannot hold.
    """
    name = SEPARATOR.join(value.namespace)
    if not name.isprintable():
        raise StoreError(
            f"{name!r} cannot be the name of a namespace",
            "Use letters, digits and signs",
        )
    if any(is_secret_id(label) for label in (*value.namespace, value.key)):
        raise StoreError(
            "A secret is the name of an item or of its namespace",
            "Name it for what it holds",
        )
    content = FieldRedaction(words=redact, id=str).content(value.content)
    block = _block(replace(value, content=content))
    words = "\n".join(_leaf_lines(content)) or value.key
    has_words = any(map(str.isalnum, words))
    return NoteDraft(
        f"{words}\n\n{block}",
        title=words.split("\n", 1)[0][:80] if has_words else f"{name} {value.key}",
        scope=scope,
        project=project,
        trust=TRUST,
        source={"host": HOST, "session": name},
        id=id_,
    )


def _block(value: Value) -> str:
    data = {
        "namespace": value.namespace,
        "key": value.key,
        "value": value.content,
        "since": value.created_at,
    }
    return f"{_OPEN}{_escaped_json(json.dumps(data, ensure_ascii=False))}{_CLOSE}"


def value_of(memory: Memory) -> Value | None:
    """What ``draft_of`` was given, without its secrets; None where a person has removed the
    JSON.
    """
    return _last_value(memory.body)


def memory_value(memory: Memory, trust: str, passage: str = "") -> dict[str, Any]:
    """A memory that no store wrote, as a value; ``trust`` is how far it is believed here.

    ``passage`` stands for its whole text.
    """
    text = passage or (statement_of(memory) if memory.kind == "note" else memory.body)
    kept = {
        "title": memory.title,
        "text": text,
        "kind": memory.kind,
        "category": memory.category,
    }
    return {**without_empty(kept), "trust": trust}


def is_fitting(content: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value has what a filter asks for: equal fields, or fields that compare as an
    operator says.
    """
    return all(
        _matches_condition(content.get(key), condition)
        for key, condition in wanted.items()
    )


def _matches_condition(value: Any, condition: Any) -> bool:
    if not (
        isinstance(condition, dict)
        and condition
        and all(str(key).startswith("$") for key in condition)
    ):
        return bool(value == condition)
    unknown = condition.keys() - _COMPARED.keys()
    if unknown:
        raise ValueError(
            f"{min(unknown)} is no operator of a filter; use one of {', '.join(_COMPARED)}"
        )
    try:
        return all(_COMPARED[key](value, other) for key, other in condition.items())
    except TypeError:  # a text is not more than a number, nor is what is missing
        return False


def _last_value(text: str) -> Value | None:
    """The value whose block stands last in a text; None where there is none, or it is damaged."""
    _, opened, rest = text.rpartition(_OPEN)
    try:
        data = json.loads(rest.partition(_CLOSE)[0]) if opened else {}
        return Value(
            tuple(map(str, data["namespace"])),
            str(data["key"]),
            dict(data["value"]),
            str(data["since"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _escaped_json(text: str) -> str:
    """JSON in which every character that would not survive in a memory, or is not seen, is written
    as an escape.
    """
    return _UNUSUAL.sub(
        lambda found: found[0] if _is_safe(found[0]) else json.dumps(found[0])[1:-1],
        text,
    )


def _is_safe(character: str) -> bool:
    return character.isprintable() and sanitise(character) == character


def _leaf_lines(content: Any, name: str = "") -> Iterator[str]:
    """The leaves of a value, one a line, each with its name; a text alone needs none."""
    if isinstance(content, dict):
        is_alone = not name and len(content) == 1
        for key, inner in content.items():
            yield from _leaf_lines(
                inner, "" if is_alone else f"{name}.{key}" if name else str(key)
            )
    elif isinstance(content, list):
        for inner in content:
            yield from _leaf_lines(inner, name)
    elif content is not None and content != "":
        yield f"{name}: {content}" if name else str(content)
