"""Entities: who or what a note is about, as triples that the conversation's words bear out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from keeplore.index.graph import evidence
from keeplore.memory import Memory
from keeplore.refine.answers.answer_schema import MAX_NAME, TripleItem
from keeplore.text.fences import sanitise
from keeplore.text.slugs import hyphenated

MAX_RELATIONSHIP = 40  # characters
_MARKS = " \t\n`*_\"'“”‘’()[]{}<>.,;:"


@dataclass(frozen=True, slots=True)
class Triple:
    source: str
    relationship: str
    target: str
    confidence: float

    def as_meta(self) -> dict[str, object]:
        return {
            "source": self.source,
            "relationship": self.relationship,
            "target": self.target,
            "confidence": round(self.confidence, 2),
        }


def triples(
    items: Sequence[TripleItem],
    said: str,
    known: Mapping[str, str],
    dropped: Counter[str],
) -> tuple[Triple, ...]:
    """Each sound triple once, both names as they are known (``key`` → name) or as they stand in the
    text.

    A name that nobody said is of the model's own making: its triple is dropped and counted.
    """
    names = dict(known)
    made: dict[tuple[str, str, str], Triple] = {}
    for item in items:
        source = _canonical_name(item.source, said, names)
        target = _canonical_name(item.target, said, names)
        relationship = hyphenated(item.relationship)[:MAX_RELATIONSHIP]
        if not source or not target:
            dropped["entities: not in the text"] += 1
        elif not relationship or source == target:
            dropped["entities: says nothing"] += 1
        else:
            triple = Triple(source, relationship, target, item.confidence)
            made.setdefault((source, relationship, target), triple)
    return tuple(made.values())


def triples_about(all_triples: Iterable[Triple], statement: str) -> tuple[Triple, ...]:
    """The triples with both names in a statement."""
    return tuple(
        t
        for t in all_triples
        if _has_name(statement, t.source) and _has_name(statement, t.target)
    )


def named_in(statement: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that a statement has as whole words; one inside a longer name does not count by
    itself.
    """
    text, found = _folded_text(statement), []
    for name in sorted(filter(key_of, names), key=lambda name: (-len(name), name)):
        rest = _pattern(name).sub("\n", text)
        if rest != text:
            found.append(name)
            text = rest
    return tuple(found)


def key_of(name: str) -> str:
    """What two spellings of one name have in common: small letters, no marks, one space for any
    gap.
    """
    return _folded_text(name).strip()


def known_names(memories: Iterable[Memory]) -> dict[str, str]:
    """Names of entities in the front matter of notes, by their keys; the first spelling stays."""
    found: dict[str, str] = {}
    for memory in memories:
        spelt: list[str] = []
        for relation in evidence.relations_of(memory):
            spelt += (relation.source_spelling, relation.target_spelling)
        spelt += (aspect.spelling for aspect in evidence.aspects_of(memory))
        for name in map(sanitise, spelt):
            if key_of(name) and len(name) <= MAX_NAME:
                found.setdefault(key_of(name), name)
    return found


def _canonical_name(name: str, said: str, names: dict[str, str]) -> str:
    """The canonical name; "" for one that is neither known nor said."""
    plain = " ".join(sanitise(name).split()).strip(_MARKS)
    key = key_of(plain)
    if not key or not _has_name(said, plain):
        return ""
    if key not in names:
        # as the text spells it, whatever the model made of it
        spelt = re.search(re.escape(plain), said, re.IGNORECASE)
        names[key] = spelt[0] if spelt else plain
    return names[key]


def _has_name(text: str, name: str) -> bool:
    """Whether a text holds a name, as whole words."""
    return bool(_pattern(name).search(_folded_text(text)))


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(key_of(name))}(?!\w)")


def _folded_text(text: str) -> str:
    return " ".join(re.split(r"[\s_-]+", text.casefold()))
