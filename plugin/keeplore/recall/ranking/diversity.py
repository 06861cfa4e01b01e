"""Ranked memories in an order in which none says again what a better one says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from keeplore.recall.ranking.model import DIGITS, Ranked, in_order
from keeplore.recall.weights import WEIGHTS, Weights
from keeplore.text.similarity import jaccard_index

LOOKED_AT = 50  # memories that are compared with all better ones; no more than a handful is shown
REPEATED = "repeated"  # the part of what says nearly what another one says, or is of its memory


def diverse(
    ranked: Sequence[Ranked], words: Mapping[int, frozenset[str]], w: Weights = WEIGHTS
) -> list[Ranked]:
    """The ranked memories with those lowered that nearly repeat a better one; ``words`` is by
    passage.

    The nearer one takes the place of the two: how they differ then is by what their project is
    called.
    """
    kept: list[Ranked] = []
    for entry in ranked[:LOOKED_AT]:
        same = (i for i, k in enumerate(kept) if _says_same(entry, k, words, w))
        twin = next(same, None)
        if twin is None:
            kept.append(entry)
            continue
        near, far = sorted((kept[twin], entry), key=lambda r: r.distance)
        better, worse = kept[twin].odds, round(entry.odds - w.repeated, DIGITS)
        kept[twin] = _with_odds(near, better)
        kept.append(_with_odds(far, worse))
    return in_order([*kept, *ranked[LOOKED_AT:]])


def complementary(ranked: Sequence[Ranked], w: Weights) -> list[Ranked]:
    """The ranked passages in the order for a question that several answer together: each is lowered
    by those of its memory that come before it.
    """
    before: Counter[str] = Counter()
    left, chosen = [*ranked[:LOOKED_AT]], list[Ranked]()
    while left:
        lowered = [
            r.odds - w.same_memory * math.log2(1 + before[r.memory]) for r in left
        ]
        best = lowered.index(max(lowered))
        entry = left.pop(best)
        chosen.append(_with_odds(entry, round(lowered[best], DIGITS)))
        before[entry.memory] += 1
    return in_order([*chosen, *ranked[LOOKED_AT:]])


def _with_odds(entry: Ranked, odds: float) -> Ranked:
    before = [(name, value) for name, value in entry.parts if name != REPEATED]
    lowered = dict(entry.parts).get(REPEATED, 0.0) + odds - entry.odds
    parts = (*before, (REPEATED, lowered)) if before else ()
    return replace(entry, odds=odds, parts=parts)


def _says_same(
    one: Ranked, other: Ranked, words: Mapping[int, frozenset[str]], w: Weights
) -> bool:
    """Whether the passages of two results share most of their words, ``words`` by passage."""
    if one.passage is None or other.passage is None:
        return False
    mine, theirs = words.get(one.passage), words.get(other.passage)
    if not mine or not theirs:
        return False
    # cheap: of texts so different in length no more can be shared
    short, long = sorted((len(mine), len(theirs)))
    may_be_near = short >= w.repeated_from * long
    return may_be_near and jaccard_index(mine, theirs) >= w.repeated_from
