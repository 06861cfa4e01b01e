"""``keeplore audit``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note, plain, table
from keeplore.cli.references import short
from keeplore.cli.values import When
from keeplore.config.places import Places
from keeplore.text.dates import in_utc, minute_of

if TYPE_CHECKING:
    from datetime import datetime

    from keeplore.workspace.workspace import Workspace

SHOWN = 50
PROPOSALS = ("ADD", "UPDATE", "DELETE", "NONE")
OUTCOMES = ("applied", "blocked", "review", "shadow", "accepted", "rejected")


@click.command(short_help="Show what a language model proposed, and what became of it.")
@click.option(
    "--proposal",
    type=click.Choice(PROPOSALS, case_sensitive=False),
    help="Only what was proposed so.",
)
@click.option("--outcome", type=click.Choice(OUTCOMES), help="Only what ended so.")
@click.option(
    "--gate", metavar="NAME", help="Only what this rule held back: confidence, duplicate, rule, …"
)
@click.option("--since", type=When(), help="Since then: 2026-01-31, 30d, 8w.")
@click.option(
    "-n",
    "--limit",
    default=SHOWN,
    show_default=True,
    type=click.IntRange(0),
    help="How many; 0 for all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the lines as JSON for programs.")
@click.pass_obj
def command(
    places: Places,
    /,
    *,
    proposal: str | None,
    outcome: str | None,
    gate: str | None,
    since: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show every proposal of a language model and what became of it, the newest first.

    Columns: when, what was proposed, what became of it, the rule that held it back, its words, its
    id. The words are those of the note where there is one.

    \b
    keeplore audit --proposal ADD --outcome blocked
    keeplore audit --since 7d --json
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry

    wanted = {"proposal": proposal, "outcome": outcome, "gate": gate}
    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        found = [
            e for e in workspace.store.records() if _fits(e, wanted, in_utc(since) if since else "")
        ]
        found = sorted(found, key=lambda entry: str(entry.get("at", "")), reverse=True)[
            : limit or None
        ]
        if as_json:
            emit_json(found)
            return
        headings = ("when", "proposal", "outcome", "gate", "words", "id")
        table(headings, _rows(workspace, found), wide=("words",))
    if not found:
        note("nothing like that was proposed")


def _fits(entry: Mapping[str, Any], wanted: Mapping[str, str | None], since: str) -> bool:
    if entry.get("event") != "refine" or str(entry.get("at", "")) < since:
        return False
    return all(value is None or entry.get(key) == value for key, value in wanted.items())


def _rows(workspace: Workspace, found: Iterable[Mapping[str, Any]]) -> list[tuple[object, ...]]:
    entries = [*found]
    workspace.index.refresh()
    titles = {
        id_: row.title
        for id_, row in workspace.index.memories([str(e.get("id")) for e in entries]).items()
    }
    return [
        (
            minute_of(str(entry.get("at", ""))),
            entry.get("proposal", ""),
            entry.get("outcome", ""),
            entry.get("gate", ""),
            plain(titles.get(str(entry.get("id")), entry.get("statement", ""))),
            short(str(entry.get("id", ""))),
        )
        for entry in entries
    ]
