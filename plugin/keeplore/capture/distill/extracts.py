"""What the parts of a conversation's head are taken from, and choosing among quotations: the
strongest by their cues and by how central they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill.standing_decisions import Decision
from keeplore.memory import Exchange, Quote
from keeplore.text.terms import cosine, overlap, terms, weighted

MAX_RANKED = 24  # sentences of one part that are compared with one another
CENTRALITY = 1.0  # what the most central sentence gains, in units of cue weight
ALIKE = 0.7  # share of terms from which two quotations say the same
HEADED = 2.0  # weight of what stands under a heading of its part
STOPPING = 0.85  # damping of the random walk, as in LexRank

Embed = Callable[[Sequence[str]], Any]
Quotes = tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class ExtractSource:
    model: ConversationModel
    said: Sequence[Statement]  # without answers to questions in form
    decided: Sequence[Decision]

    @property
    def exchanges(self) -> Sequence[Exchange]:
        return self.model.exchanges


@dataclass(frozen=True, slots=True)
class Extract:
    """A quotation that may become a line of a part."""

    quote: Quote
    weight: float
    order: int

    @property
    def text(self) -> str:
        return self.quote.text


def strongest(extracts: list[Extract], embed: Embed | None, room: int) -> list[Extract]:
    return rank_extracts(extracts, embed, room)[:room]


def rank_extracts(
    extracts: list[Extract], embed: Embed | None, room: int
) -> list[Extract]:
    """Strongest first; centrality is asked for those alone whose place among the first ``room`` it
    can change.
    """
    extracts = sorted(extracts, key=lambda f: (-f.weight, f.order))[:MAX_RANKED]
    if len(extracts) <= room:
        return extracts
    least = extracts[room - 1].weight - CENTRALITY  # of those that may still come in
    most = extracts[room].weight + CENTRALITY  # of those that may still fall out
    contested = [f for f in extracts if least < f.weight < most]
    if len(contested) > 1:
        central = centrality([f.text for f in contested], embed)
        pairs = zip(contested, central, strict=True)
        ranks = {f.order: f.weight + CENTRALITY * share for f, share in pairs}
        contested.sort(key=lambda f: (-ranks[f.order], f.order))
    above = [f for f in extracts if f.weight >= most]
    return [*above, *contested, *(f for f in extracts if f.weight <= least)]


def centrality(texts: Sequence[str], embed: Embed | None) -> list[float]:
    """LexRank: the stationary weight of each text in a random walk along their similarities, the
    largest being 1.
    """
    alike = pairwise_similarity(texts, embed)
    sums = [sum(row) or 1.0 for row in alike]
    weights = [1.0 / len(texts)] * len(texts)
    for _ in range(20):
        weights = [
            weight_after_step(weights, alike, sums, j) for j in range(len(texts))
        ]
    return [weight / max(weights) for weight in weights]


def weight_after_step(
    weights: Sequence[float],
    alike: Sequence[Sequence[float]],
    sums: Sequence[float],
    j: int,
) -> float:
    """The weight of a text after one more step of the walk."""
    n = len(weights)
    came = sum(weights[i] * alike[i][j] / sums[i] for i in range(n))
    return (1 - STOPPING) / n + STOPPING * came


def pairwise_similarity(texts: Sequence[str], embed: Embed | None) -> list[list[float]]:
    """The cosine of each text with each, of their vectors or else of their words."""
    vectors = embed(texts) if embed is not None else None
    if vectors is not None:
        return [
            [max(0.0, float(vector @ other)) for other in vectors] for vector in vectors
        ]
    bags = weighted(texts)
    return [[cosine(bag, other) for other in bags] for bag in bags]


def is_restated_in(text: str, texts: Iterable[str]) -> bool:
    own = terms(text)
    return any(
        text == other or (len(own) > 1 and overlap(own, terms(other)) >= ALIKE)
        for other in texts
    )


def in_order(extracts: Iterable[Extract]) -> Quotes:
    return tuple(f.quote for f in sorted(extracts, key=lambda f: f.order))
