"""How near English words are in meaning, where they share no letters: "repaired" and "fix".

The vectors are those of the packaged model for the pieces of its vocabulary, each read alone, in
fewer dimensions (``benchmarks/word_vectors.py`` writes them). A word of several pieces is their
mean. No model runs when they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.text.query_terms import split_identifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MODEL = Path(__file__).parent / "model"
# "vectors": (pieces, dimensions) of int8, a row of 0 for each piece that is not read
VECTORS = MODEL / "word_vectors.npz"
UNREAD = "[UNK]"
REMEMBERED = 20_000  # words
_WORD = re.compile(r"[^\W_]+")


def english_words(text: str) -> list[str]:
    """The words of a text in small letters, each once; of "getFirstPrompt" the three that it is
    made of; none of one letter, with figures or with letters that English has not.
    """
    names = (word for word in _WORD.findall(text) if word.isascii() and word.isalpha())
    parts = (part for name in names for part in split_identifier(name))
    return [*dict.fromkeys(part.lower() for part in parts if len(part) > 1)]


def word_cosines(words: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
    """The cosine of each of the words with each of the others, 0..1: (words, others). It is 0 for
    one that the vocabulary does not read.
    """
    cosines: NDArray[np.float32] = word_vectors(words) @ word_vectors(others).T
    return cosines.clip(0.0, 1.0)


def word_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """A row of length 1 for each word, of 0 for one that is not read: (words, dimensions)."""
    import numpy as np  # here, because it costs 40 ms and most commands compare nothing

    rows = [_vector(word) for word in words]
    return (
        np.stack(rows) if rows else np.zeros((0, _load_vectors().shape[1]), np.float32)
    )


@lru_cache(maxsize=REMEMBERED)
def _vector(word: str) -> NDArray[np.float32]:
    """The vector of a word, of length 1; 0 for one that is not read."""
    import numpy as np  # here, as above

    read = _tokenizer().encode(word, add_special_tokens=False)
    if not read.ids or UNREAD in read.tokens:
        return np.zeros(_load_vectors().shape[1], np.float32)
    pieces = _load_vectors()[read.ids].astype(np.float32)
    pieces /= np.linalg.norm(pieces, axis=1, keepdims=True).clip(1.0)
    vector: NDArray[np.float32] = pieces.mean(axis=0)
    return vector / max(float(np.linalg.norm(vector)), 1e-6)


@cache
def _load_vectors() -> NDArray[np.int8]:
    import numpy as np  # here, as above

    with np.load(VECTORS) as arrays:
        table: NDArray[np.int8] = arrays["vectors"]
    return table


@cache
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer  # here, as above

    return Tokenizer.from_file(str(MODEL / "tokenizer.json"))
