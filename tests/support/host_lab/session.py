"""A session of a person with a host at a terminal."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from model_server import ModelServer, Request

from .programs import HostProgram
from .terminal import Terminal

QUIET_S = 1.0
KEY_S = 0.3  # between two keys of a person
LAST = 3  # characters, which are drawn together
ECHO_S = 60
TRIES = 4
PATIENCE_S = 45  # for what a key should do


class HostSession:
    """What a person does there: each step waits until the host is ready for the next one."""

    def __init__(
        self, host: HostProgram, server: ModelServer, terminal: Terminal
    ) -> None:
        self.terminal = terminal
        self.typed: Counter[str] = Counter()
        self._host = host
        self._server = server
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        terminal, ready = self.terminal, self._host.ready
        awaited = list(filter(None, (ready, self._host.doubt)))
        terminal.wait_until(
            lambda: any(map(terminal.shows, awaited)), f"{ready!r} is shown"
        )
        if not terminal.shows(ready):
            terminal.wait_until_quiet(QUIET_S)
            terminal.press("enter")
            terminal.wait_for(ready)
        terminal.wait_until_quiet(QUIET_S)

    def say(self, prompt: str, answer: str) -> Request:
        """Ask, and wait until the model has said this and the host is idle; the request that the
        host began with.
        """
        said = len(self._server.said)
        request = self.begin(prompt)
        self._server.wait_until_said(answer, after=said)
        self.terminal.wait_until_quiet(QUIET_S)
        return request

    def begin(self, prompt: str) -> Request:
        """Ask, and wait until the model is asked."""
        return self._enter_until_asked(
            prompt, lambda request: bool(request.tools) and prompt in request.everything
        )

    def interrupt(self) -> None:
        """Stop the answer that is being written: a host that was not sent any of it yet may hang up
        unseen, and then these keys would mean something else.
        """
        self._server.wait_until_hanging()
        for _ in range(TRIES):
            for key in self._host.interruption:
                self.terminal.press(key)
                time.sleep(KEY_S)
            if self._server.is_given_up(seconds=PATIENCE_S):
                break
        else:
            raise TimeoutError(f"the answer goes on: {self.terminal.text[-2000:]}")
        self.terminal.wait_until_quiet(QUIET_S)

    def compact(self) -> None:
        """Let the host put a summary in the place of the conversation."""
        said = len(self._server.said)
        self._enter_until_asked(self._host.compaction, lambda request: True)
        self._server.wait_until_said(None, after=said)
        self.terminal.wait_until_quiet(2 * QUIET_S)

    def order(self, command: str) -> None:
        """Type a command of the host's own for which no model is asked."""
        self._type(command)
        self.terminal.press("enter")
        self.terminal.wait_until_quiet(2 * QUIET_S)

    def end(self) -> None:
        """As a person leaves."""
        for _ in range(TRIES):
            self._type(self._host.end)
            self.terminal.press("enter")
            if self.terminal.has_ended(seconds=PATIENCE_S):
                return
        raise TimeoutError(f"it does not end: {self.terminal.text[-2000:]}")

    def _enter_until_asked(
        self, text: str, holds: Callable[[Request], bool]
    ) -> Request:
        asked = len(self._server.requests)
        for _ in range(TRIES):
            # keys are lost where the host is just then drawing itself anew
            self._type(text)
            self.terminal.press("enter")
            with contextlib.suppress(TimeoutError):
                self._server.wait_for(
                    lambda request: holds(request) or text in request.everything,
                    after=asked,
                    seconds=PATIENCE_S,
                )
                # a host may ask for a title first
                return self._server.wait_for(holds, after=asked)
        told = [(r.path, r.prompts[-1:]) for r in self._server.requests[asked:]]
        raise TimeoutError(f"not asked: {told}; {self.terminal.text[-2000:]}")

    def _type(self, text: str) -> None:
        """In the place of what stands there."""
        self.typed[text] += 1
        self.terminal.press("clear")
        shown = len(self.terminal.text)
        self.terminal.type(text)
        # a busy program takes a key before those that it has not drawn yet, and one that follows
        # at once for part of a pasted text
        with contextlib.suppress(TimeoutError):
            self.terminal.wait_for(text[-LAST:], after=shown, seconds=ECHO_S)
        self.terminal.wait_until_quiet(QUIET_S)


def end_processes(home: Path, *, but: Callable[[str], bool]) -> None:
    """Kill what was started in this home, daemons too, but for command lines that ``but`` names."""
    wanted = f"HOME={home}".encode()
    for process in _processes():
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ")
            mine = wanted in (process / "environ").read_bytes().split(b"\0")
            if (
                mine
                and not but(line.decode(errors="replace"))
                and int(process.name) != os.getpid()
            ):
                os.kill(int(process.name), signal.SIGKILL)


def _processes() -> Iterator[Path]:
    """Those of Linux; elsewhere none is found, and daemons stay until they are idle."""
    return (path for path in Path("/proc").glob("[0-9]*") if path.name.isdecimal())
