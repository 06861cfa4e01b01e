"""What stands between a proposal and the workspace: plain rules, none of which a model can talk its
way through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from keeplore.config.settings import RefineMode
from keeplore.memory.model import Trust, trust_rank
from keeplore.recall.since.contradictions import contradiction, is_opposite
from keeplore.refine.answers.answer_schema import MIN_CONTENT
from keeplore.refine.candidates import CandidateNote
from keeplore.refine.classify import is_rule_of_others
from keeplore.refine.decide import Proposal, ProposalAction
from keeplore.refine.receipts import is_supported
from keeplore.refine.window import Segment
from keeplore.text.similarity import content_hash

SHADOW, FULL, FROZEN = RefineMode.SHADOW, RefineMode.FULL, RefineMode.FROZEN


class ProposalOutcome(StrEnum):
    """What became of a proposal; the last two are a person's word."""

    APPLIED = "applied"
    BLOCKED = "blocked"
    REVIEW = "review"
    SHADOWED = "shadow"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``gate`` names what held a proposal back, "" for nothing; ``against`` is the note that it
    contradicts.
    """

    outcome: str
    gate: str = ""
    detail: str = ""
    against: str = ""


@dataclass(frozen=True, slots=True)
class GateContext:
    """What a verdict rests on besides the proposal."""

    mode: str
    segments: Sequence[Segment]
    said_at: Mapping[str, str]  # turn → RFC 3339, UTC
    is_forgotten: Callable[[str], bool]  # a content hash
    # below it a person would want to be asked about every second one
    least_confidence: float


def verdict(proposal: Proposal, ground: GateContext) -> Verdict:
    """What becomes of a proposal. A person is asked where it is sound and only might be wrong."""
    held = (
        _blocking_verdict(proposal, ground)
        or _review_verdict(proposal, ground)
        or Verdict(ProposalOutcome.APPLIED)
    )
    if ground.mode == SHADOW and held.outcome != ProposalOutcome.BLOCKED:
        return Verdict(ProposalOutcome.SHADOWED, held.gate, held.detail, held.against)
    is_applied = held.outcome == ProposalOutcome.APPLIED
    if is_applied and ground.mode != FULL and proposal.changes_note:
        return _review("mode", f"{ground.mode} changes no note by itself")
    return held


def _blocking_verdict(proposal: Proposal, ground: GateContext) -> Verdict | None:
    """The verdict on what is wrong whatever a person would say."""
    least = ground.least_confidence
    if proposal.confidence < least:
        return _block("confidence", f"{proposal.confidence:.2f} is below {least}")
    return _protected_note_verdict(proposal) or _useless_note_verdict(proposal, ground)


def _protected_note_verdict(proposal: Proposal) -> Verdict | None:
    """The verdict on a proposal to change a note that no model may change; None for any other."""
    if not (proposal.target and proposal.changes_note):
        return None
    if proposal.target.memory.is_permanent:
        return _block("permanent", "what is permanent is changed by its person alone")
    if proposal.target.trust == Trust.FOREIGN:
        return _block("foreign", "another person's machine wrote it")
    return None


def _useless_note_verdict(proposal: Proposal, ground: GateContext) -> Verdict | None:
    """Whether the statement is none, or is there already, or was forgotten."""
    if not proposal.makes_note:
        return None
    statement = proposal.statement.strip()
    if len(statement) < MIN_CONTENT:
        return _block("empty")
    hashed = content_hash(statement)
    for note in proposal.near:
        if content_hash(note.statement) == hashed:
            return _block("duplicate", note.id)
    if ground.is_forgotten(hashed):
        return _block("forgotten", "this was forgotten")
    return None


def _block(gate: str, detail: str = "") -> Verdict:
    """The verdict on what must not be written."""
    return Verdict(ProposalOutcome.BLOCKED, gate, detail)


def _review_verdict(proposal: Proposal, ground: GateContext) -> Verdict | None:
    found = _contradiction(proposal)
    trust = proposal.fact.trust
    if proposal.makes_note and is_rule_of_others(proposal.statement, trust):
        # first, because it is what whoever decides has to know
        return _review(
            "rule",
            f"it reads like a rule, and the {trust} said it",
            found.against if found else "",
        )
    return (
        found
        or _unfit_change_verdict(proposal, ground)
        or _support_verdict(proposal, ground)
    )


def _review(gate: str, detail: str, against: str = "") -> Verdict:
    """The verdict on what a person has to decide."""
    return Verdict(ProposalOutcome.REVIEW, gate, detail, against)


def _unfit_change_verdict(proposal: Proposal, ground: GateContext) -> Verdict | None:
    """Whether the words may not change their note: it is trusted more, or newer."""
    fact, target = proposal.fact, proposal.target
    if not (target and proposal.changes_note):
        return None
    if trust_rank(fact.trust) < trust_rank(target.trust):
        return _review(
            "trust",
            f"the words are the {fact.trust}'s, the note is the {target.trust}'s",
        )
    if _is_older(ground.said_at.get(fact.receipt.turn, ""), target):
        return _review("older", "the note was written after this was said")
    return None


def _support_verdict(proposal: Proposal, ground: GateContext) -> Verdict | None:
    """Whether the statement says more than, or the opposite of, what was said."""
    if not proposal.makes_note:
        return None
    statement, target = proposal.statement, proposal.target
    known = target.statement if target else ""
    if not is_supported(statement, [*ground.segments], known):
        return _review("support", "it has words or figures that nobody said")
    if is_opposite(statement, proposal.fact.receipt.words):
        return _review("support", "it may say the opposite of what it quotes")
    return None


def _contradiction(proposal: Proposal) -> Verdict | None:
    """Against what stays: for an update of the user's own, its target is what goes."""
    if proposal.action == ProposalAction.DELETE:
        return None
    is_users = proposal.fact.trust == Trust.USER
    is_replacing = proposal.action == ProposalAction.UPDATE and is_users
    for note in proposal.near:
        if is_replacing and note is proposal.target:
            continue
        if how := contradiction(proposal.statement, note.statement):
            return _review("contradiction", f"{how}: {note.label}", note.id)
    return None


def _is_older(said_at: str, target: CandidateNote) -> bool:
    """Whether a note is newer than what was said: an old talk that is refined late is no news."""
    return bool(said_at) and target.memory.updated_at > said_at
