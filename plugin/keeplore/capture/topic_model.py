"""How likely a turn opens a new topic: logistic regression on what the open conversation and the
turn say.

Most of what it weighs are likenesses between the turn and the block before it, as in TextTiling (M.
Hearst, 1997), but taken online: nothing after the turn is looked at. The weights were fitted by
``benchmarks/train_topics.py`` (by iteratively reweighted least squares with a ridge penalty) and
hold for the vectors of one embedding model.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keeplore.capture.cues import opens_with
from keeplore.text.rarity import damped_counts, rare_terms
from keeplore.text.terms import cosine, is_identifier, terms, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# the embedding model with whose vectors the weights were fitted, as the index names it
FITTED_FOR = (
    "sentence-transformers/all-MiniLM-L6-v2:"
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6:256"
)
WEIGHTS = Path(__file__).with_name(
    "topic_model.txt"
)  # a line a feature, and the intercept last
DIM = 384  # of these vectors
BLOCK = 3  # exchanges before the turn that it is compared with
SPAN = 16  # exchanges of the conversation that are looked at
# nearness within a topic, and for how many exchanges this counts before there are any
USUAL, PRIOR_WEIGHT = 0.25, 6.0
HEAD_USER, HEAD_ASSISTANT = 800, 1200  # characters whose words are compared
# the median answer of two people is shorter, that of an assistant longer; the power says how soon
# it turns
ANSWER, STEEPNESS = 250, 3.0
RARE_WORDS = 3  # of the message; more say no more
# features that are no coordinates of a vector; each has a weight where people chat, and another
# with an assistant
SCALARS = 37


@dataclass(frozen=True, slots=True)
class EmbeddedExchange:
    """An exchange: who asked what, what was answered, and the vector of both."""

    user: str
    assistant: str
    vector: Any

    @property
    def own(self) -> frozenset[str]:
        """The terms of the person's message."""
        return _term_set(self.user[:HEAD_USER])

    @property
    def words(self) -> frozenset[str]:
        """The terms of both sides."""
        return self.own | _term_set(self.assistant[:HEAD_ASSISTANT])

    @property
    def rare(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """The counts of rare terms, of the person's message and of the answer."""
        return rare_terms(self.user[:HEAD_USER]), rare_terms(
            self.assistant[:HEAD_ASSISTANT]
        )

    @property
    def names(self) -> frozenset[str]:
        """The identifiers, numbers and capitalised words of both sides."""
        return _identifying_words(self.user[:HEAD_USER]) | _identifying_words(
            self.assistant[:HEAD_ASSISTANT]
        )


@dataclass(frozen=True, slots=True)
class TopicModel:
    """Weights for ``features`` and an intercept."""

    weights: NDArray[np.float32]

    def chance(self, units: Sequence[EmbeddedExchange]) -> float:
        """Probability that the last unit opens a topic, the ones before being the open conversation
        (at least one).
        """
        return self.chance_of(features(units))

    def score(self, units: Sequence[EmbeddedExchange]) -> float:
        """The log odds, -30 to 30, of what ``chance`` gives as a probability."""
        return self.score_of(features(units))

    def chance_of(self, features: NDArray[np.float32]) -> float:
        """The probability that a unit with these ``features`` opens a topic."""
        return 1 / (1 + math.exp(-self.score_of(features)))

    def score_of(self, features: NDArray[np.float32]) -> float:
        """The log odds, -30 to 30, that a unit with these ``features`` opens a topic."""
        score = float(features @ self.weights[:-1]) + float(self.weights[-1])
        return max(-30.0, min(30.0, score))


def model_for(fingerprint: str) -> TopicModel | None:
    """The packaged weights; None for vectors of another embedding model, and where the file is not
    as it was built.
    """
    return _load(WEIGHTS) if fingerprint == FITTED_FOR else None


@functools.lru_cache(maxsize=2)
def _load(path: Path) -> TopicModel | None:
    import numpy as np  # costs 60 ms, and capture is imported by commands that segment nothing

    try:
        weights = np.array(path.read_text(encoding="ascii").split(), dtype=np.float32)
    except (OSError, ValueError):
        return None
    fits = len(weights) == 2 * SCALARS + 1 + 3 * DIM + 1
    return TopicModel(weights) if fits and bool(np.isfinite(weights).all()) else None


def assistant_likeness(units: Sequence[EmbeddedExchange]) -> float:
    """0 where two people chat, 1 where the other side answers as long as an assistant does; in
    between, both count.
    """
    # a turn may have been interrupted: where anything is answered, only that counts
    lengths = [len(unit.assistant) for unit in units[-7:] if unit.assistant] or [0]
    return 1.0 / (
        1.0 + math.pow(ANSWER / max(statistics.median(lengths), 1), STEEPNESS)
    )


def features(units: Sequence[EmbeddedExchange]) -> NDArray[np.float32]:
    """What the model weighs of the last unit, the ones before being the open conversation (at least
    one).
    """
    import numpy as np  # as above

    units = units[-SPAN - 1 :]
    gate = assistant_likeness(units)
    plain = np.array(
        [
            *_similarity_features(np.stack([unit.vector for unit in units])),
            *_shared_word_features(units),
            *_rare_word_features(units),
            *_form_features(units),
        ],
        dtype=np.float32,
    )
    new, last = units[-1].vector, units[-2].vector
    # what is said counts only without an assistant: it answers anything, and sessions differ in
    # their subjects
    content = np.concatenate([new, last, new * last]) * (1 - gate)
    return np.concatenate([plain * (1 - gate), plain * gate, [gate], content]).astype(
        np.float32
    )


def _similarity_features(vectors: NDArray[np.float32]) -> list[float]:
    """How near the new exchange's vector is to those before it; vectors are (n, dim)."""
    new, before = vectors[-1], vectors[:-1]
    near = [
        _recent_similarity(vectors[max(0, n - BLOCK) : n] @ vectors[n])
        for n in range(1, len(vectors))
    ]
    usual = (PRIOR_WEIGHT * USUAL + sum(near[:-1])) / (PRIOR_WEIGHT + len(near) - 1)
    block = before[-BLOCK:] @ new
    centre = before.mean(axis=0)
    centre = centre / (float((centre @ centre) ** 0.5) + 1e-9)
    every = before @ new
    return [
        near[-1],
        float(block.max()),
        float(block[-1]),
        float(centre @ new),
        near[-1] - usual,
        near[-1] - min([*near[:-1], USUAL * 2]),
        float(every.max()),
        float(every[0]),
    ]


def _recent_similarity(cosines: Any) -> float:
    return float((cosines[-1] + cosines.max()) / 2)


def _shared_word_features(units: Sequence[EmbeddedExchange]) -> list[float]:
    """Which part of the new message's words, 0..1, stands in the block and in all before it."""
    new, before = units[-1], units[:-1]
    block = frozenset[str]().union(*(unit.words for unit in before[-BLOCK:]))
    every = frozenset[str]().union(*(unit.words for unit in before))
    names = frozenset[str]().union(*(unit.names for unit in before))
    return [
        _share(new.own, block),
        _share(new.own, every),
        _share(new.words, block),
        _share(new.own, before[-1].words),
        _share(new.own, frozenset[str]().union(*(unit.own for unit in before))),
        _share(_identifying_words(new.user[:HEAD_USER]), names),
        _share(new.names, names),
        min(len(_identifying_words(new.user[:HEAD_USER])), 4) / 4,
        min(len(new.own), 6) / 6,
    ]


def _rare_word_features(units: Sequence[EmbeddedExchange]) -> list[float]:
    """How much of the new exchange's rare words the exchanges before it have."""
    new, before = units[-1], units[:-1]
    bags = [bag for unit in before for bag in unit.rare]
    block, every, last = (
        damped_counts(bags[-2 * BLOCK :]),
        damped_counts(bags),
        damped_counts(bags[-2:]),
    )
    said = frozenset[str]().union(*(unit.words for unit in before))
    own, all_new = damped_counts(new.rare[:1]), damped_counts(new.rare)
    known = sum(term in said for term in own)
    return [
        cosine(all_new, block),
        cosine(all_new, every),
        cosine(all_new, last),
        cosine(own, every),
        min(len(own) - known, RARE_WORDS) / RARE_WORDS,
        min(known, RARE_WORDS) / RARE_WORDS,
    ]


def _form_features(units: Sequence[EmbeddedExchange]) -> list[float]:
    """Length and form of the last two exchanges: questions, openings, how many there are."""
    new, last = units[-1], units[-2]
    n = len(units) - 1
    opening = new.user[:300]
    return [
        min(n, 10) / 10,
        float(n == 1),
        float(n == 2),
        min(len(new.assistant), 600) / 600,
        min(len(last.assistant), 2000) / 2000,
        min(len(new.user), 400) / 400,
        float(new.user.rstrip().endswith("?")),
        float(not new.assistant),
        float(last.assistant.rstrip().endswith("?")),
        float(last.user.rstrip().endswith("?")),
        float(opens_with(opening, "new_topic")),
        float(opens_with(opening, "maybe_topic")),
        float(opens_with(opening, "continues")),
        float(opens_with(opening, "affirmed")),
    ]


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part & whole) / max(1, len(part))


@functools.lru_cache(maxsize=4096)
def _term_set(text: str) -> frozenset[str]:
    return frozenset(terms(text))


@functools.lru_cache(maxsize=4096)
def _identifying_words(text: str) -> frozenset[str]:
    """Identifiers, numbers and capitalised words that do not begin a sentence."""
    return frozenset(
        word.lower()
        for n, word in enumerate(words(text))
        if is_identifier(word) or (n and word[0].isupper() and len(word) > 2)
    )
