"""Codex CLI with a person's settings: trust in hooks, a file that it writes anew, its sandbox."""

from __future__ import annotations

import dataclasses
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from host_lab import CHECKOUT, HostLab
from host_lab.terminal import Terminal
from model_server import Call, Step, model_server

REVIEW = "Hooks need review"
TRUST_ALL = "2"
EXCEPT_TEMPORARY = ("exclude_slash_tmp", "exclude_tmpdir_env_var")
QUESTION = "Tell me which queue we use"
FAILING = "*** Begin Patch\n*** Update File: absent.txt\n@@\n-a\n+b\n*** End Patch\n"
ADDING = "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n"

Laboratory = Callable[[str], HostLab]

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def outside_of_dev() -> Iterator[HostLab]:
    """The sandbox has a /dev of its own, and tests may lie in /dev/shm."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(dir=CHECKOUT / ".venv"))
        server = stack.enter_context(model_server())
        lab = stack.enter_context(HostLab("codex", Path(folder) / "home", server))
        if not lab.is_installed():
            pytest.skip("codex is not installed: make hosts")
        yield lab


def test_what_it_wrote_anew_is_taken_out_and_what_it_keeps_is_named(
    laboratory: Laboratory,
) -> None:
    lab = laboratory("codex")
    file = lab.machine.home / ".codex/config.toml"
    lab.connect()
    trust_hooks(lab)
    # it leaves out our comment
    add = ("codex", "mcp", "add", "other", "--", "true")
    subprocess.run(add, env=lab.machine.environment, check=True, capture_output=True)
    assert set(tomllib.loads(file.read_text())["mcp_servers"]) == {"keeplore", "other"}
    done = lab.machine.keeplore("disconnect", "codex", "--yes")
    left = tomllib.loads(file.read_text())
    assert set(left["mcp_servers"]) == {"other"}
    said = " ".join((done.stdout + done.stderr).decode().split())
    trusted = left["hooks"]["state"]
    assert f"begins so ({len(trusted)} in all) stay in {file}" in said
    assert any(f'[hooks.state."{name}"]' in said for name in trusted)


@pytest.mark.soak  # a sandbox is not everywhere
def test_in_its_sandbox_memory_is_found_and_what_cannot_be_kept_is_said(
    outside_of_dev: HostLab,
) -> None:
    lab = outside_of_dev
    settings = (f"sandbox_workspace_write.{name}=true" for name in EXCEPT_TEMPORARY)
    options = [word for setting in settings for word in ("-c", setting)]
    lab.host = dataclasses.replace(
        lab.host,
        options=(
            "--dangerously-bypass-hook-trust",
            *("--sandbox", "workspace-write"),
            *options,
        ),
    )
    lab.connect()
    lab.machine.keeplore("remember", "The queue is a table", cwd=lab.project)
    ours = f"sh {lab.machine.state}/client/command.sh"
    commands = (
        f"{ours} recall 'which queue is it'",
        f"{ours} remember 'We deploy on Mondays'",
        f"apply_patch <<'X'\n{FAILING}X\n",
        f"apply_patch <<'X'\n{ADDING}X\n",
    )
    calls = [
        Call("exec_command", {"cmd": c, "yield_time_ms": 60_000}) for c in commands
    ]
    steps = [Step("", (call,)) for call in calls]
    lab.server.script.answer(QUESTION, *steps, "A table.")
    lab.ask(QUESTION)
    lab.settle()
    results = [m.text for m in lab.server.requests[-1].messages if m.role == "tool"]
    recalled, kept, failed, made = results
    assert "The queue is a table" in recalled
    assert "words that you repeat in your answer are kept with the session" in kept
    assert "verification failed" in failed and "Success" in made
    (conversation,) = lab.memory.glob("projects/*/memory/conversations/**/*.md")
    text = conversation.read_text()
    assert "- file: `made.txt`" in text and "absent.txt" not in text
    assert not any("Mondays" in path.name for path in lab.memory.rglob("*"))


def trust_hooks(lab: HostLab) -> None:
    """As a person does who is asked at the first start."""
    command = ("codex", "--dangerously-bypass-approvals-and-sandbox")
    terminal = Terminal(command, lab.project, lab.machine.environment)
    file = lab.machine.home / ".codex/config.toml"
    try:
        terminal.wait_for(REVIEW)
        terminal.wait_until_quiet(1.0)
        terminal.type(TRUST_ALL)
        terminal.press("enter")
        lab.machine.wait_until(
            lambda: "[hooks.state" in file.read_text(), "it is trusted", 60
        )
    finally:
        terminal.close()
        lab.kill()
