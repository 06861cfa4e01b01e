"""The figure that a question asks for: which of the figures that texts state are it, and whether a
newer one takes the place of an older one.

A newer statement says the same of the same thing, or it tells of a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from keeplore.recall.question import (
    STOP_STEMS,
    ParsedQuestion,
    Word,
    is_word_in,
    stems_of,
)
from keeplore.recall.ranking.passage_features import is_of_other_thing
from keeplore.recall.since.stated_figures import BARE, KINDS, Figure, unit_kinds

# share of the question's words from which on a figure answers; judgement
CLOSE = 0.5
# share of the thing's words that a figure needs which tells of a change; judgement
CHANGED = 0.5
_AUXILIARY = r"(?:do|does|did|is|are|am|was|were|have|has|had|can|could|may|must|should|will|would)"
_COUNTED = re.compile(
    r"\bhow many (?P<words>[\w'’-]+(?: [\w'’-]+){0,4}?)"
    rf"(?= (?:{_AUXILIARY}|needs?|gets?|in|on|of|to|per|for|with|that|who|\w+ed)\b|\W*\Z)",
    re.IGNORECASE,
)
# "what is the deadline of", "which version does", "which Node version builds"
_ATTRIBUTE = re.compile(
    r"\b(?:what(?:['’]s| is| are)|when(?: is| are)) (?:the|my|our|your|\w+['’]s?) "
    r"(?P<of>[\w'’-]+(?: [\w'’-]+){0,2}?)(?= (?:of|for|in|on|to|at|by|with|do|does)\b|\W*\Z)"
    r"|\b(?:what|which) (?!(?:kind|sort|type)s?\b)(?P<named>[\w'’-]+(?: [\w'’-]+){0,3}?)"
    rf" (?:{_AUXILIARY}|of)\b"
    rf"|\b(?:what|which) (?!(?:{_AUXILIARY}|if|about|(?:kind|sort|type)s?)\b)"
    r"(?P<first>[\w'’-]+ [\w'’-]+)",
    re.IGNORECASE,
)
_MUCH = re.compile(
    r"\bhow (?:much|often|large|big|high|fast|far|old|wide|long|heavy|tall)\b",
    re.IGNORECASE,
)
# questions that words of a kind of figure answer
_ASKED_KINDS = {
    r"\bwhat time\b": frozenset({"clock"}),
    r"\bwhen\b|\bwhat (?:date|day)\b": frozenset({"day", "clock"}),
    r"\bhow long\b": frozenset({"time"}),
}
# attributes that a figure of the kind tells without the word
_ATTRIBUTES_OF_KIND = {
    "day": stems_of("date deadline due day"),
    "time": stems_of("time latency timeout duration period interval"),
    "size": stems_of("size memory storage"),
    "address": stems_of("address host"),
    "share": stems_of("rate percentage share percent"),
}
# words of a question that tell neither the thing nor what is asked of it
_GENERAL = stems_of("rate number amount total count value level figure current") | (
    stems_of("how what which when many much long often large big")
)
_LIGHT_VERBS = stems_of("run runs cost costs take takes need needs use uses")


@dataclass(frozen=True, slots=True)
class AskedFigure:
    """What a question asks for, as stems; one of the three tells which figures are of it."""

    question: ParsedQuestion
    kinds: frozenset[str]  # those that answer, none where any may
    counted: frozenset[str]  # what is counted, none where nothing is
    attribute: frozenset[str]  # what is asked of the thing

    def replacing(self, old: Iterable[Figure], new: Iterable[Figure]) -> list[Figure]:
        """The figures of a newer text that hold in the place of those of an older one, none where
        both have one in common.
        """
        before = self._closest(old)
        after = [figure for figure in new if self._holds_instead_of_any(figure, before)]
        told = _changed_or_all(after)
        known = {figure.value for figure in before}
        return [] if any(figure.value in known for figure in told) else told

    def _closest(self, figures: Iterable[Figure]) -> list[Figure]:
        """The figures that answer with the most of the question's words."""
        answering = [figure for figure in figures if self._is_of_it(figure)]
        best = max(map(self._closeness, answering), default=0.0)
        if best < CLOSE:
            return []
        return _changed_or_all([f for f in answering if self._closeness(f) == best])

    def _closeness(self, figure: Figure) -> float:
        return self.question.coverage(figure.said)

    def _is_of_it(self, figure: Figure) -> bool:
        """Is it a figure of what is asked for, of no other thing of its kind?"""
        return self._is_of_kind(figure) and not is_of_other_thing(
            figure.sentence, self.question
        )

    def _is_of_kind(self, figure: Figure) -> bool:
        if self.counted:
            words = figure.near if BARE in figure.kinds else figure.kinds
            return figure.value.count(".") < 2 and bool(self.counted & words)
        if self.kinds:
            return bool(self.kinds & figure.kinds)
        return not self.attribute or self._has_attribute(figure)

    def _has_attribute(self, figure: Figure) -> bool:
        told = (_ATTRIBUTES_OF_KIND.get(kind, frozenset()) for kind in figure.kinds)
        return bool(self.attribute & figure.near.union(*told))

    def _holds_instead_of_any(self, new: Figure, old: Iterable[Figure]) -> bool:
        return self._is_of_it(new) and any(self._holds_instead(new, one) for one in old)

    def _holds_instead(self, new: Figure, old: Figure) -> bool:
        if not (self.counted or _are_of_one_kind(new, old)):
            return False
        if old.value in new.in_place_of and new.kinds & old.kinds:
            return True
        things = self._thing_words(old)
        asked = self.attribute & old.said
        if new.is_changed:
            held = sum(is_word_in(word, new.said) for word in things)
            is_same = not asked or self._has_attribute(new)
            return is_same and held >= CHANGED * len(things)
        return asked <= new.near and all(is_word_in(word, new.near) for word in things)

    def _thing_words(self, figure: Figure) -> list[Word]:
        """The question's words for the thing that a figure is said of."""
        other = self.attribute | self.counted | _GENERAL | _LIGHT_VERBS
        return [
            word
            for word in self.question.all_words
            if is_word_in(word, figure.said) and not is_word_in(word, other)
        ]


def asked_figure(question: ParsedQuestion) -> AskedFigure | None:
    """What a question asks for, None where no figure that holds now answers it alone."""
    if not question.asks or question.is_about_past or question.is_of_several:
        return None
    text = question.text
    counted = _counted_stems(_COUNTED.search(text))
    attribute = _attribute_stems(_ATTRIBUTE.search(text))
    kinds = _asked_kinds(text)
    if not (counted or attribute or kinds or _MUCH.search(text)):
        return None
    return AskedFigure(question, kinds, counted, attribute)


def _asked_kinds(text: str) -> frozenset[str]:
    for words, kinds in _ASKED_KINDS.items():
        if re.search(words, text, re.IGNORECASE):
            return kinds
    return frozenset()


def _counted_stems(found: re.Match[str] | None) -> frozenset[str]:
    """The kind of unit, or the stem, of the last of the words that were found."""
    head = found["words"].split()[-1] if found else ""
    return unit_kinds("", head) or stems_of(head)


def _attribute_stems(found: re.Match[str] | None) -> frozenset[str]:
    words = found and (found["of"] or found["named"] or found["first"])
    return stems_of(words or "") - _GENERAL - STOP_STEMS


def _changed_or_all(figures: list[Figure]) -> list[Figure]:
    return [figure for figure in figures if figure.is_changed] or figures


def _are_of_one_kind(one: Figure, other: Figure) -> bool:
    """Are they counted in one unit, or may they be, where one counts nothing?"""
    both = one.kinds | other.kinds
    return bool(one.kinds & other.kinds or (BARE in both and both.isdisjoint(KINDS)))
