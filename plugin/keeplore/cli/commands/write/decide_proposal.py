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


def decide_proposal(workspace: Workspace, proposal: HeldProposal) -> str:
    """Show a proposal and do what the person answers. Returns the letter of the answer, "s" where
    it could not be carried out.
    """
    _show(proposal)
    can_replace = proposal.against and proposal.action == "ADD"
    choice = choose("Do this?", CHOICES | (REPLACE if can_replace else {}))
    try:
        _carry_out(workspace, proposal, choice)
    except (KeeploreError, OSError) as e:
        note(f"left for later: {e}")
        return "s"
    return choice


def _carry_out(workspace: Workspace, proposal: HeldProposal, choice: str) -> None:
    from keeplore.workspace.writing.proposals import (  # heavy: git and the index
        accept,
        reject,
    )

    if choice in ("y", "e", "r"):
        text = click.edit(proposal.statement, extension=".md") if choice == "e" else ""
        replaced = proposal.against if choice == "r" else None
        path = accept(workspace, proposal, (text or "").strip(), in_place_of=replaced)
        say(f"  Done: {path}", fg="cyan")
    elif choice == "n":
        reject(workspace, proposal)


def proposal_cells(proposal: HeldProposal) -> tuple[object, ...]:
    """The columns of a proposal, the same as for other offers: when, what, how sure, where, words,
    id.
    """
    what, sure = f"proposal: {proposal.action.lower()}", _confidence(proposal)
    return (
        day_of(proposal.said_at),
        what,
        sure,
        _scope_label(proposal),
        proposal.statement,
        short_id(proposal.id),
    )


def proposal_json(proposal: HeldProposal) -> dict[str, Any]:
    return {"what": "proposal", **proposal.entry}


def _show(proposal: HeldProposal) -> None:
    entry = proposal.entry
    say(
        f"{DEEDS.get(proposal.action, proposal.action)}: {proposal.statement}",
        bold=True,
    )
    say(f"  {' · '.join(_facts(proposal))}", dim=True)
    say(f"  held back: {entry.get('gate', '')}, {entry.get('detail', '')}", dim=True)
    say(f"  {entry.get('speaker', '')}: “{entry.get('span', '')}”")
    _show_row("changes", proposal.target, fg="yellow")
    _show_row("contradicts", proposal.against, fg="yellow")
    _show_row("in", proposal.conversation, dim=True)


def _show_row(word: str, row: MemoryRow | None, **style: Any) -> None:
    if row is not None:
        say(f"  {word} {row.title}; `keeplore show {short_id(row.id)}`", **style)


def _facts(proposal: HeldProposal) -> list[str]:
    facts = [
        day_of(proposal.said_at),
        proposal.entry.get("category", ""),
        _scope_label(proposal),
        f"{_confidence(proposal)} sure",
    ]
    return [*facts, "for good"] if proposal.is_permanent else facts


def _confidence(proposal: HeldProposal) -> str:
    return f"{float(proposal.entry.get('confidence', 0)):.2f}"


def _scope_label(proposal: HeldProposal) -> str:
    return str(proposal.entry.get("project") or proposal.entry.get("scope", ""))
