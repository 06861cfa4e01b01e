"""Memory written out: as one document for people, or as JSON lines for programs; one memory in
memory at a time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from keeplore.errors import StoreError
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.memory import Memory
from keeplore.memory.conversation_body import EXCHANGES
from keeplore.text.counts import counted
from keeplore.text.dates import day_of, now, shown_day
from keeplore.text.fences import sanitise, without_surrogates
from keeplore.text.nested_markdown import inline, nest
from keeplore.workspace.workspace import Workspace

NO_PROJECT = "All projects"
LEVEL = 4  # of a memory's own heading


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """What is written out. ``has_versions``: earlier versions too; ``is_full``: the words of
    conversations too.
    """

    project: str
    kind: str
    since: str
    has_versions: bool
    is_full: bool


def chosen_rows(workspace: Workspace, chosen: ExportFilter) -> list[MemoryRow]:
    """Archived memories too, in the order of the document: by project, category and date."""
    workspace.index.refresh_for_reading()
    allowed = (
        ScopeFilter((("project", chosen.project),)) if chosen.project else ScopeFilter()
    )
    wanted = MemoryFilter(
        allowed,
        kind=chosen.kind,
        since=chosen.since,
        archived="with",
        superseded=chosen.has_versions,
    )
    return sorted(
        workspace.index.listed(wanted),
        key=lambda row: (*_section(row), row.created_at, row.id),
    )


def as_json_lines(
    workspace: Workspace, rows: Sequence[MemoryRow], skipped: Callable[[str], None]
) -> Iterator[str]:
    """A JSON object for each memory: its front matter as it is, beside it body, path and whether a
    newer version replaced it.
    """
    for row, memory in _load_memories(workspace, rows, skipped):
        fields = {
            "path": row.path,
            "is_archived": row.is_archived,
            "superseded_by": row.superseded_by,
            "meta": dict(memory.meta),
            "body": memory.body,
        }
        line = json.dumps(fields, ensure_ascii=False, default=str)
        yield f"{without_surrogates(line)}\n"


def as_markdown(
    workspace: Workspace,
    rows: Sequence[MemoryRow],
    chosen: ExportFilter,
    skipped: Callable[[str], None],
) -> Iterator[str]:
    """Title page, contents, then every memory with its date, trust and source below its project and
    category.
    """
    yield from _title_page(workspace, rows, chosen)
    yield from _contents_list(rows)
    part = ("", "")
    for row, memory in _load_memories(workspace, rows, skipped):
        project, category = _section(row)
        if project != part[0]:
            yield f"\n## {inline(project)}\n"
        if (project, category) != part:
            yield f"\n### {inline(category)}\n"
            part = (project, category)
        judged = replace(row, trust=workspace.machine_trust.trust_of(memory))
        yield from _entry(judged, memory, is_full=chosen.is_full)


def _title_page(
    workspace: Workspace, rows: Sequence[MemoryRow], chosen: ExportFilter
) -> Iterator[str]:
    days = sorted(day_of(row.created_at) for row in rows if row.created_at)
    yield f"# Memory of {inline(workspace.name)}\n\n"
    yield counted(len(rows), "memory", "memories")
    yield f", from {inline(days[0])} to {inline(days[-1])}" if days else ""
    yield f". Written on {day_of(now())} by Keeplore.\n"
    limits = [
        f"{name}: {inline(value)}"
        for name in ("project", "kind", "since")
        if (value := getattr(chosen, name))
    ]
    if limits:
        yield f"\nOnly {', '.join(limits)}.\n"


def _contents_list(rows: Sequence[MemoryRow]) -> Iterator[str]:
    yield "\n## Contents\n"
    for project, of_project in itertools.groupby(
        rows, key=lambda row: _section(row)[0]
    ):
        yield f"\n- {inline(project)}\n"
        for category, of_category in itertools.groupby(
            of_project, key=lambda row: _section(row)[1]
        ):
            yield f"  - {inline(category)}\n"
            for row in of_category:
                day = inline(shown_day(row.created_at))
                yield f"    - [{inline(_title(row))}](#{_anchor(row)}) · {day}\n"


def _entry(row: MemoryRow, memory: Memory, *, is_full: bool) -> Iterator[str]:
    yield f'\n{"#" * LEVEL} <a id="{_anchor(row)}"></a>{inline(_title(row))}\n\n'
    facts = (
        f"{name}: {inline(value)}".removeprefix(": ")
        for name, value in _facts(row, memory).items()
        if value
    )
    yield " · ".join(facts) + "\n"
    if text := nest(sanitise(_text(memory, is_full=is_full)), LEVEL):
        yield f"\n{text}\n"


def _facts(row: MemoryRow, memory: Memory) -> dict[str, str]:
    """What stands below the heading; its date needs no name, and some are ""."""
    created, changed = day_of(row.created_at), day_of(row.updated_at)
    return {
        "": created,
        "trust": row.trust,
        "permanent": "yes" if row.permanent else "",
        "changed": changed if changed != created else "",
        "version": str(memory.version) if memory.version > 1 else "",
        "replaced by": row.superseded_by,
        "archived": "yes" if row.is_archived else "",
        "host": memory.source_text("host"),
        "machine": memory.source_text("machine"),
        "file": row.path,
    }


def _text(memory: Memory, *, is_full: bool) -> str:
    """What a memory says below its title; of a conversation what came of it, unless its words are
    wanted too.
    """
    if memory.kind == "conversation" and not is_full:
        body = memory.body.replace("\r\n", "\n").partition(f"\n{EXCHANGES}\n")[0]
    else:
        body = memory.body
    heading, _, rest = body.strip().partition("\n")
    return rest if heading.startswith("# ") else body


def _load_memories(
    workspace: Workspace, rows: Sequence[MemoryRow], skipped: Callable[[str], None]
) -> Iterator[tuple[MemoryRow, Memory]]:
    for row in rows:
        try:
            yield row, workspace.store.load(row.path)
        except (StoreError, OSError) as e:
            skipped(f"{row.path} is left out: {e}")


def _section(row: MemoryRow) -> tuple[str, str]:
    kinds = {
        "conversation": "Conversations",
        "document": "Documents",
        "digest": "Digests",
    }
    return row.project or NO_PROJECT, kinds.get(row.kind) or row.category.replace(
        "-", " "
    ).capitalize() or "Notes"


def _title(row: MemoryRow) -> str:
    return row.title.strip() or "Without a title"


def _anchor(row: MemoryRow) -> str:
    return f"m-{row.id[4:]}" if row.id.startswith("mem_") else "m"
