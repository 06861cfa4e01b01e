"""Of hits that say of the same thing another value, the newest: what refining compares notes by is
asked of the sentences that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from keeplore.recall.excerpt import sentences_of
from keeplore.recall.question import STOP_STEMS, ParsedQuestion, stems_of
from keeplore.recall.ranking.passage_features import is_of_other_thing
from keeplore.recall.request import RecallHit
from keeplore.recall.since.asked_figures import AskedFigure, asked_figure
from keeplore.recall.since.contradictions import SIGN_STEMS, contradiction
from keeplore.recall.since.stated_figures import Figure, stated_figures
from keeplore.text.pasted import own_words

SENTENCES = 4  # of a hit that are compared, the closest to the question
SHARED = 0.5  # share of the shorter one's words that two of one matter have
# how much less likely a later conversation that decides something may be than an earlier one to
# come first; measured on invented projects, where .2 to .3 is a plateau
DECIDED_WITHIN = 0.2
LIKELY = 0.6  # least likelihood of such a talk; judgement


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """What the conversation of a hit tells of it; of a note nothing."""

    message: str = ""  # the person's, of the exchange that is shown
    decides: bool = False  # is a decision of the conversation among what is shown?


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str
    stems: frozenset[str]  # without stop words and those that turn a meaning round
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
    decides: bool = False  # does it show a decision of its conversation?

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
            found.append(_Statement(text, stems - STOP_STEMS - SIGN_STEMS, close))
    found.sort(key=lambda one: -one.close)
    yield from (one for one in found[:SENTENCES] if one.close)


def newest_first(
    hits: Sequence[RecallHit],
    question: ParsedQuestion,
    look_up: Callable[[RecallHit], ConversationContext],
) -> list[RecallHit]:
    """The hits, each outdated one behind the hit that holds instead, which is given its place and
    its likelihood.

    A later conversation that decides something comes before an earlier one that is about as likely.
    ``look_up`` tells what is behind a hit: a figure may stand in its message alone.
    """
    asked = asked_figure(question)
    is_of_now = not (question.is_about_past or question.is_of_several)
    entries = [_in_conversation(hit, question, look_up(hit), asked) for hit in hits]
    ordered: list[Stated] = []
    for one in entries:
        places = (
            place
            for place, other in enumerate(ordered)
            if (_is_sure(one, other) and holds_instead(one, other, question))
            or (asked and _gives_newer(one, other, asked))
            or (is_of_now and _decides_later(one, other))
        )
        place = next(places, len(ordered))
        is_moved = place < len(ordered)
        ordered.insert(place, _as_likely(one, ordered[place]) if is_moved else one)
    return [one.hit for one in ordered]


def _in_conversation(
    hit: RecallHit,
    question: ParsedQuestion,
    talk: ConversationContext,
    asked: AskedFigure | None,
) -> Stated:
    said = (hit.passage, own_words(talk.message)) if asked else ()
    figures = tuple(figure for text in said for figure in stated_figures(text))
    return replace(as_stated(hit, question), figures=figures, decides=talk.decides)


def _as_likely(one: Stated, other: Stated) -> Stated:
    return replace(one, hit=replace(one.hit, score=max(one.hit.score, other.hit.score)))


def _decides_later(one: Stated, other: Stated) -> bool:
    """Is it a later conversation with a decision, that is about as likely to answer as the earlier
    one?
    """
    is_other_talk = one.hit.session != other.hit.session
    is_talk = other.hit.kind == "conversation" and one.decides and is_other_talk
    least = max(LIKELY, other.hit.score - DECIDED_WITHIN)
    return is_talk and one.hit.score >= least and _is_newer_beside(one, other)


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
