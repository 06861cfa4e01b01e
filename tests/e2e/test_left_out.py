"""What a person leaves out of memory: from what hosts report and have recorded to every file that
Keeplore keeps.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from keeplore.cli.main import cli
from keeplore.config.capture_choice import Pause, Pauses
from keeplore.config.places import Places
from keeplore.worker.loop import Worker
from keeplore.workspace import Registry
from keeplore.workspace.brief_maker import BriefMaker
from keeplore.workspace.importing.auto_memory import (
    find_auto_memory,
    import_auto_memory,
)
from keeplore.workspace.importing.import_survey import survey
from keeplore.workspace.importing.session_import import import_sessions
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.spool import Spool

CANARY = "zanzibar"
PACKAGE = "marzipan"  # in the manifests of clients
CLIENTS = ("by-path", "by-remote", "by-pattern")


@dataclass
class Machine:
    """A person's machine with the projects of three clients and one of their own."""

    places: Places
    clock: datetime = field(
        default_factory=lambda: datetime.now(UTC) - timedelta(hours=3)
    )

    def project(self, name: str) -> Path:
        return Path.home() / "work" / name

    def keeplore(self, *arguments: str, status: int = 0) -> str:
        done = CliRunner().invoke(
            cli, arguments, standalone_mode=False, catch_exceptions=True
        )
        if status == 0 and done.exception:
            raise done.exception
        return done.output

    def tick(self) -> str:
        self.clock += timedelta(seconds=5)
        return self.clock.strftime("%Y-%m-%dT%H:%M:%SZ")

    def claude(self, name: str, session: str, words: str, *, is_live: bool) -> None:
        """A turn of Claude Code, as it is recorded and, where it is live, reported."""
        cwd = str(self.project(name))
        path = Path.home() / ".claude" / "projects" / name / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        payload = {
            "session_id": session,
            "transcript_path": str(path),
            "cwd": cwd,
            "prompt": words,
        }
        if is_live:
            self.report("claude-code", "UserPromptSubmit", payload)
        line = {"sessionId": session, "cwd": cwd, "version": "2.1.218"}
        said = [{"type": "text", "text": f"We decided on {words}, because it lasts."}]
        with path.open("a") as file:
            for kind, content in (("user", words), ("assistant", said)):
                at = self.tick()
                message = {"role": kind, "id": f"m{at}", "content": content}
                entry = {"type": kind, "uuid": f"{kind}{at}", "message": message}
                file.write(json.dumps({**line, **entry, "timestamp": at}) + "\n")
        if is_live:
            self.report("claude-code", "Stop", payload)
            self.work()

    def cursor(self, name: str, session: str, words: str) -> None:
        """A turn of Cursor's that payloads alone tell of."""
        payload = {
            "conversation_id": session,
            "generation_id": self.tick(),
            "workspace_roots": [str(self.project(name))],
            "prompt": words,
            "text": f"We decided on {words}, because it lasts.",
        }
        for event in ("beforeSubmitPrompt", "afterAgentResponse", "stop"):
            self.report("cursor", event, payload)
        self.work()

    def report(self, host: str, event: str, payload: dict[str, object]) -> None:
        data = json.dumps({"hook_event_name": event, **payload}).encode()
        Spool(self.places.spool).add(host, event, data)

    def work(self) -> None:
        """What a worker does with it."""
        with Registry(self.places) as registry:
            assert Worker(self.places).catch_up(registry)
            registry.commit_all("What was said")
            BriefMaker(registry).refresh()

    def read_all(self) -> None:
        """Import everything that is recorded."""
        with Registry(self.places) as registry:
            for one in survey(registry, {}):
                import_sessions(
                    registry, one.source, one.sessions, lambda _done, _all: None
                )
            notes = find_auto_memory(Path.home() / ".claude", Path.cwd()).files
            import_auto_memory(registry, notes, lambda _done, _all: None)

    def holds(self, words: str) -> list[str]:
        """The files of workspace, state and cache with these words, git's objects too."""
        roots = (Path.home() / "memory", self.places.state, self.places.cache)
        return [
            str(path.relative_to(root))
            for root in roots
            for path in root.rglob("*")
            if path.is_file() and words.encode() in path.read_bytes()
        ]


@pytest.fixture
def machine(git, monkeypatch: pytest.MonkeyPatch) -> Machine:
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    made = Machine(places)
    for name in (*CLIENTS, "own"):
        made.project(name).mkdir(parents=True)
        git("init", "-q", cwd=made.project(name))
        (made.project(name) / "package.json").write_text(f'{{"name": "{PACKAGE}"}}')
    (made.project("own") / "package.json").unlink()
    url = "git@git.example.com:client/Shop.git"
    git("remote", "add", "origin", url, cwd=made.project("by-remote"))
    monkeypatch.chdir(made.project("own"))
    made.keeplore("exclude", str(made.project("by-path")))
    made.keeplore("exclude", "--remote", "https://git.example.com/client/*")
    made.keeplore("exclude", "--pattern", "*-pattern")
    return made


def note_of_agent(name: str, words: str) -> None:
    folder = Path.home() / ".claude" / "projects" / name / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "note.md").write_text(f"# Note\n\n{words} is what the client uses.\n")


def test_no_file_has_a_word_of_what_is_left_out(machine: Machine) -> None:
    for name in CLIENTS:
        machine.claude(name, f"live-{name}", f"{CANARY} live", is_live=True)
        machine.claude(name, f"old-{name}", f"{CANARY} recorded", is_live=False)
        machine.cursor(name, f"cursor-{name}", f"{CANARY} of Cursor")
        note_of_agent(name, CANARY)
    machine.claude("own", "live-own", "tangerine", is_live=True)
    machine.claude("own", "old-own", "mandarin", is_live=False)
    machine.cursor("own", "cursor-own", "clementine")
    machine.read_all()
    assert machine.holds(CANARY) == machine.holds(PACKAGE) == []
    for words in ("tangerine", "mandarin", "clementine"):
        assert [path for path in machine.holds(words) if path.endswith(".md")]
    assert not (Path.home() / "memory" / "projects" / "by-path").exists()


def test_a_clone_elsewhere_and_a_worktree_are_left_out_with_their_project(
    machine: Machine, git
) -> None:
    git(
        "clone",
        "-q",
        machine.project("by-remote"),
        machine.project("x"),
        cwd=Path.home(),
    )
    url = "https://git.example.com/client/shop"
    git("remote", "set-url", "origin", url, cwd=machine.project("x"))
    project = machine.project("by-path")
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=project)
    git("worktree", "add", "-q", machine.project("y"), cwd=project)
    for name in ("x", "y"):
        machine.claude(name, name, CANARY, is_live=True)
    assert machine.holds(CANARY) == []


def test_what_is_included_again_is_captured_from_then_on(machine: Machine) -> None:
    machine.claude("by-path", "one", f"{CANARY} before", is_live=True)
    machine.cursor("by-pattern", "two", f"{CANARY} before")
    machine.keeplore("include", str(machine.project("by-path")))
    machine.keeplore("include", str(machine.project("by-pattern")))
    machine.claude("by-path", "one", "tangerine", is_live=True)
    machine.cursor("by-pattern", "two", "clementine")
    machine.read_all()
    assert machine.holds(CANARY) == []
    for words in ("tangerine", "clementine"):
        assert [path for path in machine.holds(words) if path.endswith(".md")]


def test_what_was_said_in_a_pause_is_not_read_later(machine: Machine) -> None:
    machine.claude("own", "one", "tangerine", is_live=True)
    begin = machine.tick()
    machine.claude("own", "one", f"{CANARY} in the pause", is_live=False)
    machine.claude("own", "other", f"{CANARY} in the pause", is_live=False)
    Pauses((Pause(begin, machine.tick()),)).save(machine.places)
    machine.claude("own", "one", "mandarin", is_live=True)
    machine.read_all()
    assert machine.holds(CANARY) == []
    for words in ("tangerine", "mandarin"):
        assert [path for path in machine.holds(words) if path.endswith(".md")]


def test_a_file_of_the_project_leaves_it_out_and_the_person_decides(
    machine: Machine,
) -> None:
    (machine.project("own") / ".keeplore").write_text("capture: off\n")
    machine.claude("own", "one", CANARY, is_live=True)
    assert machine.holds(CANARY) == []
    assert ".keeplore says capture: off" in machine.keeplore("whoami")
    machine.keeplore("include")
    machine.claude("own", "one", "tangerine", is_live=True)
    assert [path for path in machine.holds("tangerine") if path.endswith(".md")]


def test_private_parts_of_a_prompt_are_kept_nowhere_in_the_workspace(
    machine: Machine,
) -> None:
    words = (
        f"Use limes <private>{CANARY}</private> for the drink <private>{CANARY} more"
    )
    machine.claude("own", "live", words, is_live=True)
    machine.claude("own", "old", words, is_live=False)
    machine.cursor("own", "cursor", words)
    machine.read_all()
    workspace = Path.home() / "memory"
    assert [path for path in workspace.rglob("*.md") if "limes" in path.read_text()]
    held = [path for path in machine.holds(CANARY) if (workspace / path).exists()]
    assert held == []
