"""Receipts: where the words that a fact rests on stand in the conversation, and whose words they
are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keeplore.memory import Quote
from keeplore.memory.model import Trust, trust_rank
from keeplore.recall.question import STOP_STEMS, stems_of
from keeplore.refine.window import Segment
from keeplore.text.times.numbers_in_words import NUMBERS, number_of

MIN_SPAN = 6  # characters that are compared; "ok" and "yes" stand everywhere
# share of a statement's words that the user said, from which on it counts as the user's statement
OWN_WORDS = 0.6
# share of its words that anybody said; below it the statement is not what its span says
SUPPORTED = 0.25
FEW_WORDS = 4  # of a statement; the share of fewer says nothing
_SAME = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "–": "-",
        "—": "-",
        "‑": "-",
        "…": ".",
    }
)
# marks of markdown, which a model leaves out of a quotation
_DROPPED = frozenset("*_`~#>\\")
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
# how long, by its unit: "a week", "three days", "weekly"; "the second" is mostly none
_SPAN = re.compile(
    rf"(?:\b({'|'.join(NUMBERS[2:])})[\s-]+)?"
    r"\b(?:(secs|seconds|mins|minutes?|hrs?|hours?|days?|weeks?|months?|quarters?|years?)|"
    r"(hour|dai|week|month|quarter|year)ly)\b"
)
_UNITS = {"sec": "second", "min": "minute", "hr": "hour", "dai": "day"}
_ENDS = " .,;:!?\"'"


@dataclass(frozen=True, slots=True)
class Receipt:
    """``words`` are as they stand in the text; ``trust`` is that of who said them."""

    turn: str
    number: int
    speaker: str
    trust: str
    words: str

    @property
    def quote(self) -> Quote:
        """The words as a note quotes them."""
        return Quote(self.words, self.speaker, self.turn)


def receipt_of(span: str, segments: Sequence[Segment]) -> Receipt | None:
    """Where a span stands, the user's words first; None where it does not, whatever a model
    says.
    """
    wanted = _folded_with_places(unicodedata.normalize("NFC", span))[0].strip(_ENDS)
    if len(wanted) < MIN_SPAN:
        return None
    for segment in sorted(segments, key=lambda segment: -trust_rank(segment.trust)):
        if words := _words_in(segment.text, wanted):
            return Receipt(
                segment.turn, segment.number, segment.speaker, segment.trust, words
            )
    return None


def _words_in(text: str, wanted: str) -> str:
    """The words of a text that fold to ``wanted``, "" where there are none."""
    composed = unicodedata.normalize("NFC", text)
    folded, places = _folded_with_places(composed)
    at = folded.find(wanted)
    if at < 0:
        return ""
    return " ".join(composed[places[at] : places[at + len(wanted) - 1] + 1].split())


def trust_of(statement: str, receipt: Receipt, segments: Iterable[Segment]) -> str:
    """The lowest trust of what a statement was made from.

    A "yes, do that" of the user's is a receipt, but the words that were agreed to are those of the
    assistant.
    """
    if receipt.trust != Trust.USER:
        return receipt.trust
    own = " ".join(segment.text for segment in segments if segment.trust == Trust.USER)
    is_own = _supported_share(statement, own) >= OWN_WORDS
    return (Trust.USER if is_own else Trust.ASSISTANT).value


def is_supported(statement: str, segments: Iterable[Segment], known: str = "") -> bool:
    """False for a statement with words, figures or units of time that neither anybody said nor the
    ``known`` note has.
    """
    said = " ".join((known, *(segment.text for segment in segments)))
    is_alike = _supported_share(statement, said) >= SUPPORTED
    return is_alike and _measures(statement) <= _measures(said)


def _measures(text: str) -> set[str]:
    """The figures of a text, and its units of time in English with their numbers in words."""
    measures = {*_FIGURE.findall(text)}
    for number, counted, repeated in _SPAN.findall(text.lower()):
        unit = repeated or counted.removesuffix("s")
        measures.add(_UNITS.get(unit, unit))
        if number:
            measures.add(str(number_of(number)))
    return measures


def _supported_share(statement: str, said: str) -> float:
    """The share of a statement's content words that are in a text."""
    words = stems_of(statement) - STOP_STEMS
    common = len(words & stems_of(said))
    return common / len(words) if len(words) >= FEW_WORDS else float(common > 0)


def _folded_with_places(text: str) -> tuple[str, list[int]]:
    """A composed text as spans are compared, and for each character of that its place in the
    text.
    """
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text.translate(_SAME)):
        if character in _DROPPED:
            continue
        if character.isspace():
            if folded and folded[-1] != " ":
                folded.append(" ")
                places.append(place)
            continue
        for small in character.lower():
            folded.append(small)
            places.append(place)
    return "".join(folded), places
