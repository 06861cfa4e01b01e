"""Notes that say nearly the same, made one chain: the most trusted words stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keeplore.index import MemoryFilter, MemoryRow, load_or_none
from keeplore.memory import Memory, new_id
from keeplore.memory.model import in_order, trust_rank
from keeplore.memory.note import statement_of
from keeplore.recall.since.contradictions import contradiction
from keeplore.text.similarity import similarity
from keeplore.workspace.tidying.digest_maker import TRIGGER, IsOurs
from keeplore.workspace.tidying.tidy_step import TidyAction, TidyStep
from keeplore.workspace.workspace import Workspace

# from here on two notes are joined unasked; a person is asked from `similarity.SIMILAR` on
SAME_FROM = 0.8


@dataclass(frozen=True, slots=True)
class CurrentNote:
    """A note in its newest version, with what it states."""

    row: MemoryRow
    memory: Memory
    statement: str

    @property
    def weight(self) -> tuple[int, bool, str, str]:
        """The sort key by which a note's words stay: the greatest."""
        trusted = trust_rank(self.memory.trust)
        return trusted, self.row.permanent, self.row.created_at, self.row.id


def current_notes(workspace: Workspace, is_ours: IsOurs) -> list[CurrentNote]:
    """The newest versions of the notes that tidying may use."""
    rows = workspace.index.listed(MemoryFilter(kind="note"), is_ours)
    loaded = ((row, load_or_none(workspace.store, row.path)) for row in rows)
    return [
        CurrentNote(row, memory, statement_of(memory))
        for row, memory in loaded
        if memory
    ]


def join_steps(
    workspace: Workspace, notes: Sequence[CurrentNote]
) -> Iterator[TidyStep]:
    """A step for each note that others of its place repeat."""
    known = {note.row.id: note for note in notes}
    taken: set[str] = set()
    for note in sorted(notes, key=lambda note: note.weight, reverse=True):
        if note.row.id in taken:
            continue
        near = workspace.notes.near(note.memory)
        others = [known[one.row.id] for one in near if one.row.id in known]
        same = [
            other
            for other in others
            if other.row.id not in taken and says_the_same(note, other)
        ]
        if same:
            taken |= {note.row.id, *(other.row.id for other in same)}
            yield _join_step(note, same)


def says_the_same(one: CurrentNote, other: CurrentNote) -> bool:
    """Do two notes of one place and category say nearly the same, and nothing against each
    other?
    """
    is_near = similarity(one.statement, other.statement) >= SAME_FROM
    is_beside = (one.memory.place, one.row.category) == (
        other.memory.place,
        other.row.category,
    )
    return is_near and is_beside and not contradiction(one.statement, other.statement)


def _join_step(kept: CurrentNote, same: Iterable[CurrentNote]) -> TidyStep:
    others = sorted(same, key=lambda note: note.row.id)
    joined = _joined_memory(kept, others)
    ids = ", ".join(note.row.id[4:12] for note in others)
    return TidyStep(
        TidyAction.JOIN,
        kept.row.title,
        f"{kept.row.id[4:12]} also stands for {ids}",
        (joined.id,),
        (joined,),
    )


def _joined_memory(kept: CurrentNote, others: Sequence[CurrentNote]) -> Memory:
    """The next version of all: every machine that joins them writes the same bytes."""
    members = (kept, *others)
    at = max(note.row.updated_at or note.row.created_at for note in members)
    links = [
        link
        for link in kept.memory.meta.get("related") or []
        if link.get("relationship") != "supersedes"
    ]
    links += [{"id": one.row.id, "relationship": "supersedes"} for one in others]
    meta = {
        **kept.memory.meta,
        "id": new_id("joined", *sorted(note.row.id for note in members)),
        "created_at": at,
        "updated_at": at,
        "version": max(note.memory.version for note in members) + 1,
        "supersedes": kept.row.id,
        "related": links,
        "trigger": TRIGGER,
        "source": {**kept.memory.source, "from": kept.row.id},
    }
    return Memory(in_order(meta), kept.memory.body)
