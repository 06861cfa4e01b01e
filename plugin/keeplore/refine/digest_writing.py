"""The lines of a digest by a language model: what it is shown of the conversations, and which of
its lines their words bear out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from keeplore.memory.model import Trust
from keeplore.recall.since.contradictions import is_opposite
from keeplore.refine.answers.answer_schema import (
    MIN_CONTENT,
    LineItem,
    items,
    schema_of,
)
from keeplore.refine.classify import is_rule_of_others
from keeplore.refine.prompts import prompt
from keeplore.refine.receipts import Receipt, is_supported, receipt_of, trust_of
from keeplore.refine.window import MAX_INPUT, Segment
from keeplore.text.fences import sanitise
from keeplore.text.similarity import content_hash

PROMPT = prompt("digest")
SCHEMA = schema_of(lines=LineItem)
MAX_LINES = 40  # of one answer


@dataclass(frozen=True, slots=True)
class DigestSource:
    """``head`` are lines that say what a conversation came to, with their speakers; ``segments``
    all that was said in it.
    """

    day: str  # YYYY-MM-DD
    title: str
    head: tuple[str, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A sound line: ``talk`` is the place of its conversation in the question, ``instead`` the
    place of an earlier one with the words that it replaced.
    """

    talk: int
    part: str
    statement: str
    receipt: Receipt
    instead: tuple[int, Receipt] | None

    @property
    def talks(self) -> tuple[int, ...]:
        """The places of all talks that it tells of."""
        return (self.talk, self.instead[0]) if self.instead else (self.talk,)


@dataclass(frozen=True, slots=True)
class LineGates:
    """What stands between a line and the digest besides its receipt."""

    redact: Callable[[str], str]
    is_forgotten: Callable[[str], bool]  # a content hash
    least_confidence: float

    def flaw(
        self, item: LineItem, statement: str, receipt: Receipt, talk: DigestSource
    ) -> str:
        """Why a line is left out, "" for nothing."""
        if receipt.trust == Trust.DOCUMENT:
            return "span was pasted"
        if item.confidence < self.least_confidence:
            return "not sure enough"
        if len(statement) < MIN_CONTENT:
            return "wrong shape"
        if self.is_forgotten(content_hash(statement)):
            return "was forgotten"
        is_said = is_supported(statement, talk.segments)
        if not is_said or is_opposite(statement, receipt.words):
            return "not what was said"
        trust = trust_of(statement, receipt, talk.segments)
        return "an instruction" if is_rule_of_others(statement, trust) else ""


def questions(talks: Sequence[DigestSource]) -> Iterator[str]:
    """What a model is shown, in parts of one call each; conversations with longer heads are cut."""
    shown: list[str] = []
    for number, talk in enumerate(talks, 1):
        text = _conversation_text(talk, number)
        if shown and sum(map(len, shown)) + len(text) > MAX_INPUT:
            yield "\n\n".join(shown)
            shown = []
        shown.append(text)
    if shown:
        yield "\n\n".join(shown)


def _conversation_text(talk: DigestSource, number: int) -> str:
    lines = "\n".join(dict.fromkeys(talk.head))
    return f"Talk {number}, {talk.day}: {talk.title}\n{lines}"[:MAX_INPUT]


def written_lines(
    answer: Any, talks: Sequence[DigestSource], gates: LineGates, dropped: Counter[str]
) -> list[WrittenLine]:
    """The sound lines of an answer; what is not sound is counted. Raises ValueError for no
    answer.
    """
    found: list[WrittenLine] = []
    for item in items(answer, "lines", LineItem, MAX_LINES, dropped):
        if not 1 <= item.talk <= len(talks):
            dropped["lines: unknown talk"] += 1
            continue
        talk = talks[item.talk - 1]
        # a quotation begins with this mark
        statement = " ".join(gates.redact(item.content).split()).lstrip("“ ")
        receipt = receipt_of(sanitise(item.span), talk.segments)
        if receipt is None:
            dropped["lines: span not in the text"] += 1
        elif flaw := gates.flaw(item, statement, receipt, talk):
            dropped[f"lines: {flaw}"] += 1
        else:
            instead = _earlier_receipt(item, receipt, talks)
            is_lost = bool(item.instead) and instead is None
            dropped["lines: replaces nothing in the text"] += is_lost
            found.append(
                WrittenLine(item.talk - 1, item.part, statement, receipt, instead)
            )
    return found


def _earlier_receipt(
    item: LineItem, receipt: Receipt, talks: Sequence[DigestSource]
) -> tuple[int, Receipt] | None:
    """Where the words that a line replaces stand before its own, the latest talk first."""
    place, span = item.talk - 1, sanitise(item.instead)
    own = talks[place].segments
    order = [(segment.number, segment.speaker) for segment in own]
    before = own[: order.index((receipt.number, receipt.speaker))]
    earlier = ((at, talks[at].segments) for at in range(place - 1, -1, -1))
    for at, segments in chain([(place, before)], earlier):
        if found := receipt_of(span, segments):
            return at, found
    return None
