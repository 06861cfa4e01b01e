"""Of hits that say of the same thing another value, the newest: what refining compares notes by is
asked of the sentences that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from keeplore.recall.excerpt import sentences_of
from keeplore.recall.passage_features import is_of_other_thing
from keeplore.recall.question import STOP_STEMS, ParsedQuestion, stems_of
from keeplore.recall.request import RecallHit
from keeplore.recall.since.asked_figures import AskedFigure, asked_figure
from keeplore.recall.since.contradictions import contradiction
from keeplore.recall.since.stated_figures import Figure, stated_figures

SENTENCES = 4  # of a hit that are compared, the closest to the question
SHARED = 0.5  # share of the shorter one's words that two of one matter have


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str
    stems: frozenset[str]  # without stop words
    close: float  # the share of the question's words in it, 0..1


@dataclass(frozen=True, slots=True)
class Stated:
    """A hit with the sentences of it that are compared."""

    hit: RecallHit
    statements: tuple[_Statement, ...]
    is_of_other: (
        bool  # the closest speaks of another thing of the kind than the question
    )
    figures: tuple[Figure, ...] = ()  # where the question asks for one

    @property
    def at(self) -> str:
        return self.hit.at or self.hit.changed_at


def as_stated(hit: RecallHit, question: ParsedQuestion) -> Stated:
    closest = tuple(_closest(hit.passage, question))
    is_of_other = bool(closest) and is_of_other_thing(closest[0].text, question)
    return Stated(hit, closest, is_of_other)


def _closest(passage: str, question: ParsedQuestion) -> Iterator[_Statement]:
    found = []
    for sentence in sentences_of(passage):
        if text := "" if sentence.rstrip().endswith("?") else sentence.strip():
            stems = stems_of(text)
            close = question.coverage(stems)
            found.append(_Statement(text, stems - STOP_STEMS, close))
    found.sort(key=lambda one: -one.close)
    yield from (one for one in found[:SENTENCES] if one.close)


def newest_first(
    hits: Sequence[RecallHit],
    question: ParsedQuestion,
    message_of: Callable[[RecallHit], str],
) -> list[RecallHit]:
    """The hits, each outdated one behind the hit that holds instead, which is given its place and
    its likelihood.

    ``message_of`` gives what the person said in a hit's exchange: a figure may stand there alone.
    """
    asked = asked_figure(question)
    entries = [as_stated(hit, question) for hit in hits]
    if asked:
        entries = [_with_figures(one, message_of(one.hit)) for one in entries]
    ordered: list[Stated] = []
    for one in entries:
        places = (
            place
            for place, other in enumerate(ordered)
            if (_is_sure(one, other) and holds_instead(one, other, question))
            or (asked and _gives_newer(one, other, asked))
        )
        place = next(places, len(ordered))
        is_moved = place < len(ordered)
        ordered.insert(place, _as_likely(one, ordered[place]) if is_moved else one)
    return [one.hit for one in ordered]


def _with_figures(one: Stated, message: str) -> Stated:
    texts = (one.hit.passage, message)
    return replace(
        one, figures=tuple(f for said in texts for f in stated_figures(said))
    )


def _as_likely(one: Stated, other: Stated) -> Stated:
    score = max(one.hit.score, other.hit.score)
    return replace(one, hit=replace(one.hit, score=score))


def holds_instead(one: Stated, other: Stated, question: ParsedQuestion) -> bool:
    """Does the first state what holds in the place of what the other one states?

    So it is where the other is known to be replaced by it, or where it contradicts the other and is
    newer. Where only the older one speaks of something that is asked for, the two are of different
    things.
    """
    later = other.hit.later
    if later and later.memory_id == one.hit.memory_id != other.hit.memory_id:
        return True
    if question.is_about_past or not _is_newer_beside(one, other):
        return False
    asked = question.stems
    for new in one.statements:
        for old in other.statements:
            shared = len(new.stems & old.stems)
            is_near = shared >= SHARED * min(len(new.stems), len(old.stems))
            is_of_other = asked & (old.stems - new.stems) and not asked & (
                new.stems - old.stems
            )
            if is_near and not is_of_other and contradiction(new.text, old.text):
                return True
    return False


def _is_sure(one: Stated, other: Stated) -> bool:
    """Whether what replaces what is sure between two hits: notes are about one thing; in talk two
    sentences are alike for other reasons too.
    """
    later = other.hit.later
    is_told = bool(later and later.memory_id == one.hit.memory_id)
    return is_told or (one.hit.kind, other.hit.kind) == ("note", "note")


def _gives_newer(one: Stated, other: Stated, asked: AskedFigure) -> bool:
    """Does the first say later than the other that what is asked for has another figure?"""
    return _is_newer_beside(one, other) and bool(
        asked.replacing(other.figures, one.figures)
    )


def _is_newer_beside(one: Stated, other: Stated) -> bool:
    """True for a hit of the same place that was said later."""
    places = {(entry.hit.scope, entry.hit.project) for entry in (one, other)}
    return len(places) == 1 and one.at > other.at
