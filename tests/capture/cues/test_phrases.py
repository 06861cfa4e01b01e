"""Mistakes that are easily made in the phrases, and that no compiler of patterns reports."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from re import _constants as code
from re import _parser
from typing import Any

import pytest
import yaml

from keeplore.capture import cues

BREAK = "\ue000"  # stands for a line break where a phrase is parsed
NAMED = 0xE100  # from here on are the names in braces
UNSPACED = "\u3040"  # from here on scripts put no spaces between words
MARKS = ".,:;!?%)→–—-"
FOLDER = Path(cues.__file__).parent
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
LOOKS = (code.ASSERT, code.ASSERT_NOT)


def tables() -> dict[str, dict[str, Any]]:
    return {
        name: yaml.load((FOLDER / f"{name}.yaml").read_bytes(), yaml.CSafeLoader)
        for name in cues.LANGUAGES
    }


def phrases_of(language: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each phrase of a language with the table that it stands in."""
    yield from language.get("words", {}).items()
    for name, phrases in language.get("patterns", {}).items():
        yield from ((name, phrase) for phrase in phrases)
    for name, weights in language.get("cues", {}).items():
        for weight, phrases in weights.items():
            yield from ((f"{name} {weight}", phrase) for phrase in phrases)
    for name, rows in language.get("rules", {}).items():
        for row in rows:
            yield from ((f"{name} {row['category']}", p) for p in row["phrases"])


LANGUAGES = {name: list(phrases_of(found)) for name, found in tables().items()}
NAMES = sorted({name for found in tables().values() for name in found["words"]})


def parsed(phrase: str) -> list[Any]:
    """The phrase with one character each for a line break and a name in braces."""
    marked = phrase.replace("\n", BREAK)
    named = cues._NAME.sub(lambda name: chr(NAMED + NAMES.index(name[1])), marked)
    return list(_parser.parse(named, re.IGNORECASE))


@functools.cache
def named_pattern(name: str) -> list[Any]:
    return parsed("|".join(cues._sections("words", name)))


def sequences(items: list[Any]) -> Iterator[list[Any]]:
    """The pattern and each pattern inside it."""
    yield items
    for kind, given in items:
        for inner in inner_patterns(kind, given):
            yield from sequences(inner)


def inner_patterns(kind: Any, given: Any) -> list[list[Any]]:
    if kind is code.SUBPATTERN:
        return [list(given[3])]
    if kind is code.BRANCH:
        return [list(way) for way in given[1]]
    if kind in REPEATS:
        return [list(given[2])]
    if kind in LOOKS:
        return [list(given[1])]
    return [list(given)] if kind is code.ATOMIC_GROUP else []


def first_chars(items: list[Any], *, from_end: bool = False) -> set[str]:
    """The characters with which the pattern may begin or end; "" where it may match nothing, and
    a space for a class, a place or what is not known.
    """
    found: set[str] = set()
    for kind, given in reversed(items) if from_end else items:
        chars = chars_of(kind, given, from_end=from_end)
        found |= chars - {""}
        if "" not in chars:
            return found
    return found | {""}


def chars_of(kind: Any, given: Any, *, from_end: bool) -> set[str]:
    if kind is code.LITERAL and given >= NAMED:
        return first_chars(named_pattern(NAMES[given - NAMED]), from_end=from_end)
    if kind is code.LITERAL:
        return {chr(given)} - {BREAK} or {""}
    if kind in LOOKS or (kind is code.AT and given is not code.AT_BOUNDARY):
        return {""}
    inner = inner_patterns(kind, given)
    chars = {c for i in inner for c in first_chars(i, from_end=from_end)} or {" "}
    return chars | {""} if kind in REPEATS and given[0] == 0 else chars


def places(phrase: str, kind: Any, given: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """What stands before and behind each such item of the phrase."""
    for items in sequences(parsed(phrase)):
        for at, item in enumerate(items):
            if item == (kind, given):
                yield items[:at], items[at + 1 :]


def letters(chars: set[str]) -> set[str]:
    return {char for char in chars if char.isalpha() and char < UNSPACED}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_break_joins_no_two_words(language: str) -> None:
    for name, phrase in LANGUAGES[language]:
        for before, behind in places(phrase, code.LITERAL, ord(BREAK)):
            ends = letters(first_chars(before, from_end=True))
            assert not (ends and letters(first_chars(behind))), (name, ends)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_way_of_a_phrase_ends_with_a_mark_before_the_edge_of_a_word(
    language: str,
) -> None:
    r"""``(?:no,|wrong)\b`` does not match "no, that" since no word begins behind the comma."""
    for name, phrase in LANGUAGES[language]:
        for before, behind in places(phrase, code.AT, code.AT_BOUNDARY):
            marks = first_chars(before, from_end=True) & set(MARKS)
            assert not (marks and first_chars(behind) == {""}), (name, marks)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_stands_before_the_start_of_a_text_or_behind_its_end(
    language: str,
) -> None:
    for name, phrase in LANGUAGES[language]:
        for before, _ in places(phrase, code.AT, code.AT_BEGINNING_STRING):
            assert "" in first_chars(before), name
        for _, behind in places(phrase, code.AT, code.AT_END_STRING):
            assert "" in first_chars(behind), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_way_of_a_phrase_is_empty(language: str) -> None:
    for name, phrase in LANGUAGES[language]:
        bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", phrase.replace("\n", ""))
        assert not re.search(r"\((?:\?:)?\||\|[|)]|\A\||\|\Z", bare), name


@pytest.mark.parametrize(
    ("phrase", "matching", "other"),
    [
        ("{ORDINAL}s? bank", "second bank", "first"),
        (r"\A{DAYNAME}{2}\Z", "mondayfriday", "friday"),
        (r"\Aon {MONTHNAME}|never\Z", "on may", "june"),
    ],
)
def test_a_name_in_braces_is_one_group(phrase: str, matching: str, other: str) -> None:
    pattern = re.compile(cues._expand_names(phrase))
    assert pattern.search(matching)
    assert not pattern.search(other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_stands_twice_in_a_table(language: str) -> None:
    found = Counter(LANGUAGES[language])
    assert [pair for pair, count in found.items() if count > 1] == []


def test_each_language_has_kinds_of_english_and_no_name_twice() -> None:
    english = tables()["en"]
    for name, language in tables().items():
        assert set(language) <= set(english), name
        node = yaml.compose((FOLDER / f"{name}.yaml").read_bytes(), yaml.CSafeLoader)
        for kind, named in [("kinds", node), *((k.value, v) for k, v in node.value)]:
            keys = Counter(key.value for key, _ in named.value)
            assert max(keys.values()) == 1, (name, kind)


def test_each_name_in_braces_is_defined_and_each_defined_one_used() -> None:
    phrases = [phrase for pairs in LANGUAGES.values() for _, phrase in pairs]
    used = {name for phrase in phrases for name in cues._NAME.findall(phrase)}
    assert used == set(NAMES)


def test_words_of_lists_and_maps_are_written_as_texts_are_compared() -> None:
    for name, language in tables().items():
        lists = [
            word for text in language.get("lists", {}).values() for word in text.split()
        ]
        maps = [word for words in language.get("maps", {}).values() for word in words]
        for word in (*lists, *maps):
            assert word == word.lower(), name
            assert " " not in word, name
