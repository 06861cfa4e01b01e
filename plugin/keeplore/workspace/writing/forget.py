"""Forgetting, purging and restoring memories of a workspace, each with all its versions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from keeplore.errors import RepositoryBusy, StoreError
from keeplore.index import MemoryFilter, MemoryRow, load_or_none
from keeplore.memory import Memory
from keeplore.memory.digest import KIND as DIGEST
from keeplore.memory.names import no_such_memory
from keeplore.store import PurgePlan, PurgeResult
from keeplore.store.delete import mentions
from keeplore.text.counts import counted
from keeplore.text.dates import now
from keeplore.workspace.brief_maker import drop as drop_briefs
from keeplore.workspace.lifecycle.local_purge import erase_copies, traces_of
from keeplore.workspace.loading import chain_of
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """``ids`` are all versions, the one that was asked for first; ``quoting`` are notes that quote
    the conversation.
    """

    ids: tuple[str, ...]
    quoting: tuple[MemoryRow, ...]
    # else git is busy with something of the person's, and it is done later
    is_committed: bool


@dataclass(frozen=True, slots=True)
class RestoreResult:
    ids: tuple[str, ...]
    paths: tuple[str, ...]
    is_committed: bool


def forget(workspace: Workspace, memory_id: str) -> ForgetResult:
    """Forget a memory and its other versions: an older one would else take its place; digests with
    its words too, which are made anew. Doing it again is no error.

    Raises NotFound, RepositoryError or OSError.
    """
    ids = _versions(workspace, memory_id)
    quoting = quoting_notes(workspace, memory_id)
    at = now()
    with workspace.writing():  # an open conversation is not written to meanwhile
        every = (*ids, *_digests(workspace, ids))
        workspace.store.forget_all(every, workspace.machine, at)
        drop_briefs(workspace.places)
    # it is forgotten also where the index waits
    workspace.index.refresh_for_reading()
    return ForgetResult(ids, quoting, _commit(workspace, f"Forget {_count(ids)}"))


def forget_many(workspace: Workspace, ids: tuple[str, ...], message: str) -> None:
    """Forget these memories, all versions among them, in one commit. Raises RepositoryError or
    OSError.
    """
    with workspace.writing():
        every = dict.fromkeys((*ids, *_digests(workspace, ids)))
        workspace.store.forget_all(every, workspace.machine, now())
        drop_briefs(workspace.places)
    workspace.index.refresh_for_reading()
    _commit(workspace, message)


def restore(workspace: Workspace, memory_id: str) -> RestoreResult:
    """Bring back a memory and the versions that were forgotten with it, as git had them.

    Raises NotFound, AlreadyExists, RepositoryBusy or OSError.
    """
    ids = _forgotten_together(workspace, memory_id)
    paths = tuple(workspace.store.restore(version) for version in ids)
    workspace.index.refresh_for_reading()
    return RestoreResult(ids, paths, _commit(workspace, f"Restore {_count(ids)}"))


def purge_plan(workspace: Workspace, memory_id: str) -> PurgePlan:
    """What ``purge`` would do to the history of this machine and of all others; nothing is changed.

    Raises NotFound, RepositoryBusy or RepositoryError.
    """
    plan = workspace.store.purge_plan(_versions(workspace, memory_id))
    telling = traces_of(m for id_ in plan.ids for m in _texts(workspace, id_)).telling
    root = workspace.store.history
    same = mentions.files_containing(root, telling)
    goes = {*plan.paths, *plan.mentions}
    stays = tuple(path for path in same if path not in goes)
    return replace(plan, stays=stays, messages=mentions.messages(root, telling))


def purge(workspace: Workspace, memory_id: str) -> PurgeResult:
    """Forget a memory and its other versions, and take their text out of git and of everything on
    this machine.

    The next sync replaces the remote's history. Can be run again after a kill. Raises NotFound,
    RepositoryBusy, RepositoryError, IndexUnavailable or OSError.
    """
    workspace.index.refresh()  # it has to lose the words too
    versions = _versions(workspace, memory_id)
    ids = (*versions, *_digests(workspace, versions))
    history = workspace.store.history
    copies = mentions.merge_copies(history, ids)
    traces = traces_of(m for id_ in (*ids, *copies) for m in _texts(workspace, id_))
    with workspace.writing():
        done = workspace.store.purge(ids, workspace.machine, now())
    ids = tuple(dict.fromkeys((*ids, *done.ids)))
    files = erase_copies(workspace, replace(traces, ids=ids))
    objects = mentions.objects_containing(history, traces.telling)
    named = (f"{kind} {name}" for name, kind in objects.items())
    return replace(done, ids=ids, holding=(*map(str, files), *named))


def quoting_notes(workspace: Workspace, memory_id: str) -> tuple[MemoryRow, ...]:
    """Notes with words of a conversation: they are memories of their own, and stay."""
    path = workspace.index.path_of(memory_id)
    memory = workspace.store.load(path) if path else None
    if memory is None or memory.kind != "conversation":
        return ()
    session = memory.source_text("session")
    if not session:
        return ()
    turns = set(memory.turns)
    notes = MemoryFilter(kind="note", session=session, archived="with")
    rows = workspace.index.listed(notes)
    loaded = ((row, load_or_none(workspace.store, row.path)) for row in rows)
    return tuple(
        row for row, note in loaded if note and not turns.isdisjoint(note.turns)
    )


def _versions(workspace: Workspace, memory_id: str) -> tuple[str, ...]:
    """The memory and every other version of it, those among them that are forgotten already too."""
    workspace.index.refresh_for_reading()
    chain = chain_of(workspace.index, memory_id).members
    ids = dict.fromkeys((memory_id, *reversed(chain)))
    if workspace.store.is_forgotten(memory_id):
        ids |= dict.fromkeys(_forgotten_together(workspace, memory_id))
    elif not workspace.index.path_of(memory_id):
        raise no_such_memory(memory_id)
    return tuple(ids)


def _digests(workspace: Workspace, ids: Iterable[str]) -> tuple[str, ...]:
    """The digests that hold words of these memories."""
    index = workspace.index
    linked = {id_ for memory_id in ids for _, id_ in index.linking(memory_id)}
    rows = index.memories(sorted(linked)).values()
    return tuple(row.id for row in rows if row.kind == DIGEST)


def _forgotten_together(workspace: Workspace, memory_id: str) -> tuple[str, ...]:
    """The versions that one command forgot: their tombstones have one time and machine, and their
    texts are linked.
    """
    tombstones = {tombstone.id: tombstone for tombstone in workspace.store.tombstones}
    own = tombstones.get(memory_id)
    if own is None:
        return (memory_id,)
    links: dict[str, set[str]] = {}  # version → what it supersedes
    for tombstone in tombstones.values():
        if (tombstone.at, tombstone.machine) == (own.at, own.machine):
            for memory in _texts(workspace, tombstone.id):
                links[tombstone.id] = {
                    id_ for kind, id_ in memory.links if kind == "supersedes"
                }
    return _linked_versions(memory_id, links)


def _linked_versions(memory_id: str, links: Mapping[str, set[str]]) -> tuple[str, ...]:
    """What the links lead to from a version, in both directions, itself first."""
    found, waiting = [memory_id], [memory_id]
    while waiting:
        current = waiting.pop()
        older = links.get(current, set())
        near = [id_ for id_ in sorted(links) if id_ in older or current in links[id_]]
        new = [id_ for id_ in near if id_ not in found]
        waiting += new
        found += new
    return tuple(found)


def _texts(workspace: Workspace, memory_id: str) -> list[Memory]:
    """What the files of a memory say, or what git keeps of a forgotten one."""
    if copies := workspace.store.copies(memory_id):
        return [memory for _, memory in copies]
    with contextlib.suppress(StoreError):
        return [workspace.store.forgotten(memory_id)]
    return []


def _commit(workspace: Workspace, message: str) -> bool:
    """Commit what was written; returns False where the repository is busy."""
    try:
        workspace.commit(message)
    except RepositoryBusy:
        return False
    return True


def _count(ids: tuple[str, ...]) -> str:
    others = counted(len(ids) - 1, "other version")
    return "a memory" if len(ids) == 1 else f"a memory and its {others}"
