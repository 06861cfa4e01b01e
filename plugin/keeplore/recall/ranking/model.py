"""The values of ranking: the evidence of a passage, the standing of a memory, a ranked memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from keeplore.recall.request import OWN

# of log-odds: smaller differences are noise of floating point, and count as ties
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the searches know of one passage."""

    passage: int
    memory: str  # "" where it was not looked up
    # BM25, higher is better; None where the text search did not find it
    text: float | None = None
    cosine: float | None = None  # None where the vector search did not find it
    coverage: float = 0.0  # share of the question's words in it, 0..1
    # it asks the same and does not answer: what it shares with the question says nothing
    is_echo: bool = False
    bonus: float = 0.0  # log-odds for what its own words show
    turn: str = ""
    at: str = ""  # RFC 3339: when it was said
    passages: int = 1  # of its memory
    # share of the question's words in two sentences that hold now, 0..1; 0 for none
    close: float = 0.0
    is_statement: bool = False  # one sentence of the head, which holds at the end
    # among all that was found, by what it says: the same on every machine, unlike its number
    order: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a memory beside its words."""

    distance: int  # OWN | INHERITED | SIBLING
    age_days: float = 0.0
    is_permanent: bool = False
    is_archived: bool = False
    is_summary: bool = False  # of its talk, by the host
    head: str = ""  # id of the version that replaces it, "" where it is the newest
    place: str = ""  # scope and project
    graph: float = 0.0  # how much of what the question names it is about, 0..1
    # weight of its aspects: above 1 it was of use, below it fades
    feedback: float = 1.0
    # how much more of the question the whole memory speaks of than the likeliest one, -1..1
    whole: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    memory: str
    odds: float  # log-odds that it answers the question
    passage: int | None  # None where only an older version's words were found
    distance: int = OWN
    age_days: float = 0.0
    # the passage whose words count: that of an older version, where this matched better
    by: int | None = None
    # names of PARTS and log-odds, where they were asked for
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def score(self) -> float:
        """The likelihood, 0..1."""
        return 1.0 / (1.0 + math.exp(-self.odds))


def in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Best first; on ties the own project, then what is inherited, then the newer, then by id."""
    return sorted(ranked, key=lambda r: (-r.odds, r.distance, r.age_days, r.memory))


def tie_break(evidence: Evidence) -> tuple[int, int]:
    """What orders passages of equal odds: the same on every machine."""
    return evidence.order, evidence.passage
