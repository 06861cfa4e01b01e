"""The plugin as Claude Code's own check sees it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from host_lab import CHECKOUT, HostLab


@pytest.mark.timeout(600)
def test_it_objects_to_nothing_but_the_missing_picture(
    laboratory: Callable[[str], HostLab],
) -> None:
    lab = laboratory("claude-code")
    for place in (CHECKOUT, CHECKOUT / "plugin"):
        done = subprocess.run(
            ("claude", "plugin", "validate", str(place)),
            env=lab.machine.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stdout.splitlines()
        assert "✔ Validation passed" in lines
        assert not any(line.startswith("ℹ Advice") for line in lines)
        objections = [line for line in lines if line.startswith("  ❯ .")]
        assert all("ICON_MISSING" in line for line in objections)
