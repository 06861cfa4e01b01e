"""Killed at any step, connecting and disconnecting are put right by doing either of them again."""

from __future__ import annotations

from pathlib import Path

import pytest
from step_script import struck

STEPS = Path(__file__).with_name("connect_steps.py")
FEWEST = 40  # points; fewer would mean that the steps are no longer seen


@pytest.fixture
def base(tmp_path):
    """A home in which two hosts have files of the person's, one of them behind a link."""
    base = tmp_path / "base"
    for name in (
        "home/.codex",
        "home/.cursor",
        "home/.gemini",
        "home/dotfiles",
        "state",
    ):
        (base / name).mkdir(parents=True)
    (base / "home/.codex/config.toml").write_text('model = "x"')
    (base / "home/.cursor/hooks.json").symlink_to("../dotfiles/hooks.json")
    (base / "home/dotfiles/hooks.json").write_text(
        '{"version": 1, "hooks": {"stop": [{"command": "mine"}]}} // mine\n'
    )
    return base


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("deed", ["connect", "update", "disconnect"])
def test_a_kill_at_every_step_is_put_right(base, deed, stride):
    (points,) = struck(STEPS, base, base.with_name("now"), deed, stride)
    assert int(points) >= FEWEST
