"""What a person says that they undid themselves of the work that the agent did right before."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from keeplore.capture.cues import opens_with, pattern, word_list
from keeplore.memory import Exchange
from keeplore.text.sentences import sentences
from keeplore.text.terms import terms

OPENING = 4  # sentences of a message in which it tells that
_END = re.compile(
    r"[,.;:!?(，。；：！？、]|"
    r"\s(?:as|because|since|but|and|so|for|to|until|again|i|we|you|that|which)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Undoing:
    """``named`` are the content words of what was undone, none where it is all of the work."""

    text: str  # the sentence that tells it
    named: frozenset[str]

    def is_about(self, words: Collection[str]) -> bool:
        """Was that undone which these content words speak of?"""
        return not self.named or not self.named.isdisjoint(words)


def undoing(exchange: Exchange, before: Exchange) -> Undoing | None:
    """What a message undoes of the work in the exchange before it; None for other work of the
    person's own.
    """
    for sentence in sentences(exchange.user)[:OPENING]:
        found = pattern("undone_by_person").search(sentence.text)
        if found is not None:
            rest = _END.split(sentence.text[found.end() :], maxsplit=1)[0]
            named = (t for t in terms(rest) if t not in word_list("names_of_work"))
            undone = Undoing(sentence.text, frozenset(named))
            if not undone.named or _is_about_work(undone, before):
                return undone
    return None


def _is_about_work(undone: Undoing, exchange: Exchange) -> bool:
    """Was work asked for, and does an exchange speak of what was undone by its name?"""
    asked = sentences(exchange.user)[-1:]
    if any(s.is_question and not opens_with(s.text, "asks_for_work") for s in asked):
        return False
    return undone.is_about({*terms(exchange.user), *terms(exchange.assistant)})
