"""What commands say of one workspace, for a person and for a program, as it is written down.

To write it anew: WRITE_GOLDEN=1 pytest -n0 tests/cli -k whole_outputs, then read the difference.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fixed_workspace import FAR, TALK, fill, key, propose
from new_workspace import lay_down
from written_down import written_lines

import keeplore
from keeplore.cli.main import main
from keeplore.config.places import Places
from keeplore.memory import new_id
from keeplore.workspace.registry import Registry

# what is another in each run, and what stands in its place; the workspace is of spring 2026
SIGNS = (
    (
        re.compile(r"\b(?!2026-0[1-5])\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|\+00:00)?)?"),
        "NOW",
    ),
    (re.compile(r"\b\d+ (?:month|day|hour|minute)s? (?:ago|old)"), "AGO"),
    (re.compile(r'(?<="score": )0\.\d+|(?<= · )0\.\d\d(?= ·)'), "SCORE"),
    (re.compile("\u202e"), "(turned round)"),
    (re.compile(r"\b(?:\d+\.)?\d+ (?:ms|MB|kB|bytes)\b|(?<=_ms\": )[\d.]+"), "SIZE"),
    (re.compile(r'"(bytes_\w+|size)": \d+'), r'"\1": SIZE'),
    (re.compile(r'(?<=keeplore-recall id=")[0-9a-f]{8}|\b[0-9a-f]{40}\b'), "MARK"),
)
MADE = re.compile(r"\b(?:mem_)?([0-9a-f]{8})(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b")
DEPLOYS, LEDGER, TABS, SHOP = map(key, ("new", "ledger", "tabs", "shop"))
HOSTILE, BENS = new_id("hostile"), new_id("foreign")
READING = (
    ("list",),
    ("list", "--all-versions", "--all-projects"),
    ("list", "-n", "2", "--all-projects"),
    ("list", "--archived"),
    *(("show", one) for one in (DEPLOYS, key("old"), LEDGER, TABS, SHOP, TALK)),
    *(("show", one) for one in (HOSTILE, BENS)),
    ("show", TALK, "--full"),
    ("show", TALK, "--exchange", "2"),
    ("show", TALK, "--related", "2"),
    ("history", DEPLOYS),
    ("history", SHOP),
    ("recall", "--text", "--wide", "failed jobs"),
    ("recall", "--text", "--wide", "--exchanges", "-n", "1", "failed jobs"),
    ("recall", "--text", "--in", TALK, "which queue for failed jobs?"),
    ("recall", "--text", "--in", DEPLOYS, "--json", "when are deploys?"),
    ("recall", "--text", "--in", "ffffffff", "failed jobs"),
    ("recall", "--text", "zebra crossing permit"),
    ("restore", "--list"),
    ("review", "--all-projects"),
    ("machines",),
    ("projects",),
    ("workspaces",),
    ("entity", "list"),
    ("stats",),
    ("cost", "--since", "2026-01-01"),
    ("audit",),
    ("exclude", "--list"),
    ("config", "list"),
    ("config", "get", "sync.remote"),
    ("config", "get", "capture.mode"),
    ("archive",),
    ("lint",),
    ("embedding",),
    ("engine",),
)
TEXT_ALONE = (
    ("list", "--project", "shop"),
    ("list", "--scope", "user"),
    ("list", "--kind", "conversation", "--all-projects"),
    ("list", "--category", "architectural-decisions", "--all-projects"),
    ("list", "--permanent", "--all-projects"),
    ("list", "--since", "2026-04-20", "--all-projects"),
    ("list", "--before", "2026-04-01", "--all-projects"),
    ("graph",),
    ("graph", "postgres"),
    ("graph", "postgres", "--hops", "2", "-n", "4", "-f", "mermaid"),
    ("graph", "postgres", "-f", "json"),
    ("graph", "postgres", "-f", "dot"),
    ("graph", "-p", "shop", "#7"),
    ("graph", "-n", "3", "-p", "shop"),
    ("graph", "SQS", "-f", "mermaid"),
    ("export", "-p", "shop"),
    ("export", "-f", "jsonl", "-k", "note"),
    ("export", "-k", "conversation", "-p", "billing", "--full"),
    ("show", DEPLOYS, "--raw"),
    ("show", DEPLOYS, "--path"),
    ("show", "ffffffff"),
    ("show", TALK, "--exchange", "9"),
    ("history", "ffffffff"),
    ("graph", "nothing like it"),
    ("brief",),
)
WRITING = (
    ("remember", "--scope", "workspace", "We", "write", "no", "mocks."),
    ("remember", "--scope", "workspace", "We write no mocks."),
    ("remember", "--replaces", LEDGER, "--title", "Ledger", "Entries stay."),
    ("remember", "--scope", "nowhere", "x"),
    ("edit", TABS, "--title", "Tabs"),
    ("edit", TABS, "--category", "nothing"),
    ("edit", BENS, "--scope", "project", "--project", "nowhere"),
    ("pin", SHOP),
    ("pin", SHOP),
    ("unpin", SHOP),
    ("forget", "--yes", TALK),
    ("forget", "--yes", TALK),
    ("restore", TALK),
    ("restore", TALK),
    ("archive", "--older-than", "1d", "--category", "patterns", "--apply"),
    ("archive", "--undo", DEPLOYS),
    ("machines", "refuse", FAR),
    ("machines", "accept", FAR),
    ("machines", "accept", "nobody"),
    ("exclude", "--project", "shop"),
    ("exclude", "--project", "shop"),
    ("exclude", "--list"),
    ("include", "--project", "shop"),
    ("exclude", "--pattern", "secret-*"),
    ("exclude", "--pattern", "secret-*"),
    ("exclude", "--remote", "github.com/acme/*", "--workspace"),
    ("exclude", "--list"),
    ("include", "--pattern", "secret-*"),
    ("exclude", "--remote", "a", "--pattern", "b"),
    ("exclude", ".", "--pattern", "b"),
    ("exclude", "."),
    ("entity", "add", "SQS", "--type", "tool", "--alias", "queue"),
    ("entity", "list"),
    ("entity", "remove", "SQS"),
    ("entity", "remove", "SQS"),
    ("config", "set", "frozen", "true"),
    ("remember", "--scope", "workspace", "More."),
    ("config", "unset", "frozen"),
    ("config", "set", "no.such", "1"),
    ("pause", "--for", "2h"),
    ("pause", "--end"),
    ("pause", "--end"),
    ("workspaces", "rename", "memory", "brain"),
    ("workspaces", "home"),
)

OUTSIDE = (
    ("init", "~/other"),
    ("init", "~/other"),
    ("workspaces",),
    ("whoami",),
    ("projects", "add", "~/code"),
    ("projects", "add", "~/code"),
    ("projects",),
    ("projects", "--json"),
    ("projects", "in-repo", "~/code"),
    ("projects", "reassign", "code", "shop"),
    ("exclude", "~/code"),
    ("exclude", "--list", "--json"),
    ("include", "~/code"),
    ("sync",),
    ("tidy",),
    ("tidy", "--json"),
    ("refine", "--dry-run"),
    ("ingest", "~/plan.md"),
    ("ingest", "~/plan.md"),
    ("ingest", "--status"),
    ("ingest", "--status", "--json"),
    ("ingest", "~/nothing.md"),
    ("connect", "--yes", "cursor", "claude-code"),
    ("connect", "--yes", "cursor"),
    ("disconnect", "--yes", "cursor"),
    ("connect", "--yes", "nothing"),
    ("import", "--all", "--dry-run"),
    ("import", "chatgpt", "--from", "~/nothing.zip"),
    ("lint", "--install"),
    ("lint", "--install"),
    ("lint", "--uninstall"),
    ("lint", "--uninstall"),
    ("export", "-o", "~/out.md"),
    ("graph", "-f", "html", "-o", "~/graph.html"),
    ("open", "--export", "~/code"),
    ("workspaces", "remove", "other"),
    ("workspaces", "remove", "other"),
    ("worker", "status"),
    ("worker", "status", "--json"),
    ("worker", "stop"),
)

Run = Callable[..., list[str]]


@pytest.fixture
def run(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a command in this process; the lines that it says, and its exit status."""
    places = Places.from_environment(os.environ)
    # lists of machines are in the order of their names
    monkeypatch.setattr(socket, "gethostname", lambda: "studio")
    lay_down(places, home / "memory")
    with Registry(places) as registry:
        workspace = registry.named("memory")
        fill(workspace)
        propose(workspace)
        machine = workspace.machine
    monkeypatch.chdir(home / "memory")
    monkeypatch.setenv("COLUMNS", "100")
    capsys.readouterr()

    def run(*arguments: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", ["keeplore", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said, errors = capsys.readouterr()
        text = plain(f"{said}{errors}", home, machine)
        shown = " ".join(arguments).replace(machine, "MACHINE").replace(str(home), "~")
        return ["", f"$ keeplore {shown} → {ended.value.code}", *text]

    return run


def plain(text: str, home: Path, machine: str) -> list[str]:
    """The lines, without what is another in each run."""
    for name, sign in (
        (str(home), "HOME"),
        (machine, "MACHINE"),
        (keeplore.__version__, "VERSION"),
    ):
        text = text.replace(name, sign)
    for pattern, sign in SIGNS:
        text = pattern.sub(sign, text)
    return [line.rstrip() for line in text.splitlines()]


def test_whole_outputs(run: Run) -> None:
    seen: list[str] = []
    for arguments in READING:
        seen += run(*arguments)
        seen += run(*arguments, "--json")
    for arguments in TEXT_ALONE:
        seen += run(*arguments)
    assert seen == written_lines("cli/reading.txt", seen)


def numbered(lines: list[str]) -> list[str]:
    """The lines with a number for each id, since those that are made here are others each time."""
    new: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return new.setdefault(found[1], f"id-{len(new)}")

    return [MADE.sub(number, line) for line in lines]


def test_whole_outputs_of_what_changes_memory(run: Run) -> None:
    seen: list[str] = []
    for arguments in WRITING:
        seen += run(*arguments)
    lines = numbered(seen)
    assert lines == written_lines("cli/writing.txt", lines)


def test_whole_outputs_of_what_changes_the_machine(run: Run, home: Path) -> None:
    subprocess.run(("git", "init", "-q", home / "code"), check=True)
    (home / "code" / "README.md").write_text("# Code\n")
    (home / "plan.md").write_text("# Plan\n\nWe ship in May.\n")
    seen: list[str] = []
    for arguments in OUTSIDE:
        seen += run(*(one.replace("~", str(home)) for one in arguments))
    lines = numbered(seen)
    assert lines == written_lines("cli/outside.txt", lines)
