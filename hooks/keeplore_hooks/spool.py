"""The spool: a durable inbox of raw host events, one file an event (format: docs/spool.md).

Written by ``Spool.add`` and by the two clients that a host runs; read by the one worker of a
machine. There are no locks: a file is written aside, synced and renamed into place, and whoever
renames it out of ``new`` first has it.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from keeplore_hooks import durable
from keeplore_hooks.second_places import second_places

MAX_ATTEMPTS = 3  # then the entry is set aside for a person to look at
MAX_DEATHS = 10  # of workers over one entry: most are shut down or killed for reasons of their own
# a file that nobody has written to for so long belongs to a writer that was killed
LEFTOVER_S = 3600.0
# characters; so that a name stays far below the 255 bytes of a file system
WORD_MAX = 64
REASON_SUFFIX = ".reason"
MAX_REASON = 2000  # bytes that are read

_TIME = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(
    r"(?P<time>\d{8}T\d{6}Z)\.(?P<fraction>\d{1,9})\.(?P<unique>[0-9A-Za-z-]{1,40})"
    rf"\.(?P<attempts>\d{{1,3}})\.(?P<host>[\w-]{{1,{WORD_MAX}}})"
    rf"\.(?P<event>[\w-]{{1,{WORD_MAX}}})",
    re.ASCII,
)
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_UPTIME = Path("/proc/uptime")
_SINCE_BOOT = re.compile(r"-([0-9a-f]{8})-(\d{1,12})\Z")
DEAD_DAYS = 30  # for so long what was set aside can be looked at and tried again
_BOXES = ("tmp", "new", "claimed", "dead")


@dataclass(frozen=True, slots=True)
class SpoolEntry:
    """A host event that waits; what is known about it stands in its name."""

    name: str
    host: str
    event: str
    at: str  # RFC 3339, UTC, seconds
    attempts: int  # how often a worker has tried and failed
    path: Path

    def read(self) -> bytes:
        """The payload, byte for byte as the host gave it."""
        return durable.read(self.path)


@dataclass(frozen=True, slots=True)
class DeadEntry:
    """An entry that was set aside; ``host`` and ``event`` are "" where it never was one."""

    name: str
    host: str
    event: str
    reason: str
    path: Path


class Spool:
    """The spool in ``directory``, which need not exist yet; ``clean`` takes the secrets out of what
    is set aside.
    """

    def __init__(
        self, directory: Path, clean: Callable[[bytes], bytes] = lambda data: data
    ) -> None:
        self.directory = directory
        self._clean = clean
        self._tmp, self._new, self._claimed, self._dead = (
            directory / box for box in _BOXES
        )

    def add(
        self,
        host: str,
        event: str,
        payload: bytes,
    ) -> str:
        """Keep ``payload``; when this returns its name, a crash or a power cut cannot take it away.

        Raises OSError where that is not possible; no half entry is left behind.
        """
        now = time.time_ns()
        stamp = f"{time.strftime(_TIME, time.gmtime(now // 10**9))}.{now % 10**9:09d}"
        unique = f"{os.getpid()}-{os.urandom(4).hex()}{_since_boot()}"
        name = f"{stamp}.{unique}.0.{file_name_part(host)}.{file_name_part(event)}"
        self._create()
        durable.write_by_way_of(self._tmp / name, self._new / name, payload)
        return name

    def collect(self) -> int:
        """Take in what clients kept elsewhere while there was no room here, and return how many
        entries that were. Raises OSError where there is still none.
        """
        found = self.elsewhere()
        for path in found:
            data = durable.read(path)
            self._create()
            name = path.name
            durable.write_by_way_of(self._tmp / name, self._new / name, data)
            path.unlink()
        return len(found)

    def elsewhere(self) -> list[Path]:
        """What clients keep in second places while there is no room here."""
        boxes = (p / "spool" / "new" for p in second_places(self.directory.parent))
        items = (item for box in boxes for item in _listing(box))
        return [Path(item.path) for item in items if _NAME.fullmatch(item.name)]

    def pending(self) -> list[SpoolEntry]:
        """What waits, oldest first; what is no entry is moved to ``dead``, so that it hides nothing
        else.
        """
        return _in_order(list(self._entries(self._new)))

    def claim(self, entry: SpoolEntry) -> SpoolEntry | None:
        """Take the entry out of ``new``; None where someone else was faster."""
        # Neither this rename nor those below are synced: a power cut that undoes one brings the
        # entry back for another try, and what an entry leads to is the same the second time.
        try:
            return self._move(entry, self._claimed)
        except FileNotFoundError:
            return None

    def acknowledge(self, entry: SpoolEntry) -> None:
        """Remove an entry; only after what it led to is on disk."""
        entry.path.unlink(missing_ok=True)

    def retry(self, entry: SpoolEntry) -> None:
        """Put a claimed entry back, in its old place in the order, or set it aside after
        ``MAX_ATTEMPTS``.
        """
        self._put_back(entry, MAX_ATTEMPTS, f"given up after {MAX_ATTEMPTS} attempts")

    def release(self, entry: SpoolEntry) -> None:
        """Put a claimed entry back as it was: what stopped the worker was not the entry's fault."""
        self._move(entry, self._new)

    def quarantine(self, entry: SpoolEntry, reason: str) -> None:
        """Set an entry aside for a person, with the reason beside it."""
        self._set_aside(entry.path, reason)

    def recover(self) -> int:
        """Put back what a worker had claimed when it died, and return how many entries that were.

        Call it from the one worker of the machine, before its first claim. Files that killed
        writers left in ``tmp`` are removed after an hour: no writer ever reported them as accepted.
        """
        entries = [entry for _, entry in self._entries(self._claimed)]
        for entry in entries:
            self._put_back(
                entry,
                MAX_DEATHS,
                f"the worker died {MAX_DEATHS} times while it worked on this",
            )
        self.sweep()
        return len(entries)

    def dead(self) -> list[DeadEntry]:
        """What was set aside, with the reasons, oldest first."""
        names = [item.name for item in _listing(self._dead)]
        return [self._dead_entry(name) for name in sorted(names) if _is_no_reason(name)]

    def _dead_entry(self, name: str) -> DeadEntry:
        path, parts = self._dead / name, _NAME.fullmatch(name)
        host, event = (parts["host"], parts["event"]) if parts else ("", "")
        return DeadEntry(
            name,
            host,
            event,
            _reason(path),
            path,
        )

    def revive(self, dead: DeadEntry) -> bool:
        """Let the worker try an entry again from its first attempt on; False for what never was an
        entry.
        """
        if not dead.event:
            return False
        self._create()
        try:
            dead.path.rename(self._new / _with_attempts(dead.name, 0))
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
        """Remove the leftovers, and what was set aside long ago."""
        for path in (*self.leftovers(), *self._expired()):
            with contextlib.suppress(OSError):
                path.unlink()

    def _expired(self) -> Iterator[Path]:
        before = time.time() - DEAD_DAYS * 86_400
        for item in _listing(self._dead):
            with contextlib.suppress(FileNotFoundError):
                if item.stat(follow_symlinks=False).st_mtime < before:
                    yield Path(item.path)

    def discard(self, is_meant: Callable[[bytes], bool]) -> int:
        """Remove the entries whose payload is meant, also claimed and dead ones, and return how
        many.

        For what a person wants gone for good: nothing comes of such an entry.
        """
        boxes = (self._tmp, self._new, self._claimed, self._dead)
        found = [Path(item.path) for box in boxes for item in _listing(box)]
        removed = 0
        for path in found:
            # taken by another process a moment ago, or a link
            with contextlib.suppress(OSError):
                if is_meant(durable.read(path)):
                    path.unlink()
                    path.with_name(path.name + REASON_SUFFIX).unlink(missing_ok=True)
                    removed += 1
        return removed

    def events(self) -> frozenset[str]:
        """What the events are called that wait or are being taken."""
        names = (
            item.name for box in (self._new, self._claimed) for item in _listing(box)
        )
        return frozenset(name.rpartition(".")[2] for name in names)

    def counts(self) -> dict[str, int]:
        """How many files are in ``new``, ``claimed`` and ``dead``; new ones that wait elsewhere
        count.
        """
        boxes = {
            "new": self._new,
            "claimed": self._claimed,
            "dead": self._dead,
        }
        counts = {
            name: sum(_is_no_reason(item.name) for item in _listing(box))
            for name, box in boxes.items()
        }
        return {**counts, "new": counts["new"] + len(self.elsewhere())}

    def _create(self) -> None:
        boxes = (self._tmp, self._new, self._claimed, self._dead)
        for box in (self.directory.parent, self.directory, *boxes):
            if not box.is_dir():
                durable.make_private(box)
                durable.sync_directory(box.parent)

    def _entries(self, box: Path) -> Iterator[tuple[tuple[str, str], SpoolEntry]]:
        """The entries of a directory, each after the key that orders it; foreign files are buried
        on the way.
        """
        for item in _listing(box):
            try:
                details = item.stat(follow_symlinks=False)
            except FileNotFoundError:  # claimed by another process a moment ago
                continue
            parts = _NAME.fullmatch(item.name)
            at = (
                _rfc3339(parts["time"])
                if parts and item.is_file(follow_symlinks=False)
                else ""
            )
            if parts is None or not at:
                reason = "not an entry of the spool: see docs/spool.md for the names"
                # one stubborn file must not hide the others
                with contextlib.suppress(OSError):
                    self._set_aside(Path(item.path), reason)
                continue
            key = (at, _fraction(parts["fraction"], at, details.st_mtime_ns))
            host, event, attempts = (
                parts["host"],
                parts["event"],
                int(parts["attempts"]),
            )
            yield (
                key,
                SpoolEntry(
                    item.name,
                    host,
                    event,
                    at,
                    attempts,
                    Path(item.path),
                ),
            )

    def _put_back(
        self,
        entry: SpoolEntry,
        most: int,
        reason: str,
    ) -> None:
        if entry.attempts + 1 >= most:
            self._set_aside(entry.path, reason)
            return
        name = _with_attempts(entry.name, entry.attempts + 1)
        self._move(replace(entry, name=name), self._new)

    def _move(self, entry: SpoolEntry, box: Path) -> SpoolEntry:
        """The entry in its new place. Raises FileNotFoundError where another process was faster."""
        self._create()
        path = box / entry.name
        entry.path.rename(path)
        return replace(entry, path=path)

    def _set_aside(self, path: Path, reason: str) -> None:
        self._create()
        place = self._dead / path.name
        while os.path.lexists(place):
            place = self._dead / f"{path.name[:200]}.{os.urandom(4).hex()}"
        path.rename(place)
        # what nobody reads for days need not hold what nobody may read
        with contextlib.suppress(OSError):
            payload = durable.read(place)
            if (cleaned := self._clean(payload)) != payload:
                durable.write(place, cleaned)
        # The entry is safe by now; a disk too full for the reason must not stop the worker.
        with contextlib.suppress(OSError):
            durable.write(
                place.with_name(place.name + REASON_SUFFIX), reason.encode() + b"\n"
            )


def _since_boot() -> str:
    """The boot and the hundredths of a second since, which no setting of the clock changes; "" on
    systems that do not tell.
    """
    try:
        boot = _BOOT.read_text("ascii")[:8]
        since = _UPTIME.read_text("ascii").split()[0].replace(".", "")
    except (OSError, ValueError, IndexError):
        return ""
    return f"-{boot}-{since}"


def _in_order(
    keyed_entries: Sequence[tuple[tuple[str, str], SpoolEntry]],
) -> list[SpoolEntry]:
    """The entries in the order in which they came. Those of one boot are ordered by the time since
    it, as if the clock had been right at the first of them; the others by the clock.
    """
    timed = [
        (_nanoseconds(*key), *_boot_and_time(entry.name), entry)
        for key, entry in keyed_entries
    ]
    first: dict[str, tuple[int, int]] = {}
    for at, boot, since, _ in timed:
        first[boot] = min(first.get(boot, (since, at)), (since, at))
    keys = {}
    for at, boot, since, entry in timed:
        start, clock = first[boot]
        keys[entry.name] = (clock + (since - start) * 10**7 if boot else at, at)
    return sorted(
        (entry for _, entry in keyed_entries), key=lambda entry: keys[entry.name]
    )


def _boot_and_time(name: str) -> tuple[str, int]:
    """The boot in an entry's name and the hundredths of a second since; "" and 0 for none."""
    match = _SINCE_BOOT.search(name.split(".")[2])
    return (match[1], int(match[2])) if match else ("", 0)


def _nanoseconds(at: str, fraction: str) -> int:
    """Nanoseconds since 1970."""
    return int(datetime.fromisoformat(at).timestamp()) * 10**9 + int(fraction)


def file_name_part(text: str) -> str:
    """A host or event name as it may stand in a file name: other characters than ``A-Z a-z 0-9 _
    -`` left out.
    """
    kept = (
        re.sub(
            r"[^\w-]",
            "",
            text,
            flags=re.ASCII,
        )
        if len(text) <= WORD_MAX
        else ""
    )
    return kept or "unknown"


def _with_attempts(name: str, attempts: int) -> str:
    """The name of an entry that was tried so often."""
    parts = name.split(".")
    parts[3] = str(attempts)
    return ".".join(parts)


def _is_no_reason(name: str) -> bool:
    return not name.endswith(REASON_SUFFIX)


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


def _fraction(
    digits: str,
    at: str,
    mtime_ns: int,
) -> str:
    """Nine digits after the second; from the file where the writer's clock showed whole seconds
    only.
    """
    if len(digits) == 9:
        return digits
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(mtime_ns // 10**9))
    return f"{mtime_ns % 10**9:09d}" if written == at else "9" * 9
