"""The first stage: a conversation → facts, each with the words that it rests on, and entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.memory.model import trust_rank
from keeplore.refine.answers.answer_schema import (
    MAX_FACTS,
    MAX_TRIPLES,
    MIN_CONTENT,
    FactItem,
    TripleItem,
    items,
    schema_of,
)
from keeplore.refine.candidates import CandidateNote, listed_note
from keeplore.refine.prompts import prompt
from keeplore.refine.receipts import Receipt, receipt_of, trust_of
from keeplore.refine.window import Segment, Window
from keeplore.text.fences import sanitise
from keeplore.text.similarity import content_hash, normalised

PROMPT = prompt("extract")
SCHEMA = schema_of(facts=FactItem, entities=TripleItem)
# Characters that the list of notes may take, as a share of what was said: together with the
# instructions, all stages are to read no more than 1.25 tokens for one of the conversation
KNOWN_SHARE = 0.03
LEAST_ROOM = 320  # characters; a list of two or three notes
KNOWN_NOTES = 8  # that a model is shown


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that the conversation bears out; ``about`` is the note that a model says it
    changes. What it responds to stands in the conversation too.
    """

    statement: str
    type: str
    scope: str
    category: str
    confidence: float
    lasting: float
    receipt: Receipt
    trust: str
    about: CandidateNote | None = None
    answered: Receipt | None = None  # the question or proposal that it settles
    ended: Receipt | None = None  # what no longer holds because of it

    @property
    def key(self) -> str:
        """The hash of the quoted words, by which the same fact is known again."""
        return content_hash(self.receipt.words)


@dataclass(frozen=True, slots=True)
class Extraction:
    facts: tuple[Fact, ...]
    triples: tuple[TripleItem, ...]


def listing_room(said: int, share: float = KNOWN_SHARE) -> int:
    """Characters for the list of notes beside so many of a conversation."""
    return max(LEAST_ROOM, int(share * said))


def question(window: Window, known: Sequence[CandidateNote]) -> str:
    """What a model is shown of a part of a conversation."""
    return f"{known_notes_text(known)}\n\nTalk:\n{window.text}"


def known_notes_text(known: Iterable[CandidateNote]) -> str:
    lines = "\n".join(note.line for note in known)
    return f"Known notes:\n{lines or '(none)'}"


def extraction(
    answer: Any,
    segments: Sequence[Segment],
    known: Sequence[CandidateNote],
    redact: Callable[[str], str],
    dropped: Counter[str],
) -> Extraction:
    """What of an answer the words of ``segments`` bear out; what not is counted. Raises ValueError
    for no answer.
    """
    facts = tuple(
        fact
        for item in items(answer, "facts", FactItem, MAX_FACTS, dropped)
        if (fact := _sound_fact(item, segments, known, redact, dropped))
    )
    return Extraction(
        facts, tuple(items(answer, "entities", TripleItem, MAX_TRIPLES, dropped))
    )


def join_parts(parts: Sequence[Extraction], dropped: Counter[str]) -> Extraction:
    """What the parts of one conversation gave, each statement once, as many as one conversation may
    give.
    """
    facts: dict[str, Fact] = {}
    triples: list[TripleItem] = []
    for part in parts:
        triples += part.triples
        for fact in part.facts:
            facts.setdefault(normalised(fact.statement), fact)
    dropped["facts: too many"] += max(0, len(facts) - MAX_FACTS)
    dropped["entities: too many"] += max(0, len(triples) - MAX_TRIPLES)
    return Extraction(_surest_facts([*facts.values()]), tuple(triples[:MAX_TRIPLES]))


def _surest_facts(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The MAX_FACTS surest in their order; of equally sure ones the later are kept."""
    places = sorted(
        range(len(facts)), key=lambda place: (-facts[place].confidence, -place)
    )
    return tuple(facts[place] for place in sorted(places[:MAX_FACTS]))


def _sound_fact(
    item: FactItem,
    segments: Sequence[Segment],
    known: Sequence[CandidateNote],
    redact: Callable[[str], str],
    dropped: Counter[str],
) -> Fact | None:
    """The fact that an item of the answer states; None, counted in ``dropped``, where no words of
    the text are its source, or it says too little.
    """
    statement = redact(item.content)
    receipt = receipt_of(sanitise(item.span), segments)
    about = listed_note(item.about, known)
    if receipt is None:
        dropped["facts: span not in the text"] += 1
        return None
    if len(statement) < MIN_CONTENT:
        dropped["facts: wrong shape"] += 1
        return None
    if item.about and about is None:
        dropped["facts: about an unknown note"] += 1  # the fact itself may be sound
    trust = trust_of(statement, receipt, segments)
    answered = _earlier_receipt(item.answers, receipt, segments)
    ended = _earlier_receipt(item.ends, receipt, segments)
    if ended and trust_rank(trust) < trust_rank(ended.trust):
        ended = None  # nobody ends what somebody said who is trusted more
    dropped["facts: answers nothing in the text"] += bool(item.answers and not answered)
    dropped["facts: ends nothing in the text"] += bool(item.ends and not ended)
    return Fact(
        statement,
        item.type,
        item.scope,
        item.category,
        item.confidence,
        item.lasting,
        receipt,
        trust,
        about,
        answered,
        ended,
    )


def _earlier_receipt(
    span: str, receipt: Receipt, segments: Sequence[Segment]
) -> Receipt | None:
    """Where a span stands before the words of a receipt, None where it does not."""
    order = [(segment.number, segment.speaker) for segment in segments]
    place = order.index((receipt.number, receipt.speaker))
    return receipt_of(sanitise(span), segments[:place]) if span else None
