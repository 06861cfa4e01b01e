"""On a terminal each column of a table has a heading."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from keeplore.cli.main import cli
from keeplore.config.places import Places
from keeplore.memory.note import NoteDraft
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

TABLES = {
    "list": [["date", "what", "where", "title", "id"]],
    "why ID --query pnpm --text": [["part", "log-odds", "because"]],
    "graph": [["name", "type", "project", "mentions"]],
    "entity": [["entity", "what it is", "project", "mentions", "also called"]],
    "restore --list": [["id", "forgotten", "machine", "title"]],
    "archive --older-than 9d": [["id", "title", "why", "path"]],
    "tidy --dry-run": [["what", "id", "title", "why"]],
    "audit": [["when", "proposal", "outcome", "gate", "words", "id"]],
    "cost": [["day", "model", "stage", "calls", "read", "cached", "written", "price"]],
    "cost --by model": [["model", "calls", "read", "cached", "written", "price"]],
    "stats": [
        *([name, "memories"] for name in ("scope", "kind", "category", "trust")),
        ["month", "memories"],
        ["takes", "size"],
    ],
    "stats --since 7d": [
        ["number"],
        ["answers", "number", "50 % within, ms", "95 % within, ms", "99 % within, ms"],
    ],
    "projects": [["project", "recognised by"]],
    "machines": [["machine", "whose", "last seen", "memories"]],
    "workspaces": [["name", "directory"]],
    "config": [["setting", "value", "from"]],
    "embedding": [["vectors by", "number", "size"]],
    "exclude --list": [["rule", "whose", "means"]],
    "upgrade": [["part", "format", "known here", "by an upgrade"]],
}


@pytest.fixture
def note(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a note in the home workspace, where one works on a terminal."""
    places = Places.from_environment(os.environ)
    initialise(places, home / "memory")
    with Registry(places) as registry:
        written = registry.named("memory").notes.write(NoteDraft("Use pnpm, not npm"))
    monkeypatch.chdir(home / "memory")
    for name, value in {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    streams = "click.testing._NamedTextIOWrapper.isatty"
    monkeypatch.setattr(streams, lambda _: True, raising=False)
    return str(written.memory.id)


def test_each_column_has_a_heading(note: str) -> None:
    CliRunner().invoke(cli, ["entity", "add", "pnpm"])
    for command, tables in TABLES.items():
        done = CliRunner().invoke(cli, command.replace("ID", note).split())
        rows = [re.split(r" {2,}", line.strip()) for line in done.stdout.splitlines()]
        expected = [headings for headings in tables if headings in rows]
        assert (done.exit_code, expected) == (0, tables), command
