"""The figure that a conversation gives later for what a question asks and a hit of it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keeplore.memory import Conversation
from keeplore.recall.request import LaterStatement, RecallHit, lines_with_turns
from keeplore.recall.since.asked_figures import AskedFigure
from keeplore.recall.since.later_statements import FOLLOWING
from keeplore.recall.since.stated_figures import Figure, stated_figures
from keeplore.text.pasted import own_words
from keeplore.text.sentences import clip


def later_figure(
    hit: RecallHit, conversation: Conversation, asked: AskedFigure
) -> LaterStatement | None:
    """The last statement of the person in the same conversation that gives another figure than a
    line of a hit, and stands behind that; None for none, and where the hit shows it.
    """
    exchanges = conversation.exchanges
    places = {exchange.id: place for place, exchange in enumerate(exchanges)}
    stated = [*_figures_by_place(hit, conversation, places)]
    first = min((place for place, _ in stated), default=len(exchanges)) + 1
    for exchange in reversed(exchanges[first : first + FOLLOWING]):
        old = [figure for place, figure in stated if place < places[exchange.id]]
        new = stated_figures(own_words(exchange.user))
        for figure in asked.replacing(old, new)[-1:]:
            text = clip(figure.clauses)
            if text in hit.passage:
                return None
            return LaterStatement(text, hit.memory_id, exchange.id, exchange.at)
    return None


def _figures_by_place(
    hit: RecallHit, conversation: Conversation, places: Mapping[str, int]
) -> Iterator[tuple[int, Figure]]:
    """The figures of each line of a hit, and of what the person said in its first turn, with the
    number of the exchange.
    """
    for line, turn in lines_with_turns(hit.passage, hit.turns, hit.turn):
        if turn in places:
            yield from ((places[turn], figure) for figure in stated_figures(line))
    if hit.turn in places:
        own = _figures_of(conversation, hit.turn)
        yield from ((places[hit.turn], figure) for figure in own)


def _figures_of(conversation: Conversation, turn: str) -> list[Figure]:
    """The figures of what the person said in a turn."""
    said = (own_words(one.user) for one in conversation.exchanges if one.id == turn)
    return [figure for text in said for figure in stated_figures(text)]
