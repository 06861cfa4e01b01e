"""``keeplore list``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note, table
from keeplore.cli.parameters import When, json_option, short
from keeplore.config.places import Places
from keeplore.memory import CATEGORIES, KINDS, SCOPES
from keeplore.text.dates import in_utc

if TYPE_CHECKING:
    from keeplore.index import MemoryFilter
    from keeplore.workspace.reading.listing import ListedMemory, Listing

SHOWN = 30


@click.command(short_help="List memories, newest first.")
@click.option("--scope", type=click.Choice(SCOPES), help="Only those of one scope.")
@click.option("--project", metavar="NAME", help="Those of another project than the one here.")
@click.option("--all-projects", is_flag=True, help="Those of every project of the workspace.")
@click.option("--kind", type=click.Choice(KINDS), help="Only of one kind.")
@click.option(
    "--category",
    metavar="CATEGORY",
    type=click.Choice(CATEGORIES),
    help=f"Only of one category: {', '.join(CATEGORIES)}.",
)
@click.option(
    "--permanent", is_flag=True, help="Only those that are never archived and ranked first."
)
@click.option("--since", type=When(), help="Changed since then: 2026-01-31, 30d, 8w.")
@click.option("--before", type=When(), help="Not changed since then.")
@click.option("--archived", is_flag=True, help="Those that were put aside, instead of the others.")
@click.option("--all-versions", is_flag=True, help="Earlier versions too.")
@click.option(
    "-n",
    "--limit",
    default=SHOWN,
    show_default=True,
    type=click.IntRange(0),
    help="How many; 0 for all.",
)
@json_option
@click.pass_obj
def list_command(
    places: Places,
    /,
    *,
    scope: str | None,
    project: str | None,
    all_projects: bool,
    limit: int,
    as_json: bool,
    **filters: Any,
) -> None:
    """List the memories of this directory's project and what it inherits, newest first.

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
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        found = listing(
            registry,
            Path.cwd(),
            _wanted(**filters),
            scope=scope or "",
            project=project or "",
            all_projects=all_projects,
            limit=limit,
        )
    if as_json:
        emit_json([_as_json(item) for item in found.items])
    else:
        rows = [_cells(item) for item in found.items]
        table(("date", "what", "where", "title", "id"), rows, wide=("title",))
    _say_what_is_missing(found, is_here=not (all_projects or project))


def _wanted(
    *,
    kind: str | None,
    category: str | None,
    permanent: bool,
    since: datetime | None,
    before: datetime | None,
    archived: bool,
    all_versions: bool,
) -> MemoryFilter:
    from keeplore.index import MemoryFilter  # heavy, as above

    return MemoryFilter(
        kind=kind or "",
        category=category or "",
        permanent=permanent or None,
        since=in_utc(since),
        before=in_utc(before),
        archived="only" if archived else "without",
        superseded=all_versions,
    )


def _cells(item: ListedMemory) -> tuple[str, ...]:
    row = item.row
    what = row.category if row.kind == "note" and row.category else row.kind
    what += ", foreign" if row.trust == "foreign" else ""
    return row.updated_at[:10], what, row.project or row.scope, row.title, short(row.id)


def _as_json(item: ListedMemory) -> dict[str, Any]:
    return {
        **asdict(item.row),
        "workspace": item.workspace.name,
        "path": str(item.workspace.root / item.row.path),
    }


def _say_what_is_missing(found: Listing, *, is_here: bool) -> None:
    if len(found.items) < found.total:
        note(f"{len(found.items)} of {found.total}; --limit 0 for all")
    elif found.is_empty:
        note(
            "there is no memory yet; `keeplore import claude-code` reads the sessions you already "
            "have"
        )
    elif not found.total:
        wider = "; --all-projects looks in every project" if is_here else ""
        note(f"no memory fits what was asked for{wider}")
