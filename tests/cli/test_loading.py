"""Whoever only asks does not wait for what only writing needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.installed import SOURCES

HEAVY = (
    "pygit2",
    "numpy",
    "fastembed",
    "keeplore.capture.plugin",
    "keeplore_hooks.hosts.codex.codex_host",
)

PROGRAM = f"""
import contextlib, sys
from keeplore.cli.main import cli
with contextlib.suppress(SystemExit):  # recall exits with the status of its answer
    cli.main(sys.argv[1:], standalone_mode=False)
print([name for name in {HEAVY} if name in sys.modules])
"""


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["recall", "--text", "tabs"],
        ["show", "tabs.md"],
        ["history", "tabs.md"],
    ],
)
def test_asking_loads_neither_git_nor_capture_nor_a_model(words: list[str]) -> None:
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    folder = Path.home() / "memory" / "memory" / "facts"
    folder.mkdir(parents=True)
    (folder / "tabs.md").write_text("# Indent with tabs\n\nNot with spaces.\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=Path.home(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tabs" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_adapter_is_found_under_its_name() -> None:
    assert {name: source.name for name, source in SOURCES.items()} == {
        name: name for name in SOURCES
    }
