"""``keeplore list``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.memory_options import (
    agent_option,
    category_option,
    kind_option,
    project_option,
    scope_option,
)
from keeplore.cli.output import emit_json, note, table
from keeplore.cli.parameters import (
    WHEN,
    all_versions_option,
    json_option,
    limit_option,
    pass_registry,
    since_option,
)
from keeplore.cli.writing import calling_agent_name, note_unread_events
from keeplore.memory.names import short_id
from keeplore.text.agent_scope import short_place
from keeplore.text.dates import shown_day

if TYPE_CHECKING:
    from keeplore.index import MemoryFilter
    from keeplore.workspace.reading.listing import ListedMemory, Listing
    from keeplore.workspace.registry import Registry

SHOWN = 30
_TEXTS = ("kind", "category", "since", "before")


@click.command(short_help="List memories, newest first.")
@scope_option("Only those of one scope.")
@project_option("Those of another project than the one here.")
@agent_option("Those of this agent of the project, and what it inherits.")
@click.option(
    "--all-projects", is_flag=True, help="Those of every project of the workspace."
)
@kind_option("--kind", text="Only of one kind.")
@category_option("Only of one category")
@click.option(
    "--permanent",
    is_flag=True,
    help="Only those that are never archived and ranked first.",
)
@since_option("Changed since then: 2026-01-31, 30d, 8w.")
@click.option("--before", type=WHEN, help="Not changed since then.")
@click.option(
    "--archived", is_flag=True, help="Those that were put aside, instead of the others."
)
@all_versions_option
@limit_option(SHOWN, "How many; 0 for all.")
@json_option
@pass_registry
def list_command(
    registry: Registry,
    /,
    *,
    scope: str | None,
    project: str | None,
    agent: str | None,
    all_projects: bool,
    limit: int,
    as_json: bool,
    **filters: Any,
) -> None:
    """List the memories of this directory's project and what it inherits, newest first; where it
    belongs to none, those of all projects.

    Of a memory that was changed the newest version is listed. Piped, the columns are separated by
    tabs: date, kind or category, where, title, id.

    \b
    keeplore list
    keeplore list --category architectural-decisions --since 8w
    keeplore list --all-projects --limit 0 --json | jq -r '.[].path'
    """
    if project and (all_projects or scope not in (None, "project")):
        raise click.UsageError("--project excludes --all-projects and the other scopes")
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.listing import listing

    found = listing(
        registry,
        Path.cwd(),
        _memory_filter(**filters),
        scope=scope or "",
        project=project or "",
        agent=agent or calling_agent_name(registry.places),
        all_projects=all_projects,
        limit=limit,
    )
    if as_json:
        emit_json([_as_json(item) for item in found.items])
    else:
        rows = [_cells(item) for item in found.items]
        table(("date", "what", "where", "title", "id"), rows, wide=("title",))
    _say_what_is_missing(found, is_here=not (all_projects or project))
    if found.is_empty:
        note_unread_events(registry.places)
    for text in found.unreadable:
        note(text)


def _memory_filter(
    *, permanent: bool, archived: bool, all_versions: bool, **texts: str | None
) -> MemoryFilter:
    from keeplore.index import MemoryFilter  # heavy, as above

    kind, category, since, before = (texts[name] or "" for name in _TEXTS)
    return MemoryFilter(
        kind=kind,
        category=category,
        permanent=permanent or None,
        since=since,
        before=before,
        archived="only" if archived else "without",
        superseded=all_versions,
    )


def _cells(item: ListedMemory) -> tuple[str, ...]:
    row = item.row
    what = row.category if row.kind == "note" and row.category else row.kind
    what += ", foreign" if row.trust == "foreign" else ""
    return (
        shown_day(row.updated_at),
        what,
        short_place(row.scope, row.project),
        row.title,
        short_id(row.id),
    )


def _as_json(item: ListedMemory) -> dict[str, Any]:
    return {
        **asdict(item.row),
        "workspace": item.workspace.name,
        "path": str(item.workspace.root / item.row.path),
    }


def _say_what_is_missing(listing: Listing, *, is_here: bool) -> None:
    if len(listing.items) < listing.total:
        note(f"{len(listing.items)} of {listing.total}; --limit 0 for all")
    elif listing.is_empty:
        note(
            "there is no memory yet; `keeplore import --all` reads the sessions you already "
            "have"
        )
    elif not listing.total:
        is_wider = is_here and not listing.is_everywhere
        wider = "; --all-projects looks in every project" if is_wider else ""
        note(f"no memory fits what was asked for{wider}")
    if listing.is_everywhere and any(item.row.project for item in listing.items):
        # heavy, as above
        from keeplore.workspace.registry import EVERYWHERE

        note(EVERYWHERE)
    if listing.waiting:
        # heavy, as above
        from keeplore.recall.unasked.origin import waiting_line

        note(waiting_line(listing.waiting))
