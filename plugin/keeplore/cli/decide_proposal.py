"""A proposal of a language model before a person who decides: what it would do, why it was held
back, its receipt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import note, plain, say
from keeplore.cli.references import short
from keeplore.errors import KeeploreError

if TYPE_CHECKING:
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


def decide(workspace: Workspace, held: HeldProposal) -> str:
    """Show a proposal and do what the person answers; the letter of the answer, "s" where it could
    not be done.
    """
    from keeplore.workspace.writing.proposals import accept, reject  # heavy: git and the index

    _show(held)
    choice = _choice(CHOICES | (REPLACE if held.against and held.action == "ADD" else {}))
    try:
        if choice in ("y", "e", "r"):
            text = (
                (click.edit(held.statement, extension=".md") or "").strip() if choice == "e" else ""
            )
            path = accept(
                workspace, held, text, in_place_of=held.against if choice == "r" else None
            )
            say(f"  Done: {plain(path)}", fg="cyan")
        elif choice == "n":
            reject(workspace, held)
    except (KeeploreError, OSError) as e:
        note(f"left for later: {e}")
        return "s"
    return choice


def columns(held: HeldProposal) -> tuple[object, ...]:
    """As the statements that are offered have them: when, what, how sure, where, words, id."""
    entry = held.entry
    where = entry.get("project") or entry.get("scope", "")
    sure = f"{float(entry.get('confidence', 0)):.2f}"
    return (
        held.said_at[:10],
        f"proposal: {held.action.lower()}",
        sure,
        where,
        held.statement,
        short(held.id),
    )


def as_json(held: HeldProposal) -> dict[str, Any]:
    return {"what": "proposal", **held.entry}


def _show(held: HeldProposal) -> None:
    entry = held.entry
    say(f"{DEEDS.get(held.action, held.action)}: {plain(held.statement)}", bold=True)
    where = plain(entry.get("project") or entry.get("scope", ""))
    sure = f"{float(entry.get('confidence', 0)):.2f} sure"
    for_good = " · for good" if held.is_permanent else ""
    say(
        f"  {held.said_at[:10]} · {plain(entry.get('category', ''))} · {where} · {sure}{for_good}",
        dim=True,
    )
    say(f"  held back: {plain(entry.get('gate', ''))}, {plain(entry.get('detail', ''))}", dim=True)
    say(f"  {plain(entry.get('speaker', ''))}: “{plain(entry.get('span', ''))}”")
    for word, row in (("changes", held.target), ("contradicts", held.against)):
        if row is not None:
            say(f"  {word} {plain(row.title)}; `keeplore show {short(row.id)}`", fg="yellow")
    say(
        f"  in {plain(held.conversation.title)}; `keeplore show {short(held.conversation.id)}`",
        dim=True,
    )


def _choice(choices: dict[str, str]) -> str:
    while True:
        key = (
            click.prompt(f"  Do this? [{'/'.join(choices)}]", default="s", show_default=False)
            .strip()
            .lower()[:1]
        )
        if key in choices:
            return key
        say(f"  {', '.join(f'{key} {meaning}' for key, meaning in choices.items())}")
