"""Removing what this machine holds of purged memories outside of git: inbox, cursors,
caches, logs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from keeplore.memory import Memory
from keeplore.workspace.recording.cursors import Cursors
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.spool import Spool

WORDS_FROM = 12  # characters; a shorter line is looked for in no log, it would be found by chance
FOLDERS = ("memory", "projects", "user")


@dataclass(frozen=True, slots=True)
class PurgeTraces:
    """What tells the copies of memories: their ids, the sessions that they came from, their
    lines.
    """

    ids: tuple[str, ...]
    sessions: tuple[tuple[str, str], ...] = ()  # host, id
    words: tuple[str, ...] = ()


def traces_of(memories: Iterable[Memory]) -> PurgeTraces:
    """To be asked before the text is gone."""
    ids, sessions, words = [], [], []
    for memory in memories:
        ids.append(memory.id)
        host, session = (
            str(memory.source.get(key) or "") for key in ("host", "session")
        )
        sessions += [(host, session)] if session else []
        words += [memory.title, *(line.strip() for line in memory.body.splitlines())]
    return PurgeTraces(
        tuple(ids),
        tuple(dict.fromkeys(sessions)),
        tuple(w for w in words if len(w) >= WORDS_FROM),
    )


def erase_copies(workspace: Workspace, remains: PurgeTraces) -> None:
    """Remove every copy; can be done again. Raises IndexUnavailable or OSError.

    Raw events of the sessions go as a whole: what else they announced is read again from the host's
    own record.
    """
    places = workspace.places
    ids = [memory_id.encode() for memory_id in remains.ids]
    named = [*(session.encode() for _, session in remains.sessions), *ids]
    Spool(places.spool).discard(lambda payload: any(name in payload for name in named))
    _restart_sessions(workspace, remains)
    _remove_half_written(workspace.root, remains.ids)
    for folder in ("ingest", "uses"):
        _drop_naming(places.state / folder, ids)
    _empty_logs(places.state, [*(word.encode() for word in remains.words), *ids])
    workspace.index.scrub()


def _restart_sessions(workspace: Workspace, remains: PurgeTraces) -> None:
    sessions, cursors = workspace.sessions, Cursors(workspace.places.sessions)
    with sessions.locked():
        for host, session in remains.sessions:
            sessions.discard(host, session)
            cursors.restart(host, session)


def _remove_half_written(root: Path, ids: Collection[str]) -> None:
    """Files that a killed writer left beside those of the memories."""
    for folder in FOLDERS:
        for memory_id in ids:
            for left in (root / folder).rglob(f".*-{memory_id[4:12]}.md.*.tmp"):
                left.unlink(missing_ok=True)


def _drop_naming(folder: Path, ids: Collection[bytes]) -> None:
    """What became of sources whose documents are gone for good, with their titles; what sessions
    were told of them.
    """
    for file in folder.glob("*.json"):
        with contextlib.suppress(FileNotFoundError):
            if any(memory_id in file.read_bytes() for memory_id in ids):
                file.unlink()


def _empty_logs(state: Path, words: Collection[bytes]) -> None:
    """A log that names a memory or quotes it is emptied; the worker that has it open goes on
    writing.
    """
    for log in (*state.glob("*.log"), *state.glob("*.log.*")):
        with contextlib.suppress(FileNotFoundError):
            text = log.read_bytes()
            if any(word in text for word in words):
                os.truncate(log, 0)
