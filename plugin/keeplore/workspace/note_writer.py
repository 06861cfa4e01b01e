"""Writing notes: a new statement, the same one again, another version of it; and the chain of its
versions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from keeplore.errors import IndexUnavailable, RepositoryError, StoreError, UnsafePath
from keeplore.index import Index, MemoryRow, ScopeFilter, load_or_none
from keeplore.memory import Memory, new_id
from keeplore.memory.model import Trust, in_order, links_to_others
from keeplore.memory.names import no_such_memory
from keeplore.memory.note import NoteDraft, hash_of, note_of, statement_of
from keeplore.recall.since.contradictions import is_of_another
from keeplore.redact.field_redaction import FieldRedaction
from keeplore.store import Store
from keeplore.text.dates import now
from keeplore.text.fences import sanitise
from keeplore.text.similarity import SIMILAR, similarity
from keeplore.workspace.loading import chain_of

if TYPE_CHECKING:
    from keeplore.workspace.plugin_manager import PluginManager

# how many of each a note says
MOST_TOLD = {"entities": 50, "aspects": 3, "related": 20}
Elsewhere = Callable[[NoteDraft, str], "NoteWriter | None"]
CANDIDATES = 40  # passages in which a similar note is looked for
SHOWN = 3  # similar notes


@dataclass(frozen=True, slots=True)
class SimilarNote:
    row: MemoryRow
    similarity: float  # SIMILAR..1


@dataclass(frozen=True, slots=True)
class NoteOutcome:
    """``is_new`` is False where a note says exactly this already: that one is here, and the
    repetition is noted; with ``has_more`` a version of it that has what was told besides.
    """

    memory: Memory
    path: str
    is_new: bool
    similar: tuple[SimilarNote, ...] = ()
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class NoteVersion:
    row: MemoryRow
    memory: Memory
    is_leaf: bool  # nothing supersedes it; more than one in a history is a fork

    @property
    def is_head(self) -> bool:
        return not self.row.superseded_by


class NoteWriter:
    """The notes of one workspace, safe for several threads and processes.

    ``is_foreign`` tells which memories another person's machine wrote. ``elsewhere`` gives who
    writes the notes of a project made on a branch, or in a directory, None for this one.
    """

    def __init__(
        self,
        store: Store,
        index: Index,
        *,
        machine: str,
        plugins: Callable[[], PluginManager],
        is_foreign: Callable[[Memory], bool],
    ) -> None:
        self._store = store
        self._index = index
        self._machine = machine
        self._plugins = plugins
        self._is_foreign = is_foreign
        self.elsewhere: Elsewhere = _no_other_writer

    def write(self, draft: NoteDraft, directory: str = "") -> NoteOutcome:
        """Write a note, unless one of the same scope says exactly this; notes that nearly say it
        are named; without an index nothing is. The path of one that belongs into the project's
        code repository is absolute.

        Raises StoreError for a draft that says nothing or names no sound scope, Forgotten for one
        whose id was forgotten, or OSError.
        """
        memory = self._made_memory(draft)
        other = self.elsewhere(draft, directory)
        find: Callable[[str], str | None] | None = self._index.path_of
        with self._store.exclusive:
            try:
                self._index.refresh()
                known, similar = self._same_note(memory, draft.id), self.near(memory)
            except IndexUnavailable:
                # a cache: what is wrong with it costs the look for the same words, not these
                known, similar, find = None, (), None
            if known:
                return self._remember_again(known, memory)
            # one that cannot be written to must not lose the note
            with contextlib.suppress(UnsafePath, RepositoryError, OSError):
                if other is not None:
                    return other.write_for(draft, similar)
            path = self._store.add(memory, find)
        self._plugins().announce_written(memory.id, path)
        return NoteOutcome(memory, path, is_new=True, similar=similar)

    def write_for(
        self, draft: NoteDraft, similar: tuple[SimilarNote, ...]
    ) -> NoteOutcome:
        """Write a note for another writer, whose own notes nearly say it."""
        done = self.write(draft)
        nearest = sorted((*done.similar, *similar), key=lambda one: -one.similarity)
        return replace(
            done, path=str(self._store.root / done.path), similar=tuple(nearest[:SHOWN])
        )

    def similar(self, draft: NoteDraft) -> tuple[SimilarNote, ...]:
        """Notes that nearly say what a draft says, those that exactly do among them; nothing is
        written.
        """
        self._index.refresh()
        return self.near(self._made_memory(draft))

    def revise(
        self,
        memory_id: str,
        also: Iterable[str] = (),
        /,
        *,
        body: str | None = None,
        **meta: Any,
    ) -> NoteOutcome:
        """Write a version that replaces the head of a memory's chain, and every other end of it
        where it is forked.

        It replaces ``also`` these memories, which are of no chain with it.

        A field of None is removed. Without a ``trust`` that says otherwise it stays the words of
        the machine that wrote them. ``is_new`` is False where nothing would change. Raises
        NotFound, StoreError for a conversation that is still being written, or OSError.
        """
        with self._store.exclusive:
            self._index.refresh()
            chain = chain_of(self._index, memory_id)
            head = self._row(chain.head)
            old = self._store.load(head.path)
            if old.is_open:
                raise StoreError(
                    f"{head.path} is still being written by its session",
                    "Wait until it is closed",
                )
            text = old.body
            if body is not None:
                text = self._plugins().fields(old.project).body(sanitise(body))
            changed = _changed_fields(old, meta)
            forks = [*(leaf for leaf in chain.leaves if leaf != head.id), *also]
            if not changed and text == old.body and not forks:
                return NoteOutcome(old, head.path, is_new=False)
            if "trust" in meta or not self._is_foreign(old):
                source = {**old.source, "machine": self._machine, "from": head.id}
                changed.setdefault("source", source)
            version = max(len(chain.members), old.version) + 1
            fields = {**changed, **_times(meta)}
            new = _next_version(old, head.id, version, text, fields, forks)
            path = self._store.add(new, self._index.path_of)
        self._plugins().announce_written(new.id, path)
        return NoteOutcome(new, path, is_new=True)

    def history(self, memory_id: str) -> tuple[NoteVersion, ...]:
        """The versions of a memory that the index knows, oldest first, the head last; an unreadable
        one is left out.

        Raises NotFound.
        """
        chain = chain_of(self._index, memory_id)
        rows = self._index.memories(chain.members)
        loaded = (
            (rows[id_], load_or_none(self._store, rows[id_].path))
            for id_ in chain.members
            if id_ in rows
        )
        return tuple(
            NoteVersion(row, memory, row.id in chain.leaves)
            for row, memory in loaded
            if memory
        )

    def _made_memory(self, draft: NoteDraft) -> Memory:
        redact, clean = self._plugins().redact, self._plugins().fields(draft.project)
        fields = FieldRedaction(lambda said: redact(said, draft.project), str)
        text = fields.body(sanitise(draft.text))
        category = draft.category or _category_in(draft.scope, text)
        # a branch may be called as a customer is
        source = clean.meta({"source": {"machine": self._machine, **draft.source}})
        title = redact(sanitise(draft.title), draft.project)
        made = replace(draft, text=text, title=title, category=category, **source)
        return note_of(made, now())

    def _same_note(self, memory: Memory, wanted_id: str) -> MemoryRow | None:
        """The note of this id, or the head that says the same in the same scope."""
        if wanted_id and (row := self._index.memories([wanted_id]).get(wanted_id)):
            return row
        twins = self._index.ids_saying(hash_of(memory), *memory.place)
        heads = [
            row
            for row in self._index.memories(twins).values()
            if not row.superseded_by and self._is_own(row)
        ]
        return min(heads, key=lambda row: (row.created_at, row.id), default=None)

    def _is_own(self, row: MemoryRow) -> bool:
        """False for words of another person, which do not stand for the same ones said here."""
        known = load_or_none(self._store, row.path)
        return known is not None and not self._is_foreign(known)

    def _remember_again(self, row: MemoryRow, memory: Memory) -> NoteOutcome:
        known = self._store.load(row.path)
        more = {} if row.superseded_by else _gained_fields(known, memory)
        if more:
            return replace(self.revise(row.id, **more), is_new=False, has_more=True)
        if not self._is_noted(row.id, known, memory):
            at, source = memory.created_at, dict(memory.source)
            self._store.record(
                self._machine,
                {"at": at, "event": "again", "id": row.id, "source": source},
            )
        return NoteOutcome(known, row.path, is_new=False)

    def _is_noted(self, memory_id: str, known: Memory, memory: Memory) -> bool:
        """Whether it is written down already that this was said there."""
        sources = [
            known.source,
            *(
                e.get("source")
                for e in self._store.records()
                if e.get("id") == memory_id
            ),
        ]
        # said by hand, it is a new occasion each time
        return "session" in memory.source and any(
            _is_same_place(source, memory.source) for source in sources
        )

    def near(self, memory: Memory) -> tuple[SimilarNote, ...]:
        """Other notes of its place that nearly say what it says, the nearest first."""
        text = statement_of(memory)
        allowed = ScopeFilter((memory.place,))
        matches = self._index.text_search(f"{memory.title} {text}", allowed, CANDIDATES)
        passages = self._index.passages([match.passage for match in matches])
        ids = dict.fromkeys(passage.memory_id for passage in passages)
        found = []
        for row in self._index.memories(list(ids)).values():
            if row.kind != "note" or row.superseded_by or row.id == memory.id:
                continue
            other = load_or_none(self._store, row.path)
            said = statement_of(other) if other else ""
            if said and not is_of_another(text, said):
                found.append(SimilarNote(row, similarity(text, said)))
        near = (note for note in found if note.similarity >= SIMILAR)
        return tuple(
            sorted(near, key=lambda one: (-one.similarity, one.row.id))[:SHOWN]
        )

    def _row(self, memory_id: str) -> MemoryRow:
        row = self._index.memories([memory_id]).get(memory_id)
        if row is None:
            raise no_such_memory(memory_id)
        return row


def _no_other_writer(_draft: NoteDraft, _directory: str) -> None:
    return None


def _changed_fields(old: Memory, meta: dict[str, Any]) -> dict[str, Any]:
    if isinstance(title := meta.get("title"), str):
        meta["title"] = sanitise(title)
    return {key: value for key, value in meta.items() if old.meta.get(key) != value}


def _times(meta: dict[str, Any]) -> dict[str, Any]:
    """The times that a version is given: it keeps none of the version before, so that one which is
    the same is given as well.
    """
    return {key: meta[key] for key in ("created_at", "updated_at") if key in meta}


def _next_version(
    old: Memory,
    head: str,
    version: int,
    body: str,
    fields: dict[str, Any],
    forks: Iterable[str],
) -> Memory:
    at = now()
    links = fields.get("related", old.meta.get("related"))
    meta = {
        **old.meta,
        "id": new_id(),
        "created_at": at,
        "updated_at": at,
        "version": version,
        "supersedes": head,
        "source": {**old.source, "from": head},
        **fields,
        "related": _related_links(links, forks) or None,
    }
    return Memory(
        in_order({key: value for key, value in meta.items() if value is not None}), body
    )


def _related_links(links: Any, forks: Iterable[str]) -> list[Any]:
    """The links of the old version, and one to each other end that this version replaces."""
    return links_to_others(links) + [
        {"id": id_, "relationship": "supersedes"} for id_ in forks
    ]


def _gained_fields(known: Memory, memory: Memory) -> dict[str, Any]:
    """The fields of a note that gain by what is told of it now: that it is permanent, that the
    person says it too, and what it is about. Of the person's own notes and what they made permanent
    nobody else says the latter.
    """
    found: dict[str, Any] = {}
    if memory.is_permanent and not known.is_permanent:
        found["permanent"] = True
    if memory.trust == Trust.USER and known.trust == Trust.ASSISTANT:
        found |= {
            "trust": str(Trust.USER),
            "source": {**memory.source, "from": known.id},
        }
    is_persons = known.is_permanent or known.trust == Trust.USER
    if is_persons and memory.trust != Trust.USER:
        return found
    for key, most in MOST_TOLD.items():
        old, new = _items(known, key), _items(memory, key)
        stated = [_without_confidence(item) for item in old]
        added = [item for item in new if _without_confidence(item) not in stated]
        if added and len(old) < most:
            found[key] = [*old, *added][:most]
    return found


def _items(memory: Memory, key: str) -> list[Any]:
    found = memory.meta.get(key)
    return found if isinstance(found, list) else []


def _without_confidence(item: Any) -> Any:
    """What an item says, however sure it is."""
    if not isinstance(item, Mapping):
        return item
    return {name: value for name, value in item.items() if name != "confidence"}


def _is_same_place(one: Any, other: Any) -> bool:
    return isinstance(one, dict) and all(
        one.get(key) == other.get(key) for key in ("host", "session", "turns")
    )


def _category_in(scope: str, text: str) -> str:
    # here, because its patterns cost as much as a search
    from keeplore.capture.notes.note_candidates import category_in

    return category_in(scope, text)
