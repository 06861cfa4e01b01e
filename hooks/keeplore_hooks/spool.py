"""The spool: a durable inbox of raw host events, one file an event (format: docs/spool.md).

Written by ``Spool.add`` and by the two clients that a host runs; read by the one worker of a
machine. There are no locks: a file is written aside, synced and renamed into place, and whoever
renames it out of ``new`` first has it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from keeplore_hooks import durable

MAX_ATTEMPTS = 3  # then the entry is set aside for a person to look at
MAX_DEATHS = 10  # of workers over one entry: most are shut down or killed for reasons of their own
LEFTOVER_S = (
    3600.0  # a file that nobody has written to for so long belongs to a writer that was killed
)
WORD_MAX = 64  # characters; so that a name stays far below the 255 bytes of a file system
REASON_SUFFIX = ".reason"
MAX_REASON = 2000  # bytes that are read

_TIME = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(
    r"(?P<time>\d{8}T\d{6}Z)\.(?P<fraction>\d{1,9})\.(?P<unique>[0-9A-Za-z-]{1,40})"
    rf"\.(?P<attempts>\d{{1,3}})\.(?P<host>[\w-]{{1,{WORD_MAX}}})\.(?P<event>[\w-]{{1,{WORD_MAX}}})",
    re.ASCII,
)
_BOXES = ("tmp", "new", "claimed", "dead")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One host event that waits; what is known about it stands in its name."""

    name: str
    host: str
    event: str
    at: str  # RFC 3339, UTC, seconds
    attempts: int  # how often a worker has tried and failed
    path: Path

    def read(self) -> bytes:
        """The payload, byte for byte as the host gave it."""
        with os.fdopen(os.open(self.path, os.O_RDONLY | _NO_FOLLOW | _BINARY), "rb") as file:
            return file.read()


@dataclass(frozen=True, slots=True)
class Dead:
    """An entry that was set aside; ``host`` and ``event`` are "" where it never was one."""

    name: str
    host: str
    event: str
    reason: str
    path: Path


class Spool:
    """The spool in ``directory``, which need not exist yet."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._tmp, self._new, self._claimed, self._dead = (directory / box for box in _BOXES)

    def add(self, host: str, event: str, payload: bytes) -> str:
        """Keep ``payload``; when this returns its name, a crash or a power cut cannot take it away.

        Raises OSError where that is not possible; no half entry is left behind.
        """
        now = time.time_ns()
        stamp = f"{time.strftime(_TIME, time.gmtime(now // 10**9))}.{now % 10**9:09d}"
        name = f"{stamp}.{os.getpid()}-{secrets.token_hex(4)}.0.{word(host)}.{word(event)}"
        self._create()
        aside = self._tmp / name
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(payload)
                file.flush()
                os.fsync(file.fileno())
            aside.rename(self._new / name)
        except BaseException:
            with contextlib.suppress(OSError):
                aside.unlink()
            raise
        durable.sync_directory(self._new)
        return name

    def pending(self) -> list[Entry]:
        """What waits, oldest first; what is no entry is moved to ``dead``, so that it hides nothing
        else.
        """
        found = list(self._entries(self._new))
        found.sort(key=lambda item: item[0])
        return [entry for _, entry in found]

    def claim(self, entry: Entry) -> Entry | None:
        """Take the entry out of ``new``; None where someone else was faster."""
        # Neither this rename nor those below are synced: a power cut that undoes one brings the
        # entry back for another try, and what an entry leads to is the same the second time.
        try:
            return self._move(entry, self._claimed)
        except FileNotFoundError:
            return None

    def acknowledge(self, entry: Entry) -> None:
        """Remove an entry; only after what it led to is on disk."""
        entry.path.unlink(missing_ok=True)

    def retry(self, entry: Entry) -> None:
        """Put a claimed entry back, in its old place in the order, or set it aside after
        ``MAX_ATTEMPTS``.
        """
        self._put_back(entry, MAX_ATTEMPTS, f"given up after {MAX_ATTEMPTS} attempts")

    def release(self, entry: Entry) -> None:
        """Put a claimed entry back as it was: what stopped the worker was not the entry's fault."""
        self._move(entry, self._new)

    def quarantine(self, entry: Entry, reason: str) -> None:
        """Set an entry aside for a person, with the reason beside it."""
        self._bury(entry.path, reason)

    def recover(self) -> int:
        """Put back what a worker had claimed when it died, and return how many entries that were.

        Call it from the one worker of the machine, before its first claim. Files that killed
        writers left in ``tmp`` are removed after an hour: no writer ever reported them as accepted.
        """
        entries = [entry for _, entry in self._entries(self._claimed)]
        for entry in entries:
            self._put_back(
                entry, MAX_DEATHS, f"the worker died {MAX_DEATHS} times while it worked on this"
            )
        self.sweep()
        return len(entries)

    def dead(self) -> list[Dead]:
        """What was set aside, with the reasons, oldest first."""
        names = sorted(
            item.name for item in _listing(self._dead) if not item.name.endswith(REASON_SUFFIX)
        )
        found = []
        for name in names:
            parts = _NAME.fullmatch(name)
            host, event = (parts["host"], parts["event"]) if parts else ("", "")
            found.append(Dead(name, host, event, _reason(self._dead / name), self._dead / name))
        return found

    def revive(self, dead: Dead) -> bool:
        """Let the worker try an entry again from its first attempt on; False for what never was an
        entry.
        """
        parts = dead.name.split(".")
        if not dead.event:
            return False
        parts[3] = "0"
        self._create()
        try:
            dead.path.rename(self._new / ".".join(parts))
        except FileNotFoundError:
            return False
        dead.path.with_name(dead.name + REASON_SUFFIX).unlink(missing_ok=True)
        return True

    def leftovers(self) -> list[Path]:
        """Files in ``tmp`` that nobody has written to for an hour: their writers were killed."""
        oldest = time.time() - LEFTOVER_S
        found = []
        for item in _listing(self._tmp):
            with contextlib.suppress(OSError):
                if item.stat(follow_symlinks=False).st_mtime < oldest:
                    found.append(Path(item.path))
        return found

    def sweep(self) -> None:
        """Remove the leftovers."""
        for path in self.leftovers():
            with contextlib.suppress(OSError):
                path.unlink()

    def discard(self, is_meant: Callable[[bytes], bool]) -> int:
        """Remove the entries whose payload is meant, also claimed and dead ones, and return how
        many.

        For what a person wants gone for good: nothing comes of such an entry.
        """
        found = [
            Path(item.path)
            for box in (self._tmp, self._new, self._claimed, self._dead)
            for item in _listing(box)
        ]
        removed = 0
        for path in found:
            with contextlib.suppress(OSError):  # taken by another process a moment ago, or a link
                with os.fdopen(os.open(path, os.O_RDONLY | _NO_FOLLOW | _BINARY), "rb") as file:
                    payload = file.read()
                if is_meant(payload):
                    path.unlink()
                    path.with_name(path.name + REASON_SUFFIX).unlink(missing_ok=True)
                    removed += 1
        return removed

    def events(self) -> frozenset[str]:
        """What the events are called that wait or are being taken."""
        return frozenset(
            item.name.rpartition(".")[2]
            for box in (self._new, self._claimed)
            for item in _listing(box)
        )

    def counts(self) -> dict[str, int]:
        """How many files are in ``new``, ``claimed`` and ``dead``."""
        boxes = {"new": self._new, "claimed": self._claimed, "dead": self._dead}
        return {
            name: sum(not item.name.endswith(REASON_SUFFIX) for item in _listing(box))
            for name, box in boxes.items()
        }

    def _create(self) -> None:
        for box in (
            self.directory.parent,
            self.directory,
            self._tmp,
            self._new,
            self._claimed,
            self._dead,
        ):
            if not box.is_dir():
                box.mkdir(mode=0o700, parents=True, exist_ok=True)
                durable.sync_directory(box.parent)

    def _entries(self, box: Path) -> Iterator[tuple[tuple[str, str], Entry]]:
        """The entries of a directory, each after the key that orders it; foreign files are buried
        on the way.
        """
        for item in _listing(box):
            try:
                details = item.stat(follow_symlinks=False)
            except FileNotFoundError:  # claimed by another process a moment ago
                continue
            parts = _NAME.fullmatch(item.name)
            at = _rfc3339(parts["time"]) if parts and item.is_file(follow_symlinks=False) else ""
            if parts is None or not at:
                with contextlib.suppress(OSError):  # one stubborn file must not hide the others
                    self._bury(
                        Path(item.path),
                        "not an entry of the spool: see docs/spool.md for the names",
                    )
                continue
            key = (at, _fraction(parts["fraction"], at, details.st_mtime_ns))
            entry = Entry(
                item.name,
                parts["host"],
                parts["event"],
                at,
                int(parts["attempts"]),
                Path(item.path),
            )
            yield key, entry

    def _put_back(self, entry: Entry, most: int, reason: str) -> None:
        if entry.attempts + 1 >= most:
            self._bury(entry.path, reason)
            return
        parts = entry.name.split(".")
        parts[3] = str(entry.attempts + 1)
        self._move(replace(entry, name=".".join(parts)), self._new)

    def _move(self, entry: Entry, box: Path) -> Entry:
        self._create()
        path = box / entry.name
        entry.path.rename(path)
        return replace(entry, path=path)

    def _bury(self, path: Path, reason: str) -> None:
        self._create()
        grave = self._dead / path.name
        while os.path.lexists(grave):
            grave = self._dead / f"{path.name[:200]}.{secrets.token_hex(4)}"
        path.rename(grave)
        # The entry is safe by now; a disk too full for the reason must not stop the worker.
        with contextlib.suppress(OSError):
            durable.write(grave.with_name(grave.name + REASON_SUFFIX), reason.encode() + b"\n")


def word(text: str) -> str:
    """A host or event name as it may stand in a file name: other characters than ``A-Z a-z 0-9 _
    -`` left out.
    """
    kept = re.sub(r"[^\w-]", "", text, flags=re.ASCII) if len(text) <= WORD_MAX else ""
    return kept or "unknown"


def _reason(path: Path) -> str:
    try:
        with path.with_name(path.name + REASON_SUFFIX).open("rb") as file:
            return " ".join(file.read(MAX_REASON).decode("utf-8", "replace").split())
    except OSError:
        return "no reason was written down"


def _listing(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as items:
            return list(items)
    except FileNotFoundError:
        return []


def _rfc3339(stamp: str) -> str:
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:  # the month 13, or the like
        return ""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _fraction(digits: str, at: str, mtime_ns: int) -> str:
    """Nine digits after the second; from the file where the writer's clock showed whole seconds
    only.
    """
    if len(digits) == 9:
        return digits
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(mtime_ns // 10**9))
    return f"{mtime_ns % 10**9:09d}" if written == at else "9" * 9
