"""Line-wise reading of a JSON file that another program is writing to, and typed access to what it
holds.

The files are hostile: they may be no files at all, huge, torn, in a wrong encoding, or of any
shape.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

LINE_LIMIT = 64 << 20  # bytes; longer lines are stepped over
BUFFER = 1 << 20  # bytes
HEAD_LINES = 21  # in which a record says whose it is, and when it began
PROBLEM_LIMIT = 20  # listed; the rest is counted
_HEAD, _TAIL = 4096, 256  # bytes that a fingerprint looks at

Json = dict[str, Any]
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Problems:
    """What was skipped, as a list that a hostile file cannot make long."""

    listed: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, problem: str) -> None:
        if len(self.listed) < PROBLEM_LIMIT:
            self.listed.append(problem)
        else:
            self.more += 1

    def add_unknown(
        self,
        what: str,
        host: str,
        name: str = "it",
    ) -> None:
        """Say of what this version cannot read which program may have made it."""
        self.add(f"{what}; a newer {host} may have written {name}")

    def all(self) -> tuple[str, ...]:
        return (
            *self.listed,
            *([f"{self.more} more lines were skipped"] if self.more else []),
        )


@dataclass(frozen=True, slots=True)
class JsonLine:
    """An object of a log, and where its line stands."""

    data: Json
    start: int  # bytes
    end: int  # bytes; start of the next line, or ``start`` while this one lacks its newline


def record_path(name: Any, *suffixes: str) -> Path | None:
    """The file that a payload names; None when the name is not that of an absolute path with such
    an ending.
    """
    if not isinstance(name, str) or not name.endswith(suffixes) or "\0" in name:
        return None
    try:
        path = Path(name).expanduser()
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    return resolved if path.is_absolute() and resolved.suffix in suffixes else None


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; OSError when it is anything but a regular file (a pipe would block
    for ever).
    """
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"not a regular file: {path}")
    return os.fdopen(descriptor, "rb", buffering=BUFFER)


def fingerprint(file: BinaryIO, length: int) -> str:
    """Tells whether the first ``length`` bytes of a file are still those that were read."""
    digest = hashlib.sha256(str(length).encode())
    for start, end in ((0, min(_HEAD, length)), (max(0, length - _TAIL), length)):
        file.seek(start)
        digest.update(file.read(end - start))
    return digest.hexdigest()[:16]


def read_lines(
    file: BinaryIO,
    offset: int,
    problems: Problems,
    report_from: int = 0,
) -> Iterator[JsonLine]:
    """The lines of a file from ``offset`` on, an empty object in place of each that is none.

    Where lines were joined without a newline, each object counts as one, and what is left as
    another. Problems are listed for lines that start at or behind ``report_from``. A last line
    without its newline counts when it is a whole object: no proper prefix of an object is one.
    """
    file.seek(offset)
    start = offset
    while raw := file.readline(LINE_LIMIT):
        end = start + len(raw)
        is_terminated = raw.endswith(b"\n")
        if len(raw) == LINE_LIMIT and not is_terminated:
            skipped, is_terminated = _step_over(file)
            end += skipped
            data, problem = None, f"is longer than {LINE_LIMIT} bytes and was skipped"
        else:
            data, problem = _object(raw)
            joined = _objects_in_line(raw) if data is None else ()
            for item, length in joined:
                yield JsonLine(item, start, start + length if is_terminated else start)
                start += length
            if start == end:
                continue
        if is_terminated and problem and start >= report_from:
            problems.add(f"the line at byte {start} {problem}")
        if is_terminated or data is not None:
            yield JsonLine(data or {}, start, end if is_terminated else start)
        start = end


def read_heads(file: BinaryIO) -> list[Json]:
    """The objects of the first ``HEAD_LINES`` lines."""
    lines = read_lines(file, 0, Problems())
    return [line.data for line in itertools.islice(lines, HEAD_LINES)]


def load(raw: bytes) -> Json | None:
    """A JSON object, whatever the encoding; None when it is none."""
    try:
        data = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


@functools.lru_cache(maxsize=2)
def payload_object(raw: bytes) -> Json | None:
    """The JSON object of a payload, None where it is none. Several ask about one payload after the
    other: what they get must not be changed.
    """
    return load(raw)


def load_text(words: str) -> Json | None:
    """The JSON object of a text; None where it is none."""
    return load(words.encode("utf-8", "surrogatepass"))


def value_at(data: Any, path: tuple[str, ...]) -> Any:
    """What stands under these keys, each in the object under the one before; None for nothing."""
    for key in path:
        if not isinstance(data, dict):
            return None
        data = data.get(key)
    return data


def text(data: Any, *path: str) -> str:
    """The string under these keys in a form that can be written as UTF-8, ``""`` where there is
    none.
    """
    value = value_at(data, path)
    return clean(value) if isinstance(value, str) else ""


def first_text(data: Any, *keys: str) -> str:
    """The string under the first of these keys that has one."""
    return next(filter(None, (text(data, key) for key in keys)), "")


def number(data: Any, *path: str) -> float:
    """The number under these keys, 0.0 where there is none or none that can be reckoned with."""
    value = value_at(data, path)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def mapping(data: Any, *path: str) -> Json:
    """The object under these keys, an empty one where there is none."""
    value = value_at(data, path)
    return value if isinstance(value, dict) else {}


def sequence(data: Any, *path: str) -> list[Any]:
    """The list under these keys, an empty one where there is none."""
    value = value_at(data, path)
    return value if isinstance(value, list) else []


def mappings(data: Any, *path: str) -> list[Json]:
    """The objects in the list under these keys."""
    return [item for item in sequence(data, *path) if isinstance(item, dict)]


def blocks_in(message: Json) -> list[Json]:
    """The blocks of a message's or a tool result's ``content``; a text is one."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return mappings(message, "content")


def listed(value: Any) -> str:
    """A choice, or a list of them, as one text; ``""`` for anything else."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else ""


def clean(value: str) -> str:
    """The text without NUL and lone surrogates, which JSON can hold and UTF-8 cannot."""
    if value.isascii():
        return value.replace("\0", "")
    return (
        value.encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
        .replace("\0", "")
    )


def utc_time(value: str) -> str:
    """A host's time as RFC 3339 in UTC with seconds, ``""`` when it is no time."""
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return ""
    return rfc3339(moment)


def time_of_file(path: Path) -> str:
    """When a file was written last, as RFC 3339. Raises OSError, ValueError or OverflowError."""
    return rfc3339(datetime.fromtimestamp(path.stat().st_mtime, UTC))


def rfc3339(moment: datetime) -> str:
    """A moment in UTC with seconds."""
    return moment.isoformat()[:19] + "Z"


def digest(*parts: str) -> str:
    """A key of these texts that is the same whenever it is made."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def short_digest(text: str) -> str:
    """A key of one text, for the lists of them that cursors hold."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def session_digest(host: str, session: str) -> str:
    """A file name for what is kept about a session: its id comes from a host and may hold
    anything.
    """
    key = f"{host}\0{session}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(key).hexdigest()[:32]


def _step_over(file: BinaryIO) -> tuple[int, bool]:
    skipped = 0
    while raw := file.readline(BUFFER):
        skipped += len(raw)
        if raw.endswith(b"\n"):
            return skipped, True
    return skipped, False


def _objects_in_line(raw: bytes) -> list[tuple[Json, int]]:
    """The objects at the start of a line that holds several, each with its length (bytes)."""
    if b"}{" not in raw:
        return []
    words = raw.decode("utf-8", "surrogateescape")  # lengths stay those of the file
    found: list[tuple[Json, int]] = []
    at = 0
    while at < len(words):
        try:
            data, end = _DECODER.raw_decode(words, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(data, dict):
            break
        while words[end : end + 1].isspace():
            end += 1
        found.append((data, len(words[at:end].encode("utf-8", "surrogateescape"))))
        at = end
    return found


def _object(raw: bytes) -> tuple[Json | None, str]:
    data = load(raw)
    if data is None:
        return None, "is no JSON object and was skipped" if raw.strip() else ""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return (
            data,
            "is not UTF-8; what cannot be read became \N{REPLACEMENT CHARACTER}",
        )
    return data, ""
