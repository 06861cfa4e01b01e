"""How random a text is: measures that tell what a machine made from what a person wrote."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

SEEN_CHARS = 400  # of a value; its length may be the text's, its nature shows at once
LETTER_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    value = value[:SEEN_CHARS]
    counts = Counter(value)
    return (
        -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
        if value
        else 0.0
    )


def has_many_turns(value: str) -> bool:
    """True where the case changes as often as in random letters; the words of a name are longer."""
    value = value[:SEEN_CHARS]
    return (
        not value.islower()
        and not value.isupper()
        and len(value) < 3.6 * len(LETTER_RUN.findall(value))
    )


def is_sequence(value: str) -> bool:
    """True for ``abcdef…``, ``123456…`` and what repeats itself: nobody's secret."""
    value = value[:SEEN_CHARS]
    steps = Counter(ord(b) - ord(a) for a, b in pairwise(value))
    same, rising = steps.get(0, 0), steps.get(1, 0)
    return len(value) >= 6 and max(same, rising) * 10 >= 6 * (len(value) - 1)


def classes(value: str) -> int:
    """How many of lower case, upper case and digits it holds."""
    value = value[:SEEN_CHARS]
    return sum(
        (
            any(c.islower() for c in value),
            any(c.isupper() for c in value),
            any(c.isdigit() for c in value),
        )
    )
