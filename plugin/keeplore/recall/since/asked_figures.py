"""The figures that statements give: of two that answer one question, whether the later one gives
the same attribute of the same thing another value, in whatever words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from keeplore.recall.passage_features import is_of_other_thing
from keeplore.recall.question import (
    STOP_STEMS,
    ParsedQuestion,
    Word,
    all_of,
    stems_of,
)
from keeplore.text.dates import MONTHS

# share of the thing's words in the older statement that the newer one must have
THING = 0.5
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_DAY = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?(?P<month>{_MONTH})"
    rf"|(?P<named>{_MONTH})\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?)\b|"
    r"\b\d{4}-\d{2}-\d{2}\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?:\b([^\W\d_]+)\W{1,2})?(\d+(?:[.,:]\d+)*)\W?([^\W\d_]+|%)?")
# what values of one kind are counted in; others by the word itself
_KINDS = {
    "time": r"(?:milli)?seconds?|secs?|ms|s|min(?:ute)?s?|hours?|h|days?|weeks?|months?|years?",
    "size": r"[kmgt]i?b|(?:kilo|mega|giga|tera)?bytes?",
    "share": r"%|percent",
}
_COUNTED = {kind: re.compile(words, re.IGNORECASE) for kind, words in _KINDS.items()}
_SHAPES = {
    "clock": re.compile(r"\d{1,2}:\d\d"),
    "address": re.compile(r"(?:\d+\.){3}\d+"),
}
_NAME = re.compile(r"(?<=\s)[A-Z][\w-]+")
# what of a question names the attribute alone: "how wide may", "which version does"
_ATTRIBUTE = re.compile(
    r"\b(?:how|which|what)\b(?P<words>(?:\s+[\w'’-]+){1,5}?)\s+(?:do|does|is|are|may|can|should|"
    r"will|has|have|must)\b",
    re.IGNORECASE,
)


def gives_other_value(new: str, old: str, question: ParsedQuestion) -> bool:
    """Whether ``new`` and ``old`` give values of one kind and none in common, and ``new`` is about
    the thing that is asked for.
    """
    new_values, old_values = figures(new), figures(old)
    shared_kinds = all_of(new_values.values()) & all_of(old_values.values())
    if not shared_kinds or not new_values.keys().isdisjoint(old_values):
        return False
    if is_of_other_thing(new, question):
        return False
    return _is_of_thing(new, old, question, shared_kinds)


@lru_cache(maxsize=1_000)
def figures(text: str) -> dict[str, frozenset[str]]:
    """Each value with what tells its kind: its unit, the word before it, or its shape."""
    found = dict(_days(text))
    for before, figure, after in _FIGURE.findall(_DAY.sub(" ", text)):
        kind = {name for name, shape in _SHAPES.items() if shape.fullmatch(figure)}
        found.setdefault(figure, frozenset(kind).union(_kind(before), _kind(after)))
    return found


def _days(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for day in _DAY.finditer(text):
        month = (day["month"] or day["named"] or "")[:3].casefold()
        number = day["before"] or day["after"]
        yield f"{int(number)} {month}" if month else day[0], frozenset({"day"})


def _kind(word: str) -> frozenset[str]:
    for kind, counted in _COUNTED.items():
        if counted.fullmatch(word):
            return frozenset({kind})
    return stems_of(word) - STOP_STEMS


def _is_of_thing(
    new: str, old: str, question: ParsedQuestion, kinds: frozenset[str]
) -> bool:
    """Whether the newer statement has more than half of the question's words for the thing that the
    older one has, and all names; half of them do where values of these kinds are asked for.
    """
    match = _ATTRIBUTE.search(question.text)
    attribute = stems_of(match["words"]) if match else frozenset[str]()
    new_stems, old_stems = stems_of(new), stems_of(old)
    names = stems_of(" ".join(_NAME.findall(question.text)))
    if (names & old_stems) - new_stems:
        return False
    units = stems_of(" ".join(after for _, _, after in _FIGURE.findall(old)))
    thing_words = [
        word
        for word in question.words
        if not _has_word(attribute | units, word) and _has_word(old_stems, word)
    ]
    count = sum(_has_word(new_stems, word) for word in thing_words)
    half = THING * len(thing_words)
    return count > half or bool(count and count == half and kinds & attribute)


def _has_word(stems: frozenset[str], word: Word) -> bool:
    return any(spelling <= stems for spelling in word)
