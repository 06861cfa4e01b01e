"""Reading a Gemini CLI record from a cursor: a log of JSON lines, or before 2026 one JSON object
that is rewritten.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import Cursor, Recorded, recorded_at
from keeplore_hooks.hosts.gemini.gemini_messages import HOST, GeminiTurnReader
from keeplore_hooks.hosts.jsonl import (
    HEAD_LINES,
    Json,
    JsonLine,
    Problems,
    clean,
    load,
    mapping,
    open_regular,
    read_heads,
    record_path,
    text,
    utc_time,
)
from keeplore_hooks.hosts.record_reading import read_log
from keeplore_hooks.hosts.turn_assembly import (
    Record,
    RecordReading,
    ResumeState,
    resume_state_of,
)

LOG, WHOLE = ".jsonl", ".json"
_WHOLE_LIMIT = jsonl.LINE_LIMIT  # bytes of a record that is one JSON object
_SMALL = 1 << 20  # bytes; of the files that tell which directory a record is about
_PATH_LIMIT = 4096  # bytes


def read(record: Record, cursor: Cursor) -> RecordReading:
    """The events behind the cursor. Raises OSError."""
    with open_regular(record.path) as file:
        if record.path.suffix == WHOLE:
            return _read_whole(file, record, cursor)
        reading, reader = read_log(file, record, cursor, GeminiTurnReader)
        if not reader.is_subagent:
            return reading
        known = ResumeState(reading.resume_state.known)
        return RecordReading((), 0, jsonl.fingerprint(file, 0), known)


def session_of(path: Path) -> str:
    """The id that a record gives itself, the file's name where it gives none."""
    with contextlib.suppress(OSError):
        return text(_head_of_record(path), "sessionId") or path.stem
    return path.stem


def latest_record(name: str, session: str) -> str:
    """The record in which a session goes on, of those that lie beside the one of this name: the
    host begins a new one whenever it starts, and writes on in the old one.
    """
    path = record_path(name, LOG)
    if path is None:
        return name
    with contextlib.suppress(OSError):
        logs = path.parent.glob(f"session-*-{glob.escape(session[:8])}{LOG}")
        sizes = {other.stat().st_size: other for other in logs}
        return str(sizes[max(sizes)]) if sizes else name
    return name


def recorded(base: Path) -> Iterator[Recorded]:
    """The sessions under a configuration directory in the order of their paths, without those of
    subagents.
    """
    return recorded_at(
        sorted(base.glob("tmp/*/chats/session-*.json*")), _recorded_session
    )


def _recorded_session(path: Path) -> Recorded | None:
    # one that is resumed moves into a log; its old file stays behind
    is_outdated = path.suffix == WHOLE and path.with_suffix(LOG).exists()
    if path.suffix not in (LOG, WHOLE) or is_outdated:
        return None
    head = _head_of_record(path)
    if text(head, "kind") == "subagent" or _is_empty(path):
        return None
    session, started_at = text(head, "sessionId"), utc_time(text(head, "startTime"))
    size = path.stat().st_size
    return Recorded(path, session or path.stem, directory_of(path), started_at, size)


def directory_of(path: Path) -> str:
    """The directory that a record under ``tmp/<project>/chats`` is about, ``""`` where nothing
    tells it.

    The project is a name with a file that says whose it is, or before 2026 the SHA-256 of the
    directory.
    """
    folder = path.parent.parent
    with contextlib.suppress(OSError), open_regular(folder / ".project_root") as file:
        words = file.read(_PATH_LIMIT).decode("utf-8", "replace")
        return clean(words).strip().partition("\n")[0]
    base = folder.parent.parent
    trusted = dict.fromkeys(_small_file(base / "trustedFolders.json"))
    known = mapping(_small_file(base / "projects.json"), "projects")
    for directory, name in (trusted | known).items():
        digest = hashlib.sha256(directory.encode("utf-8", "surrogatepass")).hexdigest()
        if folder.name in (name, digest):
            return clean(directory)
    return ""


def _read_whole(file: BinaryIO, record: Record, cursor: Cursor) -> RecordReading:
    problems = Problems()
    raw = file.read(_WHOLE_LIMIT + 1)
    fingerprint = hashlib.sha256(raw).hexdigest()[:16]
    reader = GeminiTurnReader(record, cursor, problems, is_whole=True)
    data = load(raw) if len(raw) <= _WHOLE_LIMIT else None
    if data is not None:
        reader.take(JsonLine(data, 0, len(raw)))
    if len(raw) > _WHOLE_LIMIT:
        problems.add(f"the record is longer than {_WHOLE_LIMIT} bytes and was skipped")
    elif data is None:
        problems.add(
            "the record is no JSON object; it may be in the middle of being written"
        )
    elif not reader.is_known:
        problems.add_unknown("the record is of no form that is known here", HOST)
    listed = problems.all() if fingerprint != cursor.fingerprint else ()
    if data is None or reader.is_subagent:
        return RecordReading(
            (), 0, fingerprint, resume_state_of(cursor), problems=listed
        )
    reader.finish(record.stopped_at)
    return reader.reading(len(raw), fingerprint, listed)


def _is_empty(path: Path) -> bool:
    """Has nobody said anything yet? A session that goes on in an old record leaves an empty new
    one. Raises OSError.
    """
    if path.suffix == WHOLE:
        return False
    with open_regular(path) as file:
        heads = read_heads(file)
    return len(heads) < HEAD_LINES and not any(text(head, "type") for head in heads)


def _head_of_record(path: Path) -> Json:
    """The first object of a record that says whose it is, an empty one for none. Raises OSError."""
    with open_regular(path) as file:
        is_whole = path.suffix == WHOLE
        heads = [load(file.read(_WHOLE_LIMIT)) or {}] if is_whole else read_heads(file)
    return next((head for head in heads if text(head, "sessionId")), {})


def _small_file(path: Path) -> Json:
    with contextlib.suppress(OSError), open_regular(path) as file:
        return load(file.read(_SMALL)) or {}
    return {}
