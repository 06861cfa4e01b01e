"""A proposal of a language model before a person who decides: what it would do, why it was held
back, its receipt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import choose, note, say
from keeplore.errors import KeeploreError
from keeplore.memory.names import short_id
from keeplore.text.dates import day_of

if TYPE_CHECKING:
    from keeplore.index import MemoryRow
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.proposals import HeldProposal

CHOICES = {
    "y": "do it",
    "e": "edit it first",
    "n": "never offer it again",
    "s": "decide later",
    "q": "stop",
}
REPLACE = {"r": "put it in the place of the note that it contradicts"}
DEEDS = {"ADD": "New note", "UPDATE": "Change", "DELETE": "Archive", "NONE": "Change"}


def decide_proposal(workspace: Workspace, held: HeldProposal) -> str:
    """Show a proposal and do what the person answers. Returns the letter of the answer, "s" where
    it could not be carried out.
    """
    _show(held)
    can_replace = held.against and held.action == "ADD"
    choice = choose("Do this?", CHOICES | (REPLACE if can_replace else {}))
    try:
        _carry_out(workspace, held, choice)
    except (KeeploreError, OSError) as e:
        note(f"left for later: {e}")
        return "s"
    return choice


def _carry_out(workspace: Workspace, held: HeldProposal, choice: str) -> None:
    from keeplore.workspace.writing.proposals import (  # heavy: git and the index
        accept,
        reject,
    )

    if choice in ("y", "e", "r"):
        text = click.edit(held.statement, extension=".md") if choice == "e" else ""
        replaced = held.against if choice == "r" else None
        path = accept(workspace, held, (text or "").strip(), in_place_of=replaced)
        say(f"  Done: {path}", fg="cyan")
    elif choice == "n":
        reject(workspace, held)


def proposal_cells(held: HeldProposal) -> tuple[object, ...]:
    """The columns of a proposal, the same as for other offers: when, what, how sure, where, words,
    id.
    """
    what, sure = f"proposal: {held.action.lower()}", _confidence(held)
    return (
        day_of(held.said_at),
        what,
        sure,
        _scope_label(held),
        held.statement,
        short_id(held.id),
    )


def proposal_json(held: HeldProposal) -> dict[str, Any]:
    return {"what": "proposal", **held.entry}


def _show(held: HeldProposal) -> None:
    entry = held.entry
    say(f"{DEEDS.get(held.action, held.action)}: {held.statement}", bold=True)
    say(f"  {' · '.join(_facts(held))}", dim=True)
    say(f"  held back: {entry.get('gate', '')}, {entry.get('detail', '')}", dim=True)
    say(f"  {entry.get('speaker', '')}: “{entry.get('span', '')}”")
    _show_row("changes", held.target, fg="yellow")
    _show_row("contradicts", held.against, fg="yellow")
    _show_row("in", held.conversation, dim=True)


def _show_row(word: str, row: MemoryRow | None, **style: Any) -> None:
    if row is not None:
        say(f"  {word} {row.title}; `keeplore show {short_id(row.id)}`", **style)


def _facts(held: HeldProposal) -> list[str]:
    sure = f"{_confidence(held)} sure"
    facts = [
        day_of(held.said_at),
        held.entry.get("category", ""),
        _scope_label(held),
        sure,
    ]
    return [*facts, "for good"] if held.is_permanent else facts


def _confidence(held: HeldProposal) -> str:
    return f"{float(held.entry.get('confidence', 0)):.2f}"


def _scope_label(held: HeldProposal) -> str:
    return str(held.entry.get("project") or held.entry.get("scope", ""))
