"""What hosts send that no adapter knows: events and fields of payloads, counted by host and version
for ``keeplore doctor``. Names alone are kept.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from keeplore.connect.host_versions import installed_version
from keeplore_hooks import durable

FILE = "drift.json"  # in the state directory: host → version → name → how often
KNOWN = Path(__file__).with_name("payload_fields.toml")
MOST = 40  # names of one version
_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}", re.ASCII)

Counts = dict[str, dict[str, dict[str, int]]]


class PayloadDrift:
    """Counts fields and events of hosts that no adapter knows. For one thread.

    The file is written when a name is new, and each time its count has doubled: a field may come
    with every event.
    """

    def __init__(self, state: Path, environment: Mapping[str, str]) -> None:
        self._path = state / FILE
        self._environment = environment
        self._counts = counted(state)
        self._versions: dict[str, str] = {}

    def count(self, host: str, event: str, payload: bytes) -> None:
        """Count what is unknown in a payload. Raises OSError."""
        if unknown := unknown_in(host, event, payload):
            version = self._version_of(host)
            names = self._counts.setdefault(host, {}).setdefault(version, {})
            should_write = [_add(names, name) for name in unknown]
            if any(should_write):
                durable.write(self._path, json.dumps(self._counts).encode())

    def _version_of(self, host: str) -> str:
        if host not in self._versions:
            self._versions[host] = installed_version(host, self._environment)
        return self._versions[host]


def counted(state: Path) -> Counts:
    """How often each unknown name was seen on this machine: host → version → name → count; empty
    where the file cannot be read.
    """
    try:
        return {
            str(host): {
                str(version): {str(name): int(count) for name, count in names.items()}
                for version, names in versions.items()
            }
            for host, versions in json.loads((state / FILE).read_bytes()).items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def unknown_in(host: str, event: str, payload: bytes) -> list[str]:
    """The event where that is unknown, and the fields, as ``EVENT.FIELD``; nothing for a host that
    is not known so well.
    """
    known = _known_payloads().get(host)
    if known is None or not _NAME.fullmatch(event):
        return []
    if event not in known["events"]:
        return [event]
    try:
        data: Any = json.loads(payload)
    except (ValueError, RecursionError):
        return []
    fields = data if isinstance(data, dict) else {}
    return [
        f"{event}.{name}"
        for name in fields
        if name not in known["fields"] and _NAME.fullmatch(name)
    ]


@cache
def _known_payloads() -> Mapping[str, Mapping[str, frozenset[str]]]:
    return {
        host: {kind: frozenset(names) for kind, names in kinds.items()}
        for host, kinds in tomllib.loads(KNOWN.read_text(encoding="utf-8")).items()
    }


def _add(names: dict[str, int], name: str) -> bool:
    """Count it once more; returns whether that is worth writing down."""
    if name not in names and len(names) >= MOST:
        return False
    names[name] = names.get(name, 0) + 1
    return names[name].bit_count() == 1
