"""How much of what a question asks for each of many statements says, in its words or in others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keeplore.index.embedding.word_vectors import (
    english_words,
    word_cosines,
    word_vectors,
)
from keeplore.recall.question import ParsedQuestion, is_word_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# texts of which half is known of what all have in common; measured on invented projects, where
# without it a short talk is cut to one line
KNOWN = 20
COMMON = 0.1  # weight of a word that all texts have; a rare one of a hundred has 4


def coverages(
    question: ParsedQuestion, texts: Sequence[str], stems: Sequence[frozenset[str]]
) -> list[float]:
    """The share of the question's words that each text has, 0..1, each word weighed by its rarity
    among the texts; one that is near in meaning counts as the square of its cosine.

    ``stems`` are those of the texts.
    """
    if not (question.words and texts):
        return [0.0] * len(texts)
    import numpy as np  # here, because it costs 40 ms and most commands compare nothing

    holds = np.array(
        [[is_word_in(word, own) for own in stems] for word in question.words], float
    )
    rarity = np.log((len(texts) + 1) / (holds.sum(axis=1) + 1))
    said = np.maximum(holds, _nearness(question, texts) ** 2)
    shares: list[float] = (rarity @ said / max(float(rarity.sum()), 1e-9)).tolist()
    return shares


def _nearness(question: ParsedQuestion, texts: Sequence[str]) -> NDArray[np.float64]:
    """The greatest cosine of each of the question's words with a word of each text: (words,
    texts); of a name that is made of several, their mean.
    """
    import numpy as np  # here, as above

    words_of = [english_words(text) for text in texts]
    words = [*dict.fromkeys(word for words in words_of for word in words)]
    places = {word: place for place, word in enumerate(words)}
    rows_of = [[places[word] for word in words] for words in words_of]
    parts_of = [english_words(name) for name in question.spelled]
    cosines = word_cosines([part for parts in parts_of for part in parts], words)
    cosines_of = np.split(cosines, np.cumsum([*map(len, parts_of)])[:-1])
    nearness = np.zeros((len(parts_of), len(texts)))
    for row, own in zip(nearness, cosines_of, strict=True):
        for place, rows in enumerate(rows_of):
            if len(own) and rows:
                row[place] = own[:, rows].max(axis=1).mean()
    return nearness


def likenesses_of(question: str, texts: Sequence[str]) -> list[float]:
    """How like the question each text is, -1..1: the cosine of the means of their words' vectors,
    the rare words of the texts weighing most, without what all texts have in common; of few texts
    it is nearer 0, and 0 where no word is read.
    """
    asked = english_words(question)
    if not (asked and texts):
        return [0.0] * len(texts)
    of_question, *of_texts = _means(asked, [english_words(text) for text in texts])
    import numpy as np  # here, as above

    means = np.array(of_texts)
    middle = means.mean(axis=0)
    apart = _directions((means - middle) * means.any(axis=1, keepdims=True))
    asked_for = _directions((of_question - middle) * of_question.any())
    sureness = len(texts) / (len(texts) + KNOWN)
    likenesses: list[float] = (sureness * (apart @ asked_for)).tolist()
    return likenesses


def _means(
    asked: Sequence[str], words_of: Sequence[Sequence[str]]
) -> NDArray[np.float64]:
    """The direction of the question's words, then of each text's."""
    import numpy as np  # here, as above

    counts = Counter(word for own in words_of for word in own)
    words = [*dict.fromkeys((*asked, *counts))]
    rarity = [math.log((len(words_of) + 1) / (counts[word] + 1)) for word in words]
    vectors = word_vectors(words) * (np.array(rarity)[:, None] + COMMON)
    places = {word: place for place, word in enumerate(words)}
    rows_of = [[places[word] for word in own] for own in (asked, *words_of)]
    return _directions(np.array([vectors[rows].sum(axis=0) for rows in rows_of]))


def _directions(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vectors with length 1; one that is 0 stays so."""
    import numpy as np  # here, as above

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: NDArray[np.float64] = vectors / np.maximum(lengths, 1e-9)
    return directions
