"""Keeplore's plugin in Claude Code: its own check of it, and a machine without the rest."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from host_lab import CHECKOUT, HostLab
from model_server import Call, Step

PROMPT = "Let's put the jobs into a Postgres table, because Redis has no transactions."
LOOK = "Look where memory is kept"
ANSWER = "Agreed."
NEXT = "keeplore init ~/memory"

Laboratory = Callable[[str], HostLab]

pytestmark = pytest.mark.timeout(600)


def test_it_objects_to_nothing(laboratory: Laboratory) -> None:
    lab = laboratory("claude-code")
    for place in (CHECKOUT, CHECKOUT / "plugin"):
        lines = claude(lab, "plugin", "validate", str(place)).splitlines()
        assert "✔ Validation passed" in lines
        assert [line for line in lines if line.startswith(("⚠", "✘", "ℹ Advice"))] == []


@pytest.mark.parametrize("is_installed", [True, False])
def test_without_a_workspace_the_person_is_told_what_to_run_and_nothing_is_lost(
    laboratory: Laboratory, *, is_installed: bool
) -> None:
    lab = laboratory("claude-code")
    if not is_installed:
        leave_keeplore_out(lab.machine.environment)
    look = Call("Bash", {"command": "keeplore whoami", "description": "Look"})
    lab.server.script.answer(PROMPT, ANSWER)
    lab.server.script.answer(LOOK, Step("", (look,)), ANSWER)
    claude(lab, "plugin", "marketplace", "add", str(CHECKOUT))
    claude(lab, "plugin", "install", "keeplore@keeplore")
    with lab.open() as session:
        session.terminal.wait_for(f"run `{NEXT}`")
        session.say(PROMPT, ANSWER)
        session.end()
    lab.ask(LOOK)
    request = lab.server.requests[-1]
    assert NEXT in request.everything, "the agent knows why there is no tool"
    assert "failed to connect" not in request.everything
    (result,) = [message.text for message in request.messages if message.role == "tool"]
    assert ("keeplore init DIR" if is_installed else NEXT) in result
    lab.machine.keeplore("init", "memory")
    lab.ask(PROMPT)
    lab.settle()
    paths = lab.memory.glob("projects/ledgerly/memory/conversations/**/*.md")
    kept = "".join(path.read_text() for path in paths)
    assert kept.count(f"{PROMPT}\n") == 2 and LOOK in kept


def claude(lab: HostLab, *arguments: str) -> str:
    """What a command of its own says."""
    done = subprocess.run(
        ("claude", *arguments),
        env=lab.machine.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def leave_keeplore_out(environment: dict[str, str]) -> None:
    folders = environment["PATH"].split(os.pathsep)
    without = [name for name in folders if not (Path(name) / "keeplore").exists()]
    environment["PATH"] = os.pathsep.join(without)
