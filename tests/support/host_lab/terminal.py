"""A program at a terminal: what is typed, and what it shows."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROWS, COLUMNS = 50, 160
KEYS = {"enter": "\r", "escape": "\x1b", "clear": "\x15"}
# what programs ask a terminal before they draw, and what a plain one answers
ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",  # where is the cursor
    b"\x1b[c": b"\x1b[?62;22c",  # what are you
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",  # colour of text
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",  # and behind it
}
ESCAPE = re.compile(
    r"\x1b(?:\[[0-9;?<>=!]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[@-Z\\-_])"
)


class Terminal:
    """A program that runs at a pseudo-terminal, with all its children in a session of its own."""

    def __init__(
        self, command: tuple[str, ...], cwd: Path, environment: Mapping[str, str]
    ) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(
            theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
        )
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,  # noqa: PLW1509  # one system call, which takes no lock
        )
        os.close(theirs)
        self._output = b""
        self._grew = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """All that was shown so far, without colours and places, and without spaces: programs
        move the cursor instead of writing them.
        """
        return _folded(ESCAPE.sub("", self._output.decode("utf-8", "replace")))

    def shows(self, text: str, *, after: int = 0) -> bool:
        """Whether this text has been shown, spaces aside."""
        return _folded(text) in self.text[after:]

    def type(self, text: str) -> None:
        """As a person types: a key after the other; a burst is taken for pasted text."""
        for character in text:
            self._write(character.encode())
            time.sleep(0.004)

    def press(self, key: str) -> None:
        self._write(KEYS[key].encode())

    def wait_for(self, text: str, *, after: int = 0, seconds: float = 120) -> None:
        """Until this text has been shown, spaces aside. Raises TimeoutError."""
        self.wait_until(
            lambda: self.shows(text, after=after), f"{text!r} is shown", seconds
        )

    def wait_until(
        self, holds: Callable[[], bool], what: str, seconds: float = 120
    ) -> None:
        with self._grew:
            if not self._grew.wait_for(holds, timeout=seconds):
                raise TimeoutError(f"not seen: {what}; the end: {self.text[-3000:]}")

    def wait_until_quiet(self, seconds: float, limit_s: float = 120) -> None:
        """Until nothing was shown for so long: a program that draws is not ready for keys.

        Raises TimeoutError.
        """
        end = time.monotonic() + limit_s
        size = -1
        while size != len(self._output):
            if time.monotonic() > end:
                raise TimeoutError(f"it draws on and on: {self.text[-3000:]}")
            size = len(self._output)
            time.sleep(seconds)

    def has_ended(self, *, seconds: float) -> bool:
        """Has the program ended, or will it within so long?"""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)
        return self._process.returncode is not None

    def close(self) -> None:
        """End the program and what it started in its own session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(timeout=5)
        os.close(self._ours)

    def _write(self, content: bytes) -> None:
        os.write(self._ours, content)

    def _read(self) -> None:
        while True:
            try:
                select.select([self._ours], [], [])
                content = os.read(self._ours, 1 << 16)
            except (OSError, ValueError):
                return
            if not content:
                return
            for asked, answer in ANSWERS.items():
                if asked in content:
                    with contextlib.suppress(OSError):
                        self._write(answer)
            with self._grew:
                self._output += content
                self._grew.notify_all()


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _folded(text: str) -> str:
    return re.sub(r"\s+", "", text)
