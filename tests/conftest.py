"""Every test runs in a home of its own: no test reads or writes the person's files, and none leaves
the machine.
"""

from __future__ import annotations

import functools
import gc
import importlib.metadata
import itertools
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ready
import sound_records  # noqa: F401  # watches what is imported after it
from example_count import examples
from hypothesis import HealthCheck, settings
from loaded_model import hashed_once, once
from shared_vectors import FILE, SIZE
from sound_words import look_after

REPOSITORY = Path(__file__).resolve().parent.parent
REAL_HOME = Path("~").expanduser()
# the places that Keeplore and the hosts write to; a test that reaches one has escaped its own home
TRAPPED = tuple(
    REAL_HOME / place
    for place in (
        ".claude",
        ".gitconfig",
        ".local/state/keeplore",
        ".cache/keeplore",
        "Library/Application Support/keeplore",
        "Library/Caches/keeplore",
    )
)
WAITING = "tests/real_hosts/"
DATA = Path(os.environ.get("KEEPLORE_DATA") or REPOSITORY.parent / "shared" / "data")
OF_TESTS = ("KEEPLORE_DATA", "KEEPLORE_SEEDS")  # what the tests themselves are told
MEMORY_DISK = Path("/dev/shm")  # Linux
# tests make many objects that live as long as they do: looking through them costs a tenth of the time
SELDOM = (50_000, 20, 20)
ROOM = 4 << 30  # bytes that must be free there; a whole run leaves far less
GITCONFIG = (
    "[user]\n\tname = Test Person\n\temail = "
    "person@example.invalid\n[init]\n\tdefaultBranch = main\n"
    # no process that looks whether there is something to tidy up, after each fetch and commit
    "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[receive]\n\tautogc = false\n"
)
_WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link")
_LOOPBACK = ("::1", "localhost", "")
_escapes: list[str] = []
_homes = itertools.count()
_before: dict[Path, Any] = {}


# a busy machine is no reason to fail: nothing here is judged by its time
settings.register_profile(
    "untimed",
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    # libgit2 looks up HOME once, when it is loaded: the first home must not be the person's either
    home = tempfile.TemporaryDirectory(prefix="keeplore-tests-")
    config.add_cleanup(home.cleanup)
    _clear(os.environ)
    environment = _environment(Path(home.name))
    del environment["TMPDIR"]  # pytest keeps its own folders where it always does
    os.environ.update(environment)
    time.tzset()
    if _has_room(MEMORY_DISK):  # thousands of fsyncs are waited for on a real disk
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))
    if FILE not in os.environ:  # the processes of a run are told by the first one
        _share_vectors(config)
        _share_commands(config)
    _before.update({place: _listing(place) for place in TRAPPED})
    sys.addaudithook(_guard)


def pytest_collection() -> None:
    gc.disable()  # nothing of what is loaded goes away: looking for it costs a fifth of the time


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits most goes first, a share of it in each process: the others work meanwhile.

    xdist hands out the items in as many stretches as there are processes.
    """
    waiting: dict[str, list[pytest.Item]] = {}
    rest: list[pytest.Item] = []
    for item in items:
        if item.nodeid.startswith(WAITING):
            waiting.setdefault(_needed(item), []).append(item)
        else:
            rest.append(item)
    groups = sorted(waiting.values(), key=len, reverse=True)
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    left = len(items)
    items.clear()
    for number in range(processes):
        first = [*itertools.chain(*groups[number::processes])]
        length = left // (processes - number)
        others = max(length - len(first), 0)
        items += first + rest[:others]
        del rest[:others]
        left -= length
    items += rest


def _needed(item: pytest.Item) -> str:
    """What tests share that are best run by one process: a host's working day, or nothing."""
    call = getattr(item, "callspec", None)
    return (call and call.params.get("played")) or item.nodeid


def pytest_collection_finish() -> None:
    gc.freeze()  # what was loaded stays to the end: no collection need look through it again
    gc.set_threshold(*SELDOM)
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A child process can escape unseen by the audit hook: what stands in the real home must be as
    it was.
    """
    if hasattr(session.config, "workerinput"):
        return
    changed = [str(place) for place in TRAPPED if _listing(place) != _before[place]]
    if changed:
        sys.stderr.write(f"\nTHE TESTS CHANGED THE REAL HOME: {', '.join(changed)}\n")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def _own_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    # numbered here: mktemp looks through all of its siblings for a free number
    for name, value in _environment(
        tmp_path_factory.getbasetemp() / f"h{next(_homes)}"
    ).items():
        if os.environ.get(name) != value:  # most are the same for each test
            monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", None)
    _escapes.clear()
    yield
    assert not _escapes, f"the test reached out of its home: {_escapes}"


@pytest.fixture(scope="session", autouse=True)
def _loaded_once() -> Iterator[None]:
    """A model is hashed and loaded once a process; what is installed is looked up once, and whose
    certificates are trusted, which each client of a language model reads three times. The words of
    each error are looked at.
    """
    # here, because what it imports must be loaded in the home of the tests
    from keeplore.index.embedding import local_embedder, model_files

    runner = once(local_embedder.OnnxRunner)
    look_up = importlib.metadata.entry_points
    trusted = functools.cache(ssl.create_default_context)

    @functools.cache
    def installed(
        path: tuple[str, ...], **wanted: str
    ) -> importlib.metadata.EntryPoints:
        return look_up(**wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            importlib.metadata,
            "entry_points",
            lambda **wanted: installed(tuple(sys.path), **wanted),
        )
        patch.setattr(ssl, "create_default_context", trusted)
        patch.setattr(local_embedder, "OnnxRunner", runner)
        patch.setattr(model_files, "_sha256", hashed_once(model_files._sha256))
        look_after(patch.setattr)
        yield


@pytest.fixture
def home() -> Path:
    """The home directory of this test."""
    return Path(os.environ["HOME"])


@pytest.fixture
def real_home() -> Path:
    """The person's home, which is trapped."""
    return REAL_HOME


@pytest.fixture
def escapes() -> list[str]:
    """What this test did that is refused; it fails where the list is not empty at its end."""
    return _escapes


@pytest.fixture
def workspace_dir(tmp_path: Path) -> Path:
    """An empty directory for a workspace, with a space and a letter outside ASCII in its path."""
    directory = tmp_path / "my wörkspace"
    directory.mkdir()
    return directory


@pytest.fixture
def git() -> Callable[..., str]:
    """``git(*arguments, cwd=directory)`` runs git, fails on an error and gives its output without
    the last line end.
    """

    def run(*arguments: str | Path, cwd: Path) -> str:
        command = ["git", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=cwd,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout.rstrip("\n")

    return run


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real transcripts and test sets, which is not part of the repository."""
    if not DATA.is_dir():
        pytest.skip(
            "no data folder: set KEEPLORE_DATA to the folder that holds transcripts/ and retrieval/"
        )
    return DATA


def _environment(home: Path) -> dict[str, str]:
    """What a process of a test may know of its surroundings; the folders are made."""
    folders = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
        "KEEPLORE_STATE_DIR": home / "state",
        "KEEPLORE_CACHE_DIR": home / "cache",
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "TMPDIR": home / "tmp",
    }
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(GITCONFIG, encoding="utf-8")
    nowhere = "http://127.0.0.1:9"  # the discard port: a child that asks a proxy is refused at once
    return {
        **{name: str(folder) for name, folder in folders.items()},
        "TZ": "UTC",  # what a person reads is in the time of its place
        "LC_ALL": "C.UTF-8",  # as machines of tests have it, so that forks can be theirs
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(home / ".cache" / "huggingface"),
        **dict.fromkeys(
            (
                "HTTP_PROXY",
                "HTTPS_PROXY",
                "ALL_PROXY",
                "http_proxy",
                "https_proxy",
                "all_proxy",
            ),
            nowhere,
        ),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost,::1"),
    }


def _has_room(disk: Path) -> bool:
    """Is there a file system that keeps files in memory, with room, and may programs be run from
    it?
    """
    if not os.access(disk, os.W_OK):
        return False
    about = os.statvfs(disk)
    return not about.f_flag & os.ST_NOEXEC and about.f_bavail * about.f_frsize > ROOM


def _share_vectors(config: pytest.Config) -> None:
    place = MEMORY_DISK if _has_room(MEMORY_DISK) else None
    number, name = tempfile.mkstemp(prefix="keeplore-tests-", dir=place)
    config.add_cleanup(Path(name).unlink)
    os.truncate(number, SIZE)
    os.close(number)
    os.environ[FILE] = name


def _share_commands(config: pytest.Config) -> None:
    folder = tempfile.TemporaryDirectory(prefix="keeplore-tests-")
    config.add_cleanup(folder.cleanup)
    os.environ[ready.PLACE] = f"{folder.name}/commands"
    config.add_cleanup(ready.listen(os.environ[ready.PLACE]))


def _clear(environment: os._Environ[str]) -> None:
    for name in [*environment]:
        if (
            name.startswith(("GIT_", "KEEPLORE_", "CLAUDE", "XDG_", "SSH_"))
            and name not in OF_TESTS
        ):
            del environment[name]


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse writes into the real home and sockets that leave the machine, also where the caller
    hides errors.
    """
    if event == "open":
        path, mode, flags = arguments
        is_write = (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or any(
            c in (mode or "") for c in "wax+"
        )
        if is_write:
            _refuse_trapped(path)
    elif event in _WRITES:
        for path in arguments:
            _refuse_trapped(path)
    elif event in ("socket.connect", "socket.bind", "socket.sendto"):
        _refuse_remote(*arguments[:2])


def _refuse_trapped(path: object) -> None:
    if not isinstance(path, str | bytes | os.PathLike):
        return
    text = os.fsdecode(path)
    if not text.startswith(str(REAL_HOME)):  # nearly every one, in no time
        return
    place = Path(text)
    if any(place == trap or trap in place.parents for trap in TRAPPED):
        _escapes.append(f"write to {place}")
        raise PermissionError(f"a test may not write to {place}")


def _refuse_remote(connection: socket.socket, address: Any) -> None:
    is_remote = (
        connection.family in (socket.AF_INET, socket.AF_INET6)
        and address[0] not in _LOOPBACK
    )
    if is_remote and not str(address[0]).startswith("127."):
        _escapes.append(f"connection to {address}")
        raise PermissionError(f"a test may not connect to {address}")


def _listing(place: Path) -> Any:
    """Names and times of the files at ``place``, one level deep: a host that runs meanwhile writes
    further down.
    """
    if place.is_dir():
        return sorted(entry.name for entry in place.iterdir())
    return place.stat().st_mtime_ns if place.exists() else None
