"""Whether an answer makes use of a memory, by its words: those that are rare, and that nobody had
said before.

What it says was not in the prompt nor earlier in the session, so it is from the memory, or known
from elsewhere and right. Words that everybody uses tell nothing; names of code do, and so does much
in common.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping

from keeplore.text.common_words import common, stem
from keeplore.text.terms import STOP, words
from keeplore.text.unspaced import pairs, runs, without_runs

# Measured on 52 recorded sessions, see docs/benchmarks.md, section Feedback.
NAME = 1.5  # what a name of code counts: a path, an identifier, a word with a joint
WORD = 0.75  # any other rare word
PAIR = 0.25  # two characters of a script without spaces
ENOUGH = 3.0  # two names, a name and two words, four words, a dozen pairs
SHARE = 0.2  # of all that the memory could tell: of a long one a few words are met by chance
LEAST_CHARS = 3  # of a word
MAX_TEXT = 60_000  # characters of one text; words of what follows would only be more of the same
_NAME = re.compile(r"[a-z0-9](?=[A-Z])|\w[_.\-/]\w|[A-Za-z]\d|\d[A-Za-z]")
_KEY_BYTES = 5


def term_weights(text: str) -> dict[str, float]:
    """The weight of each rare word of a text, under the word's key."""
    found: dict[str, float] = {}
    cut = text[:MAX_TEXT]
    for run in runs(cut):
        found |= {_key(pair): PAIR for pair in pairs(run) if len(pair) > 1}
    for block in _blocks(without_runs(cut)):
        for word in words(block):
            lower = word.lower().replace("’", "'").partition("'")[0]
            if _is_rare(lower):
                found[_key(stem(lower))] = NAME if _NAME.search(word) else WORD
    return found


def _is_rare(word: str) -> bool:
    return len(word) >= LEAST_CHARS and word not in STOP and stem(word) not in common()


def is_used(weights: Mapping[str, float], fresh: Collection[str]) -> bool:
    """Are enough of the words that a memory told among those that an answer brings ``fresh``?"""
    strength = sum(value for key, value in weights.items() if key in fresh)
    return strength >= max(ENOUGH, SHARE * sum(weights.values()))


def _blocks(text: str) -> list[str]:
    """Parts that ``words`` reads whole."""
    return [text[start : start + 20_000] for start in range(0, len(text), 20_000)]


def _key(word: str) -> str:
    """The key of a word in the inbox, which lists only keys of what was said: nothing there has to
    be erased with a memory.
    """
    return hashlib.blake2b(
        word.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES
    ).hexdigest()
