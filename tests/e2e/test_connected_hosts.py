"""From a fresh home: connect every host, run the very commands that stand in their files,
disconnect, and look.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from quick_machine import QuickMachine

from keeplore_hooks.spool import Spool

PROMPT = "Redis was down twice last month. Should the jobs of {} go into a Postgres table instead?"
REPLY = (
    "Yes: put them into a Postgres table, because a job and its invoice are then one "
    "transaction. Redis can go."
)
DIRECTORIES = (
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".copilot",
    ".config/opencode",
)
ONLY_ASKED = ("claude-code", "SubagentStart")  # nothing is kept of it
HOOKS = {
    "claude-code": ".claude/skills/keeplore/hooks/hooks.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/extensions/keeplore/hooks/hooks.json",
    "cursor": ".cursor/hooks.json",
    "copilot": ".copilot/hooks/keeplore.json",
}


@pytest.fixture
def machine(tmp_path: Path) -> QuickMachine:
    """A home with a workspace, in which every host has files of the person's."""
    machine = QuickMachine(tmp_path / "my höme")
    for name in DIRECTORIES:
        (machine.home / name).mkdir(parents=True)
    (machine.home / ".codex/config.toml").write_text('model = "x" # mine\n')
    (machine.home / ".cursor/hooks.json").write_text(
        '{"version": 1, "hooks": {"stop": [{"command": "./mine"}]}}'
    )
    (machine.home / ".claude/CLAUDE.md").write_text("Mine.\n")
    (machine.home / ".claude/settings.json").write_text("{}")
    machine.keeplore("init", "memory")
    machine.no_worker_starts()
    return machine


def tree(machine: QuickMachine) -> dict[str, tuple[int, bytes]]:
    """Every path of the home with rights and bytes, but for what is Keeplore's own."""
    own = {machine.home / name for name in ("state", "cache", "memory")}
    found = {}
    for path in machine.home.rglob("*"):
        if own.isdisjoint((path, *path.parents)):
            mode = stat.S_IMODE(path.lstat().st_mode)
            found[str(path.relative_to(machine.home))] = (
                mode,
                path.read_bytes() if path.is_file() else b"",
            )
    return found


def handlers(machine: QuickMachine, host: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each host event with the command line that its host would run for it, as it stands in the
    host's file.
    """
    content = json.loads((machine.home / HOOKS[host]).read_text())
    for event, groups in content["hooks"].items():
        for group in groups:
            for handler in group.get("hooks", [group]):
                if "client" in json.dumps(handler):
                    line = handler.get("bash") or handler["command"]
                    yield (
                        event,
                        (line, *handler["args"])
                        if "args" in handler
                        else ("sh", "-c", line),
                    )


def payload(host: str, event: str, project: Path) -> dict[str, Any]:
    common: dict[str, Any] = {
        "session_id": f"session-{host}",
        "cwd": str(project),
        "hook_event_name": event,
    }
    if host == "cursor":
        common = {
            "conversation_id": "session-cursor",
            "generation_id": "g1",
            "hook_event_name": event,
            "model": "m",
            "cursor_version": "2.0",
            "workspace_roots": [str(project)],
            "text": REPLY,
            "status": "completed",
        }
    if host == "copilot":
        common = {
            "sessionId": "session-copilot",
            "cwd": str(project),
            "timestamp": 1_790_000_000_000,
        }
        common["transcriptPath"] = str(log_of_copilot(project))
    said = {
        "prompt": PROMPT.format(host),
        "prompt_response": REPLY,
        "last_assistant_message": REPLY,
    }
    return (
        {**common, **said, "turn_id": "t1"} if host == "codex" else {**common, **said}
    )


def log_of_copilot(project: Path) -> Path:
    """Copilot reports no words of its own: they stand in its log."""
    log = project.parent / ".copilot/session-state/session-copilot/events.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        (
            "session.start",
            {"sessionId": "session-copilot", "context": {"cwd": str(project)}},
        ),
        ("user.message", {"content": PROMPT.format("copilot"), "interactionId": "i1"}),
        ("assistant.message", {"messageId": "m1", "content": REPLY}),
    )
    log.write_text(
        "".join(
            json.dumps(
                {
                    "type": kind,
                    "data": data,
                    "id": f"e{number}",
                    "timestamp": f"2026-11-20T10:00:0{number}.000Z",
                }
            )
            + "\n"
            for number, (kind, data) in enumerate(lines)
        )
    )
    return log


TURN: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("UserPromptSubmit", "Stop"),
    "codex": ("UserPromptSubmit", "Stop"),
    "gemini-cli": ("BeforeAgent", "AfterAgent"),
    "cursor": ("beforeSubmitPrompt", "afterAgentResponse", "stop"),
    "copilot": ("userPromptSubmitted", "agentStop"),
}


def test_what_is_said_in_a_connected_host_becomes_a_conversation(
    machine: QuickMachine,
) -> None:
    machine.keeplore("connect", "--yes")
    machine.no_worker_starts()
    spool = Spool(machine.state / "spool")
    for host, events in TURN.items():
        project = machine.home / f"code-{host}"
        project.mkdir()
        lines: dict[str, tuple[str, ...]] = {}
        for event, line in handlers(machine, host):
            lines.setdefault(event, line)
        for event in events:
            before = {entry.name for entry in spool.pending()}
            data = json.dumps(payload(host, event, project)).encode()
            done = machine.run(*lines[event], cwd=project, payload=data)
            (entry,) = [entry for entry in spool.pending() if entry.name not in before]
            assert (entry.host, entry.event) == (
                host,
                event,
            ) and entry.path.read_bytes() == data
            assert done.stdout == b"" or json.loads(done.stdout)
    machine.keeplore("worker", "run")
    for host in TURN:
        texts = [
            path.read_text()
            for path in (machine.home / f"memory/projects/code-{host}").rglob("*.md")
        ]
        (text,) = [text for text in texts if "kind: conversation" in text]
        assert f"host: {host}" in text and PROMPT.format(host) in text
        assert REPLY in text


def test_every_event_of_every_host_reaches_the_inbox_and_fails_open(
    machine: QuickMachine,
) -> None:
    machine.keeplore("connect", "--yes")
    machine.no_worker_starts()
    spool = Spool(machine.state / "spool")
    sent = []
    for host in HOOKS:
        for event, line in handlers(machine, host):
            machine.run(*line, payload=b"{}")
            sent.append((host, event))
    sent.remove(ONLY_ASKED)
    assert (
        sorted((entry.host, entry.event) for entry in spool.pending()) == sorted(sent)
        and len(sent) > 40
    )
    for name in ("client.sh", "client.py"):
        (machine.state / "client" / name).unlink()
    for host in HOOKS:
        for _, line in handlers(machine, host):
            # a refusal would stop the session
            assert machine.run(*line, payload=b"{}", check=False).returncode == 0


def test_disconnecting_leaves_the_home_as_it_was(machine: QuickMachine) -> None:
    before = tree(machine)
    diff = machine.keeplore("connect", "--dry-run").stdout.decode()
    assert tree(machine) == before and not (machine.state / "connections.json").exists()
    machine.keeplore("connect", "--yes")
    after = tree(machine)
    changed = {
        path for path in after if after[path] != before.get(path) and after[path][1]
    }
    assert {
        path for path in changed if f"+++ {machine.home / path}\n" in diff
    } == changed
    untouched = (".claude/CLAUDE.md", ".claude/settings.json")
    assert all(after[path] == before[path] for path in untouched)
    machine.keeplore("disconnect", "--yes")
    assert tree(machine) == before
    assert b"No agent is connected" in machine.keeplore("disconnect").stdout


def test_the_mcp_server_in_a_hosts_file_can_be_started(machine: QuickMachine) -> None:
    machine.keeplore("connect", "cursor", "--yes")
    server = json.loads((machine.home / ".cursor/mcp.json").read_text())["mcpServers"][
        "keeplore"
    ]
    done = machine.run(server["command"], *server["args"], check=False)
    assert done.returncode != 127 and b"can't open" not in done.stderr, done.stderr


def test_a_home_without_hosts_is_told_so(tmp_path: Path) -> None:
    machine = QuickMachine(tmp_path / "home")
    machine.environment["PATH"] = os.defpath
    done = machine.keeplore("connect", check=False)
    assert (
        done.returncode == 1
        and b"no agent was found" in done.stderr
        and b"claude-code" in done.stderr
    )
    assert not (machine.home / ".claude").exists()
