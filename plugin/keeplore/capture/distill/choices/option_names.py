"""Options that a text begins with by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from keeplore.capture.cues import opens_with, pattern
from keeplore.text.sentences import Sentence
from keeplore.text.terms import terms

NAME_WORDS = 5
_NAME_END = re.compile(r"\s[-–—(]|[:：,;.(]")
# a name in other letters stands out of Chinese and Japanese, which have no spaces
_WORD = re.compile(r"[぀-ヿ一-鿿]+|(?:[^\W_぀-ヿ一-鿿]+(?:[-.'’][^\W_぀-ヿ一-鿿]+)*)")


def named_option(text: str, options: Sequence[str]) -> str:
    """The one option whose name a text begins with, after words that take it; "" for none."""
    found = _named_first(text, [_name_words(option) for option in options])
    return options[found] if found is not None else ""


def way_named(text: str, ways: Sequence[Sentence]) -> Sentence | None:
    """The one way that a text begins with, after words that take it, by some of its words."""
    found = _named_first(text, [_lower_words(way.text) for way in ways])
    return ways[found] if found is not None else None


def _name_words(option: str) -> tuple[str, ...]:
    name = _lower_words(_NAME_END.split(option.strip("*_` "), maxsplit=1)[0])
    return name if len(name) <= NAME_WORDS else ()


def _lower_words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(text))


def _named_first(text: str, names: Sequence[tuple[str, ...]]) -> int | None:
    """The place of the one name that a text begins with; None for none and for several."""
    spoken = [*_WORD.finditer(pattern("takes_option").sub("", text, count=1))]
    found = [n for n in range(len(names)) if _begins_with(spoken, names, n)]
    return found[0] if len(found) == 1 else None


def _begins_with(
    spoken: Sequence[re.Match[str]], names: Sequence[tuple[str, ...]], place: int
) -> bool:
    """Do the first words of a text belong to this name and to no other, and end a clause there?"""
    name = names[place]
    named = [*takewhile(lambda word: word.group().lower() in name, spoken)]
    others = (other for n, other in enumerate(names) if n != place)
    own = {word.group().lower() for word in named}.difference(*others)
    if not terms(" ".join(own)):
        return False
    rest = named[-1].string[named[-1].end() :]
    return opens_with(rest, "after_option") and not opens_with(rest, "denies_pick")
