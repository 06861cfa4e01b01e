"""Fusion of two searches, by text and by vectors: how likely each passage answers the question.

Each search says how sure it is. For text that is the passage's BM25 as a part of the best one's,
times the share of the question's words that the best passages have; for vectors it is how far the
cosine lies above what unrelated texts have with this model. The log-odds that the passage answers
the question are linear in the two (logistic regression), so a search that is unsure says little and
a score means the same for every question. Reciprocal ranks, which know no sureness, were measured
and are worse.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

from keeplore.recall.ranking.model import DIGITS, Evidence
from keeplore.recall.weights import WEIGHTS, Weights


class SearchOdds(NamedTuple):
    """What the searches say of a passage, as log-odds."""

    text: float  # what the words said
    vectors: float  # what the model said
    doubt: float  # where everything begins, below 0


def odds(
    found: Sequence[Evidence], floor: float | None, w: Weights = WEIGHTS
) -> dict[int, float]:
    """Passage → log-odds that it answers; ``floor`` belongs to the model, None where there are no
    vectors.
    """
    return {passage: sum(parts) for passage, parts in fuse(found, floor, w).items()}


def fuse(
    found: Sequence[Evidence], floor: float | None, w: Weights
) -> dict[int, SearchOdds]:
    """Passage → its log-odds by the searches; an echo of the question has the doubt alone."""
    texts = [e for e in found if e.text is not None and not e.is_echo]
    best_text = max((e.text or 0.0 for e in texts), default=0.0)
    covered = max((e.coverage for e in texts), default=0.0)
    # a passage that the vector search did not give is at most as near as the last one that it gave
    lowest = min((e.cosine for e in found if e.cosine is not None), default=0.0)
    odds_of = {}
    for e in found:
        if e.is_echo:
            doubt = w.doubt_alone if floor is None else w.doubt
            odds_of[e.passage] = SearchOdds(0.0, 0.0, -doubt)
            continue
        text = covered * max(0.0, e.text or 0.0) / best_text if best_text > 0 else 0.0
        if floor is None:
            odds_of[e.passage] = SearchOdds(w.text_alone * text, 0.0, -w.doubt_alone)
        else:
            cosine = lowest if e.cosine is None else e.cosine
            vectors = w.vector * above_floor(cosine, floor)
            odds_of[e.passage] = SearchOdds(w.text * text, vectors, -w.doubt)
    return odds_of


def above_floor(cosine: float, floor: float) -> float:
    """How far a cosine is above a model's floor, as a share of all that is above it."""
    return (cosine - floor) / (1.0 - floor)


def agreeing_passages(
    found: Sequence[Evidence], passages: int, floor: float | None, w: Weights = WEIGHTS
) -> frozenset[int]:
    """The passages that have enough to do with the question by themselves, where the odds only
    compare with the best one.

    What counts is the words in common, measured in words that one alone of all ``passages`` has,
    and the nearness in meaning. With few passages no word is rare, and all agree.
    """
    if passages < w.counted_from:
        return frozenset(e.passage for e in found)
    least = w.told_alone_from if floor is None else w.told_from
    rarest = math.log(1 + passages)
    return frozenset(
        e.passage
        for e in found
        if (e.text or 0.0) / rarest + w.told_near * (e.cosine or 0.0) >= least
    )


def least_odds(score: float) -> float:
    """The log-odds below which no memory reaches a score (0..1), however it stands."""
    if score <= 0.0:
        return -math.inf
    certain = min(score, 1.0 - sys.float_info.epsilon)
    return math.log(certain / (1.0 - certain)) - 10.0**-DIGITS
