"""What goes to the archive by itself: old, unused, unlinked, and without an open question."""

from __future__ import annotations

from collections.abc import Iterator, Set
from datetime import UTC, datetime, timedelta

from keeplore.index import MemoryFilter, load_or_none
from keeplore.memory import Conversation
from keeplore.memory.digest import KIND
from keeplore.text.counts import counted
from keeplore.workspace.tidying.digest_maker import IsOurs
from keeplore.workspace.tidying.tidy_step import TidyAction, TidyStep
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.archive import ArchiveMove, ArchiveRules, archive_plan


def retention_steps(workspace: Workspace, is_ours: IsOurs) -> Iterator[TidyStep]:
    """A step that archives all that may go by ``tidy.archive_after_days``; no step
    where that is 0.
    """
    days = workspace.settings.tidy.archive_after_days
    moves = idle_moves(workspace, is_ours, days, datetime.now(UTC)) if days else []
    if moves:
        count = counted(len(moves), "memory", "memories")
        size = f"{sum(move.size for move in moves) / 1000:.0f} kB"
        title = f"archive {count}"
        detail = f"{size}, not changed for {days} days, unused and unlinked"
        ids = tuple(move.id for move in moves)
        paths = [(move.path, move.to) for move in moves]
        yield TidyStep(TidyAction.ARCHIVE, title, detail, ids, moves=paths)


def idle_moves(
    workspace: Workspace, is_ours: IsOurs, days: int, now: datetime
) -> list[ArchiveMove]:
    """What was neither changed nor used for so many days, and of which nothing that stays needs
    it.
    """
    rows = workspace.index.listed(MemoryFilter(superseded=True), is_ours)
    sizes = {file.path: file.size for file in workspace.store.scan()}
    age = timedelta(days=days)
    rules = ArchiveRules(older_than=age, kinds=("conversation", "note", "document"))
    last_day = (now - age).date().isoformat()
    moves = {
        move.id: move
        for move in archive_plan(rows, sizes, rules, now)
        if workspace.index.graph.use_of(move.id).last < last_day
        and not _is_open(workspace, move.path)
    }
    while held := [id_ for id_ in moves if _is_needed(workspace, id_, moves.keys())]:
        for id_ in held:
            del moves[id_]
    return list(moves.values())


def _is_open(workspace: Workspace, path: str) -> bool:
    """Has it a question that nobody answered?"""
    memory = load_or_none(workspace.store, path)
    if memory is None or memory.kind != "conversation":
        return memory is None
    return bool(Conversation.from_markdown(memory.body).open_questions)


def _is_needed(workspace: Workspace, memory_id: str, going: Set[str]) -> bool:
    """Does a memory that stays name it? That a digest or a newer version does keeps none."""
    naming = workspace.index.linking(memory_id)
    ids = [id_ for kind, id_ in naming if kind != "supersedes" and id_ not in going]
    rows = workspace.index.memories(ids).values()
    return any(row.kind != KIND and not row.is_archived for row in rows)
