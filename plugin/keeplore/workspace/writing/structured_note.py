"""A note as a program gives it: the fields of a note's front matter, each checked against its
format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from keeplore.errors import StoreError
from keeplore.memory.entity_file import MAX_NAME
from keeplore.memory.model import without_empty
from keeplore.text.fences import one_plain_line
from keeplore.text.input_flaws import described_flaws
from keeplore.text.slugs import hyphenated

MAX_TEXT = 20_000  # characters
MAX_TRIPLES = 50  # as many as the graph reads of a memory
MAX_ASPECTS = 3
MAX_LINKS = 20
SHOWN_FLAWS = 5
WHOLE = "the whole"
EntityType = Literal[
    "person", "project", "system", "tool", "concept", "skill", "task", "unknown"
]
LinkKind = Literal["refines", "contradicts", "relates-to"]


def _line(text: str) -> str:
    """The text as one line without control characters. Raises ValueError where nothing is left."""
    plain = one_plain_line(text)
    if not plain:
        raise ValueError("nothing can be read in it")
    return plain


def _kind(text: str) -> str:
    """A relationship's name in small letters, joined by hyphens."""
    plain = hyphenated(text)
    if not plain:
        raise ValueError("letters or digits are needed")
    return plain


_Name = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_NAME), AfterValidator(_line)
]
_Share = Annotated[float, Field(ge=0.0, le=1.0)]


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def as_meta(self) -> dict[str, Any]:
        """As it stands in the front matter."""
        return self.model_dump()


class RelationItem(_Item):
    """What two things named in the note have to do with each other."""

    source: _Name
    relationship: Annotated[
        str, StringConstraints(min_length=1, max_length=40), AfterValidator(_kind)
    ]
    target: _Name
    confidence: _Share = 1.0

    @model_validator(mode="after")
    def _check_two_things(self) -> RelationItem:
        if self.source.casefold() == self.target.casefold():
            raise ValueError("source and target are the same")
        return self


class StatedAspect(_Item):
    """In which respect the note speaks of a thing: what is, or what must be."""

    entity: _Name
    type: EntityType = "unknown"
    aspect: Annotated[_Name, StringConstraints(max_length=40)]
    kind: Literal["attribute", "constraint"]


class LinkItem(_Item):
    """Another memory that this one has to do with."""

    id: Annotated[str, StringConstraints(min_length=4, max_length=1_000)]
    relationship: LinkKind


Relations = Annotated[list[RelationItem], Field(max_length=MAX_TRIPLES)]
Aspects = Annotated[list[StatedAspect], Field(max_length=MAX_ASPECTS)]
Links = Annotated[list[LinkItem], Field(max_length=MAX_LINKS)]


class NoteSubject(BaseModel):
    """What a note is about, what it has to do with, and whether the person wants it kept."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    entities: Relations = []
    aspects: Aspects = []
    related: Links = []
    permanent: bool = False


class StructuredNote(NoteSubject):
    """What `keeplore remember --json` reads."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    category: str = ""
    scope: Literal["", "user", "workspace", "project"] = ""
    project: str = ""
    agent: Annotated[str, StringConstraints(max_length=200)] = ""
    replaces: str = ""


def structured_note(data: bytes) -> StructuredNote:
    """The note that a JSON object tells. Raises StoreError that names each wrong field."""
    try:
        return StructuredNote.model_validate_json(data)
    except ValidationError as e:
        raise StoreError(
            f"that is no note: {described_flaws(e, WHOLE, SHOWN_FLAWS)}",
            'Give one JSON object: {"text": "…", "category": "…", "entities": […]}',
        ) from e


def subject_of(about: Mapping[str, Any]) -> NoteSubject:
    """What an agent says of a note's subject. Raises StoreError that names each wrong field."""
    try:
        return NoteSubject.model_validate(about)
    except ValidationError as e:
        raise StoreError(
            f"about: {described_flaws(e, WHOLE, SHOWN_FLAWS)}",
            "Correct it, or leave it out",
        ) from e


def subject_meta(about: NoteSubject) -> dict[str, list[dict[str, Any]]]:
    """The keys of the front matter that say what a note is about; without empty ones."""
    fields = {
        "entities": [entity.as_meta() for entity in about.entities],
        "aspects": [aspect.as_meta() for aspect in about.aspects],
    }
    return without_empty(fields)
