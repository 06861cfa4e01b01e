"""The wheel from the registry into an empty environment, as people install it: with the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

MAX_MB = 340  # 321 with pip; what a heavy package in the list would exceed
# how this machine reaches the registry
NETWORK = ("SSL_", "PIP_", "UV_")
WHOLE = {
    **{key: value for key, value in os.environ.items() if key.startswith(NETWORK)},
    "PATH": os.environ.get("PATH", ""),
}


@pytest.mark.soak
@pytest.mark.parametrize("tool", ["pip", "pipx", "uv"])
def test_an_empty_environment_gets_everything_and_no_more_than_it_needs(
    tool: str, tmp_path: Path
) -> None:
    root = Path(__file__).resolve().parents[2]
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir"]
    subprocess.run([*build, str(tmp_path), str(root)], check=True, capture_output=True)
    (wheel,) = map(str, tmp_path.glob("*.whl"))
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    surroundings = {
        **WHOLE,
        "HOME": str(home),
        "PIPX_HOME": str(home / "pipx"),
        "PIPX_BIN_DIR": str(home / "bin"),
        "UV_TOOL_DIR": str(home / "uv"),
        "UV_TOOL_BIN_DIR": str(home / "bin"),
        "KEEPLORE_STATE_DIR": str(home / "state"),
        "KEEPLORE_CACHE_DIR": str(home / "cache"),
    }

    def run(*command: str) -> str:
        done = subprocess.run(
            command, env=surroundings, cwd=home, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    venv.create(home / "tools", with_pip=True)
    tools = home / "tools" / "bin"
    program, place = str(home / "bin" / "keeplore"), home / tool / "keeplore"
    if tool == "pip":
        place = home / "pip"
        venv.create(place, with_pip=False)
        python = str(place / "bin" / "python")
        run(str(tools / "pip"), "-q", "--python", python, "install", wheel)
        program = str(place / "bin" / "keeplore")
    elif tool == "pipx":
        place = home / "pipx" / "venvs" / "keeplore"
        run(str(tools / "pip"), "install", "-q", "pipx")
        run(str(tools / "pipx"), "install", wheel)
    else:
        run(str(tools / "pip"), "install", "-q", "uv")
        run(str(tools / "uv"), "tool", "install", "--python", sys.executable, wheel)
    run("git", "config", "--global", "user.email", "person@example.invalid")
    run("git", "config", "--global", "user.name", "Person")
    run(program, "init", "memory")
    run(program, "remember", "We use pnpm, never npm: the lockfile broke twice.")
    question = "Which package manager do we use, and why never npm?"
    answer = json.loads(run(program, "recall", "--json", question))
    assert [hit["title"] for hit in answer["hits"]] == ["We use pnpm, never npm"]
    assert answer["legs"] == ["text", "vectors"]
    taken = int(run("du", "-sm", str(place)).split()[0])
    assert taken <= MAX_MB
