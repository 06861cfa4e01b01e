"""Every line of what is known about a memory, and of what a question makes of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sample_note import note
from written_down import written_lines

from keeplore.workspace.reading.details import detail_lines, details_of
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

AT = "2026-02-{:02}T10:30:00Z"
TITLES = ("First", "Second", "Shown", "Friend", "Later", "Beside")
NAMES = {note(title).id[4:12]: f"<{title}>" for title in TITLES}
DIGITS = re.compile(rf"(?:mem_)?({'|'.join(NAMES)})(?:-[0-9a-f-]{{27}})?")
GONE = "mem_99999999-0000-4000-8000-000000000000"
SOURCE = {
    "host": "codex", "session": "s-1", "branch": "main", "machine": "studio", "commit": "abc",
    "url": "https://example.com/a", "path": "docs/a.md", "turns": ["t-1", "t-2"],
}  # fmt: skip


def told(registry: Registry, title: str) -> list[str]:
    """The lines about a note, with titles where ids are."""
    found = registry.find(note(title).id, Path("/"))
    lines = [f"{label} | {value}|" for label, value in detail_lines(details_of(found))]
    return [DIGITS.sub(lambda digits: NAMES[digits[1]], line) for line in lines]


def test_all_that_is_known_of_a_note(registry: Registry, workspace: Workspace) -> None:
    first = note("First", created_at=AT.format(1), version=1)
    second = note("Second", created_at=AT.format(2), version=7, supersedes=first.id)
    shown = note(
        "Shown",
        created_at=AT.format(3),
        updated_at=AT.format(4),
        version=3,
        supersedes=second.id,
        permanent=True,
        confidence=0.8,
        trust="user",
        trigger="remember",
        source=SOURCE,
        related=[
            {"id": first.id, "relationship": "refines"},
            {"id": GONE, "relationship": "contradicts"},
            {"id": note("Friend").id, "relationship": "relates-to"},
        ],
    )
    friends = [
        note("Friend", related=[{"id": shown.id, "relationship": "relates-to"}]),
        note(
            "Later",
            scope="project",
            project="shop",
            related=[{"id": shown.id, "relationship": "refines"}],
        ),
        note(
            "Beside",
            trigger="merge",
            related=[{"id": shown.id, "relationship": "contradicts"}],
        ),
    ]
    for memory in (first, second, shown, *friends):
        workspace.store.save(memory)
    again = [{"at": AT.format(5 + n), "event": "again", "id": shown.id, "source": {"host": f"h-{n}"}} for n in range(6)]  # fmt: skip
    others = [{**again[0], "event": "refine"}, {**again[0], "id": GONE}]
    bare: dict[str, Any] = {
        "at": AT.format(20),
        "event": "again",
        "id": first.id,
        "source": "x",
    }
    for entry in (*again, *others, bare):
        workspace.store.record("laptop", entry)
    path = workspace.store.find(friends[0].id) or ""
    workspace.store.move(path, path.replace("memory/", "memory/archive/", 1))
    seen = [line for title in TITLES for line in told(registry, title)]
    assert seen == written_lines("details.txt", seen)
