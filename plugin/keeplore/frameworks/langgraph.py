"""LangGraph: a store whose items are notes of the workspace, and through which every other memory
can be searched.

Namespaces and what becomes of a value: docs/frameworks.md.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from keeplore.errors import KeeploreError, StoreError
from keeplore.frameworks.extras import importing_extra
from keeplore.frameworks.store_items import (
    HOST,
    SEPARATOR,
    Value,
    draft_of,
    is_fitting,
    memory_value,
    value_of,
)
from keeplore.host import PythonHost
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.memory import Memory, new_id
from keeplore.recall.request import ResultFilter
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.text.dates import now
from keeplore.workspace.registry import FoundMemory
from keeplore.workspace.writing.forget import forget
from keeplore.workspace.writing.remember import NoteTarget, remember, replace, target_of

with importing_extra("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )

LOG = logging.getLogger(__name__)
OWN = "keeplore"  # the first label of namespaces that mean the workspace itself
SCOPES = ("user", "workspace")
LOOKED_AT = 200  # memories that a search with a filter chooses from
Namespace = tuple[str, ...]
# with its score and best part, where it was asked for
_Found = tuple[WorkspaceView, MemoryRow, float | None, str]


class KeeploreStore(BaseStore):
    """A store for ``builder.compile(store=KeeploreStore(host))``.

    Safe for several threads; the ``a…`` methods run beside the event loop. Searching fails open: an
    error in Keeplore finds nothing and is told of once. Reading, writing and deleting raise
    KeeploreError or OSError, because a value that seems to be stored and is not would be worse.
    """

    def __init__(self, host: PythonHost) -> None:
        self._host = host
        self._lock = threading.RLock()
        self._has_failed = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        operations = [*ops]
        with self._lock:
            results = [self._run_op(operation) for operation in operations]
            if any(isinstance(operation, PutOp) for operation in operations):
                self._host.settle_if_due()
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, [*ops])

    def _run_op(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op.namespace, op.key)
        if isinstance(op, PutOp):
            if op.value is None:
                self._delete(op)
            else:
                self._put_value(op)
            return None
        try:
            return (
                self._search(op) if isinstance(op, SearchOp) else self._namespaces(op)
            )
        except (KeeploreError, OSError) as e:
            LOG.log(
                logging.DEBUG if self._has_failed else logging.WARNING,
                "Keeplore finds nothing: %s",
                e,
            )
            self._has_failed = True
            return []

    def _get(self, namespace: Namespace, key: str) -> Item | None:
        target = self._target(namespace)
        target.workspace.index.refresh()
        found = _newest_version(target, _id(target, namespace, key))
        if found is not None:
            return Item(
                **_fields(
                    found.row, found.memory, found.workspace.machine_trust.trust_of
                )
            )
        if namespace == (OWN,):
            for view in self._host.views():
                if row := view.index.memories([key]).get(key):
                    return Item(**_fields(row, view.store.load(row.path), view.trust))
        return None

    def _put_value(self, op: PutOp) -> None:
        """Write a value as a note, or as a new version of the one that has its key."""
        if op.namespace == (OWN,):
            raise StoreError(
                f"{op.namespace} is every memory that applies here",
                "Put values into another namespace",
            )
        target = self._target(op.namespace)
        id_ = _id(target, op.namespace, op.key)
        target.workspace.index.refresh()
        found = _newest_version(target, id_)
        known = value_of(found.memory) if found else None
        since = known.created_at if known else now()
        draft = draft_of(
            Value(op.namespace, op.key, dict(op.value or {}), since),
            target.workspace.plugins.redact,
            scope=target.scope,
            project=target.project,
            id_=id_,
        )
        if found is None:
            remember(target, draft, self._host.cwd)
        else:
            _refuse_permanent(found.memory)
            replace(found, draft)

    def _delete(self, op: PutOp) -> None:
        target = self._target(op.namespace)
        target.workspace.index.refresh()
        if found := _newest_version(target, _id(target, op.namespace, op.key)):
            _refuse_permanent(found.memory)
            forget(target.workspace, found.row.id)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.offset + op.limit
        found = (
            self._recalled_values(op, LOOKED_AT if op.filter else wanted)
            if op.query
            else self._newest_values(op.namespace_prefix)
        )
        items: list[SearchItem] = []
        for view, row, score, passage in found:
            if len(items) == wanted:
                break
            fields = _fields(row, view.store.load(row.path), view.trust, passage)
            if is_fitting(fields["value"], op.filter or {}):
                items.append(SearchItem(**fields, score=score))
        return items[op.offset :]

    def _recalled_values(self, op: SearchOp, limit: int) -> Iterator[_Found]:
        unasked = ResultFilter(
            skip=lambda row: not _is_within(row, op.namespace_prefix)
        )
        answer = self._host.recall(op.query or "", limit=limit, unasked=unasked)
        views = self._host.registry.views(
            self._host.cwd, agent=self._host.agent
        )  # in step by now
        for hit in answer.hits:
            for view in views:
                if row := view.index.memories([hit.memory_id]).get(hit.memory_id):
                    yield view, row, hit.score, hit.passage
                    break

    def _newest_values(self, prefix: Namespace) -> Iterator[_Found]:
        """Newest first."""
        rows = [
            (view, row)
            for view in self._host.views()
            for row in view.index.listed(MemoryFilter(ScopeFilter(view.scopes)))
            if _is_within(row, prefix)
        ]
        for view, row in sorted(
            rows, key=lambda found: (found[1].updated_at, found[1].id), reverse=True
        ):
            yield view, row, None, ""

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        every = {_namespace(row) for _, row, _, _ in self._newest_values(())}
        for condition in op.match_conditions or ():
            every = {name for name in every if _is_matching(name, condition)}
        short = sorted({name[: op.max_depth] for name in every})
        return short[op.offset : op.offset + op.limit]

    def _target(self, namespace: Namespace) -> NoteTarget:
        """Where a namespace is kept: in the directory's own place, unless it begins with
        ("keeplore", a scope).
        """
        scope = namespace[1] if namespace[0] == OWN and len(namespace) > 1 else ""
        if scope not in ("", *SCOPES):
            raise StoreError(
                f"{namespace} is no place",
                f"After {OWN!r} comes one of {', '.join(SCOPES)}",
            )
        return target_of(self._host.registry, self._host.cwd, scope=scope)


def _id(target: NoteTarget, namespace: Namespace, key: str) -> str:
    """The id of an item's first version; after it was forgotten, the next item of that name has
    another one.
    """
    for generation in itertools.count():
        id_ = new_id(
            HOST, target.scope, target.project, *namespace, "", key, str(generation)
        )
        if not target.workspace.store.is_forgotten(id_):
            return id_
    raise AssertionError


def _newest_version(target: NoteTarget, id_: str) -> FoundMemory | None:
    """The newest version of a memory, None where there is none."""
    index = target.workspace.index
    row = index.memories([id_]).get(id_)
    if row is not None and row.superseded_by:
        row = index.memories([row.superseded_by]).get(row.superseded_by, row)
    return (
        FoundMemory(target.workspace, row, target.workspace.store.load(row.path))
        if row
        else None
    )


def _fields(
    row: MemoryRow, memory: Memory, trust: Callable[[Memory], str], passage: str = ""
) -> dict[str, Any]:
    """What an item is made of; of a memory that no store wrote, its text and what it is."""
    value = value_of(memory) if row.host == HOST else None
    if value is None:
        value = Value(
            (OWN,), row.id, memory_value(memory, trust(memory), passage), row.created_at
        )
    return {
        "namespace": value.namespace,
        "key": value.key,
        "value": value.content,
        "created_at": _moment(value.created_at),
        "updated_at": _moment(row.updated_at),
    }


def _refuse_permanent(memory: Memory) -> None:
    if memory.is_permanent:
        raise StoreError(
            f"{memory.id} is permanent: the person alone changes it",
            f"`keeplore edit {memory.id}` does",
        )


def _is_within(row: MemoryRow, prefix: Namespace) -> bool:
    """Whether a memory is below a namespace: one that means the workspace itself, or that of a
    program's own items.
    """
    if prefix[:1] == (OWN,) and len(prefix) < 3:
        return prefix[1:] in ((), (row.scope,))
    return row.host == HOST and _namespace(row)[: len(prefix)] == prefix


def _namespace(row: MemoryRow) -> Namespace:
    return tuple(row.session.split(SEPARATOR)) if row.host == HOST else (OWN,)


def _is_matching(namespace: Namespace, how: MatchCondition) -> bool:
    path = tuple(how.path)
    part = (
        namespace[: len(path)]
        if how.match_type == "prefix"
        else namespace[-len(path) :]
    )
    return len(part) == len(path) and all(
        wanted in ("*", label) for wanted, label in zip(path, part, strict=True)
    )


def _moment(text: str) -> datetime:
    """A time of a front matter, which people may edit; one that cannot be read is the beginning of
    time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
