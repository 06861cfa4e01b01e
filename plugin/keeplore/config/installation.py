"""Which installation of Keeplore the hosts of this machine start: ``python`` in the state
directory.

Its first line is the interpreter, which is all that clients read; the second is the version that is
installed there. Several installations may be used on one machine: the newest that works is the one,
so that no two displace each other.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from keeplore import __version__
from keeplore_hooks import durable

FILE = "python"
# how often clients have started a worker since one last got going
TRIES_FILE = "worker.tries"
COMPILED = "compiled"  # what Python keeps there of clients in the folders of plugins
BROKEN_TRIES = 3  # from here on clients start one less often
MAX_FILE = 4096  # bytes


@dataclass(frozen=True, slots=True)
class Installation:
    """``version`` is "" where it is not known."""

    python: str
    version: str

    @property
    def is_there(self) -> bool:
        return Path(self.python).is_absolute() and os.access(self.python, os.X_OK)


def own() -> Installation:
    """The installation that this is."""
    return Installation(sys.executable, __version__)


def registered(state: Path) -> Installation | None:
    """The installation that hosts start; None where none is known."""
    lines = [*_text(state / FILE).splitlines(), "", ""]
    return (
        Installation(lines[0].strip(), lines[1].strip()) if lines[0].strip() else None
    )


def register(state: Path, *, anyway: bool = False) -> None:
    """Let hosts start this installation; another one that is registered, works and is not older
    keeps its place, unless ``anyway``. What was compiled for another version goes. Raises OSError.
    """
    known = registered(state)
    if known == own():
        return
    works = (
        known is not None
        and known.is_there
        and known.python != sys.executable
        and tries(state) < BROKEN_TRIES
    )
    if anyway or known is None or not works or is_newer(__version__, known.version):
        durable.write(state / FILE, f"{sys.executable}\n{__version__}\n".encode())
        if known is not None and known.version != __version__:
            shutil.rmtree(state / COMPILED, ignore_errors=True)


def register_if_newer(state: Path) -> None:
    """Let hosts start this installation where an older one is registered. Raises OSError."""
    known = registered(state)
    if known is not None and is_newer(__version__, known.version):
        register(state)


def tries(state: Path) -> int:
    """How often a worker was started in vain."""
    found = _text(state / TRIES_FILE).strip()
    return int(found) if re.fullmatch(r"[0-9]{1,6}", found) else 0


def in_vain(state: Path) -> str:
    """What a person is told where workers die as soon as they are started; "" where none does."""
    count = tries(state)
    if count < BROKEN_TRIES:
        return ""
    span = ("minute", "ten minutes", "hour")[min(count // BROKEN_TRIES, 3) - 1]
    return (
        f"{count} workers were started in vain, so hosts start one in each {span} at most: "
        f"`keeplore worker run` and {state / 'worker.log'} show why"
    )


def is_newer(version: str, than: str) -> bool:
    """Whether a version of Keeplore is a later one, by its numbers alone."""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"[0-9]+", version)[:4])


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE).decode("utf-8", "replace")
    except OSError:
        return ""
