"""``keeplore review``."""

from __future__ import annotations

import functools
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.commands.write.decide_dispute import (
    decide_dispute,
    dispute_cells,
    dispute_json,
)
from keeplore.cli.commands.write.decide_proposal import (
    decide_proposal,
    proposal_cells,
    proposal_json,
)
from keeplore.cli.output import choose, emit_json, note, say, table
from keeplore.cli.parameters import limit_option, pass_workspace, since_option
from keeplore.cli.writing import settle
from keeplore.memory.names import short_id
from keeplore.text.agent_scope import short_place
from keeplore.text.dates import day_of

if TYPE_CHECKING:
    from keeplore.index import ScopeFilter
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.disputes import Dispute
    from keeplore.workspace.writing.proposals import HeldProposal
    from keeplore.workspace.writing.review import ReviewCandidate

SHOWN = 30
TOLD_COUNTS = ("decided", "kept", "rejected")
CHOICES = {
    "y": "keep it",
    "e": "edit it first",
    "n": "never offer it again",
    "s": "decide later",
    "q": "stop",
}


@click.command(
    short_help="Decide what contradicts, and what of your conversations becomes a note."
)
@since_option("Conversations that were changed since then: 2026-01-31, 30d, 8w.")
@click.option(
    "--all-projects",
    is_flag=True,
    help="Conversations of every project of the workspace.",
)
@limit_option(SHOWN, "How many statements; 0 for all.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for programs; nothing is asked."
)
@pass_workspace
def review_command(
    workspace: Workspace,
    /,
    *,
    since: str | None,
    all_projects: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Decide which version stands where two machines changed one memory, and what of your
    conversations becomes a note.

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
    from keeplore.workspace.writing.disputes import disputes
    from keeplore.workspace.writing.review import review_candidates

    allowed = ScopeFilter(
        () if all_projects else workspace.identities.here(Path.cwd()).scopes
    )
    found = itertools.islice(
        review_candidates(workspace, allowed, since or ""), limit or None
    )
    workspace.index.refresh_for_reading()
    contradictions = disputes(workspace.index, workspace.store)
    here = _held_proposals(workspace, allowed, since or "")
    if as_json:
        proposed = [*map(dispute_json, contradictions), *map(proposal_json, here)]
        emit_json([*proposed, *map(_as_json, found)])
        return
    _name_forks(workspace)
    if sys.stdin.isatty() and sys.stdout.isatty():
        _ask(workspace, _decisions(workspace, contradictions, here), found)
    else:
        rows = [*map(dispute_cells, contradictions), *map(proposal_cells, here)]
        _list([*rows, *map(_cells, found)], has_contradictions=bool(contradictions))


def _name_forks(workspace: Workspace) -> None:
    """Say what joins the versions of a memory that was edited in two places."""
    for chain in workspace.index.chains():
        if len(chain.leaves) > 1:
            join = f"`keeplore edit {short_id(chain.head)}` joins them"
            note(f"edited in {len(chain.leaves)} places: {join}")


def _held_proposals(
    workspace: Workspace, allowed: ScopeFilter, since: str
) -> list[HeldProposal]:
    """The proposals that were held back; how many there are elsewhere is told."""
    if not any(entry.get("event") == "refine" for entry in workspace.store.records()):
        return []
    # here, because it costs a tenth of a second, and most have no model that refines
    from keeplore.index import ScopeFilter
    from keeplore.workspace.writing.proposals import held_proposals

    held = list(held_proposals(workspace, ScopeFilter(()), since))
    here = [
        proposal
        for proposal in held
        if not allowed.scopes or proposal.place in allowed.scopes
    ]
    if elsewhere := len(held) - len(here):
        note(
            f"proposals of other projects: {elsewhere}; --all-projects offers them, too"
        )
    return here


def _list(rows: list[tuple[object, ...]], *, has_contradictions: bool) -> None:
    table(
        ("when", "category", "sure", "where", "statement", "id"),
        rows,
        wide=("statement",),
    )
    if has_contradictions:
        note(
            "a contradiction is a version that a merge set beside another; decide it on a "
            "terminal, or forget one"
        )
    if not rows:
        note("nothing to decide")


def _decisions(
    workspace: Workspace,
    contradictions: Iterable[Dispute],
    proposals: Iterable[HeldProposal],
) -> list[Callable[[], str]]:
    """A function for each, which asks and does what was answered; it returns the letter."""
    return [
        *(functools.partial(decide_dispute, workspace, id_) for id_ in contradictions),
        *(
            functools.partial(decide_proposal, workspace, proposal)
            for proposal in proposals
        ),
    ]


def _ask(
    workspace: Workspace,
    decisions: Sequence[Callable[[], str]],
    offered: Iterable[ReviewCandidate],
) -> None:
    """Ask for one decision after the other until the person stops, and commit what they were."""
    decided, has_stopped = _decide(decisions)
    counts = Counter(decided=decided)
    if not has_stopped:
        counts += _ask_about_each(workspace, offered)
        if not decisions and not counts["shown"]:
            say("Nothing to decide.")
    summary = ", ".join(
        f"{counts[word]} {word}" for word in TOLD_COUNTS if counts[word]
    )
    if summary:
        settle(workspace, f"Review: {summary}")
        say(f"{summary}.")


def _decide(decisions: Iterable[Callable[[], str]]) -> tuple[int, bool]:
    """Have the decisions made one by one. Returns how many were decided, and whether the person
    stopped before the end.
    """
    decided = 0
    for decide in decisions:
        choice = decide()
        decided += choice not in "sq"
        say()
        if choice == "q":
            return decided, True
    return decided, False


def _ask_about_each(
    workspace: Workspace, candidates: Iterable[ReviewCandidate]
) -> Counter[str]:
    """Ask for each statement whether it becomes a note, and count what was shown, kept and
    rejected.
    """
    from keeplore.workspace.writing.review import reject  # heavy, as above

    counts: Counter[str] = Counter()
    for candidate in candidates:
        counts["shown"] += 1
        _show(candidate)
        choice = choose("Keep this?", CHOICES)
        if choice == "q":
            break
        if choice in ("y", "e"):
            counts["kept"] += _accept(workspace, candidate, is_edited=choice == "e")
        elif choice == "n":
            reject(workspace, workspace.machine, candidate)
            counts["rejected"] += 1
        say()
    return counts


def _accept(
    workspace: Workspace, candidate: ReviewCandidate, *, is_edited: bool
) -> bool:
    """Make a note of the statement; returns False where there is one already."""
    from keeplore.workspace.writing.review import accept  # heavy, as above

    text = click.edit(candidate.draft.text, extension=".md") if is_edited else ""
    outcome = accept(workspace, candidate, (text or "").strip())
    deed = "Kept" if outcome.is_new else "It is there already"
    say(f"  {deed}: {outcome.path}", fg="cyan")
    return outcome.is_new


def _show(candidate: ReviewCandidate) -> None:
    said, draft = candidate.candidate, candidate.draft
    say(draft.text, bold=True)
    where = short_place(draft.scope, draft.project)
    say(
        f"  {day_of(draft.created_at)} · {said.category} · {where} · {said.confidence:.2f} sure",
        dim=True,
    )
    say(f"  {said.speaker}: “{said.quote.text}”")
    say(
        f"  in {candidate.row.title}; `keeplore show {short_id(candidate.row.id)}`",
        dim=True,
    )


def _cells(offer: ReviewCandidate) -> tuple[object, ...]:
    said, draft = offer.candidate, offer.draft
    sure, where = f"{said.confidence:.2f}", short_place(draft.scope, draft.project)
    return (
        day_of(draft.created_at),
        said.category,
        sure,
        where,
        draft.text,
        short_id(draft.id),
    )


def _as_json(offer: ReviewCandidate) -> dict[str, object]:
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
