"""The notes that are known already: those near a text, as a model is shown them, and by which it may name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from keeplore.errors import StoreError
from keeplore.index import Embedder, Index, MemoryRow
from keeplore.memory import Memory
from keeplore.memory.fence import sanitise
from keeplore.memory.note import statement_of
from keeplore.recall import Here, Unasked, recall
from keeplore.store import Store

NEAREST = 5  # notes that a fact is compared with
LINE = 160  # characters of a note that a model is shown
ID_DIGITS = 8  # of a note's id; enough to tell the few that are listed apart


@dataclass(frozen=True, slots=True)
class Note:
    """``trust`` is what it is believed for here: ``foreign`` where another person's machine wrote it."""

    id: str
    path: str
    memory: Memory
    trust: str

    @property
    def label(self) -> str:
        return self.id[4 : 4 + ID_DIGITS]

    @property
    def statement(self) -> str:
        return statement_of(self.memory)

    @property
    def line(self) -> str:
        words = " ".join(sanitise(self.statement).split())
        shown = words if len(words) <= LINE else f"{words[: LINE - 1]}…"
        return f"- [{self.label}] ({self.memory.scope}/{self.memory.category}) {shown}"


@dataclass(frozen=True, slots=True)
class Search:
    """Finds the notes near a text: by words and, where a model is there, by meaning."""

    index: Index
    store: Store
    embedder: Embedder | None
    trust: Callable[[Memory], str]

    def near(self, text: str, here: Here, limit: int = NEAREST) -> tuple[Note, ...]:
        """Current notes that may be seen from ``here``, the nearest first; the index is taken as it is."""

        def is_other(row: MemoryRow) -> bool:
            is_out = (row.scope, row.project if row.scope == "project" else "") not in here.scopes
            return row.kind != "note" or row.is_archived or bool(row.superseded_by) or is_out

        answer = recall(
            self.index,
            self.store,
            text,
            here,
            embedder=self.embedder,
            limit=limit,
            at_once=True,
            unasked=Unasked(skip=is_other),
            trust=self.trust,
        )
        found = ((hit.memory_id, hit.path, self.load(hit.path)) for hit in answer.hits)
        return tuple(Note(id_, path, memory, self.trust(memory)) for id_, path, memory in found if memory)

    def load(self, path: str) -> Memory | None:
        try:
            return self.store.load(path)
        except (StoreError, OSError):
            return None


def fitting(notes: Iterable[Note], room: int) -> tuple[Note, ...]:
    """As many as ``room`` characters can list, each once, the first ones first."""
    kept: dict[str, Note] = {}
    for note in notes:
        if note.label in kept:
            continue
        room -= len(note.line) + 1
        if room < 0:
            break
        kept[note.label] = note
    return tuple(kept.values())


def named(label: str, notes: Sequence[Note]) -> Note | None:
    """The listed note that a model means; None for an id that it was not shown."""
    plain = label.strip().strip("[]").removeprefix("mem_").lower()
    return next((note for note in notes if plain and plain in (note.label, note.id[4:])), None)
