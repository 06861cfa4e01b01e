"""Mending what merges left in a workspace, and exchanging it with its remote."""

from __future__ import annotations

import contextlib
from functools import partial

from keeplore.errors import IndexUnavailable
from keeplore.index import MemoryRow
from keeplore.store.shared_rights import shared_file_rights
from keeplore.sync import SyncResult
from keeplore.sync import synchronise as exchange
from keeplore.workspace.lifecycle.local_purge import PurgeTraces, erase_copies
from keeplore.workspace.workspace import Workspace

REPAIR_S = 2.0  # of reading what changed, where nobody asked for it
# in what the index says of a file that a merge may have left so
_TROUBLES = ("conflict", "twice", "its id is that of")


def repair_merges(workspace: Workspace, quiet_s: float = 0.0) -> tuple[str, ...]:
    """Mend what merges by git, an IDE or a forge left: the paths that were written. Raises
    RepositoryError.

    With ``quiet_s`` a merge that a person may still be working on is left alone.
    """
    store = workspace.store
    with workspace.committing():
        concluded = store.conclude(quiet_s)
        if quiet_s and store.is_held_up():
            return concluded
        # text is exchanged without an index too; what a merge left then waits for the next time
        with contextlib.suppress(IndexUnavailable):
            # in a worker, which holds up what is said meanwhile: the rest of a new clone is looked
            # at the next time
            workspace.index.refresh(within_s=REPAIR_S if quiet_s else None)
            return (*concluded, *store.repair_merges(_troubled_paths(workspace)))
        return concluded


def _troubled_paths(workspace: Workspace) -> list[str]:
    """The files that a merge may have left wrong, as the index knows them. Raises
    IndexUnavailable.
    """
    index, forgotten = workspace.index, workspace.store.tombstones.ids()
    troubled = [path for path, problem in index.problems() if _is_trouble(problem)]
    # a merge by git may put a memory under another one's name, where no commit looks for it
    back = [row.path for row in index.memories([*forgotten]).values()]
    return [*troubled, *back]


def synchronise(
    workspace: Workspace, *, is_unrelated: bool = False, quiet_s: float = 0.0
) -> SyncResult:
    """Commit, fetch, merge and push. Raises RemoteError or RepositoryError; nothing is lost then.

    ``is_unrelated`` allows a remote that began as another workspace, ``quiet_s`` is that of
    ``repair_merges``. Raises WorkspaceFrozen, too.
    """
    workspace.check_not_frozen()
    act = partial(_synchronise, workspace, is_unrelated=is_unrelated, quiet_s=quiet_s)
    return workspace.sync_log.run_and_note(act)


def _synchronise(
    workspace: Workspace, *, is_unrelated: bool, quiet_s: float
) -> SyncResult:
    repair_merges(workspace, quiet_s)
    with shared_file_rights(workspace.root):
        result = exchange(
            workspace.store, workspace.redactor.scan, is_unrelated=is_unrelated
        )
    if result.purged:
        _erase_purged(workspace, result.purged)
    return result


def _erase_purged(workspace: Workspace, ids: tuple[str, ...]) -> None:
    """Remove what this machine has of memories whose text is gone. Raises IndexUnavailable, or
    OSError.
    """
    rows: list[MemoryRow] = []
    # what can be erased without it is erased
    with contextlib.suppress(IndexUnavailable):
        # it still knows where they came from
        rows += workspace.index.memories(ids).values()
    sessions = dict.fromkeys((row.host, row.session) for row in rows if row.session)
    titles = tuple(row.title for row in rows)
    erase_copies(workspace, PurgeTraces(ids, tuple(sessions), titles))


def _is_trouble(problem: str) -> bool:
    return any(word in problem for word in _TROUBLES)
