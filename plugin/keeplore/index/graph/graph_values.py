"""The words of the graph: plain values that files say of who and what there is."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from keeplore.memory.entity_file import MAX_NAME
from keeplore.text.fences import sanitise, without_surrogates

TYPES = ("person", "project", "system", "tool", "concept", "skill", "task", "unknown")
KINDS = ("attribute", "constraint")  # of an aspect
_MARKS = " \t\n`*\"'“”‘’()[]{}<>,;:"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a memory. ``type`` says what the memory shows it to be, "" where it shows nothing.

    ``is_word`` is True where its words are to be looked for in all other memories too.
    """

    name: str  # canonical
    spelling: str  # as written
    count: int
    type: str = ""
    is_word: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A file says that there is somebody or something of this name, or that the name is another
    one's alias.
    """

    place: str  # a project, "" for all of them
    name: str  # canonical
    spelling: str
    type: str
    entity: str  # canonical name of what it stands for: its own, or another's


@dataclass(frozen=True, slots=True)
class EntityRelation:
    source: str  # canonical
    relationship: str
    target: str  # canonical
    confidence: float  # 0..1
    source_spelling: str
    target_spelling: str


@dataclass(frozen=True, slots=True)
class EntityAspect:
    """What a note says of an entity: in which respect, and whether as an attribute or a
    constraint.
    """

    entity: str  # canonical
    spelling: str
    type: str
    aspect: str
    kind: str


def canonical_name(name: str) -> str:
    """A name as it is compared: small letters, one space for any gap, no marks around it; "" for
    none.

    At most ``MAX_NAME`` characters.
    """
    plain = unicodedata.normalize("NFC", sanitise(without_surrogates(name)))
    return (
        " ".join(plain.lower().split()).lstrip(_MARKS)[:MAX_NAME].rstrip(_MARKS + ".!?")
    )
