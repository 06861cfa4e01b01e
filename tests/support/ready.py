"""Commands of ``keeplore`` in processes of their own that need not import everything first.

One process a test run has loaded the modules when it is first asked for a command, and forks for
each: that has its own arguments, directory, environment and streams, and ends as any program does.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import importlib.metadata
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

Done = subprocess.CompletedProcess[str]
PLACE = "COMMANDS_OF_TESTS"  # the variable that names where commands are asked for
TIMEOUT_S = 120
NEEDED = (
    "cli",
    "workspace",
    "recall",
    "index",
    "capture",
    "config",
    "llm",
    "refine",
    "sync",
    "connect",
    "ingest",
    "worker",
)
ALSO = ("numpy", "hnswlib", "pygit2", "rich.console", "rich.table")
SAID = "Always use pnpm, not npm. The token 3f9cQ81xZ0bWm77p is for the staging database on db7."
ANSWERED = "Done: the pipeline uses pnpm now, because npm has no workspaces."
# what is loaded lies in pages of 2 MB, if the system has them: a fork copies the list of the pages
ROOMY = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
LARGE_PAGE = 2 << 20  # bytes
COLLAPSE = 25  # what Linux calls MADV_COLLAPSE; an older one refuses it
# what Python itself reads while it starts cannot be given to one that has started
_EARLY = ("PYTHON", "LD_")
# these it may have had otherwise: what is compiled is kept, and the streams are made for a command
_HARMLESS = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
_starting = threading.Lock()


class Started:
    """A command that runs; ``streams`` are descriptors for its stdin, stdout and stderr, which the
    caller closes. With a ``script`` that is run in place of the command.
    """

    def __init__(
        self,
        arguments: tuple[str, ...],
        streams: tuple[int, int, int],
        cwd: Path,
        environment: Mapping[str, str],
        *,
        script: Path | None = None,
    ) -> None:
        self._arguments = arguments
        self._link, theirs = socket.socketpair()
        with _starting:
            control = _server()
        with theirs:
            socket.send_fds(control, [b"+"], [theirs.fileno(), *streams])
        request = {
            "arguments": arguments,
            "script": str(script or ""),
            "cwd": str(cwd),
            "environment": dict(environment),
        }
        self._link.sendall(json.dumps(request).encode())
        self._link.shutdown(socket.SHUT_WR)
        self._told = self._link.makefile("r")
        self.pid = int(self._told.readline())

    def wait(self, timeout: float = TIMEOUT_S) -> int:
        """Its exit status, or minus the signal that ended it."""
        self._link.settimeout(timeout)
        try:
            with self._link, self._told:
                return int(self._told.readline())
        except TimeoutError as e:
            os.kill(self.pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(self._arguments, timeout) from e


def can_start(environment: Mapping[str, str]) -> bool:
    """May a command with this environment be forked from a process that had another one?"""
    names = {
        name
        for name in environment.keys() | os.environ.keys()
        if name.startswith(_EARLY) and name not in _HARMLESS
    }
    return _locale(environment) == _locale(os.environ) and all(
        environment.get(name) == os.environ.get(name) for name in names
    )


def _locale(environment: Mapping[str, str]) -> str:
    """By which name Python chooses how it reads and writes text."""
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    return next((environment[name] for name in names if environment.get(name)), "")


def keeplore(
    *arguments: str,
    cwd: Path | None = None,
    stdin: str | None = None,
    timeout: float = TIMEOUT_S,
    **environment: str,
) -> Done:
    """Run a command without a terminal; ``stdin`` is what is piped into it, None for nothing at
    all.
    """
    surroundings = {**os.environ, **environment}
    return keeplore_in(
        surroundings, cwd or Path.home(), *arguments, stdin=stdin, timeout=timeout
    )


def keeplore_in(
    surroundings: Mapping[str, str],
    cwd: Path,
    *arguments: str,
    stdin: str | None = None,
    timeout: float = TIMEOUT_S,
) -> Done:
    """Run a command that knows nothing of the surroundings of the tests."""
    if not can_start(surroundings):
        return subprocess.run(
            (sys.executable, "-m", "keeplore.cli", *arguments),
            cwd=cwd,
            env=surroundings,
            capture_output=True,
            text=True,
            timeout=timeout,
            **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
        )
    (ours_out, theirs_out), (ours_err, theirs_err) = os.pipe(), os.pipe()
    theirs_in, ours_in = (
        os.pipe() if stdin is not None else (os.open(os.devnull, os.O_RDONLY), None)
    )
    try:
        started = Started(
            arguments,
            (theirs_in, theirs_out, theirs_err),
            cwd,
            surroundings,
        )
    finally:
        for theirs in (theirs_in, theirs_out, theirs_err):
            os.close(theirs)
    with ThreadPoolExecutor(2) as pool:
        out, err = pool.submit(_read, ours_out), pool.submit(_read, ours_err)
        if ours_in is not None:
            with (
                contextlib.suppress(BrokenPipeError),
                os.fdopen(ours_in, "w", encoding="utf-8") as pipe,
            ):
                pipe.write(stdin or "")
        status = started.wait(timeout)
    return Done(arguments, status, out.result(), err.result())


def _read(descriptor: int) -> str:
    with os.fdopen(descriptor, encoding="utf-8") as stream:
        return stream.read()


def listen(place: str) -> Callable[[], object]:
    """Start the process that is asked for commands there, by all processes of a run; what ends
    it.
    """
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        process = subprocess.Popen(
            (sys.executable, __file__, str(listening.fileno())),
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
            env={**os.environ, **ROOMY},
        )
    return process.communicate


@cache
def _server() -> socket.socket:
    """Where this process asks for commands."""
    control = socket.socket(socket.AF_UNIX)
    control.connect(os.environ[PLACE])
    atexit.register(control.close)
    return control


def _load() -> None:
    import sound_records  # noqa: F401  # watches what is imported after it
    from sound_words import look_after

    import keeplore
    import keeplore_hooks

    places = {f"keeplore.{name}.": f"{keeplore.__path__[0]}/{name}" for name in NEEDED}
    places["keeplore_hooks."] = keeplore_hooks.__path__[0]
    for prefix, place in places.items():
        names = [name for _, name, _ in pkgutil.walk_packages([place], prefix)]
        for name in names:
            if not name.endswith("__main__"):
                with contextlib.suppress(
                    Exception
                ):  # it fails again in a command that needs it
                    importlib.import_module(name)
    for name in ALSO:
        importlib.import_module(name)
    look_after()
    # what is installed stays the same: a command with other packages starts anew
    importlib.metadata.entry_points = cache(importlib.metadata.entry_points)
    importlib.metadata.entry_points(group=keeplore_hooks.specs.NAME)
    _load_model()
    _make_tables()


def _load_model() -> None:
    """With one thread, which forks keep."""
    # here, because a test that asks this module for a command loads nothing of this
    from loaded_model import hashed_once, once

    from keeplore.index.embedding import local_embedder, model_files

    local_embedder.OnnxRunner = once(local_embedder.OnnxRunner, threads=1)
    model_files._sha256 = hashed_once(model_files._sha256)
    with tempfile.TemporaryDirectory() as cache:
        local_embedder.OnnxRunner(model_files.packaged_model(Path(cache)), 1)


def _make_tables() -> None:
    """What commands make when they first need it: patterns of secrets, cue phrases, weights."""
    # here, because a test that asks this module for a command loads nothing of this
    from keeplore.capture import cues
    from keeplore.capture.distill.distiller import distill
    from keeplore.capture.notes import findings, note_candidates
    from keeplore.memory import Exchange
    from keeplore.recall.question import parse_question
    from keeplore.recall.unasked.harmful_statements import tells_of_harm
    from keeplore.redact import redact
    from keeplore.text.revisions import revision_of

    talk = (Exchange("t-1", "2026-02-09T14:03:11Z", SAID, (ANSWERED,)),)
    redact(SAID)
    revision_of(SAID)
    distill(talk)
    findings.findings(talk)
    note_candidates.candidates(talk)
    note_candidates.category_of(SAID)
    parse_question(SAID)
    tells_of_harm([SAID], SAID)
    for language in cues._languages():
        for name in language["patterns"]:
            cues.pattern(name)


def _gather_pages() -> None:
    """Python's own memory comes in pieces for which nothing asks for large pages before."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in maps.read_text().splitlines():
        span, rights, _, _, inode, *_ = line.split()
        if rights.startswith("rw") and inode == "0":
            first, end = (int(at, 16) for at in span.split("-"))
            for page in range(-(-first // LARGE_PAGE), end // LARGE_PAGE):
                advise(page * LARGE_PAGE, LARGE_PAGE, COLLAPSE)


class _Server:
    """Forks for each command that is asked for, and tells who asked how it ended."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._controls: list[socket.socket] = []  # one of each process that asks
        self._callers: dict[int, socket.socket] = {}  # by the command's process
        self._ended, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def next(self) -> None:
        """Serve until a command is asked for, and return in the process that is to be it; exits
        when the run ends.
        """
        while True:
            awaited = (sys.stdin, self._listening, self._ended, *self._controls)
            ready, _, _ = select.select(awaited, [], [])
            if sys.stdin in ready:
                _end(None)
            if self._ended in ready:
                self._ended.recv(4096)
                self._tell_ends()
            if self._listening in ready:
                self._controls.append(self._listening.accept()[0])
            for control in self._controls[:]:
                if control in ready and self._is_command(control):
                    return

    def _tell_ends(self) -> None:
        while self._callers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            with self._callers.pop(pid) as link, contextlib.suppress(BrokenPipeError):
                link.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))

    def _is_command(self, control: socket.socket) -> bool:
        """Fork for what is asked; True in the child."""
        asked, descriptors, _, _ = socket.recv_fds(control, 1, 4)
        if not asked:
            control.close()
            self._controls.remove(control)
            return False
        link = socket.socket(fileno=descriptors[0])
        with link.makefile("rb") as stream:
            request = json.loads(stream.read())
        pid = os.fork()
        if pid == 0:
            self._leave(link)
            _become(request, descriptors[1:])
            return True
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        self._callers[pid] = link
        link.sendall(b"%d\n" % pid)
        return False

    def _leave(self, link: socket.socket) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        ours = (self._listening, self._ended, self._waker, link)
        for one in (*ours, *self._controls, *self._callers.values()):
            one.close()


def _become(request: dict, descriptors: list[int]) -> None:
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    _find_home(Path.home())
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        was = getattr(sys, name)
        now = os.fdopen(
            number,
            "w" if number else "r",
            encoding=was.encoding,
            errors=was.errors,
            closefd=False,
        )
        setattr(sys, name, now)
        setattr(sys, f"__{name}__", now)
    sys.stderr.reconfigure(line_buffering=True)
    script = request["script"]
    sys.argv = [script or "keeplore", *request["arguments"]]
    sys.path[0] = str(Path(script).parent if script else Path.cwd())


def _find_home(home: Path) -> None:
    """libgit2 looked for the person's settings when it was loaded."""
    # here, because a test that asks this module for a command need not load it
    import pygit2
    from pygit2.enums import ConfigLevel

    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    pygit2.settings.homedir = str(home)
    pygit2.settings.search_path[ConfigLevel.GLOBAL] = str(home)
    pygit2.settings.search_path[ConfigLevel.XDG] = str(settings / "git")


def _end(status: object) -> None:
    """As Python ends, but for taking every module apart, which costs more than the command."""
    threading._shutdown()
    atexit._run_exitfuncs()
    if isinstance(status, str):
        sys.stderr.write(f"{status}\n")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    at = socket.socket(fileno=int(sys.argv[1]))
    if sys.stdin in select.select([sys.stdin, at], [], [])[0]:
        sys.exit()
    _load()
    gc.freeze()  # a collection in a fork would copy all that was loaded
    _gather_pages()
    _Server(at).next()
    try:
        if Path(sys.argv[0]).is_absolute():
            runpy.run_path(sys.argv[0], run_name="__main__")
        else:
            sys.modules["keeplore.cli.main"].main()
    except SystemExit as end:
        _end(end.code)
    except BaseException:  # noqa: BLE001  # what escapes is told as Python tells it
        traceback.print_exc()
        _end(1)
