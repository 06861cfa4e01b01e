"""Which memories a person sees: those of the directory's project and what it inherits, or those
that are asked for.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from keeplore.errors import ConfigError, StoreError
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.recall.prepare import unreadable_files
from keeplore.recall.request import SearchScope
from keeplore.recall.unasked.origin import MemorySource
from keeplore.text.agent_scope import agent_name
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

Scopes = tuple[tuple[str, str], ...]  # with the project of each, "" for none


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """The row's trust is what the memory is believed here."""

    workspace: Workspace
    row: MemoryRow


@dataclass(frozen=True, slots=True)
class Listing:
    """``items`` are the first of ``total``, newest first; ``is_empty`` where not even a filter is
    to blame.
    """

    items: tuple[ListedMemory, ...]
    total: int
    is_empty: bool
    waiting: int  # of total, those whose machine is to be accepted
    # in a directory of no project all projects are looked at
    is_everywhere: bool
    # what to tell of each index that could not be brought up to date
    behind: tuple[str, ...]
    unreadable: tuple[str, ...]  # what to tell of files that cannot be read

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.behind, *self.unreadable)


def listing(
    registry: Registry,
    cwd: Path,
    wanted: MemoryFilter,
    *,
    scope: str = "",
    project: str = "",
    agent: str = "",
    all_projects: bool = False,
    limit: int = 0,
) -> Listing:
    """The memories that fit ``wanted``, whose place is chosen by the other arguments; ``limit`` 0
    is for all.

    Raises NoWorkspace, NotFound for a project that nobody knows, or IndexUnavailable.
    """
    found: list[ListedMemory] = []
    total = waiting = 0
    asked = []
    is_everywhere = not (project or all_projects or _project(registry, cwd))
    places = _listed_scopes(
        registry, cwd, project, agent, all_projects=all_projects or is_everywhere
    )
    for workspace, scopes in places:
        workspace.index.refresh_for_reading()
        asked.append(workspace.index)
        chosen = _chosen_scopes(workspace, scopes, scope)
        if not chosen:  # nothing allowed would be everything
            continue
        mine = replace(wanted, allowed=ScopeFilter(chosen), limit=limit or None)
        rows = workspace.index.listed(mine)
        new = _rows_not_found(found, rows)
        found += [ListedMemory(workspace, row) for row in new]
        waiting += len(waiting_rows(workspace, mine))
        total += workspace.index.count(mine) - (len(rows) - len(new))
    unreadable = tuple(note for index in asked for note in unreadable_files(index))
    is_known = any(index.state(of_text=True).memories for index in asked)
    is_empty = not (total or is_known or unreadable)
    return Listing(
        _newest(found, limit),
        total,
        is_empty,
        waiting,
        is_everywhere,
        tuple(filter(None, (index.behind for index in asked))),
        unreadable,
    )


def _newest(found: list[ListedMemory], limit: int) -> tuple[ListedMemory, ...]:
    found.sort(key=lambda item: (item.row.updated_at, item.row.id), reverse=True)
    return tuple(map(_judged, itertools.islice(found, limit or None)))


def _chosen_scopes(workspace: Workspace, scopes: Scopes | None, scope: str) -> Scopes:
    """The scopes of a workspace that are asked for, "" for all; ``scopes`` None for those of the
    index.
    """
    every = workspace.index.scopes() if scopes is None else scopes
    return tuple(pair for pair in every if scope in ("", pair[0]))


def _rows_not_found(
    listed: list[ListedMemory], rows: list[MemoryRow]
) -> list[MemoryRow]:
    """The rows of memories that were not found elsewhere."""
    known = {item.row.id for item in listed}
    return [row for row in rows if row.id not in known]


def waiting_rows(workspace: Workspace, wanted: MemoryFilter) -> list[MemoryRow]:
    """The memories that fit and wait for another person's machine to be accepted."""
    if workspace.machine_trust.is_alone:
        return []
    source_of = workspace.machine_trust.sources()
    return workspace.index.listed(
        replace(wanted, limit=None), lambda row: source_of(row) is MemorySource.WAITING
    )


def _judged(item: ListedMemory) -> ListedMemory:
    """The memory with the trust that it has here; where nobody else writes, its file need not be
    read for it.
    """
    if not item.workspace.machine_trust.is_alone:
        with contextlib.suppress(StoreError, OSError):
            memory = item.workspace.store.load(item.row.path)
            return replace(
                item,
                row=replace(
                    item.row, trust=item.workspace.machine_trust.trust_of(memory)
                ),
            )
    return item


def _project(registry: Registry, cwd: Path) -> str:
    return registry.for_directory(cwd).identities.project_of(str(cwd))


def _listed_scopes(
    registry: Registry, cwd: Path, project: str, agent: str, *, all_projects: bool
) -> Iterator[tuple[Workspace, Scopes | None]]:
    """The workspaces whose memories are listed, each with the scopes that are (None for all)."""
    if project:
        there = SearchScope(project, agent=agent_name(agent))
        own = registry.for_project(project, cwd)
        yield own, there.own
        is_here = own.identities.project_of(str(cwd)) == project
        if is_here and (code := registry.code_memory(cwd, own)):
            yield code, there.own
        return
    own = registry.for_directory(cwd)
    yield own, None if all_projects else own.identities.here(cwd, agent).scopes
    if code := registry.code_memory(cwd, own):
        yield code, code.identities.here(cwd).own
    for name in registry.inherited(own):
        # a workspace that is gone must not hide the others
        with contextlib.suppress(ConfigError):
            given = ("user", *(["workspace"] if name in own.settings.inherits else []))
            yield registry.named(name), tuple((scope, "") for scope in given)
