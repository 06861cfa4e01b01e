"""Reading a Gemini CLI record from a cursor: a log of JSON lines, or before 2026 one JSON object
that is rewritten.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import Cursor, Recorded
from keeplore_hooks.hosts.gemini.gemini_messages import HOST, Messages
from keeplore_hooks.hosts.jsonl import text
from keeplore_hooks.hosts.turn_assembly import Assembler, Carry, Read

LOG, WHOLE = ".jsonl", ".json"
_WHOLE_LIMIT = jsonl.LINE_LIMIT  # bytes of a record that is one JSON object
_SMALL = 1 << 20  # bytes; of the files that tell which directory a record is about
_PATH_LIMIT = 4096  # bytes
_HEAD_LINES = 20  # in which a log says whose it is


@dataclass(frozen=True, slots=True)
class Source:
    """A record, and what is known of it from outside."""

    path: Path
    session: str
    cwd: str
    now: str  # stands in for the time of a record that has none


def read(source: Source, cursor: Cursor, stopped_at: str = "") -> Read:
    """The events behind the cursor; the last turn is complete when its last word came by
    ``stopped_at``.

    Raises OSError.
    """
    with jsonl.open_regular(source.path) as file:
        if source.path.suffix == WHOLE:
            return _read_whole(file, source, cursor, stopped_at)
        return _read_log(file, source, cursor, stopped_at)


def carry_of(cursor: Cursor) -> Carry:
    """What a cursor holds about the record; nothing where it is damaged."""
    try:
        return Carry.from_data(json.loads(cursor.pending)["carry"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Carry()


def session_of(path: Path) -> str:
    """The id that a record gives itself, the file's name where it gives none."""
    try:
        return _head(path)[0] or path.stem
    except OSError:
        return path.stem


def recorded(base: Path) -> Iterator[Recorded]:
    """The sessions under a configuration directory in the order of their paths, without those of
    subagents.
    """
    for path in sorted(base.glob("tmp/*/chats/session-*.json*")):
        # one that is resumed moves into a log; its old file stays behind
        if path.suffix not in (LOG, WHOLE) or (
            path.suffix == WHOLE and path.with_suffix(LOG).exists()
        ):
            continue
        try:
            session, started_at, is_subagent = _head(path)
            size = path.stat().st_size
        except OSError:
            continue  # it went away, or is no regular file
        if size and not is_subagent:
            yield Recorded(path, session or path.stem, directory_of(path), started_at, size)


def directory_of(path: Path) -> str:
    """The directory that a record under ``tmp/<project>/chats`` is about, ``""`` where nothing
    tells it.

    The project is a name with a file that says whose it is, or before 2026 the SHA-256 of the
    directory.
    """
    folder = path.parent.parent
    try:
        with jsonl.open_regular(folder / ".project_root") as file:
            return (
                jsonl.clean(file.read(_PATH_LIMIT).decode("utf-8", "replace"))
                .strip()
                .partition("\n")[0]
            )
    except OSError:
        pass
    base = folder.parent.parent
    known = jsonl.mapping(_small(base / "projects.json"), "projects")
    for directory, name in {**dict.fromkeys(_small(base / "trustedFolders.json")), **known}.items():
        if folder.name in (
            name,
            hashlib.sha256(directory.encode("utf-8", "surrogatepass")).hexdigest(),
        ):
            return jsonl.clean(directory)
    return ""


def _read_log(file: BinaryIO, source: Source, cursor: Cursor, stopped_at: str) -> Read:
    carry, offset, problems = carry_of(cursor), cursor.offset, jsonl.Problems()
    if not 0 <= offset <= carry.known or jsonl.fingerprint(file, offset) != cursor.fingerprint:
        carry, offset = Carry(), 0
    assembler = _assembler(source, carry)
    assembler.resume = offset
    messages = Messages(assembler, problems)
    known = carry.known
    for line in jsonl.read_lines(file, offset, problems, report_from=known):
        messages.take(line.data, line.start)
        known = max(known, line.end)
    if not messages.is_known and not offset and known > carry.known:
        problems.add(
            f"no line is of a form that is known here; a newer {HOST} may have written "
            f"{source.path.name}"
        )
    elif messages.has_unknown and known > carry.known:
        problems.add(
            f"records of a form that is not known here were left out; a newer {HOST} may have "
            f"written them"
        )
    if messages.is_subagent:
        return Read((), 0, jsonl.fingerprint(file, 0), Carry(known))
    assembler.finish(stopped_at)
    return Read(
        tuple(assembler.events),
        assembler.resume,
        jsonl.fingerprint(file, assembler.resume),
        assembler.carry(known, source.cwd),
        assembler.last(),
        problems.all() if known > carry.known else (),
    )


def _read_whole(file: BinaryIO, source: Source, cursor: Cursor, stopped_at: str) -> Read:
    carry, problems = carry_of(cursor), jsonl.Problems()
    raw = file.read(_WHOLE_LIMIT + 1)
    fingerprint = hashlib.sha256(raw).hexdigest()[:16]
    data = jsonl.load(raw) if len(raw) <= _WHOLE_LIMIT else None
    messages: Messages | None = None
    assembler = _assembler(source, Carry(began=carry.began, given=carry.given))
    if data is not None:
        messages = Messages(assembler, problems)
        messages.take(data, None)
    if len(raw) > _WHOLE_LIMIT:
        problems.add(f"the record is longer than {_WHOLE_LIMIT} bytes and was skipped")
    elif messages is None:
        problems.add("the record is no JSON object; it may be in the middle of being written")
    elif not messages.is_known:
        problems.add(
            f"the record is of no form that is known here; a newer {HOST} may have written it"
        )
    listed = problems.all() if fingerprint != cursor.fingerprint else ()
    if messages is None or messages.is_subagent:
        return Read((), 0, fingerprint, carry, problems=listed)
    assembler.finish(stopped_at)
    kept = assembler.carry(len(raw), source.cwd)
    return Read(tuple(assembler.events), 0, fingerprint, kept, assembler.last(), listed)


def _assembler(source: Source, carry: Carry) -> Assembler:
    return Assembler(
        Origin(HOST, source.session, source.cwd, "", str(source.path)), carry, source.now
    )


def _head(path: Path) -> tuple[str, str, bool]:
    """Session, start and whether it is a subagent's, from the first lines of a record. Raises
    OSError.
    """
    with jsonl.open_regular(path) as file:
        if path.suffix == WHOLE:
            heads = [jsonl.load(file.read(_WHOLE_LIMIT)) or {}]
        else:
            lines = jsonl.read_lines(file, 0, jsonl.Problems())
            heads = [line.data for line in itertools.islice(lines, _HEAD_LINES)]
    for head in heads:
        if session := text(head, "sessionId"):
            return session, jsonl.time(text(head, "startTime")), text(head, "kind") == "subagent"
    return "", "", False


def _small(path: Path) -> jsonl.Json:
    try:
        with jsonl.open_regular(path) as file:
            return jsonl.load(file.read(_SMALL)) or {}
    except OSError:
        return {}
