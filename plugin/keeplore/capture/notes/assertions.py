"""What a person tells of how things are, by the form of the sentence.

An assertive of a lasting state (J. Searle, "A taxonomy of illocutionary acts", 1975) has a subject
with a name and stands in the present; a cause, a limit or a contrast in it says that it holds
whatever is being worked on.
"""

from __future__ import annotations

from keeplore.capture.cues import opens_with, says
from keeplore.memory.model import Category

# begins with an order, or with what stands for something that was named before
_NAMES_NOTHING = ("states_bare", "states_order", "task", "needed_work")
# what happened, what is seen now, and what is said of the two who talk
_OF_TALK = (
    "states_past",
    "told_past",
    "states_observed",
    "states_addressed",
    "first_person",
)
_HOLDS_ALWAYS = ("firm", "states_caused", "states_limited")


def is_asserted(text: str, *, is_for_good: bool) -> bool:
    """True where a sentence of the person's states for good how things are; ``is_for_good`` where
    it stands against what was said before, or behind "keep in mind".
    """
    if not says(text, "states_present"):
        return False
    if any(opens_with(text, name) for name in _NAMES_NOTHING):
        return False
    if any(says(text, name) for name in _OF_TALK):
        return False
    return is_for_good or any(says(text, name) for name in _HOLDS_ALWAYS)


def category_of_assertion(text: str) -> str:
    """What an assertion is where its subject does not tell."""
    is_trap = says(text, "states_caused") or says(text, "states_trap")
    return str(Category.GOTCHAS if is_trap else Category.PATTERNS)
