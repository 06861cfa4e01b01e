"""How far an exchange is from those before it, by rule: TextTiling (M. Hearst, "TextTiling:
Segmenting text into multi-paragraph subtopic passages", 1997), but online, against what is usual in
the conversation so far and not against the valley that would follow.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from keeplore.text.sentences import sentences
from keeplore.text.terms import count_terms, terms

BLOCK = 3  # exchanges before one that it is compared with
# exchanges: the habit. Below, a boundary needs strong evidence; above, weaker evidence will do
FEW, MANY = 3, 8
NEED_FEW, NEED_USUAL, NEED_MANY = 0.9, 0.4, 0.35
# content words from which a message says enough to be measured; below, its shift counts in part
SURE_TERMS = 3
# exchanges that the expectation counts for, until the conversation has its own
PRIOR_WEIGHT = 6.0
# characters of an exchange that are embedded; the model reads some 256 tokens
HEAD_USER, HEAD_ASSISTANT = 400, 300
LEXICAL = 0.5  # share of words against vectors
# shared words, as a share of the message's own: what is usual within a topic, and the way from
# there to unrelated
USUAL_WORDS, SPREAD_WORDS = 0.25, 0.35
# cosine, as shares of the way from the model's floor to 1
USUAL_COSINE, SPREAD_COSINE = 0.2, 0.3


def shift_by_rule(
    exchanges: Sequence[tuple[str, str]],
    vectors: Sequence[Any] | None,
    floor: float,
) -> float:
    """How much less the last exchange is like the block before it than those of the conversation
    usually are.

    0: as usual; 1: unrelated; below 0: closer than usual. Counts in part where the message has few
    content words. ``vectors`` are those of the exchanges, L2-normalised, None without a model;
    ``floor`` is the cosine of texts that have nothing in common.
    """
    if len(exchanges) < 2:
        return 0.0
    shift = _lexical_shift(exchanges)
    if vectors is not None:
        shift = LEXICAL * shift + (1 - LEXICAL) * _vector_shift(vectors, floor)
    message, _ = exchanges[-1]
    sureness = min(1.0, count_terms(message[:HEAD_USER]) / SURE_TERMS)
    return shift * sureness**2


def usual_need(exchanges: int) -> float:
    """The shift that makes a boundary behind so many exchanges."""
    if exchanges < FEW:
        return NEED_FEW
    return NEED_USUAL if exchanges <= MANY else NEED_MANY


# the open conversation's are asked for again at every turn
@functools.lru_cache(maxsize=256)
def compact(user: str, assistant: str) -> str:
    """What an exchange is about in as many words as the model reads: the message's head and the
    answer's beginning.
    """
    question = " ".join(user[: 2 * HEAD_USER].split())[:HEAD_USER]
    answer = " ".join(sentence.text for sentence in sentences(assistant)[:3])
    return f"{question}\n{answer[:HEAD_ASSISTANT]}".strip()


def _vector_shift(vectors: Sequence[Any], floor: float) -> float:
    """The last vector's shift; vectors are L2-normalised."""
    alike = []
    for n in range(1, len(vectors)):
        block = vectors[max(0, n - BLOCK) : n]
        alike.append(
            _block_nearness([float(vectors[n] @ earlier) for earlier in block])
        )
    return _below_usual(
        alike, floor + USUAL_COSINE * (1 - floor), SPREAD_COSINE * (1 - floor)
    )


def _lexical_shift(exchanges: Sequence[tuple[str, str]]) -> float:
    """How many fewer words the last message shares with the block before it than is usual here."""
    bags = [_head_terms(user, assistant) for user, assistant in exchanges]
    alike = []
    for n in range(1, len(exchanges)):
        own = set(terms(exchanges[n][0][: 2 * HEAD_USER]))
        before = set().union(*bags[max(0, n - BLOCK) : n])
        alike.append(len(own & before) / max(len(own), 1))
    return _below_usual(alike, USUAL_WORDS, SPREAD_WORDS)


def _head_terms(user: str, assistant: str) -> set[str]:
    return {*terms(user[: 2 * HEAD_USER]), *terms(assistant[: 4 * HEAD_ASSISTANT])}


def _block_nearness(cosines: Sequence[float]) -> float:
    """Nearness to a block, its last exchange counting most: a topic may be taken up again two turns
    later.
    """
    return (cosines[-1] + max(cosines)) / 2


def _below_usual(alike: Sequence[float], usual: float, spread: float) -> float:
    """How far the last value lies below the mean of those before it, in units of ``spread``;
    ``usual`` is the mean to begin with.
    """
    mean = (PRIOR_WEIGHT * usual + sum(alike[:-1])) / (PRIOR_WEIGHT + len(alike) - 1)
    return (mean - alike[-1]) / spread
