"""What is missing or wrong in a front matter, key by key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from keeplore.memory.model import (
    CATEGORIES,
    KINDS,
    RELATIONSHIPS,
    SCHEMA,
    SCOPES,
    TRUST_LEVELS,
)
from keeplore.memory.names import is_id
from keeplore.text.agent_scope import is_agent_name

NEEDED = ("id", "kind", "title", "created_at", "scope")
_CORRECT = "correct it, or take the line out"
SHOWN = 80  # characters of a wrong value
Fault = tuple[str, str, str]  # key, message, remedy
_MOMENT = re.compile(r"(?a:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")
_LISTS = (
    ("kind", KINDS),
    ("scope", (*SCOPES, "repo")),
    ("category", CATEGORIES),
    ("trust", TRUST_LEVELS),
)


def problems_of(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """What is missing or wrong in a front matter, each with its remedy; empty for a sound one."""
    return tuple(f"{said}; {remedy}" for _, said, remedy in faults(meta))


def faults(meta: Mapping[str, Any]) -> Iterator[Fault]:
    """Key, message and remedy of each problem; the key may be missing."""
    for key in NEEDED:
        if key not in meta:
            yield key, f"`{key}` is missing", "add it"
    yield from _unlisted_faults(meta)
    yield from _missing_name_faults(meta)
    yield from _malformed(meta, _FORMS)
    yield from _related_faults(meta.get("related", []))
    yield from _malformed(meta, _VALUES)


def _unlisted_faults(meta: Mapping[str, Any]) -> Iterator[Fault]:
    """The values that are none of a closed set."""
    for key, allowed in _LISTS:
        if key in meta and meta[key] not in allowed:
            yield (
                key,
                f"{_key_and_value(key, meta)} is not one of {', '.join(allowed)}",
                _CORRECT,
            )


def _missing_name_faults(meta: Mapping[str, Any]) -> Iterator[Fault]:
    """What a scope lacks: its project, its agent."""
    scope = meta.get("scope")
    of_project = scope in ("project", "repo", "agent")
    if of_project and not _is_text(meta.get("project")):
        said = "agent" if scope == "agent" else "project"
        yield "scope", f"`scope: {said}` needs `project: NAME`", "add it"
    if scope == "agent" and not is_agent_name(str(meta.get("agent") or "")):
        said = "`scope: agent` needs `agent: NAME`, in lower-case letters, digits and dashes"
        yield "agent", said, "add it"


def _malformed(meta: Mapping[str, Any], forms: Mapping[str, Form]) -> Iterator[Fault]:
    for key, (is_sound, fault, remedy) in forms.items():
        if key in meta and not is_sound(meta[key]):
            yield key, f"{_key_and_value(key, meta)} {fault}", remedy


def is_sound_id(value: object) -> bool:
    """Whether it is the id of a memory."""
    return isinstance(value, str) and is_id(value)


def _related_faults(links: object) -> Iterator[Fault]:
    for link in links if isinstance(links, list) else [links]:
        found = link if isinstance(link, dict) else {}
        if not is_sound_id(found.get("id")):
            yield (
                "related",
                f"`related` holds {_value_start(link)}",
                "write {id: mem_…, relationship: …}",
            )
        elif (kind := found.get("relationship")) not in RELATIONSHIPS:
            said = f"`relationship: {_value_start(kind)}` is not one of {', '.join(RELATIONSHIPS)}"
            yield "related", said, _CORRECT


def _key_and_value(key: str, meta: Mapping[str, Any]) -> str:
    """Key and value as they stand in the file."""
    return f"`{key}: {_value_start(meta[key])}`"


def _value_start(value: object) -> str:
    """The beginning of a value."""
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return False
    # nearly every one, in a fraction of the time
    if _MOMENT.fullmatch(value) and value[5:7] <= "12":
        return True
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_known_schema(value: object) -> bool:
    return isinstance(value, int) and value <= SCHEMA


def _is_version(value: object) -> bool:
    return isinstance(value, int) and value >= 1


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


# a check, what is said where it fails, the remedy
Form = tuple[Callable[[object], bool], str, str]
_AS_TEXT: Form = (_is_text, "is no text", "write it in quotes")
_AS_ID: Form = (is_sound_id, "is no memory id", "write mem_ and a UUID in lower case")
_AS_TIME: Form = (_is_moment, "is no time", "write it as 2026-02-09T14:03:11Z")
_FORMS: Mapping[str, Form] = {
    "schema": (_is_known_schema, f"is newer than {SCHEMA}", "update keeplore"),
    "id": _AS_ID,
    "title": _AS_TEXT,
    "supersedes": _AS_ID,
    "created_at": _AS_TIME,
    "updated_at": _AS_TIME,
}
_VALUES: Mapping[str, Form] = {
    "permanent": (_is_bool, "is neither true nor false", _CORRECT),
    "version": (_is_version, "is no number from 1 on", _CORRECT),
    "confidence": (_is_share, "is not between 0 and 1", _CORRECT),
}
