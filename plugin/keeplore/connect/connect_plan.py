"""What would change on disk to connect hosts or to disconnect them: decided by reading alone."""

from __future__ import annotations

import difflib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from keeplore.connect.builtin_connections import auto_memory
from keeplore.connect.connection_record import ConnectedFile, ConnectionRecord, Owner
from keeplore.connect.hook_events import Launcher
from keeplore.connect.host_connection import Desired
from keeplore.connect.host_locations import (
    LOCATIONS,
    Surroundings,
    desired,
    installed_otherwise,
    own_folder,
)
from keeplore.connect.host_signs import MAX_BYTES
from keeplore.connect.resources import AGAIN, EditRefused, FileEdit, ResourceStatus
from keeplore.errors import ConfigError

NOWHERE = "/dev/null"
NO_END = "\\ No newline at end of file"
LEFT = "Look at it, and take out by hand what you do not want"
DISCONNECT_AGAIN = "Mend it and run `keeplore disconnect` again"


@dataclass(frozen=True, slots=True)
class FileChange:
    """``path`` is the host's name of the file, ``target`` where it lies; None for bytes means that
    there is no file.
    """

    host: str
    path: Path
    target: Path
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class ConnectProblem:
    """What is not as it was asked for: ``remedy`` is the next step."""

    host: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ConnectPlan:
    """``before`` is the record that it was made from; ``during`` is saved before a change,
    ``after`` at the end.

    ``ready`` are the hosts that are connected then; ``skipped`` says which are not, and why.
    """

    changes: tuple[FileChange, ...]
    problems: tuple[ConnectProblem, ...]
    ready: tuple[str, ...]
    skipped: tuple[ConnectProblem, ...]
    before: ConnectionRecord
    during: ConnectionRecord
    after: ConnectionRecord


def connect(
    hosts: Iterable[str],
    surroundings: Surroundings,
    record: ConnectionRecord,
    launcher: Launcher,
    notes_in: Path | None = None,
) -> ConnectPlan:
    """``notes_in`` is where Claude Code is to keep its own notes, None to leave that as it is.
    Raises ConfigError.
    """
    builder = PlanBuilder(record)
    for host in hosts:
        owner = Owner(host, str(surroundings.directory(host)))
        settings = auto_memory(Path(owner.directory), notes_in or Path())
        if host == "claude-code" and notes_in:
            builder.install(owner, settings)
        recorded = [
            file for file in record.of(owner) if file.path != str(settings.path)
        ]
        if why := _sign_of_other_keeplore(owner, record, launcher):
            builder.skip(host, why, is_connected=bool(recorded))
        else:
            try:
                wanted = desired(host, surroundings, launcher)
            except ConfigError as e:
                builder.refuse(host, e)
            else:
                builder.connect(owner, wanted, recorded)
    return builder.plan()


def disconnect(hosts: Iterable[str], record: ConnectionRecord) -> ConnectPlan:
    """Take out what was put there, and nothing else."""
    builder = PlanBuilder(record)
    for host in hosts:
        for owner in record.owners(host):
            for file in record.of(owner):
                builder.uninstall(owner, file)
    return builder.plan()


def statuses(record: ConnectionRecord) -> list[tuple[ConnectedFile, str]]:
    """The status of every file that the record knows, or why it cannot be read."""
    return [(file, _status(file)) for file in record.files.values()]


def _status(file: ConnectedFile) -> str:
    try:
        return file.resource.status(_read_target(Path(os.path.realpath(file.path))))
    except EditRefused as e:
        return e.message


def _sign_of_other_keeplore(
    owner: Owner, record: ConnectionRecord, launcher: Launcher
) -> str:
    """What tells that the host has Keeplore from elsewhere, "" where nothing does."""
    directory = Path(owner.directory)
    if why := installed_otherwise(owner.host, directory):
        return why
    folder = own_folder(owner.host, directory)
    if folder is None or not os.path.lexists(folder):
        return ""
    if any(Path(file.path).is_relative_to(folder) for file in record.of(owner)):
        return ""
    client = json.dumps(launcher.ask[-1], ensure_ascii=False)[1:-1]
    hooks = _read_target(folder / "hooks" / "hooks.json") or b""
    if client.encode() in hooks:  # the record was lost
        return ""
    return f"there is a folder {folder} that `keeplore connect` did not make"


class PlanBuilder:
    """Collects changes; a file that several hosts share is changed once."""

    def __init__(self, record: ConnectionRecord) -> None:
        self.ready: list[str] = []
        self._before = record
        self._files = dict(record.files)
        self._gone: dict[str, ConnectedFile] = {}
        self._changes: dict[Path, FileChange] = {}
        self._problems: list[ConnectProblem] = []
        self._skipped: list[ConnectProblem] = []

    def connect(
        self, owner: Owner, wanted: Sequence[Desired], recorded: Iterable[ConnectedFile]
    ) -> None:
        """Install what is wanted, and take out what an earlier release had beside it."""
        for one in wanted:
            self.install(owner, one)
        paths = {str(file.path) for file in wanted}
        for file in recorded:
            if file.path not in paths:
                self.uninstall(owner, file)
        self.ready.append(owner.host)

    def install(self, owner: Owner, wanted: Desired) -> None:
        """Plan what a host's file needs, and record who asked for it."""
        path, name = wanted.path, str(wanted.path)
        known = self._files.get(name) or self._gone.pop(name, None)
        target = Path(os.path.realpath(path))
        try:
            current = self._read_target(target)
            edit, made = wanted.resource.install(
                current, known.resource if known else None
            )
            self._change(owner, path, target, edit)
        except EditRefused as e:
            self._refuse(owner, path, e)
            return
        is_there = (
            edit.after != current or made.status(current) == ResourceStatus.INTACT
        )
        if known or is_there:
            owners = tuple(sorted({owner, *(known.owners if known else ())}))
            self._files[name] = ConnectedFile(name, str(target), owners, made)

    def uninstall(self, owner: Owner, file: ConnectedFile) -> None:
        """Plan to take our entries out of a file, unless another host has them too."""
        recorded = self._files[file.path]
        others = tuple(one for one in recorded.owners if one != owner)
        if others:
            self._files[file.path] = replace(recorded, owners=others)
            return
        path, target = Path(file.path), Path(os.path.realpath(file.path))
        try:
            edit = file.resource.uninstall(self._read_target(target))
            self._change(owner, path, target, edit)
        except EditRefused as e:
            self._refuse(owner, path, e)
            return
        if edit.is_done:
            self._gone[file.path] = self._files.pop(file.path)

    def skip(self, host: str, why: str, *, is_connected: bool) -> None:
        remedy = (
            f"Remove one of the two: `keeplore disconnect {host}` takes out what `keeplore "
            f"connect` has put there"
        )
        self._skipped.append(
            ConnectProblem(
                host,
                f"{LOCATIONS[host].label} has Keeplore already: {why}",
                remedy if is_connected else "",
            )
        )

    def refuse(self, host: str, error: ConfigError) -> None:
        """Leave a host as it is whose connection cannot be determined."""
        self._problems.append(ConnectProblem(host, error.message, error.remedy))

    def plan(self) -> ConnectPlan:
        changes = [
            change for change in self._changes.values() if change.before != change.after
        ]
        folders = dict.fromkeys(self._before.folders)
        for change in changes:
            if change.before is None:
                folders.update(dict.fromkeys(_missing_folders(change.target)))
        after = ConnectionRecord(self._files, tuple(folders))
        return ConnectPlan(
            tuple(changes),
            tuple(self._problems),
            tuple(self.ready),
            tuple(self._skipped),
            self._before,
            after.with_files(self._gone.values()),
            after.without_former(),
        )

    def _read_target(self, target: Path) -> bytes | None:
        if target in self._changes:
            return self._changes[target].after
        return _read_target(target)

    def _change(self, owner: Owner, path: Path, target: Path, edit: FileEdit) -> None:
        for why in edit.left:
            remedy = LEFT if edit.is_done else DISCONNECT_AGAIN
            self._problems.append(ConnectProblem(owner.host, f"{path}: {why}", remedy))
        current = self._read_target(target)
        if edit.after == current:
            return
        _expect_writable(target)
        earlier = self._changes.get(target)
        before = earlier.before if earlier else current
        self._changes[target] = FileChange(owner.host, path, target, before, edit.after)

    def _refuse(self, owner: Owner, path: Path, error: EditRefused) -> None:
        self._problems.append(
            ConnectProblem(owner.host, f"{path}: {error.message}", error.remedy)
        )


def unified_diff(changes: Iterable[FileChange]) -> Iterator[str]:
    """Lines without their ends; a file that is new or goes is told from ``/dev/null``."""
    for change in changes:
        before, after = (
            NOWHERE if data is None else str(change.target)
            for data in (change.before, change.after)
        )
        lines = (_lines(change.before), _lines(change.after))
        for line in difflib.unified_diff(*lines, before, after):
            yield line.removesuffix("\n").removesuffix("\r")
            if not line.endswith("\n"):
                yield NO_END


def _lines(data: bytes | None) -> list[str]:
    # splitlines would also split at characters that are no ends of lines to a host
    lines = (data or b"").decode(errors="replace").split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def _read_target(target: Path) -> bytes | None:
    try:
        facts = target.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise EditRefused("it is no file", f"Move it away and {AGAIN}")
        if facts.st_size > MAX_BYTES:
            raise EditRefused(
                f"it is larger than {MAX_BYTES >> 20} MB", "See what fills it"
            )
        return target.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        raise EditRefused(
            f"it cannot be read: {e.strerror}", "Check its rights"
        ) from None


def _expect_writable(target: Path) -> None:
    folder = next(parent for parent in target.parents if parent.exists())
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise EditRefused(
            f"{folder} cannot be written",
            "Check its rights; if a program makes it, change it there",
        )


def _missing_folders(target: Path) -> list[str]:
    """The directories that have to be made for a file, the outermost first."""
    return [str(folder) for folder in reversed(target.parents) if not folder.exists()]
