"""How hosts are told to start the client: a line that stays, for each system."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from keeplore.connect import client_copy, hook_events
from keeplore.connect.client_copy import launcher
from keeplore.connect.host_locations import LOCATIONS, desired

ODD = Path("/tmp/it's a $HOME dir/keeplore")


def program(folder: Path, text: str = "\x7fELF") -> Path:
    folder.mkdir(parents=True)
    path = folder / "python3"
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_python_of_the_path_is_taken_unless_it_is_a_virtual_environments_or_a_script(
    tmp_path, monkeypatch
):
    system, virtual = tmp_path / "usr" / "bin", tmp_path / "venv" / "bin"
    shims = tmp_path / "shims"
    program(system)
    program(virtual)
    program(shims, "#!/bin/sh\n")
    monkeypatch.setattr(sys, "prefix", str(virtual.parent))
    both = f"{virtual}:{system}"
    assert launcher(tmp_path, search_path=both, has_mcp=True).ask[0] == "python3"
    assert (
        launcher(tmp_path, search_path=str(virtual), has_mcp=True).ask[0]
        == sys.executable
    )
    shimmed = f"{virtual}:{shims}:{system}"
    for path in ("", shimmed):
        assert (
            launcher(tmp_path, search_path=path, has_mcp=True).mcp[0] == sys.executable
        )


def test_a_line_survives_a_shell_whatever_the_directory_is_called():
    runs = launcher(ODD, search_path="", has_mcp=True, is_windows=False)
    for host in ("codex", "gemini-cli", "cursor"):
        for groups in hook_events.hooks(host, runs)["hooks"].values():
            for group in groups:
                line = group.get("hooks", [group])[0]["command"]
                assert str(ODD / "client" / "client.sh") in shlex.split(line)


def test_on_windows_the_interpreter_is_named_and_no_shell_is_needed(
    monkeypatch, tmp_path
):
    folder = tmp_path / "Program Files" / "Python"
    folder.mkdir(parents=True)
    for name in ("python.exe", "pythonw.exe"):
        (folder / name).write_bytes(b"")
    monkeypatch.setattr(sys, "executable", str(folder / "python.exe"))
    runs = launcher(tmp_path / "state", search_path="", has_mcp=True, is_windows=True)
    assert runs.is_windows and runs.ask[0] == runs.mcp[0] == str(folder / "python.exe")
    assert runs.tell[0] == str(folder / "pythonw.exe") and runs.tell[-1] == runs.ask[-1]
    for host in LOCATIONS:
        if host != "opencode":
            text = str(hook_events.hooks(host, runs))
            assert (
                "client.sh" not in text and "bash'" not in text and "'sh'" not in text
            )


@pytest.mark.parametrize("host", [host for host in LOCATIONS if host != "opencode"])
def test_without_its_library_no_host_is_given_an_mcp_server(desk, host):
    def text(*, has_mcp: bool) -> str:
        runs = launcher(desk.state, search_path="", has_mcp=has_mcp, is_windows=False)
        return str(desired(host, desk.around, runs))

    assert "mcp.py" in text(has_mcp=True) and "mcp.py" not in text(has_mcp=False)


def test_a_copy_is_written_whole_and_told_when_it_is_old(tmp_path):
    assert (
        client_copy.refresh_clients(tmp_path) == ()
        and not (tmp_path / "client").exists()
    )
    assert set(client_copy.write_clients(tmp_path)) == set(
        client_copy.outdated(tmp_path / "none")
    )
    assert client_copy.outdated(tmp_path) == ()
    (tmp_path / "client" / "client.sh").write_text("old")
    assert (
        client_copy.outdated(tmp_path)
        == ("client.sh",)
        == client_copy.refresh_clients(tmp_path)
    )
