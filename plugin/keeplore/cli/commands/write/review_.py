"""``keeplore review``."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.after_write import settle
from keeplore.cli.decide_dispute import as_json as dispute_json
from keeplore.cli.decide_dispute import columns, decide
from keeplore.cli.decide_proposal import as_json as proposal_json
from keeplore.cli.decide_proposal import columns as proposal_columns
from keeplore.cli.decide_proposal import decide as decide_proposal
from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.cli.references import short
from keeplore.cli.values import When
from keeplore.config.places import Places
from keeplore.text.dates import in_utc

if TYPE_CHECKING:
    from datetime import datetime

    from keeplore.index import ScopeFilter
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.disputes import Dispute
    from keeplore.workspace.writing.proposals import HeldProposal
    from keeplore.workspace.writing.review import ReviewCandidate

SHOWN = 30
CHOICES = {
    "y": "keep it",
    "e": "edit it first",
    "n": "never offer it again",
    "s": "decide later",
    "q": "stop",
}


@click.command(short_help="Decide what contradicts, and what of your talks becomes a note.")
@click.option(
    "--since", type=When(), help="Talks that were changed since then: 2026-01-31, 30d, 8w."
)
@click.option("--all-projects", is_flag=True, help="Talks of every project of the workspace.")
@click.option(
    "-n",
    "--limit",
    default=SHOWN,
    show_default=True,
    type=click.IntRange(0),
    help="How many statements; 0 for all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs; nothing is asked.")
@click.pass_obj
def command(
    places: Places, /, *, since: datetime | None, all_projects: bool, limit: int, as_json: bool
) -> None:
    """Decide which version stands where two machines changed one memory, and what of your talks
    becomes a note.

    What you say for sure becomes a note by itself; this offers the rest, the newest first, after
    what a language model proposed and `keeplore refine` left to you. Piped, all of it is listed and
    nothing is asked: date, category (or contradiction, or proposal), confidence, where, statement,
    id.

    \b
    keeplore review
    keeplore review --since 8w --all-projects
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.index import ScopeFilter
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing.disputes import disputes
    from keeplore.workspace.writing.review import review_candidates

    with Registry(places) as registry:
        cwd = Path.cwd()
        workspace = registry.for_directory(cwd)
        allowed = ScopeFilter(() if all_projects else workspace.identities.here(cwd).scopes)
        found = itertools.islice(
            review_candidates(workspace, allowed, in_utc(since) if since else ""), limit or None
        )
        workspace.index.refresh()
        open_ones = disputes(workspace.index, workspace.store)
        everywhere = [*_held(workspace, ScopeFilter(()), in_utc(since) if since else "")]
        held = [
            proposal
            for proposal in everywhere
            if not allowed.scopes or proposal.place in allowed.scopes
        ]
        if len(everywhere) > len(held):
            note(
                f"proposals of other projects: {len(everywhere) - len(held)}; --all-projects "
                f"offers them, too"
            )
        if as_json:
            emit_json(
                [*map(dispute_json, open_ones), *map(proposal_json, held), *map(_plain, found)]
            )
        elif sys.stdin.isatty() and sys.stdout.isatty():
            _ask(places, workspace, open_ones, held, found)
        else:
            rows = [*map(columns, open_ones), *map(proposal_columns, held), *map(_columns, found)]
            _list(rows, len(open_ones))


def _held(workspace: Workspace, allowed: ScopeFilter, since: str) -> Iterator[HeldProposal]:
    if not any(entry.get("event") == "refine" for entry in workspace.store.records()):
        return
    # here, because it costs a tenth of a second, and most have no model that refines
    from keeplore.workspace.writing.proposals import held_proposals

    yield from held_proposals(workspace, allowed, since)


def _list(rows: list[tuple[object, ...]], contradictions: int) -> None:
    table(("when", "category", "sure", "where", "statement", "id"), rows, wide=("statement",))
    if contradictions:
        note(
            "a contradiction is a version that a merge set beside another; decide it on a "
            "terminal, or forget one"
        )
    if not rows:
        note("nothing to decide")


def _ask(
    places: Places,
    workspace: Workspace,
    open_ones: tuple[Dispute, ...],
    held: list[HeldProposal],
    found: itertools.islice[ReviewCandidate],
) -> None:
    decided = 0
    deciding = [functools.partial(decide, places, workspace, dispute) for dispute in open_ones]
    deciding += [functools.partial(decide_proposal, workspace, proposal) for proposal in held]
    for decision in deciding:
        choice = decision()
        decided += choice not in "sq"
        say()
        if choice == "q":
            break
    else:
        _offer(places, workspace, found, decided, is_first=not deciding)
        return
    _finish(places, workspace, decided, 0, 0)


def _offer(
    places: Places,
    workspace: Workspace,
    found: itertools.islice[ReviewCandidate],
    decided: int,
    *,
    is_first: bool,
) -> None:
    from keeplore.workspace.writing.review import accept, reject  # heavy, as above

    kept = rejected = asked = 0
    for offer in found:
        asked += 1
        _show(offer)
        choice = _choice()
        if choice == "q":
            break
        if choice in ("y", "e"):
            text = _edited(offer) if choice == "e" else ""
            outcome = accept(workspace, offer, text)
            say(
                f"  {'Kept' if outcome.is_new else 'It is there already'}: {plain(outcome.path)}",
                fg="cyan",
            )
            kept += outcome.is_new
        elif choice == "n":
            reject(workspace, workspace.machine, offer)
            rejected += 1
        say()
    if is_first and not asked:
        say("Nothing to decide.")
    _finish(places, workspace, decided, kept, rejected)


def _finish(places: Places, workspace: Workspace, decided: int, kept: int, rejected: int) -> None:
    counts = ((decided, "decided"), (kept, "kept"), (rejected, "rejected"))
    if told := ", ".join(f"{count} {word}" for count, word in counts if count):
        settle(places, workspace, f"Review: {told}")
        say(f"{told}.")


def _choice() -> str:
    words = ", ".join(f"{key} {meaning}" for key, meaning in CHOICES.items())
    while True:
        key = (
            click.prompt(f"  Keep this? [{'/'.join(CHOICES)}]", default="s", show_default=False)
            .strip()
            .lower()[:1]
        )
        if key in CHOICES:
            return key
        say(f"  {words}")


def _edited(offer: ReviewCandidate) -> str:
    changed = click.edit(offer.draft.text, extension=".md")
    return (changed or "").strip()


def _show(offer: ReviewCandidate) -> None:
    said = offer.candidate
    say(plain(offer.draft.text), bold=True)
    where = plain(offer.draft.project or offer.draft.scope)
    say(
        f"  {offer.draft.created_at[:10]} · {said.category} · {where} · {said.confidence:.2f} sure",
        dim=True,
    )
    say(f"  {said.speaker}: “{plain(said.quote.text)}”")
    say(f"  in {plain(offer.row.title)}; `keeplore show {short(offer.row.id)}`", dim=True)


def _columns(offer: ReviewCandidate) -> tuple[object, ...]:
    said, draft = offer.candidate, offer.draft
    sure = f"{said.confidence:.2f}"
    return (
        draft.created_at[:10],
        said.category,
        sure,
        draft.project or draft.scope,
        draft.text,
        short(draft.id),
    )


def _plain(offer: ReviewCandidate) -> dict[str, object]:
    said, draft = offer.candidate, offer.draft
    return {
        "what": "statement",
        "id": draft.id,
        "text": draft.text,
        "category": said.category,
        "confidence": said.confidence,
        "speaker": said.speaker,
        "quote": said.quote.text,
        "turn": said.turn,
        "at": draft.created_at,
        "scope": draft.scope,
        "project": draft.project,
        "conversation": offer.row.id,
    }
