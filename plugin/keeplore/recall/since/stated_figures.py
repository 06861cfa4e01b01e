"""The figures that a text states as what holds when it was said, each with what it counts and the
words that it stands among.

A figure of a part or a difference, of a guess, of the past or of what is only asked states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from keeplore.recall.excerpt import sentences_of
from keeplore.recall.question import STOP_STEMS, stems_of
from keeplore.recall.ranking.passage_features import ROLE
from keeplore.text.dates import MONTHS
from keeplore.text.terms import STOP

MOST_CHARS = 2_000  # of a text that are read
NOUNS = 3  # words after a figure among which is what it counts
BARE = "bare"  # the kind of a figure that counts nothing
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_DAY = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?(?P<month>{_MONTH})"
    rf"|(?P<named>{_MONTH})\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?)\b|"
    r"\b\d{4}-\d{2}-\d{2}\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.-])([$€£]\s?)?(\d+(?:[.,:]\d+)*)(?!\w*\d)")
# what values of one kind are counted in
_UNITS = {
    "time": r"(?:milli)?seconds?|secs?|ms|s|min(?:ute)?s?|hours?|h|days?|weeks?|months?|years?",
    "size": r"[kmgt]i?b|(?:kilo|mega|giga|tera)?bytes?",
    "share": r"%|percent",
    "money": r"dollars?|euros?|pounds?|usd|eur|gbp|[$€£]",
    "clock": r"[ap]m",
}
_COUNTED_IN = {kind: re.compile(words, re.IGNORECASE) for kind, words in _UNITS.items()}
_SHAPES = {
    "clock": re.compile(r"\d{1,2}:\d\d"),
    "address": re.compile(r"(?:\d+\.){3}\d+"),
}
KINDS = frozenset({*_UNITS, *_SHAPES, "day"})
_UNIT = re.compile(r"[\s-]?([^\W\d_]+|[%$€£])")
_WORD_BEFORE = re.compile(r"[^\W\d_]+(?=\W{1,2}\Z)")
_WORD = re.compile(r"[^\W\d_]+|[%,.;:()!?\n]")
_CLAUSE = re.compile(
    r"[;:()!?—–]+(?:\s+|\Z)|,\s+|\.\s+|\s-\s|\n+|"
    r"\s(?=(?:and|but|so|because|which|while|where|when) )"
)
# "does it take 8?" asks for the figure, "how do I sort the 8?" states it
_OPEN_QUESTION = re.compile(
    r"(?:(?:and|but|so|or|also|then|ok(?:ay)?|hm+|well)[\s,]+)*"
    r"(?:(?:is|are|was|were|do|does|did|should|shall|will|would|may|might|has|have|had)\b"
    r"|(?:can|could)(?! you\b)|what if\b|what about\b|how about\b|why not\b)",
    re.IGNORECASE,
)
_UNSETTLED = re.compile(
    r"\b(?:if|unless|would|could|might|maybe|perhaps|suppos\w+|propos(?:e|es|ed|ing)|wish"
    r"|hop(?:e|ing) (?:to|for)|not|never|\w+n['’]t|instead of|rather than"
    r"|(?:am|are|is|was|were|['’]m|['’]re) (?:considering|thinking|wondering)"
    r"|used to|previously|originally|formerly|back (?:when|then|in)|ago|before|earlier"
    r"|last (?:week|month|year|quarter|night)|yesterday"
    r"|(?:was|were|had)(?! (?:to|set|cut|put|made|(?:been )?\w+ed)\b))\b",
    re.IGNORECASE,
)
# what stands before a figure of a part, or of a difference
_PART_BEFORE = re.compile(
    r"(?:\b(?:another|additional|extra|remaining|first|last|next|only|by|between|from)|"
    r"\b(?:delet|remov|los|sav|spen|wast|miss|fail|us|clos|fix|wr[io]t)\w*"
    r"(?: (?:about|some|the))?)\W{0,3}\Z",
    re.IGNORECASE,
)
_WHOLE = r"of (?:the|its|my|our|their|them|these|those|which)"
_PART_AFTER = re.compile(
    rf"\A\W{{0,2}}(?:\w+ )?(?:{_WHOLE}|more|less|fewer|left|remaining|ago)\b|"
    r"\A\W{0,2}(?:additional|extra|others?)\b|"
    r"\A\W{0,2}(?:second|minute|hour|day|week|month|year)s? (?:before|after|later)\b",
    re.IGNORECASE,
)
# what stands behind a figure that shall hold no more
_TOO = (
    "too (?:many|much|long|short|few|little|big|large|small|high|low|slow|fast|often)"
)
_REFUSED_AFTER = re.compile(
    rf"\A\W{{0,2}}(?:\w+ )?(?:is|are) (?:\w+ )?{_TOO}\b", re.IGNORECASE
)
# the figure in whose place another one is put
_DROPPED = re.compile(
    r"\b(?:instead of|rather than|in place of|not|from|no longer)\s+(?:the\s+)?[$€£]?"
    r"(\d+(?:[.,:]\d+)*)(?!\w*\d)",
    re.IGNORECASE,
)
# a thing that is only named to say when another one is
_LANDMARK = re.compile(
    r"\b(?:before|after|until|ahead of|prior to)\s+(?:the|my|our|your|this)\s+[\w'’-]+"
    r"(?:\s+(?:of|to)\s+(?:the|my|our|your))?(?:\s+[\w'’-]+)?",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:now|new|since|recently|lately|these days|by now|from now on|by then|updat\w+|"
    r"chang\w+|moved?|extend\w*|extension|reschedul\w+|postpon\w+|push\w+|shift\w+|rais\w+|"
    r"lower\w+|increas\w+|decreas\w+|reduc\w+|bump\w+|upgrad\w+|downgrad\w+|grown?|grew|"
    r"growth|reach\w+|went (?:up|down)|up (?:to|at)|down (?:to|at)|dropped|cut|adjust\w+|"
    r"(?:drop|lower|bump) (?:the|our|my|it|its|this|that)|"
    rf"revis\w+|switch\w+|scal\w+|set|gave|made|{_TOO})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the stems of what is said around it."""

    value: str
    # its unit or shape; else the words that it counts, or ``BARE``, and the word before it
    kinds: frozenset[str]
    near: frozenset[str]  # of its clause and the one before
    said: frozenset[str]  # of its sentence and the one before
    sentence: str
    clauses: str  # the words of its clause and the one before
    is_changed: bool  # the words near it tell of a change
    in_place_of: frozenset[str] = frozenset()  # values that its sentence drops


@lru_cache(maxsize=200)
def stated_figures(text: str) -> tuple[Figure, ...]:
    """The figures that the beginning of a text states, in their order."""
    return tuple(_figures(ROLE.sub("", text[:MOST_CHARS])))


def unit_kinds(figure: str, unit: str) -> frozenset[str]:
    """The kinds of a figure by its shape and the word after it; none where neither tells."""
    shapes = {kind for kind, shape in _SHAPES.items() if shape.fullmatch(figure)}
    units = {kind for kind, words in _COUNTED_IN.items() if words.fullmatch(unit)}
    return frozenset(shapes | units)


def _figures(text: str) -> Iterator[Figure]:
    for before, sentence in pairwise(["", *sentences_of(text)]):
        said = _thing_stems(f"{before} {sentence}")
        dropped = frozenset(_DROPPED.findall(sentence))
        for near, clause in _stating_clauses(sentence):
            words, is_changed = _thing_stems(near), bool(_CHANGE.search(near))
            for value, kinds in _stated_in(clause):
                told = (value, kinds, words, said, sentence, near, is_changed)
                yield Figure(*told, in_place_of=dropped)


def _stating_clauses(sentence: str) -> Iterator[tuple[str, str]]:
    """Each clause that asks nothing: with the one before it, and alone."""
    is_question = sentence.rstrip().endswith("?")
    first = 0
    for start, end in _clause_places(sentence):
        clause = sentence[start:end]
        if not (is_question and _OPEN_QUESTION.match(clause)):
            yield sentence[first:end].strip(), clause
        first = start


def _clause_places(sentence: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _CLAUSE.finditer(sentence):
        if sentence[start : found.start()].strip():
            yield start, found.start()
        start = found.end()
    if sentence[start:].strip():
        yield start, len(sentence)


def _thing_stems(text: str) -> frozenset[str]:
    """The stems of a text without what it only names as a landmark."""
    return stems_of(_LANDMARK.sub(" ", text))


def _stated_in(clause: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each figure that a clause states, with its kinds."""
    for day in _DAY.finditer(clause):
        if not _UNSETTLED.search(clause[: day.start()]):
            yield _day_value(day), frozenset({"day"})
    # days leave as many spaces, so that what stands beside a figure does so still
    plain = _DAY.sub(lambda day: " " * len(day[0]), clause)
    for found in _NUMBER.finditer(plain):
        before, after = plain[: found.start()], plain[found.end() :]
        is_part = _PART_BEFORE.search(before) or (
            found[2].isdigit() and _PART_AFTER.search(after)
        )
        is_refused = _REFUSED_AFTER.search(after) or _UNSETTLED.search(before)
        if not is_part and not is_refused:
            sign = (found[1] or "").strip()
            yield found[2], _kinds_of(found[2], sign, before, after)


def _day_value(day: re.Match[str]) -> str:
    month = (day["month"] or day["named"] or "")[:3].casefold()
    return f"{int(day['before'] or day['after'])} {month}" if month else day[0]


def _kinds_of(figure: str, sign: str, before: str, after: str) -> frozenset[str]:
    unit = _UNIT.match(after)
    if kinds := unit_kinds(figure, sign or (unit[1] if unit else "")):
        return kinds
    counted = stems_of(" ".join(_nouns(after))) - STOP_STEMS or frozenset({BARE})
    named = _WORD_BEFORE.search(before)
    return counted | (stems_of(named[0]) - STOP_STEMS if named else frozenset())


def _nouns(after: str) -> list[str]:
    """The words after a figure up to a stop, a word that tells nothing, or the third."""
    found: list[str] = []
    for word in _WORD.findall(after[:60]):
        if not word.isalpha() or word.casefold() in STOP or len(found) == NOUNS:
            break
        found.append(word)
    return found
