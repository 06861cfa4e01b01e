"""The second stage: each fact against the notes nearest to it, all facts of a conversation in one
question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from keeplore.refine.answers.answer_schema import (
    MAX_FACTS,
    ChoiceItem,
    items,
    schema_of,
)
from keeplore.refine.candidates import CandidateNote, fitting_notes, listed_note
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
    twin: CandidateNote | None


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

    @property
    def makes_note(self) -> bool:
        """Whether its statement is to become a note, or a note's new version."""
        return self.action in (ProposalAction.ADD, ProposalAction.UPDATE)

    @property
    def changes_note(self) -> bool:
        """Whether a note that is there is to be replaced or archived."""
        return self.action in (ProposalAction.UPDATE, ProposalAction.DELETE)


def decided_without_model(compared: ComparedFact) -> Proposal | None:
    """The decisions that need no model: on facts like nothing known, and on those known word for
    word.
    """
    fact = compared.fact
    if compared.twin is not None:
        return Proposal(
            fact,
            compared.near,
            ProposalAction.NONE,
            compared.twin,
            fact.statement,
            1.0,
            KNOWN,
        )
    if not compared.near:
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


def notes_to_show(
    open_ones: Sequence[ComparedFact], room: int
) -> tuple[CandidateNote, ...]:
    """The notes that a model is shown: the nearest of every fact, and of the others what ``room``
    characters hold.
    """
    nearest = {asked.near[0].label: asked.near[0] for asked in open_ones}
    room -= sum(len(note.line) + 1 for note in nearest.values())
    others = (note for note in _further_notes(open_ones) if note.label not in nearest)
    return (*nearest.values(), *fitting_notes(others, room))


def _further_notes(open_ones: Sequence[ComparedFact]) -> Iterator[CandidateNote]:
    """All but the nearest notes of the facts, rank by rank."""
    for rank in zip_longest(*(asked.near[1:] for asked in open_ones)):
        yield from (note for note in rank if note is not None)


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
    """A proposal for each fact about which the answer says something sound; the first one counts.

    A proposal with an unknown target or without a reason is dropped, and so is a fact about which
    nothing is said: what nobody decided is not done. Raises ValueError for no answer.
    """
    made: dict[int, Proposal] = {}
    for choice in items(answer, "decisions", ChoiceItem, 2 * MAX_FACTS, dropped):
        target = listed_note(choice.target, notes)
        if flaw := _choice_problem(choice, target, len(open_ones), made):
            dropped[f"decisions: {flaw}"] += 1
        else:
            fact = open_ones[choice.fact - 1]
            made[choice.fact] = _proposal(choice, fact, target, redact)
    dropped["decisions: missing"] += len(open_ones) - len(made)
    return tuple(made[number] for number in sorted(made))


def _choice_problem(
    choice: ChoiceItem, target: CandidateNote | None, facts: int, made: Collection[int]
) -> str:
    """Why a choice cannot stand, "" where it can; ``facts`` were asked about, those in ``made`` are
    decided.
    """
    if not 1 <= choice.fact <= facts:
        return "unknown fact"
    if target is None and choice.action != ProposalAction.ADD:
        return "unknown target"
    return "twice" if choice.fact in made else ""


def _proposal(
    choice: ChoiceItem,
    compared: ComparedFact,
    target: CandidateNote | None,
    redact: Callable[[str], str],
) -> Proposal:
    """What a sound choice proposes."""
    is_update = choice.action == ProposalAction.UPDATE
    new_statement = redact(choice.content) if is_update else ""
    return Proposal(
        compared.fact,
        compared.near,
        choice.action,
        None if choice.action == ProposalAction.ADD else target,
        new_statement or compared.fact.statement,
        min(choice.confidence, compared.fact.confidence),
        redact(choice.reason),
    )


def _line(fact: Fact) -> str:
    return " ".join(fact.statement.split())
