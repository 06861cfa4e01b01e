"""Two changed versions of ``keeplore.yaml`` as one, key by key: never a conflict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from keeplore.config.settings import FILE, MAX_FILE
from keeplore.config.settings_yaml import parsed_yaml
from keeplore.config.yaml_edit import with_key, without_key
from keeplore.memory.merge.line_merge import merge_by_lines, merge_lists

SETTINGS = FILE  # at the top of the workspace
_MISSING: Any = object()
_UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError, yaml.YAMLError)


def merge_settings(base: bytes | None, one: bytes, other: bytes) -> bytes:
    """The two versions as one, the same whichever comes first. Of a key that both set differently
    the value of the larger text; a side that cannot be read gives way.
    """
    by_rank = sorted((one, other), key=lambda side: (_values(side) is not None, side))
    return join_settings(base, *by_rank)


def join_settings(base: bytes | None, loser: bytes, winner: bytes) -> bytes:
    """The text of ``winner`` with what ``loser`` changed since ``base``; as it is where one of them
    cannot be read, unless that is its own text and not new. Never raises.
    """
    said, lost = _values(winner), _values(loser)
    if said is None or lost is None:
        return loser if said is None and winner == base else winner
    was = _values(base or b"") or {}
    joined = {
        key: value
        for key in dict.fromkeys((*said, *lost))
        if (value := _joined_value(key, was, lost, said)) is not _MISSING
    }
    before = base.decode() if base is not None else None
    by_lines = merge_by_lines(before, loser.decode(), winner.decode())
    if not by_lines.is_clash and _values(by_lines.text.encode()) == joined:
        return by_lines.text.encode()
    return _written_text(winner.decode(), said, joined).encode()


def _values(text: bytes) -> dict[str, Any] | None:
    """The settings by key, ``section.name``; None for a text that is not settings."""
    try:
        if len(text) > MAX_FILE:
            return None
        text.decode()
        return {
            name: value
            for key, part in (parsed_yaml(text) or {}).items()
            for name, value in _dotted_items(key, part)
        }
    except _UNREADABLE:
        return None


def _dotted_items(key: str, part: Any) -> list[tuple[str, Any]]:
    """The keys of a section, or the one key."""
    if isinstance(part, dict):
        return [(f"{key}.{name}", value) for name, value in part.items()]
    return [(str(key), part)]


def _joined_value(
    key: str,
    base: Mapping[str, Any],
    lost: Mapping[str, Any],
    values: Mapping[str, Any],
) -> Any:
    """What a key says after the merge; _MISSING for one that a side took out."""
    was, mine, theirs = (side.get(key, _MISSING) for side in (base, lost, values))
    if mine in (was, theirs):
        return theirs
    if theirs == was:
        return mine
    if isinstance(mine, list) and isinstance(theirs, list):
        return merge_lists(was if isinstance(was, list) else [], mine, theirs)
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return {**mine, **theirs}
    return mine if theirs is _MISSING else theirs


def _written_text(
    text: str, values: Mapping[str, Any], joined: Mapping[str, Any]
) -> str:
    """The text with the joined values; where its form is unusual, a new one without comments."""
    try:
        for key in values.keys() - joined.keys():
            text = without_key(text, key)
        for key, value in joined.items():
            if values.get(key, _MISSING) != value:
                text = with_key(text, key, value)
    except _UNREADABLE:
        return _to_yaml(joined)
    return text


def _to_yaml(values: Mapping[str, Any]) -> str:
    data: dict[str, Any] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (data.setdefault(section, {}) if section else data)[name] = value
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
