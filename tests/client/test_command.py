"""How an agent's shell, which has neither aliases nor environments of the person's, runs Keeplore."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keeplore.connect import assets
from keeplore.connect.client_copy import agents_command, command_line, write_clients

PLUGIN = Path(__file__).parents[2] / "plugin"
BARE = "/usr/bin:/bin"


def run(
    line: str, state: Path, path: str = BARE, **more: str
) -> subprocess.CompletedProcess[str]:
    """A command line in a shell that knows nothing."""
    return subprocess.run(
        ["sh", "-c", line],
        env={"PATH": path, "HOME": str(state.parent), **more},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory with the copy of the clients, and an interpreter that tells what it ran."""
    state = tmp_path / "the state"
    write_clients(state)
    python = tmp_path / "a python"
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"; cat\n')
    python.chmod(0o755)
    (state / "python").write_text(f"{python}\n0.1.0\n")
    return state


def test_what_agents_are_told_to_run_runs_where_nothing_is_on_the_path(
    state: Path,
) -> None:
    for host in ("claude-code", "codex", "gemini-cli", "opencode"):
        files = assets.host_files(host, command_line(state))
        texts = [data.decode() for data in files.values() if b"```sh" in data]
        assert len(texts) == 4, host
        scripts = [
            script
            for text in texts
            for script in re.findall(
                r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL
            )
        ]
        for script in scripts:
            done = run(script, state)
            assert (done.returncode, done.stderr) == (0, ""), script
            assert done.stdout.startswith("-m|keeplore.cli|"), script
    (said,) = [script for script in scripts if "remember" in script]
    words = run(said, state).stdout
    assert words.startswith("-m|keeplore.cli|remember|--permanent|-|We keep one queue")


def test_the_tool_and_what_the_person_reads_keep_their_names(state: Path) -> None:
    files = assets.host_files("codex", command_line(state))
    text = files["skills/keeplore-remember/SKILL.md"].decode()
    assert "the MCP server `keeplore`" in text and "name: keeplore-remember" in text
    assert f"Without a text, `{command_line(state)} remember` alone" in text


def test_a_plugin_brings_a_command_that_finds_the_installation(state: Path) -> None:
    there = state.parent / "plugin"
    shutil.copytree(PLUGIN / "bin", there / "bin")
    shutil.copytree(PLUGIN / "keeplore" / "client", there / "keeplore" / "client")
    path = f"{there / 'bin'}:{BARE}"
    more = {"KEEPLORE_STATE_DIR": str(state)}
    done = run("keeplore recall 'two words' </dev/null", state, path, **more)
    assert done.stdout == "-m|keeplore.cli|recall|two words|"
    # without one it takes a program of that name, never itself
    (state / "python").unlink()
    done = run("keeplore recall", state, path, **more)
    assert done.returncode == 127 and "pipx install ." in done.stderr
    other = state.parent / "other"
    other.mkdir()
    (other / "keeplore").write_text("#!/bin/sh\necho other $1\n")
    (other / "keeplore").chmod(0o755)
    assert (
        run("keeplore list", state, f"{path}:{other}", **more).stdout == "other list\n"
    )


def test_the_command_line_really_runs(tmp_path: Path) -> None:
    state = tmp_path / "state"
    write_clients(state)
    (state / "python").write_text(f"{sys.executable}\n")
    done = run(f"{command_line(state)} --version", state)
    assert done.returncode == 0 and done.stdout.startswith("keeplore")
    assert shlex.split(command_line(state)) == ["sh", str(state / "client/command.sh")]


def test_agents_are_told_a_command_that_their_shell_finds(
    state: Path,
) -> None:
    """With a plugin alone there is no copy of the client: the program's own does the same."""
    plugin = f"sh {PLUGIN / 'keeplore' / 'client' / 'command.sh'}"
    shutil.rmtree(state / "client")
    assert agents_command(state, "claude-code") == "keeplore"
    assert agents_command(state, "copilot") == plugin
    done = run(f"{plugin} recall", state, KEEPLORE_STATE_DIR=str(state))
    assert done.stdout == "-m|keeplore.cli|recall|"
    write_clients(state)
    assert agents_command(state, "claude-code") == command_line(state)
    assert agents_command(state, "copilot") == command_line(state)
    (state / "keeplore").symlink_to("/bin/true")
    assert agents_command(state, "copilot", str(state)) == "keeplore"
