"""Options that exclude or need one another: each such pair is refused, with what is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from new_workspace import lay_down

from keeplore.cli.main import cli
from keeplore.config.places import Places

LIST = "--project excludes --all-projects and the other scopes"
SHOW = "--raw, --path and --json exclude one another, --full and --exchange"
RELATED = "--related goes with --full and --json"
ONE_PLACE = "give one PATH, --project, --remote or --pattern at a time"
WHAT = "name what is to be left out, such as a PATH"
TIDY = "give one of --dry-run, --undo and --redo"
LINT = "--staged, --install, --uninstall and PATH exclude one another"
SOURCE = "name a file or a URL, or use --status"
RESTORE = "give the ids of what to restore, or --list to see them"
OUTPUT = "--output is for the other formats; a tree can be sent to a file with >"
EXPORT = "--scope is for the conversations of an export"
REPLACES = "--replaces keeps the place of that memory; `keeplore edit` moves one"
REFUSED = {
    "list --project shop --all-projects": LIST,
    "list --project shop --scope workspace": LIST,
    "show 1f0c9a2e --raw --json": SHOW,
    "show 1f0c9a2e --full --path": SHOW,
    "show 1f0c9a2e --exchange 1 --json": SHOW,
    "show 1f0c9a2e --related 1 --raw": RELATED,
    "show 1f0c9a2e --related 1 --path": RELATED,
    "show 1f0c9a2e --related 1 --exchange 1": RELATED,
    "pause --for 2h --end": "give --for or --end, not both",
    "exclude a --project b": ONE_PLACE,
    "exclude --project a --remote b": ONE_PLACE,
    "include --pattern a --remote b": ONE_PLACE,
    "exclude --workspace": WHAT,
    "exclude --forget": WHAT,
    "graph --output g.txt": OUTPUT,
    "import codex --all": "give a HOST or --all, not both",
    "import --from folder": "--from needs the HOST whose files lie there",
    "import --scope workspace": EXPORT,
    "import codex --scope workspace": EXPORT,
    "refine --all --since 7d": "--all and --since exclude one another",
    "remember words --replaces 1f0c9a2e --project shop": REPLACES,
    "remember words --scope project --agent ada": (
        "--agent and --scope project exclude one another"
    ),
    "remember words --scope workspace --project shop": (
        "--project and --scope workspace exclude one another"
    ),
    "ingest --status a.md": "--status stands alone",
    "ingest --status --project shop": "--status stands alone",
    "ingest --status --scope workspace": "--status stands alone",
    "ingest": SOURCE,
    "restore": RESTORE,
    "restore --list 1f0c9a2e": RESTORE,
    "lint --staged --install": LINT,
    "lint --install --uninstall": LINT,
    "lint --staged folder": LINT,
    "tidy --dry-run --undo": TIDY,
    "tidy --undo --redo": TIDY,
    "projects clone": "name the projects, or say --all",
    "emit": "say with --host NAME what the agent is called",
    "emit --host codex": "codex has an adapter of its own; choose another",
    "emit --host Odd_Name": "use small letters, digits and dashes",
}


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a folder in it, in which commands run."""
    lay_down(Places.from_environment(os.environ), home / "memory")
    (home / "memory" / "folder").mkdir()
    monkeypatch.chdir(home / "memory")
    return home / "memory" / "folder"


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_go_together_is_refused(folder: Path, command: str) -> None:
    done = CliRunner().invoke(cli, command.split(), input="")
    said = done.stderr.lower()
    assert (done.exit_code, done.stdout) == (2, "")
    assert REFUSED[command].lower() in " ".join(said.split()), done.stderr
