"""Messages in which several people speak, each line with a name before it."""

from __future__ import annotations

import re
from collections.abc import Set

FEWEST_LINES = 3  # with a name; "Note: …" and "Name: …" stand alone
_NAMED = re.compile(
    r"""^[\[<@]?
    (?P<name> [A-Z][^\W\d_]*[a-z](?:[ ][A-Z][a-z]+)?  # "Anna", "Anna Berg"
    | (?:[A-Z]\.[ ]?)+ (?:[A-Z][a-z]+)? )  # "A.", "A. B.", "A. Berg"
    (?:[\]>]:?|:) \s+ (?=\S)""",
    re.MULTILINE | re.VERBOSE,
)


def last_word(message: str) -> str:
    """What the last speaker of a dialogue says at its end, with the name; any other message as it
    is. What was said before it, it may have answered. What introduces the speakers by their names
    stays before it.
    """
    lines = [(found["name"], found.start()) for found in _NAMED.finditer(message)]
    names = {name for name, _ in lines}
    is_dialogue = 1 < len(names) < len(lines) >= FEWEST_LINES
    introduction = message[: lines[0][1]] if is_dialogue else ""
    if not is_dialogue or (introduction.strip() and not _names(introduction, names)):
        return message
    last = lines[-1][0]
    start = len(message)
    for name, at in reversed(lines):
        if name != last:
            break
        start = at
    return introduction + message[start:]


def _names(introduction: str, names: Set[str]) -> bool:
    """Does a text name several of the speakers?"""
    named = [n for n in names if re.search(rf"\b{re.escape(n)}\b", introduction)]
    return len(named) > 1
