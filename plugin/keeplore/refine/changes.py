"""What proposals come to: notes, archived files and audit lines, as one set of changes. Nothing is
written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.memory import Memory, Quote, new_id
from keeplore.memory.location import archived_path
from keeplore.memory.model import in_order, least_trusted
from keeplore.memory.note import NoteDraft, body_of, note_of, title_and_text
from keeplore.refine.classify import NoteKind
from keeplore.refine.decide import Proposal, ProposalAction
from keeplore.refine.entity_facts import EntityFacts
from keeplore.refine.gates import ProposalOutcome, Verdict
from keeplore.store.transaction import TransactionChanges
from keeplore.text.similarity import content_hash

EVENT = "refine"  # of an audit line: one proposal and what became of it
DONE = "refined"  # of an audit line: what of a conversation was asked about, and what that took
_KEPT = ("host", "session", "branch", "commit")  # of a conversation's source


@dataclass(frozen=True, slots=True)
class JudgedProposal:
    """A proposal with the kind of its note and its verdict; ``note_id`` is its own id, and that of
    what it writes.
    """

    proposal: Proposal
    kind: NoteKind
    verdict: Verdict
    note_id: str


@dataclass(frozen=True, slots=True)
class RefineRun:
    """One refinement of one conversation. ``said_at`` maps turns to their times."""

    conversation: Memory
    said_at: Mapping[str, str]
    machine: str
    at: str  # RFC 3339, UTC
    model: str
    prompts: tuple[str, ...]
    mode: str


def note_id(conversation: str, proposal: Proposal, taken: set[str]) -> str:
    """The same quoted words of one conversation give the same id, whenever and wherever that is
    done again.
    """
    parts = [
        "refine",
        conversation,
        proposal.fact.key,
        *([proposal.target.id] if proposal.target else []),
    ]
    id_ = new_id(*parts)
    if id_ in taken:  # a second statement on the same words
        id_ = new_id(*parts, content_hash(proposal.statement))
    taken.add(id_)
    return id_


def changes_of(
    run: RefineRun,
    judged: Sequence[JudgedProposal],
    told: EntityFacts,
    summary: Mapping[str, Any],
    known: set[str],
) -> TransactionChanges:
    """The notes and moves of what was let through, and a line for each proposal; ``known`` are ids
    that exist.
    """
    memories, moves, entries = [], [], []
    used: Counter[str] = Counter()
    for item in [_once(one, known, used) for one in judged]:
        entries.append(entry_of(run, item, told))
        if item.verdict.outcome != ProposalOutcome.APPLIED:
            continue
        target = item.proposal.target
        if item.proposal.action == ProposalAction.ADD:
            memories.append(added(run, item, told))
        elif item.proposal.action == ProposalAction.UPDATE and target:
            memories.append(superseding(run, item, told))
        elif item.proposal.action == ProposalAction.DELETE and target:
            moves.append((target.path, archived_path(target.path)))
    done = {
        "at": run.at,
        "event": DONE,
        "conversation": run.conversation.id,
        **_how(run),
        **summary,
    }
    return TransactionChanges(memories, moves, [*entries, done])


def added(run: RefineRun, judged: JudgedProposal, told: EntityFacts) -> Memory:
    """The note that a fact becomes."""
    proposal, kind = judged.proposal, judged.kind
    receipt = proposal.fact.receipt
    draft = NoteDraft(
        proposal.statement,
        category=kind.category,
        scope=kind.scope,
        project=kind.project,
        permanent=kind.is_permanent,
        trust=proposal.fact.trust,
        trigger="refine",
        confidence=round(proposal.confidence, 2),
        quotes=(Quote(receipt.words, receipt.speaker, receipt.turn),),
        source=_source(run, receipt.turn),
        told=told.of(proposal.statement),
        id=judged.note_id,
        created_at=run.said_at.get(receipt.turn, ""),
    )
    return note_of(draft, run.at)


def superseding(run: RefineRun, judged: JudgedProposal, told: EntityFacts) -> Memory:
    """The version that takes the place of a note; its place and category stay, its trust is the
    lower of both.
    """
    proposal = judged.proposal
    receipt, target = proposal.fact.receipt, proposal.target
    if target is None:
        raise ValueError("an update without a target")
    old = target.memory
    title, text = title_and_text(proposal.statement)
    meta = {
        **old.meta,
        **told.of(proposal.statement),
        "id": judged.note_id,
        "title": title,
        "created_at": run.at,
        "updated_at": run.at,
        "version": old.version + 1,
        "supersedes": old.id,
        "confidence": round(proposal.confidence, 2),
        "trust": least_trusted(proposal.fact.trust, target.trust),
        "trigger": "refine",
        "source": _source(run, receipt.turn),
    }
    body = body_of(title, text, (Quote(receipt.words, receipt.speaker, receipt.turn),))
    return Memory(
        in_order({key: value for key, value in meta.items() if value is not None}), body
    )


def entry_of(
    run: RefineRun, judged: JudgedProposal, told: EntityFacts
) -> dict[str, Any]:
    """The audit line of a proposal; what was applied stands in its note alone, with all that was
    told of it.
    """
    proposal, kind, verdict = judged.proposal, judged.kind, judged.verdict
    fact, target = proposal.fact, proposal.target
    is_in_note = verdict.outcome == ProposalOutcome.APPLIED and proposal.action in (
        ProposalAction.ADD,
        ProposalAction.UPDATE,
    )
    is_left = verdict.outcome in (
        ProposalOutcome.REVIEW,
        ProposalOutcome.SHADOWED,
    ) and proposal.action in (ProposalAction.ADD, ProposalAction.UPDATE)
    line = {
        "at": run.at,
        "event": EVENT,
        "id": judged.note_id,
        "proposal": proposal.action,
        "outcome": verdict.outcome,
        "gate": verdict.gate,
        "detail": verdict.detail,
        "against": verdict.against,
        "reason": proposal.reason,
        "statement": "" if is_in_note else proposal.statement,
        "target": target.id if target else "",
        "conversation": run.conversation.id,
        "turn": fact.receipt.turn,
        "speaker": fact.receipt.speaker,
        "span": fact.receipt.words,
        "type": fact.type,
        "scope": kind.scope,
        "project": kind.project,
        "category": kind.category,
        "permanent": kind.is_permanent,
        **(told.of(proposal.statement) if is_left else {}),
        "trust": fact.trust,
        "confidence": round(proposal.confidence, 2),
        **_how(run),
    }
    return {key: value for key, value in line.items() if value not in ("", False)}


def _once(item: JudgedProposal, known: set[str], used: Counter[str]) -> JudgedProposal:
    """The same, held back where its note is there already, or another proposal changes the same
    one.
    """
    target = item.proposal.target
    if item.verdict.outcome != ProposalOutcome.APPLIED or item.proposal.action not in (
        ProposalAction.ADD,
        ProposalAction.UPDATE,
        ProposalAction.DELETE,
    ):
        return item
    if item.note_id in known and item.proposal.action != ProposalAction.DELETE:
        return JudgedProposal(
            item.proposal,
            item.kind,
            Verdict(ProposalOutcome.BLOCKED, "duplicate", item.note_id),
            item.note_id,
        )
    key = target.id if target else content_hash(item.proposal.statement)
    used[key] += 1
    if used[key] > 1:
        return JudgedProposal(
            item.proposal,
            item.kind,
            Verdict(ProposalOutcome.BLOCKED, "duplicate", "another proposal does it"),
            item.note_id,
        )
    return item


def _source(run: RefineRun, turn: str) -> dict[str, Any]:
    known = run.conversation.source
    kept = {key: known[key] for key in _KEPT if known.get(key)}
    return {
        **kept,
        "turns": [turn],
        "machine": run.machine,
        "from": run.conversation.id,
    }


def _how(run: RefineRun) -> dict[str, Any]:
    return {"model": run.model, "prompts": list(run.prompts), "mode": run.mode}
