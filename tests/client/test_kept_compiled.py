"""What Python compiles of the clients is kept, and never beside the files of a plugin."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keeplore.connect.client_copy import write_clients
from keeplore_hooks.spool import Spool

CLIENT = Path(__file__).parents[2] / "plugin" / "keeplore" / "client"
PROGRAMS = [("client.py", "contact"), ("mcp.py", "mcp_pipe")]


def start(program: Path, environment: dict[str, str]) -> None:
    subprocess.run(
        (sys.executable, "-I", "-S", str(program), "codex", "Stop"),
        env=environment,
        input=b"{}",
        capture_output=True,
        check=True,
    )


def folders(root: Path, module: str) -> list[str]:
    """Where its compiled form lies under ``root``."""
    found = root.rglob(f"{module}.*.pyc")
    return [path.parent.relative_to(root).as_posix() for path in found]


@pytest.mark.parametrize(("program", "module"), PROGRAMS)
@pytest.mark.parametrize("is_told", [True, False])
def test_a_plugin_is_compiled_once_into_the_state_directory(
    program: str, module: str, is_told: bool, tmp_path: Path
) -> None:
    """The folder of a plugin belongs to a host, which may compare it with its source."""
    plugin = tmp_path / "plugin" / "client"
    shutil.copytree(CLIENT, plugin, ignore=shutil.ignore_patterns("__pycache__"))
    state = tmp_path / "home" / ".local" / "state" / "keeplore"
    environment = {"HOME": str(tmp_path / "home")}
    if is_told:
        state = tmp_path / "state"
        environment["KEEPLORE_STATE_DIR"] = str(state)
    # nothing is set up yet: no state directory is made for what was compiled
    (tmp_path / "home").mkdir()
    start(plugin / "mcp.py", environment)
    assert not state.exists()
    (state / "spool").mkdir(parents=True)

    start(plugin / program, environment)
    kept = f"compiled{plugin}"
    assert folders(tmp_path, module) == [
        (state / kept).relative_to(tmp_path).as_posix()
    ]
    (compiled,) = state.rglob(f"{module}.*.pyc")
    before = compiled.stat().st_mtime_ns, compiled.stat().st_ino
    start(plugin / program, environment)
    assert before == (compiled.stat().st_mtime_ns, compiled.stat().st_ino)

    (plugin / f"{module}.py").write_text("def run(): pass\ndef main(): pass\n")
    start(plugin / program, environment)
    assert before[1] != compiled.stat().st_ino  # another release in the same folder


@pytest.mark.parametrize(("program", "module"), PROGRAMS)
def test_the_copy_for_this_machine_is_compiled_beside_itself(
    program: str, module: str, tmp_path: Path
) -> None:
    write_clients(tmp_path / "state")
    start(tmp_path / "state" / "client" / program, {"HOME": str(tmp_path)})
    assert folders(tmp_path, module) == ["state/client/__pycache__"]


def test_a_state_directory_without_room_for_it_keeps_the_event(tmp_path: Path) -> None:
    plugin = tmp_path / "client"
    shutil.copytree(CLIENT, plugin, ignore=shutil.ignore_patterns("__pycache__"))
    state = tmp_path / "state"
    (state / "spool").mkdir(parents=True)
    (state / "compiled").write_text("")
    start(plugin / "client.py", {"KEEPLORE_STATE_DIR": str(state)})
    assert [entry.read() for entry in Spool(state / "spool").pending()] == [b"{}"]
