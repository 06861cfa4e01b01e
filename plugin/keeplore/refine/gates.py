"""What stands between a proposal and the workspace: plain rules, none of which a model can talk its
way through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from keeplore.config.settings import RefineMode
from keeplore.memory.model import Trust, trust_rank
from keeplore.refine.answer_schema import MIN_CONTENT
from keeplore.refine.candidates import CandidateNote
from keeplore.refine.classify import is_rule_of_others
from keeplore.refine.contradictions import contradiction, is_opposite
from keeplore.refine.decide import Proposal, ProposalAction
from keeplore.refine.receipts import is_supported
from keeplore.refine.window import Segment
from keeplore.text.similarity import content_hash

# below it a person would want to be asked about every second one
LEAST_CONFIDENCE = 0.7
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


def verdict(proposal: Proposal, ground: GateContext) -> Verdict:
    """What becomes of a proposal. A person is asked where it is sound and only might be wrong."""
    held = (
        _blocked(proposal, ground)
        or _doubted(proposal, ground)
        or Verdict(ProposalOutcome.APPLIED)
    )
    if ground.mode == SHADOW and held.outcome != ProposalOutcome.BLOCKED:
        return Verdict(ProposalOutcome.SHADOWED, held.gate, held.detail, held.against)
    if (
        held.outcome == ProposalOutcome.APPLIED
        and ground.mode != FULL
        and proposal.action in (ProposalAction.UPDATE, ProposalAction.DELETE)
    ):
        return Verdict(
            ProposalOutcome.REVIEW, "mode", f"{ground.mode} changes no note by itself"
        )
    return held


def _blocked(proposal: Proposal, ground: GateContext) -> Verdict | None:
    statement, target = proposal.statement.strip(), proposal.target
    if proposal.confidence < LEAST_CONFIDENCE:
        return Verdict(
            ProposalOutcome.BLOCKED,
            "confidence",
            f"{proposal.confidence:.2f} is below {LEAST_CONFIDENCE}",
        )
    if target and proposal.action in (ProposalAction.UPDATE, ProposalAction.DELETE):
        if target.memory.is_permanent:
            return Verdict(
                ProposalOutcome.BLOCKED,
                "permanent",
                "what is permanent is changed by its person alone",
            )
        if target.trust == Trust.FOREIGN:
            return Verdict(
                ProposalOutcome.BLOCKED, "foreign", "another person's machine wrote it"
            )
    if proposal.action in (ProposalAction.ADD, ProposalAction.UPDATE):
        if len(statement) < MIN_CONTENT:
            return Verdict(ProposalOutcome.BLOCKED, "empty")
        hashed = content_hash(statement)
        if twin := next(
            (note for note in proposal.near if content_hash(note.statement) == hashed),
            None,
        ):
            return Verdict(ProposalOutcome.BLOCKED, "duplicate", twin.id)
        if ground.is_forgotten(hashed):
            return Verdict(ProposalOutcome.BLOCKED, "forgotten", "this was forgotten")
    return None


def _doubted(proposal: Proposal, ground: GateContext) -> Verdict | None:
    fact, target = proposal.fact, proposal.target
    found = _contradiction(proposal)
    if proposal.action in (
        ProposalAction.ADD,
        ProposalAction.UPDATE,
    ) and is_rule_of_others(proposal.statement, fact.trust):
        # first, because it is what whoever decides has to know
        against = found.against if found else ""
        return Verdict(
            ProposalOutcome.REVIEW,
            "rule",
            f"it reads like a rule, and the {fact.trust} said it",
            against,
        )
    if found:
        return found
    if proposal.action == ProposalAction.NONE:
        return None
    if (
        target
        and proposal.action in (ProposalAction.UPDATE, ProposalAction.DELETE)
        and _is_below(fact.trust, target.trust)
    ):
        return Verdict(
            ProposalOutcome.REVIEW,
            "trust",
            f"the words are the {fact.trust}'s, the note is the {target.trust}'s",
        )
    if (
        target
        and proposal.action in (ProposalAction.UPDATE, ProposalAction.DELETE)
        and _is_older(ground.said_at.get(fact.receipt.turn, ""), target)
    ):
        return Verdict(
            ProposalOutcome.REVIEW, "older", "the note was written after this was said"
        )
    if proposal.action == ProposalAction.DELETE:
        return None
    if not is_supported(
        proposal.statement, [*ground.segments], target.statement if target else ""
    ):
        return Verdict(
            ProposalOutcome.REVIEW,
            "support",
            "it has words or figures that nobody said",
        )
    if is_opposite(proposal.statement, fact.receipt.words):
        return Verdict(
            ProposalOutcome.REVIEW,
            "support",
            "it may say the opposite of what it quotes",
        )
    return None


def _contradiction(proposal: Proposal) -> Verdict | None:
    """Against what stays: for an update of the user's own, its target is what goes."""
    is_users = proposal.fact.trust == Trust.USER
    for note in proposal.near:
        is_replaced = note is proposal.target and (
            proposal.action == ProposalAction.DELETE
            or (proposal.action == ProposalAction.UPDATE and is_users)
        )
        if is_replaced or proposal.action == ProposalAction.DELETE:
            continue
        if how := contradiction(proposal.statement, note.statement):
            return Verdict(
                ProposalOutcome.REVIEW, "contradiction", f"{how}: {note.label}", note.id
            )
    return None


def _is_older(said_at: str, target: CandidateNote) -> bool:
    """Whether a note is newer than what was said: an old talk that is refined late is no news."""
    return bool(said_at) and target.memory.updated_at > said_at


def _is_below(trust: str, other: str) -> bool:
    return trust_rank(trust) < trust_rank(other)
