"""The section ``feedback`` of ``keeplore.yaml``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeedbackSettings:
    """Every number that turns what use has shown into the weight of a memory, of which 1.0 is
    neutral. "Measured" means docs/benchmarks.md, section Feedback.
    """

    # a session in which it was of use adds so much; measured: with .25 chance costs nearly double
    delta: float = 0.1
    # however often; recall gives its most for twice the neutral weight
    ceiling: float = 2.0
    # what is left after ``every`` sessions that were told of it for nothing; measured with the next
    fade: float = 0.8
    # sessions: an answer may make use of a memory without its words, so one says nothing
    every: int = 2
    # after its last use, or the first time it was told for nothing; judgement: a piece of work
    grace_days: int = 7
    # reached after six or seven such sessions, as far below neutral as the ceiling is above
    floor: float = 0.5
