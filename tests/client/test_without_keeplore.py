"""A plugin where Keeplore is not set up: what the client says, and a client's own place."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore_hooks.installed import HOSTS
from keeplore_hooks.spool import Spool

CLIENT = Path(__file__).resolve().parents[2] / "plugin" / "keeplore" / "client"
Kept = Callable[[], list[tuple[str, str, bytes]]]
# how each host shows a line to the person, or gives it to the model where it shows none
KEYS = {
    "claude-code": "systemMessage",
    "codex": "systemMessage",
    "gemini-cli": "systemMessage",
    "cursor": "additional_context",
    "copilot": "additionalContext",
    "opencode": "context",
}
BEGINNINGS = {
    "cursor": "sessionStart",
    "copilot": "sessionStart",
    "opencode": "session.created",
}


def said(host: str, event: str) -> bytes:
    command = [sys.executable, "-I", "-S", str(CLIENT / "client.py"), host, event]
    done = subprocess.run(command, input=b"payload", capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_start_says_once_a_day_what_to_install(
    host: str, state: Path, kept: Kept
) -> None:
    event = BEGINNINGS.get(host, "SessionStart")
    ((key, line),) = json.loads(said(host, event)).items()
    assert key == KEYS[host]
    assert "\n" not in line and len(line) < 250
    assert all(
        command in line
        for command in (
            "pipx install .",
            "uv tool install .",
            "keeplore init ~/memory",
        )
    )
    assert said(host, event) == b""
    (told,) = state.glob("advised-*")
    told.rename(state / "advised-20200101")
    assert said(host, event), "a run without a terminal may have shown it to nobody"
    assert [*state.glob("advised-*")] == [told]
    assert [payload for _, _, payload in kept()] == [b"payload"] * 3


def test_a_machine_is_told_once_whichever_host_asks(state: Path) -> None:
    assert said("codex", "SessionStart")
    assert said("cursor", "sessionStart") == b""


@pytest.mark.parametrize("event", ["UserPromptSubmit", "UserPromptExpansion", "Stop"])
def test_no_other_event_says_it(state: Path, event: str) -> None:
    assert said("claude-code", event) == b""
    assert list(state.glob("advised*")) == []


@pytest.mark.parametrize("python", ["", "python3", "/nowhere/python3"])
def test_what_is_no_interpreter_counts_as_none(state: Path, python: str) -> None:
    state.mkdir(parents=True)
    (state / "python").write_text(f"{python}\n")
    assert b"pipx" in said("claude-code", "SessionStart")


def test_where_keeplore_is_installed_nothing_is_said(state: Path) -> None:
    state.mkdir(parents=True)
    (state / "python").write_text("/bin/true\n")  # a worker that ends at once
    assert said("claude-code", "SessionStart") == b""
    assert list(state.glob("advised*")) == []


@pytest.mark.parametrize("host", HOSTS)
def test_where_workers_die_a_session_start_says_so_once_a_day(
    host: str, state: Path, kept: Kept
) -> None:
    state.mkdir(parents=True)
    (state / "python").write_text(
        "/bin/false\n"
    )  # an interpreter that has lost Keeplore
    (state / "worker.tries").write_text("4\n")
    (state / "warned-20200101").write_text("")
    event = BEGINNINGS.get(host, "SessionStart")
    ((key, line),) = json.loads(said(host, event)).items()
    assert key == KEYS[host] and "keeplore doctor" in line
    assert said(host, event) == b"" and said(host, "Stop") == b""
    assert len(list(state.glob("warned-*"))) == 1
    assert len(kept()) == 3


def test_an_edit_that_is_only_asked_about_is_not_kept(state: Path) -> None:
    assert said("claude-code", "PreToolUse") == b""
    assert Spool(state / "spool").pending() == []


@pytest.mark.parametrize(
    "program", [["sh", "client.sh"], [sys.executable, "-I", "-S", "client.py"]]
)
@pytest.mark.parametrize("is_used", [True, False])
def test_a_copy_in_a_state_directory_writes_there_whatever_the_environment_says(
    program: list[str], is_used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that a desktop started has not the environment of the shell in which Keeplore was set
    up.
    """
    monkeypatch.delenv("KEEPLORE_STATE_DIR", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    own = tmp_path / "a place" / "keeplore"
    shutil.copytree(CLIENT, own / "client")
    if is_used:
        (own / "spool").mkdir()
    command = [*program[:-1], str(own / "client" / program[-1]), "codex", "Stop"]
    subprocess.run(command, input=b"payload", check=True)
    place = own if is_used else tmp_path / "other" / "keeplore"
    assert [entry.read() for entry in Spool(place / "spool").pending()] == [b"payload"]


def test_a_client_whose_other_half_is_missing_tells_the_host_nothing(tmp_path):
    client = shutil.copy(CLIENT / "client.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", "-S", client, "claude-code", "SessionStart"],
        input=b"{}",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
