"""``keeplore audit``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note, table
from keeplore.cli.parameters import limit_option, pass_workspace, since_option
from keeplore.memory.names import short_id
from keeplore.text.dates import minute_of

if TYPE_CHECKING:
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
    "--gate",
    metavar="NAME",
    help="Only what this rule held back: confidence, duplicate, rule, …",
)
@since_option("Since then: 2026-01-31, 30d, 8w.")
@limit_option(SHOWN, "How many; 0 for all.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the lines as JSON for programs."
)
@pass_workspace
def audit_command(
    workspace: Workspace,
    /,
    *,
    since: str | None,
    limit: int,
    as_json: bool,
    **wanted: str | None,
) -> None:
    """Show every proposal of a language model and what became of it, the newest first.

    Columns: when, what was proposed, what became of it, the rule that held it back, its words, its
    id. The words are those of the note where there is one.

    \b
    keeplore audit --proposal ADD --outcome blocked
    keeplore audit --since 7d --json
    """
    found = [
        entry
        for entry in workspace.store.records()
        if _is_wanted(entry, wanted, since or "")
    ]
    found.sort(key=_time_of, reverse=True)
    found = found[: limit or None]
    if as_json:
        emit_json(found)
        return
    headings = ("when", "proposal", "outcome", "gate", "words", "id")
    table(headings, _rows(workspace, found), wide=("words",))
    if not found:
        note("nothing like that was proposed")


def _time_of(entry: Mapping[str, Any]) -> str:
    return str(entry.get("at", ""))


def _is_wanted(
    entry: Mapping[str, Any], wanted: Mapping[str, str | None], since: str
) -> bool:
    """Whether a line of the audit is of refining, new enough, and has each wanted value."""
    if entry.get("event") != "refine" or _time_of(entry) < since:
        return False
    return all(
        value is None or entry.get(key) == value for key, value in wanted.items()
    )


def _rows(
    workspace: Workspace, entries: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[object, ...]]:
    """The words are those of the note where there is one."""
    workspace.index.refresh_for_reading()
    ids = [str(entry.get("id", "")) for entry in entries]
    notes = workspace.index.memories(ids)
    for id_, entry in zip(ids, entries, strict=True):
        words = notes[id_].title if id_ in notes else entry.get("statement", "")
        facts = [entry.get(key, "") for key in ("proposal", "outcome", "gate")]
        yield (minute_of(_time_of(entry)), *facts, words, short_id(id_))
