"""One host on a machine of its own: a fresh home, a workspace, and a model that is played."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from model_server import ModelServer
from quick_machine import QuickMachine

from .programs import CONFIGURED
from .session import HostSession, end_processes
from .terminal import Terminal

CHECKOUT = Path(__file__).parents[3]
INSTALLED = CHECKOUT / ".venv" / "hosts" / "node_modules"
HOSTS = tuple(CONFIGURED)
NOWHERE = "http://127.0.0.1:9"  # the discard port refuses at once
PATIENCE_S = 240


class HostLab:
    """A machine with one host, which knows nothing of Keeplore until it is connected."""

    def __init__(self, name: str, directory: Path, server: ModelServer) -> None:
        self.server = server
        self.machine = QuickMachine(directory)
        self.project = self.machine.home / "ledgerly"
        self.project.mkdir()
        self.machine.run("git", "init", "-q", cwd=self.project)
        self.host = CONFIGURED[name](self.machine.home, self.project, server.url)
        self.machine.environment |= {
            **self.host.environment,
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "https_proxy"), NOWHERE),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        }
        path = self.machine.environment["PATH"]
        self.machine.environment["PATH"] = f"{INSTALLED / '.bin'}{os.pathsep}{path}"

    def __enter__(self) -> HostLab:
        return self

    def __exit__(self, *_: object) -> None:
        """End the worker that hooks have started, and whatever is left of the host."""
        self.machine.keeplore("worker", "stop", check=False)
        end_processes(self.machine.home, but=lambda line: False)

    def is_installed(self) -> bool:
        return (INSTALLED / ".bin" / self.host.program).exists()

    @property
    def memory(self) -> Path:
        """The workspace."""
        return self.machine.home / "memory"

    def connect(self) -> None:
        """As a person does it."""
        self.machine.keeplore("init", "memory")
        self.machine.keeplore("connect", self.host.name, "--yes")

    def disconnect(self) -> None:
        self.machine.keeplore("disconnect", self.host.name, "--yes")

    def ask(self, prompt: str, *, resume: bool = False) -> str:
        """The host answers one prompt, in a new session or the last one, and ends; what it
        printed.
        """
        return self._run(self.host.ask(prompt, resume=resume))

    def command(self, name: str, text: str = "", *, resume: bool = False) -> str:
        """The host is given a slash command of Keeplore's, in a new session or the last one, and
        ends; what it printed.
        """
        return self._run(self.host.slash(name, text, resume=resume))

    def _run(self, command: tuple[str, ...]) -> str:
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.machine.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    @contextlib.contextmanager
    def open(self, *, resume: bool = False) -> Iterator[HostSession]:
        """The host at a terminal; whatever is left of it afterwards is killed."""
        command = self.host.open(resume=resume)
        terminal = Terminal(command, self.project, self.machine.environment)
        try:
            yield HostSession(self.host, self.server, terminal)
        finally:
            terminal.close()
            self.kill()

    def kill(self) -> None:
        """As a power cut ends the host, with all that it started; Keeplore's worker lives on."""
        end_processes(self.machine.home, but=lambda line: "keeplore.worker" in line)

    def settle(self) -> None:
        """Until what the host has told so far is recorded."""
        self.machine.wait_until(
            lambda: self.machine.waiting() == 0, "the spool is taken", PATIENCE_S
        )
