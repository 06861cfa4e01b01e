"""What proposals come to: notes, archived files and audit lines, as one set of changes. Nothing is
written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keeplore.memory import Memory, Quote, new_id
from keeplore.memory.location import archived_path
from keeplore.memory.model import in_order, least_trusted, without_empty
from keeplore.memory.note import NoteDraft, body_of, note_of, title_and_text
from keeplore.refine.candidates import CandidateNote
from keeplore.refine.classify import NoteKind
from keeplore.refine.decide import Proposal, ProposalAction
from keeplore.refine.entity_facts import EntityFacts
from keeplore.refine.extract import Fact
from keeplore.refine.gates import ProposalOutcome, Verdict
from keeplore.refine.receipts import Receipt
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

    @property
    def is_applied(self) -> bool:
        return self.verdict.outcome == ProposalOutcome.APPLIED


@dataclass(frozen=True, slots=True)
class RefineRun:
    """One refinement of a conversation. ``said_at`` maps turns to their times."""

    conversation: Memory
    said_at: Mapping[str, str]
    machine: str
    at: str  # RFC 3339, UTC
    model: str
    prompts: tuple[str, ...]
    mode: str


def note_id(conversation: str, proposal: Proposal, taken: set[str]) -> str:
    """The id of the note that a proposal makes; the same quoted words of one conversation give the
    same id, whenever and wherever that is done again. Adds it to ``taken``.
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
    facts: EntityFacts,
    summary: Mapping[str, Any],
    known: set[str],
) -> TransactionChanges:
    """The notes and moves of what was let through, and a line for each proposal; ``known`` are ids
    that exist.
    """
    used: Counter[str] = Counter()
    settled = [_without_repetition(item, known, used) for item in judged]
    applied = [item for item in settled if item.is_applied]
    memories = (_written_note(run, item, facts) for item in applied)
    moves = (_move(item.proposal) for item in applied)
    entries = [entry_of(run, item, facts) for item in settled]
    entries.append(_end_of(run, summary))
    return TransactionChanges(
        [*filter(None, memories)], [*filter(None, moves)], entries
    )


def _written_note(
    run: RefineRun, judged: JudgedProposal, facts: EntityFacts
) -> Memory | None:
    """The note that a proposal writes, None where it writes none."""
    proposal = judged.proposal
    if proposal.action == ProposalAction.ADD:
        return added(run, judged, facts)
    if proposal.action == ProposalAction.UPDATE and proposal.target:
        return superseding(run, judged, facts)
    return None


def _move(proposal: Proposal) -> tuple[str, str] | None:
    """The move of the note that a proposal archives; None where it archives none."""
    if proposal.action != ProposalAction.DELETE or proposal.target is None:
        return None
    path = proposal.target.path
    return path, archived_path(path)


def _end_of(run: RefineRun, summary: Mapping[str, Any]) -> dict[str, Any]:
    """The audit line that ends a refinement."""
    return {
        "at": run.at,
        "event": DONE,
        "conversation": run.conversation.id,
        **_run_fields(run),
        **summary,
    }


def added(run: RefineRun, judged: JudgedProposal, facts: EntityFacts) -> Memory:
    """The note that a fact becomes."""
    proposal, kind = judged.proposal, judged.kind
    draft = NoteDraft(
        proposal.statement,
        category=kind.category,
        scope=kind.scope,
        project=kind.project,
        permanent=kind.is_permanent,
        trust=proposal.fact.trust,
        trigger="refine",
        confidence=round(proposal.confidence, 2),
        quotes=_quotes(proposal.fact),
        source=_source(run, proposal.fact),
        told=facts.of(proposal.statement),
        id=judged.note_id,
        created_at=run.said_at.get(proposal.fact.receipt.turn, ""),
    )
    return note_of(draft, run.at)


def superseding(run: RefineRun, judged: JudgedProposal, facts: EntityFacts) -> Memory:
    """The version that takes the place of a note; its place and category stay, its trust is the
    lower of both.
    """
    proposal = judged.proposal
    if proposal.target is None:
        raise ValueError("an update without a target")
    title, text = title_and_text(proposal.statement)
    meta = {
        **proposal.target.memory.meta,
        **facts.of(proposal.statement),
        "title": title,
        **_version_fields(run, judged, proposal.target),
    }
    stated = {key: value for key, value in meta.items() if value is not None}
    return Memory(in_order(stated), body_of(title, text, _quotes(proposal.fact)))


def _version_fields(
    run: RefineRun, judged: JudgedProposal, target: CandidateNote
) -> dict[str, Any]:
    """What the front matter of a version says of when, and from what, it was made."""
    proposal = judged.proposal
    return {
        "id": judged.note_id,
        "created_at": run.at,
        "updated_at": run.at,
        "version": target.memory.version + 1,
        "supersedes": target.memory.id,
        "confidence": round(proposal.confidence, 2),
        "trust": least_trusted(proposal.fact.trust, target.trust),
        "trigger": "refine",
        "source": _source(run, proposal.fact),
    }


def _quotes(fact: Fact) -> tuple[Quote, ...]:
    """The words on which a note rests, after those that they answer."""
    return tuple(receipt.quote for receipt in (fact.answered, fact.receipt) if receipt)


def _receipt_fields(receipt: Receipt | None) -> dict[str, str]:
    """The conversation's words in the form of audit and front matter; empty where there are
    none.
    """
    if receipt is None:
        return {}
    return {"words": receipt.words, "speaker": receipt.speaker, "turn": receipt.turn}


def entry_of(
    run: RefineRun, judged: JudgedProposal, facts: EntityFacts
) -> dict[str, Any]:
    """The audit line of a proposal; what was applied stands in its note alone, with all that was
    told of it.
    """
    proposal = judged.proposal
    line = {
        "at": run.at,
        "event": EVENT,
        "id": judged.note_id,
        **_verdict_fields(judged),
        "statement": "" if _is_in_note(judged) else proposal.statement,
        "target": proposal.target.id if proposal.target else "",
        "conversation": run.conversation.id,
        **_fact_fields(proposal.fact),
        **_kind_fields(judged.kind),
        **(facts.of(proposal.statement) if _is_left(judged) else {}),
        "trust": proposal.fact.trust,
        "confidence": round(proposal.confidence, 2),
        **_run_fields(run),
    }
    return {key: value for key, value in line.items() if value not in ("", False, {})}


def _is_in_note(judged: JudgedProposal) -> bool:
    """Whether the statement stands in a note now."""
    return judged.is_applied and judged.proposal.makes_note


def _is_left(judged: JudgedProposal) -> bool:
    """Whether a person, or another mode, may still make a note of it."""
    left = (ProposalOutcome.REVIEW, ProposalOutcome.SHADOWED)
    return judged.verdict.outcome in left and judged.proposal.makes_note


def _verdict_fields(judged: JudgedProposal) -> dict[str, Any]:
    verdict = judged.verdict
    return {
        "proposal": judged.proposal.action,
        "outcome": verdict.outcome,
        "gate": verdict.gate,
        "detail": verdict.detail,
        "against": verdict.against,
        "reason": judged.proposal.reason,
    }


def _fact_fields(fact: Fact) -> dict[str, Any]:
    return {
        "turn": fact.receipt.turn,
        "speaker": fact.receipt.speaker,
        "span": fact.receipt.words,
        "type": fact.type,
        "answered": _receipt_fields(fact.answered),
        "ended": _receipt_fields(fact.ended),
    }


def _kind_fields(kind: NoteKind) -> dict[str, Any]:
    return {
        "scope": kind.scope,
        "project": kind.project,
        "category": kind.category,
        "permanent": kind.is_permanent,
    }


def _without_repetition(
    item: JudgedProposal, known: set[str], used: Counter[str]
) -> JudgedProposal:
    """The proposal; held back where its note exists already, or another proposal changes the
    same one.
    """
    proposal = item.proposal
    if not item.is_applied or proposal.action == ProposalAction.NONE:
        return item
    if proposal.makes_note and item.note_id in known:
        return _as_duplicate(item, item.note_id)
    target = proposal.target
    key = target.id if target else content_hash(proposal.statement)
    used[key] += 1
    return _as_duplicate(item, "another proposal does it") if used[key] > 1 else item


def _as_duplicate(item: JudgedProposal, detail: str) -> JudgedProposal:
    """The proposal, held back because its note is there already."""
    return replace(item, verdict=Verdict(ProposalOutcome.BLOCKED, "duplicate", detail))


def _source(run: RefineRun, fact: Fact) -> dict[str, Any]:
    known = run.conversation.source
    source = {
        **{key: known[key] for key in _KEPT if known.get(key)},
        "turns": [fact.receipt.turn],
        "machine": run.machine,
        "from": run.conversation.id,
        "ended": _receipt_fields(fact.ended),
    }
    return without_empty(source)


def _run_fields(run: RefineRun) -> dict[str, Any]:
    return {"model": run.model, "prompts": list(run.prompts), "mode": run.mode}
