"""The second stage: each fact against the notes nearest to it, all facts of a conversation in one
question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from keeplore.refine.answer_schema import MAX_FACTS, ChoiceItem, items, schema_of
from keeplore.refine.candidates import CandidateNote, fitting, named
from keeplore.refine.extract import Fact
from keeplore.refine.prompts import prompt

PROMPT = prompt("decide")
SCHEMA = schema_of(decisions=ChoiceItem)
UNCHANGED = "nothing known is like it"
KNOWN = "a note says exactly this"


class ProposalAction(StrEnum):
    """What a model proposes to do with a fact."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class ComparedFact:
    """A fact with the notes near it, and the one that says exactly the same, if there is one."""

    fact: Fact
    near: tuple[CandidateNote, ...]
    twin: CandidateNote | None = None

    @property
    def is_open(self) -> bool:
        """Whether a model has to decide about it."""
        return bool(self.near) and self.twin is None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be done with a fact; ``statement`` is what a note will say, ``target`` the note
    that it concerns.
    """

    fact: Fact
    near: tuple[CandidateNote, ...]
    action: str
    target: CandidateNote | None
    statement: str
    confidence: float
    reason: str


def unasked(asked: ComparedFact) -> Proposal | None:
    """What needs no model: a fact like nothing that is known, and one that is known word for
    word.
    """
    fact = asked.fact
    if asked.twin is not None:
        return Proposal(
            fact,
            asked.near,
            ProposalAction.NONE,
            asked.twin,
            fact.statement,
            1.0,
            KNOWN,
        )
    if not asked.near:
        return Proposal(
            fact,
            (),
            ProposalAction.ADD,
            None,
            fact.statement,
            fact.confidence,
            UNCHANGED,
        )
    return None


def listed(open_ones: Sequence[ComparedFact], room: int) -> tuple[CandidateNote, ...]:
    """The notes that a model is shown: the nearest of every fact, and of the others what ``room``
    characters hold.
    """
    nearest = {asked.near[0].label: asked.near[0] for asked in open_ones}
    depth = max((len(asked.near) for asked in open_ones), default=0)
    rest = [
        asked.near[rank]
        for rank in range(1, depth)
        for asked in open_ones
        if rank < len(asked.near)
    ]
    room -= sum(len(note.line) + 1 for note in nearest.values())
    return (
        *nearest.values(),
        *fitting((note for note in rest if note.label not in nearest), room),
    )


def question(open_ones: Sequence[ComparedFact], notes: Sequence[CandidateNote]) -> str:
    lines = "\n".join(note.line for note in notes)
    facts = "\n".join(
        f"{number}. {_line(asked.fact)}" for number, asked in enumerate(open_ones, 1)
    )
    return f"Notes:\n{lines}\n\nFacts:\n{facts}"


def proposals(
    answer: Any,
    open_ones: Sequence[ComparedFact],
    notes: Sequence[CandidateNote],
    redact: Callable[[str], str],
    dropped: Counter[str],
) -> tuple[Proposal, ...]:
    """One proposal for each fact about which the answer says something sound; the first one counts.

    A proposal with an unknown target or without a reason is dropped, and so is a fact about which
    nothing is said: what nobody decided is not done. Raises ValueError for no answer.
    """
    made: dict[int, Proposal] = {}
    for choice in items(answer, "decisions", ChoiceItem, 2 * MAX_FACTS, dropped):
        if not 1 <= choice.fact <= len(open_ones):
            dropped["decisions: unknown fact"] += 1
            continue
        target = named(choice.target, notes)
        if target is None and choice.action != ProposalAction.ADD:
            dropped["decisions: unknown target"] += 1
            continue
        if choice.fact in made:
            dropped["decisions: twice"] += 1
            continue
        asked = open_ones[choice.fact - 1]
        statement = (
            redact(choice.content) if choice.action == ProposalAction.UPDATE else ""
        )
        confidence = min(choice.confidence, asked.fact.confidence)
        at = None if choice.action == ProposalAction.ADD else target
        made[choice.fact] = Proposal(
            asked.fact,
            asked.near,
            choice.action,
            at,
            statement or asked.fact.statement,
            confidence,
            redact(choice.reason),
        )
    dropped["decisions: missing"] += len(open_ones) - len(made)
    return tuple(made[number] for number in sorted(made))


def _line(fact: Fact) -> str:
    return " ".join(fact.statement.split())
