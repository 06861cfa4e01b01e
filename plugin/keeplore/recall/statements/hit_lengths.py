"""Which hits of a question are told, and at which length: the likelier one is, the more of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from keeplore.recall.fuse import least_odds
from keeplore.recall.prepare import RecallContext
from keeplore.recall.question import ParsedQuestion
from keeplore.recall.request import USUAL_LIMIT, RecallHit
from keeplore.recall.weights import Weights

TOLD = 3  # hits whose words are told; measured on the labelled sessions


def likely_hits(
    context: RecallContext,
    question: ParsedQuestion,
    hits: Sequence[RecallHit],
    at_length: Callable[[RecallHit], RecallHit],
) -> list[RecallHit]:
    """Hits without those that are unlikely and stand behind a likely one, and the last ones without
    their words; of one that stands out it alone, ``at_length``. All as they are where all that
    answer or more than usual are asked for.
    """
    request, w = context.request, context.deps.weights
    wants_all = question.is_of_several or request.by_exchange
    if not hits or wants_all or request.limit > USUAL_LIMIT:
        return [*hits]
    scores = [hit.score for hit in hits]
    likely = next((n for n, s in enumerate(scores) if s >= w.likely_from), len(hits))
    kept = [hit for hit in hits[likely:] if hit.score >= w.unlikely_below]
    first, *others = [*hits[:likely], *kept]
    if request.limit > 1 and _stands_out(first, others, w):
        return [at_length(first)]
    return [first, *others[: TOLD - 1], *map(_named, others[TOLD - 1 :])]


def _stands_out(first: RecallHit, others: Sequence[RecallHit], w: Weights) -> bool:
    ahead = least_odds(first.score) - w.stands_out_from
    return all(least_odds(other.score) <= ahead for other in others)


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
