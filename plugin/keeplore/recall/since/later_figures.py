"""The figure that a conversation gives later for what a question asks and a hit of it answers."""

from __future__ import annotations

from keeplore.memory import Conversation
from keeplore.recall.request import LaterStatement, RecallHit
from keeplore.recall.since.asked_figures import AskedFigure
from keeplore.recall.since.later_statements import FOLLOWING
from keeplore.recall.since.stated_figures import Figure, stated_figures
from keeplore.text.pasted import own_words
from keeplore.text.sentences import clip


def later_figure(
    hit: RecallHit, conversation: Conversation, asked: AskedFigure
) -> LaterStatement | None:
    """The last statement of the person in the same conversation that gives another figure than a
    hit; None for none.
    """
    shown = {hit.turn, *hit.turns}
    exchanges = conversation.exchanges
    places = [place for place, one in enumerate(exchanges) if one.id in shown]
    old = [*stated_figures(hit.passage), *_figures_of(conversation, hit.turn)]
    if not places or not old:
        return None
    first = max(places) + 1
    for exchange in reversed(exchanges[first : first + FOLLOWING]):
        new = stated_figures(own_words(exchange.user))
        for figure in asked.replacing(old, new)[-1:]:
            text = clip(figure.clauses)
            return LaterStatement(text, hit.memory_id, exchange.id, exchange.at)
    return None


def _figures_of(conversation: Conversation, turn: str) -> list[Figure]:
    """The figures of what the person said in a turn."""
    said = (own_words(one.user) for one in conversation.exchanges if one.id == turn)
    return [figure for text in said for figure in stated_figures(text)]
