"""What files beside the memories say of who and what there is: entities, projects, and what
projects are made of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from keeplore.errors import Corrupt
from keeplore.index.graph.graph_values import (
    TYPES,
    Definition,
    EntityRelation,
    canonical_name,
)
from keeplore.memory.entity_file import MAX_NAME, parse_entity
from keeplore.memory.frontmatter import conflict_line
from keeplore.text.fences import without_surrogates

MAX_FILE = 256 * 1024  # bytes of one such file
MAX_NAMES = 2000  # of one manifest
OWN = "own"  # in a manifest: what the project itself publishes
TYPE_OF = {OWN: "project", "packages": "tool", "systems": "system", "tools": "tool"}


def definitions_in(
    path: str, text: str
) -> tuple[list[Definition], list[EntityRelation]]:
    """The names that the file at a path defines, and how they are related; nothing for a file of
    another kind.

    Raises ValueError, which says what is wrong with the file.
    """
    place = place_of(path)
    folder, _, name = path.rpartition("/")
    folder = folder.rpartition("/")[2]
    if folder == "entities":
        return list(_entity(place, text)), []
    if place and folder == "manifests":
        return _manifest(place, text)
    if place and name == "project.json":
        return list(_project(place, text)), []
    return [], []


def place_of(path: str) -> str:
    """The project whose entity file this is; "" for a file of entities that all projects share."""
    parts = path.split("/")
    return parts[1] if parts[0] == "projects" and len(parts) > 2 else ""


def _entity(place: str, text: str) -> Iterator[Definition]:
    """The definitions in a file of entities: its name and the aliases. Raises ValueError."""
    try:
        entity = parse_entity(text)
    except Corrupt as e:
        raise ValueError(e.message) from e
    if entity.type not in TYPES:
        raise ValueError(
            f"`type: {entity.type[:MAX_NAME]}` is not one of {', '.join(TYPES)}"
        )
    name = canonical_name(entity.name)
    if not name:
        raise ValueError("`name` holds nothing but marks")
    aliases = {canonical_name(alias): alias for alias in entity.aliases}
    others = {key: alias for key, alias in aliases.items() if key not in ("", name)}
    for key, spelling in {name: entity.name, **others}.items():
        yield Definition(place, key, without_surrogates(spelling), entity.type, name)


def _project(project: str, text: str) -> Iterator[Definition]:
    also = _texts(_mapping(text), "also")
    name = canonical_name(project)
    for spelling in (project, *also):
        if key := canonical_name(spelling):
            yield Definition("", key, without_surrogates(spelling), "project", name)


def _manifest(project: str, text: str) -> tuple[list[Definition], list[EntityRelation]]:
    data, source = _mapping(text), canonical_name(project)
    definitions, relations = [], []
    for key, type_ in TYPE_OF.items():
        relationship = "contains" if key == OWN else "uses"
        for spelling in map(without_surrogates, _texts(data, key)):
            name = canonical_name(spelling)
            if not name or name == source:
                continue
            definitions.append(Definition("", name, spelling, type_, name))
            relations.append(
                EntityRelation(source, relationship, name, 1.0, project, spelling)
            )
    return definitions, relations


def _mapping(text: str) -> Mapping[str, Any]:
    if line := conflict_line(text):
        raise ValueError(
            f"conflict markers stand in line {line}; keep one side and delete the markers"
        )
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise ValueError(f"it is no JSON: {e}") from e
    if not isinstance(data, dict):
        # the one error that callers know
        raise ValueError("it is no mapping of keys to values")
    return data


def _texts(data: Mapping[str, Any], key: str) -> list[str]:
    value = data.get(key, [])
    is_sound = isinstance(value, list) and len(value) <= MAX_NAMES
    if not is_sound or not all(
        isinstance(item, str) and len(item) <= MAX_NAME for item in value
    ):
        raise ValueError(
            f"`{key}` is no list of at most {MAX_NAMES} names, of {MAX_NAME} characters each"
        )
    return list(value)
