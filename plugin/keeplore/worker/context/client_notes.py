"""What clients leave for the worker where they told a session something, or nothing, without it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.client import brief_on_disk as disk
from keeplore.recall.render import ContextBlock
from keeplore_hooks.events import Origin
from keeplore_hooks.sender import sender


@dataclass(frozen=True, slots=True)
class GivenBrief:
    """What a session was given by its host's client, and why; with ``is_part`` more is due."""

    origin: Origin
    source: str
    told: ContextBlock
    is_part: bool


def take_given(state: Path) -> Iterator[GivenBrief]:
    """What sessions were given without the worker."""
    with contextlib.suppress(OSError):
        for path in sorted((state / disk.FOLDER / disk.GIVEN).iterdir()):
            data = path.read_bytes()
            path.unlink(missing_ok=True)
            with contextlib.suppress(ValueError, LookupError, TypeError):
                note = json.loads(data)
                payload = json.dumps(note["payload"]).encode()
                host, event = sender(note["host"], note["event"], payload)
                text, ids = note["told"]
                if origin := host.origin(event, payload):
                    source = str(note.get("source", note["payload"].get("source", "")))
                    block = ContextBlock(str(text), tuple(map(str, ids)))
                    yield GivenBrief(origin, source, block, bool(note.get("is_part")))


def take_owed(state: Path, host: str, payload: bytes) -> str | None:
    """The reason for the start of a session that was given no brief then; None for other
    sessions.
    """
    with contextlib.suppress(OSError):
        return disk.take_owed(str(state), host, payload)
    return None
