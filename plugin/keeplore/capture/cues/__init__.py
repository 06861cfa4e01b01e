"""Cue phrases: what a sentence does in a conversation, shown by the words people use for it.

The phrases are data, a file a language; ``en.yaml`` explains the format. The files are read at the
first question, in some 10 ms, and a phrase is compiled when it is first asked for: most commands
read no conversation.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

LANGUAGES = ("en", "de", "es", "fr", "ja", "pt", "zh")
_NAME = re.compile(r"\{([A-Z]+)\}")


class NoteRule(NamedTuple):
    """``category`` "" leaves it to the subject of the sentence; ``confidence`` before anything
    speaks against it.
    """

    category: str
    confidence: float
    pattern: re.Pattern[str]


@functools.lru_cache(maxsize=16384)  # an open conversation is read again at every turn
def weight_of(text: str, table: str) -> float:
    """The weight of the table's strongest cue in the text, 0 where none matches."""
    matching = (weight for weight, cue in _weighted_patterns(table) if cue.search(text))
    return next(matching, 0.0)


def says(text: str, name: str) -> bool:
    """Does one of the phrases stand in the text?"""
    return pattern(name).search(text) is not None


def opens_with(text: str, name: str) -> bool:
    """Does the text begin with one of the phrases?"""
    return pattern(name).match(text) is not None


@functools.cache
def pattern(name: str) -> re.Pattern[str]:
    """The compiled pattern, case ignored, that matches any phrase of this name."""
    return _compiled(
        phrase for phrases in _sections("patterns", name) for phrase in phrases
    )


@functools.cache
def rules(name: str) -> tuple[NoteRule, ...]:
    """A list of rules in the order of the file."""
    return tuple(
        NoteRule(row["category"], row["confidence"], _compiled(row["phrases"]))
        for rows in _sections("rules", name)
        for row in rows
    )


@functools.cache
def word_list(name: str) -> frozenset[str]:
    """A list of words that stand for themselves."""
    return frozenset(word for text in _sections("lists", name) for word in text.split())


@functools.cache
def word_map(name: str) -> Mapping[str, Any]:
    """Each word of any language with what it stands for."""
    return {
        w: stands for words in _sections("maps", name) for w, stands in words.items()
    }


@functools.cache
def _weighted_patterns(table: str) -> tuple[tuple[float, re.Pattern[str]], ...]:
    """Weights and patterns, the heaviest first."""
    phrases: dict[float, list[str]] = {}
    for section in _sections("cues", table):
        for weight, found in section.items():
            phrases.setdefault(weight, []).extend(found)
    return tuple(
        (weight, _compiled(phrases[weight])) for weight in sorted(phrases, reverse=True)
    )


def _compiled(phrases: Iterator[str] | list[str]) -> re.Pattern[str]:
    return re.compile(_expand_names("|".join(phrases)), re.IGNORECASE)


def _expand_names(phrase: str) -> str:
    """The phrase on one line; what it names in braces is a group of the phrases of that name."""
    return _NAME.sub(
        lambda name: f"(?:{_expand_names('|'.join(_sections('words', name[1])))})",
        phrase.replace("\n", ""),
    )


def _sections(kind: str, name: str) -> Iterator[Any]:
    """What the languages have under this name; KeyError where none has anything."""
    found = [
        language[kind][name]
        for language in _languages()
        if name in language.get(kind, ())
    ]
    if not found:
        raise KeyError(f"{kind}: {name}")
    return iter(found)


@functools.cache
def _languages() -> tuple[dict[str, Any], ...]:
    folder = files(__package__)
    return tuple(
        yaml.load(folder.joinpath(f"{name}.yaml").read_bytes(), Loader=yaml.CSafeLoader)
        for name in LANGUAGES
    )
