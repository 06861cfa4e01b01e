"""Which earlier conversation a new one takes up again: the subject is linked, and a closed file
never grows.
"""

from __future__ import annotations

from collections.abc import Sequence

from keeplore.memory import Exchange, RelatedMemory
from keeplore.text.terms import cosine, weighted

RECENT = 20  # conversations of the same project that are looked at
HEAD_USER, HEAD_ASSISTANT = 800, 400  # characters of each exchange that are compared
# cosine of words. Where a real conversation of four exchanges and more was halved and the halves
# looked for each other among the others of the project, 14 of 16 found so were right (at .2: 16 of
# 20, at .3: 8 of 9)
TAKEN_UP = 0.25
RELATES = "relates-to"


def taken_up(
    exchanges: Sequence[Exchange], earlier: Sequence[tuple[RelatedMemory, Sequence[Exchange]]]
) -> RelatedMemory | None:
    """The earlier conversation that is most alike by rare words, if any is alike enough."""
    bags = weighted([*(_text(found) for _, found in earlier), _text(exchanges)])
    alike = [cosine(bags[-1], bag) for bag in bags[:-1]]
    best = max(range(len(alike)), key=alike.__getitem__, default=None)
    return earlier[best][0] if best is not None and alike[best] >= TAKEN_UP else None


def _text(exchanges: Sequence[Exchange]) -> str:
    return "\n".join(f"{e.user[:HEAD_USER]}\n{e.assistant[:HEAD_ASSISTANT]}" for e in exchanges)
