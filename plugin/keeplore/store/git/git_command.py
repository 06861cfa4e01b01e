"""Running the user's own git: never asks, never waits for ever, leaves no child behind."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import RepositoryError

LOCAL_TIMEOUT_S = 60.0
MERGE_DRIVER = "merge.keeplore"  # where a repository's configuration names ours
MAX_SAID = 64 * 1024  # bytes of progress that are kept for an error's message
# what a git hook or an editor may have set for another repository: it would point our commands at
# the wrong place
_FOREIGN = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TRACE",
    "GIT_WORK_TREE",
)
# git explains a command where it finds no repository
_USAGE = re.compile(r"(?<=\n)usage: git ")
_SILENT = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GCM_GUI_PROMPT": "false",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_LITERAL_PATHSPECS": "1",
}
# the repository's own programs have no part in our bookkeeping; both are the user's again for fetch
# and push
QUIET = (
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.fsync=all",
)


@dataclass(frozen=True, slots=True)
class GitResult:
    code: int
    out: bytes
    error: str

    @property
    def text(self) -> str:
        """What it printed, without white space around it."""
        return self.out.decode("utf-8", "surrogateescape").strip()

    @property
    def items(self) -> list[str]:
        """What a command with ``-z`` printed."""
        return [
            item
            for item in self.out.decode("utf-8", "surrogateescape").split("\0")
            if item
        ]

    @property
    def entries(self) -> Iterator[tuple[list[str], str]]:
        """Fields and path of each entry, as ``ls-tree -z`` and ``ls-files -z --stage`` print."""
        for item in self.items:
            fields, path = item.split("\t", 1)
            yield fields.split(" "), path

    @property
    def changes(self) -> Iterator[tuple[list[str], str]]:
        """Old and new mode, old and new id, kind, and the path of each change, as ``--raw -z``
        prints them.
        """
        items = iter(self.items)
        for fields, path in zip(items, items, strict=True):
            yield fields.removeprefix(":").split(" "), path

    @property
    def complaint(self) -> str:
        """What git said on standard error, on one line, its end."""
        return " ".join(_USAGE.split(self.error)[0].split())[-300:]


def run(
    directory: Path,
    command: str,
    *arguments: str,
    stdin: bytes = b"",
    options: Sequence[str] = QUIET,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = LOCAL_TIMEOUT_S,
    on_progress: Callable[[str], None] | None = None,
) -> GitResult:
    """Run git in a directory; a non-zero exit is for the caller to judge.

    ``command`` is the git command with options that hold no blanks, as ``"ls-tree -r -z"``;
    ``arguments`` are passed on as they are. ``on_progress`` hears each line of progress.

    Raises RepositoryError where there is no git, or it took too long and was ended with all its
    children.
    """
    words = [*options, *command.split(), *arguments]
    process = _start_git(directory, words, environment or {}, has_input=bool(stdin))
    try:
        if on_progress:
            out, error = _read_output(process, on_progress, timeout_s)
        else:
            out, error = process.communicate(stdin or None, timeout_s)
    except subprocess.TimeoutExpired as e:
        _end(process)
        raise RepositoryError(
            f"`git {command.split()[0]}` took longer than {timeout_s:.0f} s",
            "Try again later",
        ) from e
    except BaseException:
        _end(process)
        raise
    return GitResult(process.returncode, out, error.decode("utf-8", "replace"))


def _start_git(
    directory: Path,
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    has_input: bool,
) -> subprocess.Popen[bytes]:
    """Start git in a process group of its own. Raises RepositoryError."""
    # passed on, not read: git needs the PATH, HOME and agents that the person has
    surroundings = {
        key: value for key, value in os.environ.items() if key not in _FOREIGN
    }
    try:
        return subprocess.Popen(
            ["git", *words],
            cwd=directory,
            env={**surroundings, **_SILENT, **environment},
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as e:
        raise RepositoryError(
            f"git cannot be started: {e}", "Install git and have it on the PATH"
        ) from e


def _read_output(
    process: subprocess.Popen[bytes],
    on_progress: Callable[[str], None],
    timeout_s: float,
) -> tuple[bytes, bytes]:
    """What git prints, each line told as it comes; it prints nothing else while it reports its
    progress.
    """
    end = threading.Timer(timeout_s, os.killpg, (process.pid, signal.SIGKILL))
    end.start()
    tail = b""
    stream = (
        process.stderr
        if isinstance(process.stderr, io.BufferedReader)
        else io.BytesIO()
    )
    try:
        while chunk := stream.read1(4096):
            tail = (tail + chunk)[-MAX_SAID:]
            on_progress(
                re.split(rb"[\r\n]+", tail.rstrip())[-1].decode("utf-8", "replace")
            )
        return process.communicate()[0], tail
    finally:
        end.cancel()


def output(
    directory: Path,
    command: str,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> GitResult:
    """Run a local git command that must succeed. Raises RepositoryError with what git said."""
    done = run(directory, command, *arguments, stdin=stdin, environment=environment)
    if done.code:
        message = " ".join(_USAGE.split(done.error)[0].split())[-500:]
        name = command.split()[0]
        raise RepositoryError(
            f"`git {name}` failed: {message}",
            f"Run `{git_in(directory)} status` to see why",
        )
    return done


def git_in(directory: Path) -> str:
    """How a command of git for this directory begins, as it is typed."""
    return f"git -C {shlex.quote(str(directory))}"


def ignored(directory: Path, paths: Sequence[str]) -> set[str]:
    """Which of the paths git is told to ignore. Raises RepositoryError as ``run`` does."""
    # the command refuses to be told that paths are literal; it reads them so
    anyhow = {"GIT_LITERAL_PATHSPECS": "0"}
    listed = nul_separated(paths)
    found = run(directory, "check-ignore -z --stdin", stdin=listed, environment=anyhow)
    return {*found.items}


def nul_separated(items: Iterable[str]) -> bytes:
    """What a command with ``-z --stdin`` reads."""
    return "".join(f"{item}\0" for item in items).encode("utf-8", "surrogateescape")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what it started (ssh, helpers); they share the process group that we made."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()
