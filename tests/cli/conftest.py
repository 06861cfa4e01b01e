"""Commands as a person runs them: in a process of their own, with or without a terminal
around it.
"""

from __future__ import annotations

import os
import pty
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from new_workspace import lay_down
from ready import Done, Started, keeplore

from keeplore.config.places import Places

LONGEST_S = 20  # in which a test that asks for a day has ended


@pytest.fixture
def run(home: Path) -> Callable[..., Done]:
    """Run a command without a terminal; ``stdin`` is what is piped into it, None for nothing at
    all.
    """
    return keeplore


@pytest.fixture
def within_a_day() -> None:
    """Wait for the next day, in UTC or here, where it would begin during the test."""
    for now in (datetime.now(UTC), datetime.now().astimezone()):
        left_s = 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)
        if left_s <= LONGEST_S:
            time.sleep(left_s)


@pytest.fixture
def at_terminal(home: Path) -> Callable[..., tuple[int, str]]:
    """Run a command on a terminal of 100 columns, with a person who types; returns exit status and
    what was seen.
    """

    def run(
        *arguments: str, cwd: Path | None = None, typed: str = "", **environment: str
    ) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        surroundings = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            **environment,
        }
        process = Started(
            arguments, (theirs, theirs, theirs), cwd or home, surroundings
        )
        os.close(theirs)
        os.write(ours, typed.encode())
        seen = bytearray()
        while True:
            try:
                piece = os.read(ours, 65536)
            except (
                OSError
            ):  # how Linux says that nobody writes to the terminal any more
                break
            if not piece:
                break
            seen += piece
        os.close(ours)
        return process.wait(), seen.decode().replace("\r\n", "\n")

    return run


@pytest.fixture
def memory(home: Path) -> Path:
    """The home workspace."""
    lay_down(Places.from_environment(os.environ), home / "memory")
    return home / "memory"


@pytest.fixture
def shop(memory: Path, home: Path) -> Path:
    """A directory whose project nothing is known of yet."""
    folder = home / "code" / "shop"
    folder.mkdir(parents=True)
    return folder
