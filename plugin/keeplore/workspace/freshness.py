"""Which of the files that a memory speaks of have changed since it was written, where its project
is on this machine.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keeplore.errors import KeeploreError, RepositoryError
from keeplore.memory import Conversation, Memory
from keeplore.recall.since.named_files import MAX_FILES, Freshness, NamedFiles
from keeplore.store import run
from keeplore.store.git.checkout_info import checkout_info
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin

GRACE_S = 60  # an editor or formatter may save once more right after the last word
GIT_TIMEOUT_S = 2.0  # what a person waits for a line that is only good to know
PROMPT_TIMEOUT_S = 0.1  # what a host may wait for it
_COMMIT = "\x01"  # what the line of a commit begins with


@dataclass(frozen=True, slots=True)
class _FileCheck:
    """What a memory names, as far as it may lie in a directory, and when it was written."""

    directory: Path
    files: tuple[str, ...]
    since: float  # seconds
    were_there: bool  # they are known to have been files of the project

    @property
    def existing(self) -> list[str]:
        return [name for name in self.files if (self.directory / name).is_file()]

    def files_to_ask_git(self) -> list[str]:
        """The files of which git is to say whether they changed: those that were written to, and
        those that are missing without being known to have been there.
        """
        there = self.existing
        touched = [name for name in there if self._is_touched(name)]
        return (
            touched if self.were_there and there else [*touched, *self._missing_files]
        )

    def to_freshness(self, changed_at: Mapping[str, float]) -> Freshness | None:
        """None where none of the files is there, nor was, as far as git knows; ``changed_at`` says
        when those that differ did so.
        """
        there = self.existing
        differing = {name for name, at in changed_at.items() if at > self.since}
        changed = tuple(name for name in there if name in differing)
        gone = self._missing_files
        if not (self.were_there and there):
            gone = [name for name in gone if name in differing]
        if not there and not gone:
            return None
        return Freshness(self.files, changed, tuple(gone), self.directory)

    @property
    def _missing_files(self) -> list[str]:
        return [name for name in self.files if not (self.directory / name).is_file()]

    def _is_touched(self, name: str) -> bool:
        return (self.directory / name).stat().st_mtime > self.since


def changed_since(workspace: Workspace, memory: Memory, cwd: Path) -> Freshness | None:
    """What became of the files of a conversation; None where that cannot be known: no files, no
    project here, no time, no answer from git in time.

    A file that was not written to since is the same; one that was, is changed if a commit of later
    date or the work tree has it differently, so that a fresh checkout of the same text changes
    nothing. Never raises.
    """
    if memory.kind != "conversation":
        return None
    named = Conversation.from_markdown(memory.body).work.files[:MAX_FILES]
    return files_since(workspace, cwd, [NamedFiles(memory, named)])[0]


def files_since(
    workspace: Workspace,
    cwd: Path,
    named_files: Sequence[NamedFiles],
    timeout_s: float = GIT_TIMEOUT_S,
) -> list[Freshness | None]:
    """What became of the files that each of these memories names, in their order, seen from
    ``cwd``; git is asked once for each directory. Never raises.
    """
    checks = [_checks_of(workspace, named, cwd) for named in named_files]
    found: dict[int, Freshness | None] = {}
    # a session names its files from its own directory, else from the top of its checkout
    for place in range(max(map(len, checks), default=0)):
        waiting: dict[Path, dict[int, _FileCheck]] = {}
        for n, of_memory in enumerate(checks):
            if found.get(n) is None and place < len(of_memory):
                waiting.setdefault(of_memory[place].directory, {})[n] = of_memory[place]
        for directory, here in waiting.items():
            found |= _in_directory(directory, here, timeout_s)
    return [found.get(n) for n in range(len(named_files))]


def _checks_of(
    workspace: Workspace, named_files: NamedFiles, cwd: Path
) -> list[_FileCheck]:
    """A check for each directory from which the files may be named, the likeliest first."""
    if not named_files.files:
        return []
    memory = named_files.memory
    try:
        since = datetime.fromisoformat(memory.updated_at).astimezone(UTC).timestamp()
        directories = list(_directories(workspace, memory, cwd))
    except (KeeploreError, OSError, ValueError, OverflowError):
        return []
    return [
        _check_in(named_files, directory, since + GRACE_S) for directory in directories
    ]


def _check_in(named_files: NamedFiles, directory: Path, since: float) -> _FileCheck:
    files = tuple(name for name in named_files.files if _is_below(name, directory))
    return _FileCheck(
        directory, files, since, were_there=named_files.memory.kind == "conversation"
    )


def _in_directory(
    directory: Path, checks: Mapping[int, _FileCheck], timeout_s: float
) -> dict[int, Freshness | None]:
    """What became of the files in one directory; empty where they cannot be compared."""
    try:
        asked = {name for check in checks.values() for name in check.files_to_ask_git()}
        since = min(check.since for check in checks.values())
        changed_at = _changed_at(directory, sorted(asked), since, timeout_s)
        return {n: check.to_freshness(changed_at) for n, check in checks.items()}
    except (KeeploreError, OSError, ValueError):
        return {}


def _directories(workspace: Workspace, memory: Memory, cwd: Path) -> Iterator[Path]:
    """Where the project may be: the session's own directory, and the one that is asked from."""
    source = memory.source
    session = workspace.sessions.get(
        Origin(str(source.get("host", "")), str(source.get("session", "")))
    )
    for directory in (Path(session.origin.cwd) if session.origin.cwd else None, cwd):
        if (
            directory is None
            or not directory.is_dir()
            or workspace.identities.of(directory).project != memory.project
        ):
            continue
        yield directory
        checkout = checkout_info(directory)
        if checkout is not None and checkout.top != directory:
            yield checkout.top


def _is_below(name: str, directory: Path) -> bool:
    """Whether a path that a transcript names, which may be anything, lies below the directory."""
    path = os.path.normpath(directory / name)
    return (
        not Path(name).is_absolute()
        and "\0" not in name
        and Path(path).is_relative_to(directory)
    )


def _changed_at(
    directory: Path, names: Sequence[str], since: float, timeout_s: float
) -> dict[str, float]:
    """When each changed file was changed last, infinite where the work tree differs or there is no
    git; unchanged files are left out. Raises RepositoryError where git does not answer.
    """
    if not names:
        return {}
    if checkout_info(directory) is None:
        return {name: math.inf for name in names if (directory / name).is_file()}
    log = ("log", f"--since={int(since)}", "--format=%x01%ct", "--name-only")
    diff = ("diff", "HEAD", "--name-only", "--no-ext-diff")
    changed = _commits_of(_git(directory, log, names, timeout_s))
    changed |= dict.fromkeys(_git(directory, diff, names, timeout_s), math.inf)
    paths = {name: os.path.normpath(name) for name in names}
    return {name: changed[path] for name, path in paths.items() if path in changed}


def _git(
    directory: Path, command: Sequence[str], names: Sequence[str], timeout_s: float
) -> list[str]:
    done = run(
        directory, *command, "--relative", "-z", "--", *names, timeout_s=timeout_s
    )
    if done.code:
        raise RepositoryError(
            "git could not compare the files", "Run `git status` in the project"
        )
    return [item.strip("\n") for item in done.items]


def _commits_of(lines: Sequence[str]) -> dict[str, float]:
    """Path → when the latest commit changed it; each commit's time stands before its paths."""
    found: dict[str, float] = {}
    at = 0.0
    for line in lines:
        if line.startswith(_COMMIT):
            at = float(line.removeprefix(_COMMIT))
        else:
            path = os.path.normpath(line)
            found[path] = max(at, found.get(path, 0.0))
    return found
