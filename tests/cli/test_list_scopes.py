"""Which wishes about where memory is do not go together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from new_workspace import lay_down

from keeplore.cli.main import cli
from keeplore.config.places import Places

REFUSED = "--project excludes --all-projects and the other scopes"


@pytest.mark.parametrize(
    ("words", "is_refused"),
    [
        ("", False),
        ("--all-projects", False),
        ("--scope user", False),
        ("--scope project --project shop", False),
        ("--project shop", False),
        ("--project shop --all-projects", True),
        ("--project shop --scope user", True),
        ("--project shop --scope workspace", True),
        ("--project shop --scope project --all-projects", True),
    ],
)
def test_a_project_is_no_other_scope(home: Path, words: str, is_refused: bool) -> None:
    lay_down(Places.from_environment(os.environ), home / "memory")
    done = CliRunner().invoke(cli, ["list", *words.split()])
    assert (REFUSED in done.stderr, done.exit_code == 2) == (is_refused,) * 2
