"""A text cut down to the length of a title, where it still says something whole."""

from __future__ import annotations

import re

from keeplore.capture.cues import pattern, says
from keeplore.capture.titles.title_words import subject_of, without_phrases
from keeplore.text.terms import stems

MAX_TITLE = 70  # characters
ENOUGH = 2  # content words that a title may be cut down to
EDGES = " .,;:!?-–—…|/`，。；：！、"
_QUOTES = "\"“”'‘’"
# arrows and pictographs
_SIGNS = re.compile(
    r"\s*[\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001faff].*|\s+->.*|\s+<-.*"
)
_OPEN_QUOTE = re.compile(r"\s+[‘'“][^’'”]*\Z")  # one that nothing closes


def fit_title(text: str) -> str:
    """Cut at a clause, then between words, without a dangling small word."""
    head = _SIGNS.sub("", text)
    text = without_phrases(
        head if len(stems(head)) > 1 else text, "title_asides"
    ).strip(EDGES)
    text = _cut_between_words(cut_at_clause(text))
    text = without_phrases(text, "title_asides")
    for opening, closing in ("()", "[]", "{}"):
        if text.count(opening) > text.count(closing):
            text = text[: text.rfind(opening)]
    if _OPEN_QUOTE.search(text):
        text = _without_torn_end(_OPEN_QUOTE.sub("", text))
    text = text.strip(EDGES)
    if not says(text, "title_closed"):
        text = without_phrases(text, "title_dangling").strip(EDGES)
    inner = text.strip(_QUOTES)
    if text[:1] not in _QUOTES and inner.count(text[-1]) % 2:
        return text
    if not any(quote in inner for quote in _QUOTES[:3]):
        return inner.strip(EDGES)
    return text.replace('"', "") if text.count('"') % 2 else text


def cut_at_clause(text: str) -> str:
    """The text before its first clause that need not be in a title, where that says enough."""
    subject = subject_of(text)
    room = MAX_TITLE if subject else MAX_TITLE // 3
    for clause in pattern("title_cut").finditer(text, len(subject) + 1):
        if len(stems(text[: clause.start()])) > 1:
            is_far = len(text) > MAX_TITLE or clause.start() > room
            return text[: clause.start()] if is_far else text
    return text


def _cut_between_words(text: str) -> str:
    """At most ``MAX_TITLE`` characters, cut before a late "and" or else at a space."""
    if len(text) <= MAX_TITLE:
        return text
    head = text[: MAX_TITLE + 1]
    softer = [found.start() for found in pattern("title_and").finditer(head)]
    is_soft = softer and softer[-1] > MAX_TITLE // 2
    end = softer[-1] if is_soft else max(head.rfind(" "), 0) or MAX_TITLE
    return _without_torn_end(text[:end])


def _without_torn_end(text: str) -> str:
    """The text without a clause that a cut has left incomplete, where enough is said before it."""
    whole = without_phrases(text, "title_torn_end")
    return whole if len(stems(whole)) > ENOUGH else text
