"""The options that a reply puts: in a list, between an "or", or told in a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from keeplore.capture.cues import opens_with, pattern, says, weight_of, word_map
from keeplore.capture.distill.choices.choice import CODE_NAME, JOINING
from keeplore.text.sentences import Sentence, sentences

TAIL = 8  # sentences at the end of a reply in which it puts its ways and waits for an answer
RECOMMENDING = ("proposed", "would_do")  # tables of cues
_INLINE_LABEL = re.compile(r"\((?P<label>[A-Ea-e]|\d)\)\s+")
# "`a`, `b`, or stick with `c`"
_NAMES_PUT = re.compile(
    r"(?:`[^`]+`,? (?:(?!or )\w+ ){0,2}?)+or (?:\w+ ){0,2}?`[^`]+`", re.IGNORECASE
)
_NEXT_TOLD = re.compile(r"[,;]\s+(?:and|or)\s+|;\s+|\s+or\s+")


def last_options(message: Sequence[Sentence]) -> list[Sentence]:
    """The options of the last list of options."""
    listed = [s for s in message if _is_option(s)]
    place = (listed[-1].lead, listed[-1].heading) if listed else ("", "")
    return [s for s in listed if (s.lead, s.heading) == place]


def _is_option(sentence: Sentence) -> bool:
    is_item = bool(sentence.label) and sentence.is_first
    return is_item or opens_with(sentence.text, "option_labelled")


def offered_ways(message: Sequence[Sentence]) -> list[Sentence]:
    """The ways that the last sentence with an "or" between them names, two in words or several
    names in code; none where there is no such sentence.
    """
    for sentence in reversed(message):
        if found := pattern("two_ways").search(sentence.text):
            return [Sentence(way.strip()) for way in found.groups() if way]
        if len(told := _told_ways(sentence.text, "ways_told")) > 1:
            return told
        if sentence.is_question and (names := _NAMES_PUT.search(sentence.text)):
            return [Sentence(name) for name in CODE_NAME.findall(names[0])]
    return []


def _told_ways(text: str, lead: str) -> list[Sentence]:
    """The ways that a sentence lists behind a lead."""
    found = pattern(lead).match(text)
    if found is None:
        return []
    parts = _NEXT_TOLD.split(text[found.end() :].rstrip(" ."))
    return [Sentence(part.strip()) for part in parts]


def puts_several(options: Sequence[Sentence]) -> bool:
    """Do options stand below a line or a heading that says that they are some?"""
    if len(options) < 2:
        return False
    lead, heading = options[0].lead, options[0].heading
    return says(lead, "options_lead") or says(heading, "options_heading")


def asks_to_pick(reply: str) -> bool:
    return any(
        s.is_question and says(s.text, "asks_which") for s in sentences(reply)[-TAIL:]
    )


def awaits_pick(reply: str) -> bool:
    """Does a reply ask which, or list several ways and recommend one?"""
    said = sentences(reply)
    tail = said[-TAIL:]
    recommends = any(weight_of(s.text, name) for s in tail for name in RECOMMENDING)
    is_several = len(last_options(said)) > 1
    return asks_to_pick(reply) or (is_several and recommends)


def option_with_label(reply: str, label: str) -> Sentence | None:
    """The last option of this letter or number, of a list or within a sentence."""
    said = sentences(reply)
    for sentence in reversed(said):
        labelled = pattern("option_labelled").match(sentence.text)
        labels = (sentence.label, labelled["label"].upper() if labelled else "")
        if sentence.is_first and label in labels:
            return sentence
    for sentence in reversed(said):
        inline = _options_within(sentence.text)
        if label in inline and len(inline) > 1:
            return Sentence(inline[label])
    return None


def _options_within(text: str) -> dict[str, str]:
    """The labels of the options that a sentence lists, "(a) a queue, or (b) a cron job"."""
    found = [*_INLINE_LABEL.finditer(text)]
    ends = [label.start() for label in found[1:]]
    return {
        label["label"].upper(): JOINING.sub("", text[label.end() : end]).rstrip(" .;,")
        for label, end in zip_longest(found, ends)
    }


def nth_option(reply: str, ordinal: str) -> Sentence | None:
    """An option by its place, of the last list or of those that a sentence tells in a row."""
    said = sentences(reply)
    options = last_options(said)
    if len(options) < 2:
        options = _told_in_a_row(said[-TAIL:])
    index = place_of(ordinal)
    return options[index] if 1 < len(options) <= 6 and index < len(options) else None


def place_of(ordinal: str) -> int:
    """The place, counted from 0, that "the second" or "option two" names."""
    name = ordinal.lower().split()[-1]
    places: Mapping[str, int] = word_map("ordinals")
    return next(place for word, place in places.items() if name.startswith(word))


def _told_in_a_row(message: Sequence[Sentence]) -> list[Sentence]:
    """What the last sentence lists that says that it is several, "two ways: A, and B"."""
    for sentence in reversed(message):
        if told := _told_ways(sentence.text, "several_told"):
            return told
    return []
