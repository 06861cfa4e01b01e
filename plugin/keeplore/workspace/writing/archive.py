"""Putting old memories aside: first a plan, which is a pure function, then the moves, in one
commit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

from keeplore.errors import NotFound, RepositoryBusy, StoreError
from keeplore.index import Index, MemoryFilter, MemoryRow
from keeplore.memory.digest import KIND as DIGEST
from keeplore.memory.location import archived_path, location_of
from keeplore.memory.note import KEPT_CATEGORIES
from keeplore.text.counts import counted
from keeplore.workspace.in_repo.code_workspace import CodeWorkspace
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

# a year of conversations is what recall ranks as its own time
CONVERSATION_AGE = timedelta(days=365)
# an earlier version is kept at hand for half a year
SUPERSEDED_AGE = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class ArchiveRules:
    """What may go; what is left empty does not choose. ``categories`` are never among those that
    are always kept.
    """

    # since it was changed; without it, the ages above
    older_than: timedelta | None = None
    larger_than: int = 0  # bytes
    categories: Collection[str] = ()
    kinds: Collection[str] = ()
    project: str = ""


@dataclass(frozen=True, slots=True)
class ArchiveMove:
    id: str
    title: str
    path: str
    to: str
    reason: str
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class ArchiveResult:
    moves: tuple[ArchiveMove, ...]
    # path, error: what could not be moved
    problems: tuple[tuple[str, StoreError | OSError], ...]
    is_committed: bool = True


def archive_plan(
    rows: Iterable[MemoryRow],
    sizes: Mapping[str, int],
    rules: ArchiveRules,
    now: datetime,
) -> list[ArchiveMove]:
    """What goes to the archive, the oldest first. ``rows`` are all that is not archived, ``sizes``
    is path → bytes.

    Never: permanent memories, open conversations, digests, and what is in a category that is kept,
    earlier versions too.
    """
    chosen = sorted(
        (row for row in rows if _may_go(row, rules)),
        key=lambda row: (row.updated_at, row.id),
    )
    found = []
    for row in chosen:
        size = sizes.get(row.path, 0)
        reason = _reason(row, size, rules, now)
        if reason:
            found.append(
                ArchiveMove(
                    row.id, row.title, row.path, archived_path(row.path), reason, size
                )
            )
    return found


def unarchived_path(path: str) -> str:
    where = location_of(path)
    return "/".join((where.root, *where.rest))


def current_plan(
    workspace: Workspace, rules: ArchiveRules, now: datetime, *, is_dry: bool
) -> list[ArchiveMove]:
    """The plan for what a workspace holds at this moment; where ``is_dry`` it is only shown."""
    refresh_for_plan(workspace.index, is_dry=is_dry)
    sizes = {file.path: file.size for file in workspace.store.scan()}
    return archive_plan(
        workspace.index.listed(MemoryFilter(superseded=True)), sizes, rules, now
    )


def refresh_for_plan(index: Index, *, is_dry: bool) -> None:
    """Bring an index up to date for a plan. One that ``is_dry`` is made from what the index has,
    where that cannot be written. Raises IndexUnavailable.
    """
    if is_dry:
        index.refresh_for_reading()
    else:
        index.refresh()


def current_plans(
    registry: Registry, cwd: Path, rules: ArchiveRules, now: datetime, *, is_dry: bool
) -> list[tuple[Workspace, list[ArchiveMove]]]:
    """The plans for a directory's workspace and for the notes kept with the code around it."""
    own = registry.for_directory(cwd)
    both = filter(None, (own, registry.code_memory(cwd, own)))
    return [(one, current_plan(one, rules, now, is_dry=is_dry)) for one in both]


def archive_all(
    plans: Sequence[tuple[Workspace, Sequence[ArchiveMove]]],
) -> ArchiveResult:
    """Archive by each plan, and add up the results."""
    done = [(workspace, archive(workspace, moves)) for workspace, moves in plans]
    results = [result for _, result in done]
    return ArchiveResult(
        tuple(placed_moves((workspace, result.moves) for workspace, result in done)),
        tuple(chain.from_iterable(result.problems for result in results)),
        is_committed=all(result.is_committed for result in results),
    )


def placed_moves(
    plans: Iterable[tuple[Workspace, Iterable[ArchiveMove]]],
) -> list[ArchiveMove]:
    """The moves of all plans, with absolute paths where it is the code that keeps a note."""
    found: list[ArchiveMove] = []
    for workspace, moves in plans:
        root = workspace.root if isinstance(workspace, CodeWorkspace) else Path()
        found += [
            replace(move, path=str(root / move.path), to=str(root / move.to))
            for move in moves
        ]
    return found


def archive(workspace: Workspace, moves: Iterable[ArchiveMove]) -> ArchiveResult:
    """Move the files and commit; one that cannot be moved stops no other. Raises
    RepositoryError.
    """
    return _move_memories(workspace, moves, "Archive {}")


def unarchive(workspace: Workspace, rows: Iterable[MemoryRow]) -> ArchiveResult:
    """Bring memories back to where they were. Raises NotFound for one that is not archived, else as
    ``archive``.
    """
    moves = []
    for row in rows:
        if not row.is_archived:
            raise NotFound(
                f"{row.path} is not archived",
                "`keeplore list --archived` shows what is",
            )
        moves.append(
            ArchiveMove(
                row.id, row.title, row.path, unarchived_path(row.path), "asked for", 0
            )
        )
    return _move_memories(workspace, moves, "Take {} out of the archive")


def _move_memories(
    workspace: Workspace, moves: Iterable[ArchiveMove], message: str
) -> ArchiveResult:
    """Move files and commit; what cannot be moved is among the problems."""
    done: list[ArchiveMove] = []
    problems: list[tuple[str, StoreError | OSError]] = []
    for move in moves:
        try:
            workspace.store.move(move.path, move.to)
            done.append(move)
        except (StoreError, OSError) as e:
            problems.append((move.path, e))
    workspace.index.refresh_for_reading()
    count = counted(len(done), "memory", "memories")
    try:
        if done:
            workspace.commit(message.format(count))
    except RepositoryBusy:
        return ArchiveResult(tuple(done), tuple(problems), is_committed=False)
    return ArchiveResult(tuple(done), tuple(problems))


def _may_go(row: MemoryRow, rules: ArchiveRules) -> bool:
    """Whether it is of what was chosen, and not of what is kept for good."""
    if row.permanent or row.is_open or row.is_archived:
        return False
    # a digest goes when its conversations are forgotten: the next tidying would bring it back
    if row.category in KEPT_CATEGORIES or row.kind == DIGEST:
        return False
    return (
        (not rules.categories or row.category in rules.categories)
        and (not rules.kinds or row.kind in rules.kinds)
        and (not rules.project or row.project == rules.project)
    )


def _reason(row: MemoryRow, size: int, rules: ArchiveRules, now: datetime) -> str:
    """Why a memory goes, "" where it stays: it must meet every rule that was given."""
    limit = rules.older_than
    if limit is None and not rules.larger_than:
        limit = _usual_limit(row)
        if limit is None:
            return ""
    reasons = ["superseded"] if row.superseded_by else []
    if limit is not None:
        age = _age(row.updated_at, now)
        if age is None or age < limit:
            return ""
        reasons.append(f"{age.days} days old")
    if rules.larger_than:
        if size <= rules.larger_than:
            return ""
        reasons.append(f"{size / 1000:.0f} kB")
    return ", ".join(reasons)


def _usual_limit(row: MemoryRow) -> timedelta | None:
    """The age at which it goes where no rule is given, None for never."""
    if row.superseded_by:
        return SUPERSEDED_AGE
    return CONVERSATION_AGE if row.kind == "conversation" else None


def _age(updated_at: str, now: datetime) -> timedelta | None:
    """The age of a memory; None where its file names no readable time, so that it is not archived
    for its age.
    """
    try:
        return now - datetime.fromisoformat(updated_at)
    except (ValueError, TypeError):
        return None
