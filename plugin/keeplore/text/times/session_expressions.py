"""Sessions that a question names by their numbers ("in the fifth session", "two chats ago")."""

from __future__ import annotations

import re

from keeplore.text.times.numbers_in_words import COUNT, number_of

_ORDINAL = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|"
    "fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth"
)
_ORDINALS = _ORDINAL.split("|")
_TENS = {"twenty": 20, "thirty": 30, "forty": 40}
_LATEST = frozenset({"last", "previous", "latest"})
_BUT_ONE = "second[ -]to[ -]last|last but one|penultimate"
_TALK = "session|conversation|chat"
# "the last session cookie" is about a cookie
_ENDS = (
    r"(?=\s*(?:\Z|[?.,;:!)]|(?:'s|about|and|on|in|with|we|you|i|it|that|was|were|did|do|is|to|for|"
    r"from|when|where|which|what|who|why|how|regarding)\b))"
)
_SESSION = re.compile(
    rf"\b(?:(?P<end>first|last|past|previous) (?P<many>{COUNT}) (?:{_TALK})s"
    rf"|(?P<ago>{COUNT}) (?:{_TALK})s? (?:ago|back|earlier)"
    rf"|(?:{_TALK}) (?P<before>before last)|(?:{_BUT_ONE}) (?P<but>{_TALK})"
    rf"|(?:(?:(?P<tens>{'|'.join(_TENS)})[ -])?(?P<word>{_ORDINAL}|last|previous|latest)"
    rf"|(?P<nth>[1-9]\d{{0,3}})(?:st|nd|rd|th)) (?:{_TALK}){_ENDS}"
    rf"|(?:sessions?(?: number| no\.)? ?#?|(?:{_TALK})s? (?:number |no\. ?|#))"
    rf"(?P<plain>(?<=[ #])[1-9]\d{{0,3}})"
    rf"(?: ?(?:to|through|until|and|[-–—]) ?(?P<to>[1-9]\d{{0,3}}))?{_ENDS})",
    re.IGNORECASE,
)


def sessions_in(text: str) -> tuple[int, int] | None:
    """The numbers of the first and the last of the sessions that a text names, counted from 1, or
    from -1 back from the last one; None where it names none.
    """
    match = _SESSION.search(text)
    if not match:
        return None
    if match["many"]:
        number = number_of(match["many"])
        is_first = match["end"].lower() == "first"
        return (1, number) if is_first else (-number, -1)
    if match["ago"]:
        return -number_of(match["ago"]), -number_of(match["ago"])
    if match["before"] or match["but"]:
        return -2, -2
    word = (match["word"] or "").lower()
    if word in _LATEST:
        return -1, -1
    digits = match["nth"] or match["plain"]
    number = _ORDINALS.index(word) + 1 if word in _ORDINALS else int(digits)
    number += _TENS.get((match["tens"] or "").lower(), 0)
    return number, int(match["to"] or number)


def without_sessions(text: str) -> str:
    """A text without what names them."""
    return _SESSION.sub(" ", text)
