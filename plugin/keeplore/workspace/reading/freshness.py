"""Which of a conversation's files have changed since it was written, where its project is on this
machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keeplore.errors import KeeploreError, RepositoryError
from keeplore.memory import Conversation, Memory
from keeplore.store import run
from keeplore.store.git.checkout_info import checkout_info
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin

MAX_FILES = 200
GRACE_S = 60  # an editor or formatter may save once more right after the last word
GIT_TIMEOUT_S = 2.0  # what a person waits for a line that is only good to know


@dataclass(frozen=True, slots=True)
class Freshness:
    """``changed`` and ``gone`` are among ``files``, the files of the project that the conversation
    names.
    """

    files: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]


def changed_since(workspace: Workspace, memory: Memory, cwd: Path) -> Freshness | None:
    """None where it cannot be known: no files, no project here, no time, no answer from git in
    time.

    A file that was not written to since is the same; one that was, is changed if a commit of later
    date or the work tree has it differently, so that a fresh checkout of the same text changes
    nothing. Never raises.
    """
    try:
        return _compared(workspace, memory, cwd)
    except (KeeploreError, OSError, ValueError):
        return None


def _compared(workspace: Workspace, memory: Memory, cwd: Path) -> Freshness | None:
    if memory.kind != "conversation":
        return None
    named = Conversation.from_markdown(memory.body).work.files[:MAX_FILES]
    written_at = datetime.fromisoformat(memory.updated_at).astimezone(UTC)
    for directory in _directories(workspace, memory, cwd):
        files = [name for name in named if _is_below(name, directory)]
        there = [name for name in files if (directory / name).is_file()]
        if there:
            gone = tuple(name for name in files if name not in there)
            changed = tuple(_changed(directory, there, written_at))
            return Freshness(tuple(files), changed, gone)
    return None


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
        around = checkout_info(directory)
        if around is not None and around.top != directory:
            yield around.top


def _is_below(name: str, directory: Path) -> bool:
    """A path that a transcript names may be anything."""
    path = os.path.normpath(directory / name)
    return (
        not Path(name).is_absolute()
        and "\0" not in name
        and Path(path).is_relative_to(directory)
    )


def _changed(directory: Path, names: Sequence[str], since: datetime) -> list[str]:
    """Raises RepositoryError where git does not answer."""
    from_s = since.timestamp() + GRACE_S
    touched = [name for name in names if (directory / name).stat().st_mtime > from_s]
    return _differing(directory, touched, since)


def _differing(directory: Path, touched: Sequence[str], since: datetime) -> list[str]:
    """Raises RepositoryError where git does not answer."""
    if not touched or checkout_info(directory) is None:
        return list(touched)
    after = f"--since={int(since.timestamp()) + GRACE_S}"
    found: set[str] = set()
    for command in (
        ("log", after, "--format=", "--name-only", "--relative", "-z"),
        ("diff", "HEAD", "--name-only", "--relative", "--no-ext-diff", "-z"),
    ):
        done = run(directory, *command, "--", *touched, timeout_s=GIT_TIMEOUT_S)
        if done.code:
            raise RepositoryError(
                "git could not compare the files", "Run `git status` in the project"
            )
        found |= {os.path.normpath(item.strip("\n")) for item in done.items}
    return [name for name in touched if os.path.normpath(name) in found]
