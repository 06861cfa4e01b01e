"""A machine with a workspace, and our server on it as hosts start it, spoken to by the SDK's own
client.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from quick_machine import QuickMachine

from keeplore.config.places import Places
from keeplore.memory import (
    AgentQuestion,
    Conversation,
    Exchange,
    Memory,
    new_id,
    new_meta,
)
from keeplore.memory.note import NoteDraft
from keeplore.worker.server.protocol import ask
from keeplore.worker.single_instance import only_one
from keeplore.workspace.registry import Registry

DRIVER = Path(__file__).with_name("driver.py")
VERSION_1 = Path(sys.prefix) / "mcp-1"
FOLDER = Path(__file__).parents[2] / "plugin" / "keeplore" / "client"
PIPE = ("-I", "-S", str(FOLDER / "mcp.py"), "resources")


class Client:
    """The SDK's client in a process of its own, and the server that it started."""

    def __init__(
        self, environment: dict[str, str], cwd: Path, server: tuple[str, ...] = PIPE
    ) -> None:
        self.process = subprocess.Popen(
            (sys.executable, str(DRIVER), *server),
            env={**environment, "SERVER_CWD": str(cwd)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.instructions: str = self._reply()["instructions"]

    def ask(self, *requests: dict[str, Any]) -> list[Any]:
        """All at once; the replies in the order of the requests."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(requests) + "\n")
        self.process.stdin.flush()
        replies: list[Any] = self._reply()
        return replies

    def call(self, name: str, **arguments: Any) -> str:
        """What a tool answers that succeeds."""
        told = self.ask({"call": name, "with": arguments})[0]
        assert not told["is_error"], told["text"]
        text: str = told["text"]
        return text

    def refused(self, name: str, **arguments: Any) -> str:
        """What a tool says that fails."""
        told = self.ask({"call": name, "with": arguments})[0]
        assert told["is_error"], told["text"]
        text: str = told["text"]
        return text

    def close(self) -> str:
        """What the server wrote to stderr."""
        _, log = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, log
        return log

    def _reply(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate(timeout=60)[1])
        return json.loads(line)


class Office(QuickMachine):
    """A home with a workspace, a project in it, and memories of every kind."""

    pipe = (sys.executable, *PIPE)

    def __init__(self, directory: Path, version: str) -> None:
        super().__init__(directory)
        self._version = version
        self.project = self.home / "code" / "api"
        self.project.mkdir(parents=True)
        self.places = Places.from_environment(self.environment)

    def init(self) -> None:
        self.run("git", "config", "--global", "user.name", "Test Person")
        self.run("git", "config", "--global", "user.email", "person@example.invalid")
        self.run("git", "init", "-q", cwd=self.project)
        self.keeplore("init", str(self.home / "memory"))
        # not earlier: Python reads it while it starts, so such a command cannot be forked
        if self._version == "1":
            self.environment["PYTHONPATH"] = str(VERSION_1)

    def note(self, text: str, **fields: Any) -> Memory:
        with Registry(self.places) as registry:
            workspace = registry.named("memory")
            fields = {"scope": "project", "project": "api", **fields}
            return workspace.notes.write(NoteDraft(text, **fields)).memory

    def save(self, **fields: Any) -> Memory:
        """Put a memory of any kind into the workspace."""
        body = fields.pop("body", "# t\n")
        meta = {
            "id": new_id(),
            "kind": "note",
            "title": "t",
            "created_at": "2026-02-09T14:03:11Z",
            "trust": "user",
        }
        memory = Memory(
            new_meta(**{**meta, "scope": "project", "project": "api", **fields}), body
        )
        with Registry(self.places) as registry:
            registry.named("memory").store.save(memory)
        return memory

    def conversation(self) -> Memory:
        long_reply = "\n".join(
            f"line {number} of the compose file" for number in range(900)
        )
        exchanges = (
            Exchange(
                "turn-one-1",
                "2026-02-09T14:03:11Z",
                "Which port does staging use?",
                ("5433.", long_reply),
            ),
            Exchange(
                "turn-two-2",
                "2026-02-09T14:05:00Z",
                "Then move it to 5434.",
                ("Done.", AgentQuestion("Commit?", "Yes", ("Yes", "No"))),
            ),
        )
        talk = Conversation(
            "Which port staging uses", exchanges, session_context="ports"
        )
        source = {
            "host": "codex",
            "session": "s-9",
            "turns": ["turn-one-1", "turn-two-2"],
            "machine": "studio",
        }
        return self.save(
            kind="conversation",
            title=talk.title,
            body=talk.to_markdown(),
            source=source,
            trust="assistant",
        )

    def client(
        self,
        cwd: Path | None = None,
        server: tuple[str, ...] = PIPE,
        **environment: str,
    ) -> Client:
        return Client({**self.environment, **environment}, cwd or self.project, server)

    def leave(self) -> None:
        """End the worker that a pipe has started, and let another one be started at once."""
        deadline = time.monotonic() + 60
        while True:
            ask(self.state, "stop", timeout_s=30)
            with only_one(
                self.state
            ) as lock:  # it is held a little longer than the worker answers
                if lock is not None:
                    for file in self.state.glob("worker.start-*"):
                        file.unlink()
                    return
            assert time.monotonic() < deadline, "the worker does not leave"
            time.sleep(0.05)


@pytest.fixture
def impatient(tmp_path: Path) -> Path:
    """The client's folder, with a pipe that does not wait long for a worker."""
    folder = tmp_path / "client"
    shutil.copytree(FOLDER, folder)
    program = folder / "mcp_pipe.py"
    text = program.read_text()
    assert text.count("START_S = 8.0") == 1
    program.write_text(text.replace("START_S = 8.0", "START_S = 0.1"))
    return folder


@pytest.fixture(scope="module", params=["1", "2"], ids=["sdk-1", "sdk-2"])
def version(request: pytest.FixtureRequest) -> str:
    if request.param == "1" and not VERSION_1.is_dir():
        pytest.skip(
            "version 1 of the SDK is not laid down beside this Python: `make setup` does that"
        )
    return str(request.param)


@pytest.fixture(scope="module")
def office(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    office = Office(tmp_path_factory.mktemp("office"), version)
    office.init()
    yield office
    office.leave()


@pytest.fixture(scope="module")
def client(office: Office) -> Iterator[Client]:
    client = office.client()
    yield client
    client.close()
