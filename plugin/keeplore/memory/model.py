"""The memory as a value: front matter kept whole, with typed views on the fields that Keeplore
reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from keeplore.text import agent_scope

SCHEMA = 1
_V = TypeVar("_V")


class MemoryKind(StrEnum):
    CONVERSATION = "conversation"
    NOTE = "note"
    DOCUMENT = "document"
    DIGEST = "digest"


class Scope(StrEnum):
    """Who inherits a memory."""

    USER = "user"
    WORKSPACE = "workspace"
    PROJECT = "project"
    AGENT = "agent"  # of a project; as a key with the name: agent:reviewer


class Trust(StrEnum):
    """Whose words a memory was made from, the least trusted first."""

    FOREIGN = (
        "foreign"  # what another person's machine wrote and nobody here has accepted
    )
    DOCUMENT = "document"
    TOOL = "tool"
    ASSISTANT = "assistant"
    USER = "user"


# whose words may be told as they stand
BELIEVED = (Trust.USER, Trust.ASSISTANT)


class Relationship(StrEnum):
    SUPERSEDES = "supersedes"
    REFINES = "refines"
    CONTRADICTS = "contradicts"
    RELATES_TO = "relates-to"


class Category(StrEnum):
    DECISIONS = "architectural-decisions"
    CONVENTIONS = "project-conventions"
    PREFERENCES = "coding-preferences"
    USER_FACTS = "user-facts"
    CORRECTIONS = "corrections"
    PATTERNS = "patterns"
    GOTCHAS = "gotchas"
    INFRASTRUCTURE = "infrastructure"
    SECURITY = "security"


def _values(members: Iterable[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for member in members)


# as they stand in files, options and schemas
KINDS, SCOPES, RELATIONSHIPS, CATEGORIES, TRUST_LEVELS = map(
    _values, (MemoryKind, Scope, Relationship, Category, Trust)
)

# those that an option names; an agent's has a name of its own
WIDE_SCOPES = tuple(scope for scope in SCOPES if scope != Scope.AGENT)


def trust_rank(trust: str) -> int:
    """How much is trusted, 0 for the least. Raises ValueError for what is no trust."""
    return TRUST_LEVELS.index(trust)


def least_trusted(*levels: str) -> str:
    """The trust of what was made from several texts: it never grows."""
    return min(levels, key=trust_rank)


# the order in which a new file writes its front matter; other keys follow in their own order
FIELDS = (
    "schema",
    "id",
    "kind",
    "status",
    "title",
    "created_at",
    "updated_at",
    "version",
    "scope",
    "project",
    "agent",
    "category",
    "permanent",
    "supersedes",
    "related",
    "wikilinks",
    "entities",
    "aspects",
    "confidence",
    "trust",
    "trigger",
    "source",
)


@dataclass(frozen=True, slots=True)
class Memory:
    """``meta`` is the whole front matter in file order, unknown keys included; ``body`` is the
    markdown below it.

    The properties never raise: a missing or wrong field reads as its default and is named in
    ``problems``.
    """

    meta: Mapping[str, Any]
    body: str
    problems: tuple[str, ...] = field(default=(), compare=False)
    # what another program left out and the path stands for
    hints: tuple[str, ...] = field(default=(), compare=False)

    @property
    def id(self) -> str:
        return self._text("id")

    @property
    def kind(self) -> str:
        return self._one_of("kind", KINDS, MemoryKind.DOCUMENT)

    @property
    def title(self) -> str:
        return self._text("title")

    @property
    def created_at(self) -> str:
        return self._text("created_at")

    @property
    def updated_at(self) -> str:
        return self._text("updated_at") or self.created_at

    @property
    def scope(self) -> str:
        """user | workspace | project | agent:NAME, as `keeplore.text.agent_scope` writes it; one
        whose agent has no sound name is nobody's.
        """
        value = self._text("scope")
        if value == "repo":
            return Scope.PROJECT
        if value == Scope.AGENT:
            return agent_scope.key_of(self._text("agent"))
        return self._one_of("scope", SCOPES, Scope.WORKSPACE)

    @property
    def project(self) -> str:
        return self._text("project")

    @property
    def place(self) -> tuple[str, str]:
        """Scope and project, "" for one that belongs to none."""
        scope = self.scope
        return scope, self.project if agent_scope.is_of_project(scope) else ""

    @property
    def category(self) -> str:
        return self._text("category")

    @property
    def trust(self) -> str:
        return self._one_of("trust", TRUST_LEVELS, Trust.FOREIGN)

    @property
    def is_permanent(self) -> bool:
        return self.meta.get("permanent") is True

    @property
    def is_open(self) -> bool:
        """True for a conversation that is still being written by the session that opened it."""
        return self.meta.get("status") == "open"

    @property
    def supersedes(self) -> str:
        return self._text("supersedes")

    @property
    def version(self) -> int:
        value = self.meta.get("version")
        return value if isinstance(value, int) and value > 0 else 1

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Relationship and id of every memory that this one names, the one that it supersedes
        first.
        """
        related = self.meta.get("related")
        sound = []
        for link in _mappings(related):
            kind, id_ = link.get("relationship"), link.get("id")
            if kind in RELATIONSHIPS and isinstance(id_, str):
                sound.append((str(kind), id_))
        own = [("supersedes", self.supersedes)] if self.supersedes else []
        return tuple(dict.fromkeys((*own, *sound)))

    @property
    def source(self) -> Mapping[str, Any]:
        """Where it comes from: host, session, machine and turns, as far as it says."""
        value = self.meta.get("source")
        return value if isinstance(value, Mapping) else {}

    def source_text(self, key: str) -> str:
        """What the source says under a key, as text; "" for nothing."""
        return str(self.source.get(key) or "")

    @property
    def turns(self) -> tuple[str, ...]:
        """Ids of the turns that this memory was made from."""
        value = self.source.get("turns")
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    def with_meta(self, **changes: Any) -> Memory:
        """A copy with these front-matter fields set; a value of None removes the field."""
        merged = {**self.meta, **changes}
        return Memory(
            {key: value for key, value in merged.items() if value is not None},
            self.body,
        )

    def _text(self, key: str) -> str:
        """The text under a key, "" for anything else."""
        value = self.meta.get(key)
        return value if isinstance(value, str) else ""

    def _one_of(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        value = self._text(key)
        return value if value in allowed else str(default)


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def links_to_others(related: Any) -> list[Any]:
    """The entries of ``related``, without those of versions that the memory supersedes."""
    links = related if isinstance(related, list) else []
    return [
        link
        for link in links
        if not isinstance(link, dict) or link.get("relationship") != "supersedes"
    ]


def in_order(meta: Mapping[str, Any]) -> dict[str, Any]:
    """This front matter with the known fields first and in their order."""
    return {**{key: meta[key] for key in FIELDS if key in meta}, **meta}


def new_meta(**fields: Any) -> dict[str, Any]:
    """Front matter of a new memory: fields in order, those without a value left out."""
    return {
        key: value
        for key, value in in_order({"schema": SCHEMA, **fields}).items()
        if value not in (None, "", [], (), {})
    }


def without_empty(fields: Mapping[str, _V]) -> dict[str, _V]:
    """The fields that have a value: no "", None, 0, False or empty collection."""
    return {key: value for key, value in fields.items() if value}
