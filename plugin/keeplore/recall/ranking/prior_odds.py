"""How likely a memory is what somebody looks for by what is known of it beside its words."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from keeplore.recall.ranking.model import Standing
from keeplore.recall.request import INHERITED, OWN, SIBLING
from keeplore.recall.weights import WEIGHTS, Weights


class PriorOdds(NamedTuple):
    """The log-odds that a memory has whatever is asked; but for the last two at most 0."""

    place: float
    passing: float  # nobody marked it as permanent
    age: float
    archive: float
    summary: float  # a host's, of a talk that is kept itself
    graph: float
    feedback: float


def prior_odds(standing: Standing, w: Weights = WEIGHTS) -> PriorOdds:
    """The log-odds that a memory has by what is known of it beside its words."""
    places = {OWN: 0.0, INHERITED: -w.inherited, SIBLING: -w.sibling}
    is_passing = not standing.is_permanent
    fresh = 0.5 ** (max(0.0, standing.age_days) / w.half_life_days)
    return PriorOdds(
        place=places[standing.distance],
        passing=-w.impermanent if is_passing else 0.0,
        age=-w.oldest * (1.0 - fresh) if is_passing else 0.0,
        archive=-w.archived if standing.is_archived else 0.0,
        summary=-w.summary if standing.is_summary else 0.0,
        graph=w.graph * standing.graph,
        feedback=feedback_odds(standing.feedback, w),
    )


def feedback_odds(weight: float, w: Weights = WEIGHTS) -> float:
    """The log-odds that a weight of feedback gives: none at 1, ``w.feedback`` from 2 on, and as
    much less at a half.
    """
    return w.feedback * max(-1.0, min(1.0, math.log2(max(weight, sys.float_info.min))))
