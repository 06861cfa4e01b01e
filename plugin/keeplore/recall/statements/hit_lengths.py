"""Which hits of a question are told, and at which length: the likelier one is, the more of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keeplore.recall.prepare import RecallContext
from keeplore.recall.question import ParsedQuestion
from keeplore.recall.ranking.fuse import least_odds
from keeplore.recall.request import USUAL_LIMIT, RecallHit
from keeplore.recall.weights import Weights

# hits of an ordinary question; measured on the labelled sessions, where the fourth and fifth are
# right for 6 of 150
TOLD = 3


def likely_hits(
    context: RecallContext,
    question: ParsedQuestion,
    hits: Sequence[RecallHit],
    at_length: Callable[[RecallHit], RecallHit],
) -> list[RecallHit]:
    """The likeliest hits, none that is unlikely behind a likely one; of one that stands out it
    alone, ``at_length``. All as they are where all that answer or more than usual are asked for.
    """
    request, w = context.request, context.deps.weights
    is_of_time = not question.says_something  # what a time alone lists
    wants_all = question.is_of_several or is_of_time or request.by_exchange
    if not hits or wants_all or request.limit > USUAL_LIMIT:
        return [*hits]
    scores = [hit.score for hit in hits]
    likely = next((n for n, s in enumerate(scores) if s >= w.likely_from), len(hits))
    kept = [hit for hit in hits[likely:] if hit.score >= w.unlikely_below]
    first, *others = [*hits[:likely], *kept]
    if request.limit > 1 and _stands_out(first, others, w):
        return [at_length(first)]
    return [first, *others][:TOLD]


def _stands_out(first: RecallHit, others: Sequence[RecallHit], w: Weights) -> bool:
    ahead = least_odds(first.score) - w.stands_out_from
    return all(least_odds(other.score) <= ahead for other in others)
