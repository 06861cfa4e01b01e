"""Ranking: what the searches found → memories, the likeliest first. Pure and deterministic.

Every step adds to or takes from the log-odds, and each has a name in ``PARTS``: a score is the sum
of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from keeplore.recall.ranking.diversity import REPEATED
from keeplore.recall.ranking.fuse import SearchOdds
from keeplore.recall.ranking.model import (
    DIGITS,
    Evidence,
    Ranked,
    Standing,
    in_order,
    tie_break,
)
from keeplore.recall.ranking.prior_odds import PriorOdds, prior_odds
from keeplore.recall.ranking.score_steps import STEPS, ScoreSteps, steps_of
from keeplore.recall.weights import WEIGHTS, Weights

OUTDATED = "outdated"  # the part of a memory whose newest version may not be shown here
PARTS = (*SearchOdds._fields, *STEPS, OUTDATED, *PriorOdds._fields, REPEATED)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The passage that speaks best for a memory."""

    odds: float
    # that is shown; None where only an older version's words were found
    passage: int | None
    by: int  # whose words count
    outdated: float  # what was lost because its newest version may not be shown


def rank(
    found: Sequence[Evidence],
    standings: Mapping[str, Standing],
    floor: float | None,
    w: Weights = WEIGHTS,
    *,
    by_turn: bool = False,
    explain: bool = False,
) -> list[Ranked]:
    """One entry for each memory, best first; an older version counts for its head and is not shown
    beside it.

    Memories without a standing are left out. A head without a standing (it may not be shown here)
    leaves its older version, far down. ``by_turn`` gives one entry for each exchange instead;
    ``explain`` fills in the parts.
    """
    # a statement stands for its conversation, and not for the exchange that it is from
    counted = (e for e in found if not (by_turn and e.is_statement))
    known = sorted((e for e in counted if e.memory in standings), key=tie_break)
    steps = steps_of(found, known, standings, floor, w)
    best: dict[tuple[str, str], _Candidate] = {}
    for e in known:
        memory, candidate = _candidate(e, standings, steps.after[-1][e.passage], w)
        turn = e.turn if by_turn and candidate.passage is not None else ""
        best[memory, turn] = _better(best.get((memory, turn)), candidate)
    ranked = []
    for (memory, _), candidate in best.items():
        standing = standings[memory]
        prior = prior_odds(standing, w)
        ranked.append(
            Ranked(
                memory,
                round(candidate.odds + sum(prior), DIGITS),
                candidate.passage,
                standing.distance,
                standing.age_days,
                candidate.by,
                _parts(candidate, steps, prior) if explain else (),
            )
        )
    return in_order(ranked)


def _parts(
    candidate: _Candidate, steps: ScoreSteps, prior: PriorOdds
) -> tuple[tuple[str, float], ...]:
    outdated = (OUTDATED, candidate.outdated)
    return (*steps.parts(candidate.by), outdated, *prior._asdict().items())


def _candidate(
    e: Evidence, standings: Mapping[str, Standing], odds: float, w: Weights
) -> tuple[str, _Candidate]:
    """The id of the memory that a passage counts for, its newest version, and the candidate."""
    memory, passage = e.memory, e.passage
    outdated = 0.0
    head = standings[memory].head
    if head and head != memory:
        if head in standings:
            return head, _Candidate(odds, None, passage, outdated)
        outdated = -w.outdated
    return memory, _Candidate(odds + outdated, passage, passage, outdated)


def _better(known: _Candidate | None, new: _Candidate) -> _Candidate:
    """The higher odds; a passage of the memory itself is kept even where an older version matched
    better.
    """
    if known is None:
        return new
    high, low = (known, new) if known.odds >= new.odds else (new, known)
    return high if high.passage is not None else replace(high, passage=low.passage)
