"""What is missing or wrong in a front matter, key by key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from keeplore.memory.model import CATEGORIES, KINDS, RELATIONSHIPS, SCHEMA, SCOPES, TRUST_LEVELS

NEEDED = ("id", "kind", "title", "created_at", "scope")
_CORRECT = "correct it, or take the line out"
SHOWN = 80  # characters of a wrong value
_ID = re.compile(r"mem_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
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


def faults(meta: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Key, message and remedy of each problem; the key may be missing."""
    for key in NEEDED:
        if key not in meta:
            yield key, f"`{key}` is missing", "add it"
    for key, allowed in _LISTS:
        if key in meta and meta[key] not in allowed:
            yield key, f"`{key}: {_shown(meta[key])}` is not one of {', '.join(allowed)}", _CORRECT
    if meta.get("scope") in ("project", "repo") and not meta.get("project"):
        yield "scope", "`scope: project` needs `project: NAME`", "add it"
    schema = meta.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema > SCHEMA:
        yield "schema", f"`schema: {_shown(schema)}` is newer than {SCHEMA}", "update keeplore"
    for key in ("id", "supersedes"):
        if key in meta and not is_sound_id(meta[key]):
            yield (
                key,
                f"`{key}: {_shown(meta[key])}` is no memory id",
                "write mem_ and a UUID in lower case",
            )
    for key in ("created_at", "updated_at"):
        if key in meta and not _is_moment(meta[key]):
            yield (
                key,
                f"`{key}: {_shown(meta[key])}` is no time",
                "write it as 2026-02-09T14:03:11Z",
            )
    yield from _related(meta.get("related", []))
    yield from _values(meta)


def is_sound_id(value: object) -> bool:
    return isinstance(value, str) and bool(_ID.fullmatch(value))


def _related(links: object) -> Iterator[tuple[str, str, str]]:
    for link in links if isinstance(links, list) else [links]:
        found = link if isinstance(link, dict) else {}
        if not is_sound_id(found.get("id")):
            yield "related", f"`related` holds {_shown(link)}", "write {id: mem_…, relationship: …}"
        elif found.get("relationship") not in RELATIONSHIPS:
            kind = found.get("relationship")
            yield (
                "related",
                f"`relationship: {_shown(kind)}` is not one of {', '.join(RELATIONSHIPS)}",
                _CORRECT,
            )


def _values(meta: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    if "permanent" in meta and not isinstance(meta["permanent"], bool):
        yield (
            "permanent",
            f"`permanent: {_shown(meta['permanent'])}` is neither true nor false",
            _CORRECT,
        )
    version, confidence = meta.get("version", 1), meta.get("confidence", 1)
    if not isinstance(version, int) or version < 1:
        yield "version", f"`version: {_shown(version)}` is no number from 1 on", _CORRECT
    if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        yield "confidence", f"`confidence: {_shown(confidence)}` is not between 0 and 1", _CORRECT


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return False
    if (
        _MOMENT.fullmatch(value) and value[5:7] <= "12"
    ):  # nearly every one, in a fraction of the time
        return True
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
