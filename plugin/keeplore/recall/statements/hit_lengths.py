"""Which hits of a question are told, and at which length: the likelier one is, the more of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from keeplore.recall.excerpt import excerpt
from keeplore.recall.fuse import least_odds
from keeplore.recall.passage_features import ROLE
from keeplore.recall.prepare import RecallContext
from keeplore.recall.question import ParsedQuestion
from keeplore.recall.request import USUAL_LIMIT, RecallHit, said_in, turns_of
from keeplore.recall.weights import Weights
from keeplore.text.sentences import clip

TOLD = 3  # hits whose words are told; measured on the labelled sessions
SHORT = 200  # characters of a hit that stands far behind


def likely_hits(
    context: RecallContext,
    question: ParsedQuestion,
    hits: Sequence[RecallHit],
    at_length: Callable[[RecallHit], RecallHit],
) -> list[RecallHit]:
    """Hits without those that are unlikely and stand behind a likely one, and the last ones without
    their words, unless all that answer or more than usual are asked for. The first is told
    ``at_length`` where it stands out among several, and the others short.
    """
    request, w = context.request, context.deps.weights
    wants_all = question.is_of_several or request.by_exchange
    if not hits or wants_all or request.limit > USUAL_LIMIT:
        return [*hits]
    scores = [hit.score for hit in hits]
    likely = next((n for n, s in enumerate(scores) if s >= w.likely_from), len(hits))
    kept = [hit for hit in hits[likely:] if hit.score >= w.unlikely_below]
    first, *others = [*hits[:likely], *kept]
    told = others[: TOLD - 1]
    if request.limit > 1 and _stands_out(first, others, w):
        first = at_length(first)
        told = [shortened_hit(hit, question) for hit in told]
    return [first, *told, *map(_named, others[TOLD - 1 :])]


def _stands_out(first: RecallHit, others: Sequence[RecallHit], w: Weights) -> bool:
    ahead = least_odds(first.score) - w.stands_out_from
    return all(least_odds(other.score) <= ahead for other in others)


def shortened_hit(hit: RecallHit, question: ParsedQuestion) -> RecallHit:
    """The hit with its best line alone, or with the beginning of a passage that is no lines."""
    line, turn = said_in(hit.passage, hit.turns, hit.turn)[0]
    is_statement = hit.kind == "conversation" and not ROLE.match(line)
    passage = (
        clip(line, SHORT) if is_statement else excerpt(hit.passage, question, SHORT)
    )
    turns = turns_of([(passage, turn)], hit.turn)
    of_user = (0,) if is_statement and 0 in hit.of_user else ()
    return replace(hit, passage=passage, turns=turns, of_user=of_user)


def _named(hit: RecallHit) -> RecallHit:
    """The hit without its words and what became of them."""
    return replace(
        hit,
        passage="",
        turns=(),
        of_user=(),
        files_changed=(),
        files_gone=(),
        later=None,
    )
