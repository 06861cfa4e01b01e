"""Removing what this machine holds of purged memories outside of git: inbox, cursors,
caches, logs.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.memory import Memory
from keeplore.memory.names import short_id
from keeplore.text.slugs import slugify
from keeplore.workspace.brief_maker import drop as drop_briefs
from keeplore.workspace.recording.cursors import Cursors
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.spool import Spool

WORDS_FROM = 12  # characters; a shorter line is looked for in no log, it would be found by chance
_SENTENCE = re.compile(r"(?:> )?[\w“\"'(`][^|]{29,}")  # no heading, no label, no row
FOLDERS = ("memory", "projects", "user")


@dataclass(frozen=True, slots=True)
class PurgeTraces:
    """What tells the copies of memories: their ids, the sessions that they came from, their
    lines. ``telling`` are those by which a text is known: titles, as words and as parts of a file's
    name, and sentences.
    """

    ids: tuple[str, ...]
    sessions: tuple[tuple[str, str], ...]  # host, id
    words: tuple[str, ...]
    telling: tuple[str, ...] = ()


def traces_of(memories: Iterable[Memory]) -> PurgeTraces:
    """What tells that these memories were here: their ids, sessions and words. To be asked before
    the text is gone.
    """
    ids, sessions, words, telling = [], [], [], []
    for memory in memories:
        ids.append(memory.id)
        host, session = map(memory.source_text, ("host", "session"))
        sessions += [(host, session)] if session else []
        lines = [line.strip() for line in memory.body.splitlines()]
        words += [memory.title, slugify(memory.title), *lines]
        sentences = (line for line in lines if _SENTENCE.match(line))
        telling += [memory.title, slugify(memory.title), *sentences]
    return PurgeTraces(
        tuple(ids),
        tuple(dict.fromkeys(sessions)),
        tuple(filter(_is_long, words)),
        tuple(dict.fromkeys(filter(_is_long, telling))),
    )


def _is_long(word: str) -> bool:
    return len(word) >= WORDS_FROM


def erase_copies(workspace: Workspace, remains: PurgeTraces) -> tuple[Path, ...]:
    """Remove every copy; can be done again. Returns the files of this machine that hold such words
    all the same. Raises IndexUnavailable or OSError.

    Raw events of the sessions go as a whole: what else they announced is read again from the host's
    own record.
    """
    places = workspace.places
    ids = [memory_id.encode() for memory_id in remains.ids]
    drop_briefs(places)
    named = [*(session.encode() for _, session in remains.sessions), *ids]
    Spool(places.spool).discard(lambda payload: any(name in payload for name in named))
    _restart_sessions(workspace, remains)
    _remove_half_written(workspace.root, remains.ids)
    for folder in ("ingest", "uses"):
        _drop_naming(places.state / folder, ids)
    words = [*(word.encode() for word in remains.words), *ids]
    _empty_logs(places.state, words)
    for place in (places.cache / "machines", places.state / "sync"):
        _drop_naming(place, words)
    workspace.index.scrub()
    return tuple(
        _files_with_words(workspace, [word.encode() for word in remains.telling])
    )


def _files_with_words(workspace: Workspace, words: Collection[bytes]) -> Iterator[Path]:
    """Files of this machine with one of the words, but for git's objects, which are packed."""
    places, objects = workspace.places, workspace.root / ".git" / "objects"
    for folder in (workspace.root, places.state, places.cache):
        for place, below, names in os.walk(folder):
            below[:] = [
                n for n in below if Path(place, n) not in (objects, places.models)
            ]
            for file in (Path(place, name) for name in names):
                with contextlib.suppress(OSError):
                    data = file.read_bytes() if file.is_file() else b""
                    if any(word in data for word in words):
                        yield file


def _restart_sessions(workspace: Workspace, remains: PurgeTraces) -> None:
    sessions, cursors = workspace.sessions, Cursors(workspace.places.sessions)
    with sessions.locked():
        for host, session in remains.sessions:
            sessions.discard(host, session)
            cursors.restart(host, session)


def _remove_half_written(root: Path, ids: Collection[str]) -> None:
    """Remove files that a killed writer left beside those of the memories."""
    for folder in FOLDERS:
        for memory_id in ids:
            for left in (root / folder).rglob(f".*-{short_id(memory_id)}.md.*.tmp"):
                left.unlink(missing_ok=True)


def _drop_naming(folder: Path, ids: Collection[bytes]) -> None:
    """Remove records of sources whose documents are gone for good, and of what sessions were told
    of the memories.
    """
    for file in folder.glob("*.json"):
        with contextlib.suppress(FileNotFoundError):
            if any(memory_id in file.read_bytes() for memory_id in ids):
                file.unlink()


def _empty_logs(state: Path, words: Collection[bytes]) -> None:
    """Empty each log that names a memory or quotes it; the worker that has it open goes
    on writing.
    """
    for log in (*state.glob("*.log"), *state.glob("*.log.*")):
        with contextlib.suppress(FileNotFoundError):
            text = log.read_bytes()
            if any(word in text for word in words):
                os.truncate(log, 0)
