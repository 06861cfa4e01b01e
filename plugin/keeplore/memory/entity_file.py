"""The file of one entity: its name, what it is, and which other names it goes by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.errors import Corrupt
from keeplore.memory.frontmatter import dump, load_mapping

MAX_NAME = 100  # characters
MAX_ALIASES = 200
UNKNOWN = "unknown"  # the type of what nobody has said it of
_REMEDY = "Write it as docs/format.md shows, with quotes around what is not to be read as a number"


@dataclass(frozen=True, slots=True)
class EntityFile:
    """``meta`` is everything that the file says; keys that nobody knows stay in it."""

    name: str
    type: str
    aliases: tuple[str, ...]
    meta: Mapping[str, Any]

    @property
    def said(self) -> dict[str, Any]:
        """The front matter in one form: aliases in order, what is left out filled in."""
        return {
            **self.meta,
            "name": self.name,
            "type": self.type,
            "aliases": _sorted_names(self.aliases),
        }


def parse_entity(text: str) -> EntityFile:
    """Read an entity's file. Raises Corrupt, which says what is wrong with it."""
    meta = load_mapping(text.removeprefix("\ufeff"))
    type_ = meta.get("type")
    if not isinstance(type_, str | None):
        raise Corrupt("`type` is no text", _REMEDY)
    aliases = _aliases(meta.get("aliases"))
    name = _name("name", meta.get("name"))
    known = dict.fromkeys(_name("aliases", alias) for alias in aliases)
    return EntityFile(name, type_ or UNKNOWN, tuple(known), meta)


def _aliases(stated: Any) -> list[Any]:
    """The list as it is stated. Raises Corrupt for what is none, or too long."""
    if not isinstance(stated, list | None) or len(stated or ()) > MAX_ALIASES:
        raise Corrupt(f"`aliases` is no list of at most {MAX_ALIASES} names", _REMEDY)
    return stated or []


def serialise_entity(said: Mapping[str, Any]) -> str:
    """The text of an entity's file: name, type, aliases in order, each once, and whatever else was
    said.
    """
    own = {
        "name": said["name"],
        "type": said["type"],
        "aliases": _sorted_names(set(said["aliases"]) - {said["name"]}),
    }
    kept = {**own, **said, **own}
    return dump(
        {key: value for key, value in kept.items() if value or key != "aliases"}
    )


def key_of(name: str) -> str:
    """What two spellings of one name have in common."""
    return " ".join(name.lower().split())


def _sorted_names(names: Iterable[str]) -> list[str]:
    return sorted(set(names), key=lambda name: (name.lower(), name))


def _name(key: str, value: object) -> str:
    plain = " ".join(value.split()) if isinstance(value, str) else ""
    if not plain or len(plain) > MAX_NAME:
        raise Corrupt(
            f"`{key}` holds what is no name of at most {MAX_NAME} characters", _REMEDY
        )
    return plain
