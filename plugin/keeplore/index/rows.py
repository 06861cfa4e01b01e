"""What the index is asked with and what it answers: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from keeplore_hooks.contracts import ScopeFilter

EVERYWHERE = ScopeFilter()


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories a list holds; what is left empty does not choose."""

    allowed: ScopeFilter = EVERYWHERE
    kind: str = ""
    category: str = ""
    session: str = ""
    permanent: bool | None = None
    since: str = ""  # RFC 3339 or a beginning of it: changed at or after
    before: str = ""  # changed before
    archived: str = "without"  # without | with | only
    superseded: bool = False  # earlier versions too
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class PassageRow:
    id: int
    memory_id: str
    path: str  # relative to the workspace
    kind: str  # head | decision | statement | exchange | section
    turn: str
    at: str
    text: str
    title: str  # of the memory
    passages: int = 1  # of the memory

    @property
    def said(self) -> str:
        """Its words; the title, of a memory whose text is only that."""
        return self.text or self.title


@dataclass(frozen=True, slots=True)
class MemoryRow:
    id: str
    path: str
    title: str
    kind: str
    scope: str
    project: str
    category: str
    created_at: str
    updated_at: str
    permanent: bool
    trust: str
    session: str
    host: str
    is_open: bool
    is_archived: bool
    superseded_by: str = ""  # id of the newest version, "" where this is it
    changes: int = 0  # how many earlier versions this one stands on
    machine: str = ""  # that its file names as its writer


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A change of model whose vectors are not complete; ``vectors`` of ``passages`` are there."""

    model: str
    vectors: int
    passages: int
    answering: str

    def __str__(self) -> str:
        done = f"the embedding model {self.model} has {self.vectors:,} of {self.passages:,} vectors"
        return f"{done}; until it has all, {self.answering} answers"


@dataclass(frozen=True, slots=True)
class IndexState:
    """What the index reflects."""

    commit: str
    memories: int
    passages: int
    vectors: int  # passages whose vector, by the model that answers, is there
    model: str  # fingerprint of that one, "" without a model
    updated_at: str  # RFC 3339, UTC; "" before the first refresh
    # while another model answers than the one that is set
    switch: ModelChange | None = None


@dataclass(frozen=True, slots=True)
class RefreshResult:
    changed: int
    removed: int
    left: int = 0  # files that there was no time for
