"""What a conversation came to, by its quotations: shown where a question names nothing, or a time
alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from keeplore.memory import Conversation, Quote
from keeplore.recall.request import Said
from keeplore.recall.weights import EXCERPT_CHARS


def quotes_of_work(talk: Conversation) -> Sequence[Quote]:
    """What was decided, done and left open; of a talk without any its context."""
    told = (*talk.decided, *talk.outcome, *talk.open_questions)
    return told or talk.context


def last_lines(quotes: Sequence[Quote]) -> list[Said]:
    """The last quotations, as many as there is room for, in their order; one at least."""
    lines: list[Said] = []
    room = EXCERPT_CHARS
    for quote in reversed(quotes):
        room -= len(quote.text) + 1
        if room < 0 and lines:
            break
        lines.append((quote.text, quote.turn))
    return lines[::-1]
