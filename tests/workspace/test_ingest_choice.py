"""What may be read in: neither what is a memory already, nor what the person has left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keeplore.config.capture_choice import CaptureRule
from keeplore.ingest import SourceAddress
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing import ingest_jobs
from keeplore.workspace.writing.ingest_jobs import (
    IngestQueue,
    IngestState,
    SourceRefused,
    check_choice,
    source_named,
)
from keeplore.workspace.writing.person_choice import exclude

HOW = "`keeplore include` there lets it in; `keeplore exclude --list` shows the rules"
PAGE = SourceAddress("https://example.com/plan", is_url=True)


def told(workspace: Workspace, source: SourceAddress, project: str) -> str:
    """Why a source is refused, "" where it is not."""
    try:
        check_choice(workspace, source, project)
    except SourceRefused as e:
        return str(e)
    return ""


def test_what_is_asked_of_the_rules(registry: Registry, home: Path) -> None:
    workspace = registry.named("memory")
    for name in ("api", "bank"):
        save_project(workspace.store, Project(name, path=f"~/code/{name}"))
        (home / "code" / name).mkdir(parents=True)
    own = SourceAddress(str(home / "code/api/plan.md"), is_url=False)
    other = SourceAddress(str(home / "code/bank/plan.md"), is_url=False)
    asked = [(one, for_) for one in (own, other, PAGE) for for_ in ("", "api", "bank")]
    assert [told(workspace, *one) for one in asked] == [""] * 9
    exclude(workspace, (CaptureRule.parse("path:~/code/api"),), is_shared=False)
    workspace = registry.named("memory")  # with the rules of now
    why = f"is left out of memory: path:~/code/api is excluded on this machine. {HOW}"
    assert [told(workspace, *one) for one in asked] == [
        *([f"{own.name} {why}"] * 3),
        *("", f"{other.name} {why}", ""),
        *("", f"{PAGE.name} {why}", ""),
    ]


def test_the_files_of_a_workspace_that_are_memories_are_no_sources(
    registry: Registry, home: Path
) -> None:
    root = registry.machine.workspaces["memory"]
    for name in ("README.md", "memory/facts/a.md", "memory/a.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("Words.\n")
    assert source_named(registry, "memory/README.md", home, home) == SourceAddress(
        str(root / "README.md"), is_url=False
    )
    assert source_named(registry, "a.txt", root / "memory", home).name == str(
        root / "memory" / "a.txt"
    )
    assert source_named(registry, PAGE.name, root, home) == PAGE
    with pytest.raises(SourceRefused) as refused:
        source_named(registry, "memory/memory/facts/a.md", home, home)
    assert str(refused.value) == (
        f"{root}/memory/facts/a.md is a memory already. It is found as it is; "
        "`keeplore list` lists it"
    )


def test_of_sources_that_ended_the_oldest_are_forgotten(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = IngestQueue(registry)
    why = SourceRefused("no luck", "do this")
    folder = registry.places.state / "ingest"

    def added(name: str, *, is_over: bool) -> None:
        source = SourceAddress(name, is_url=True)
        status = queue.add(source, "memory", "workspace", "")
        if is_over:
            queue.note_refused(status, why)

    for seconds, name in enumerate("abcde"):
        added(name, is_over=name in "bd")
        (newest,) = [s for s in queue.all() if s.source == name]
        os.utime(folder / f"{newest.key}.json", (seconds, seconds))
    monkeypatch.setattr(ingest_jobs, "KEPT", 6)
    added("f", is_over=True)
    assert {s.source for s in queue.all()} == {*"abcdef"}
    monkeypatch.setattr(ingest_jobs, "KEPT", 4)
    added("g", is_over=False)  # nothing ended
    assert {s.source for s in queue.all()} == {*"abcdefg"}
    added("f", is_over=True)
    # of the three that are the longest ago only one has ended
    assert {s.source: s.state for s in queue.all()} == {
        **dict.fromkeys("aceg", IngestState.QUEUED),
        **dict.fromkeys("df", IngestState.FAILED),
    }
