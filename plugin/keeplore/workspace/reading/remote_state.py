"""How a workspace stands to its remote, as of the last fetch."""

from __future__ import annotations

from dataclasses import dataclass

from keeplore.errors import RepositoryError
from keeplore.workspace.sync_status import LastSync
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RemoteState:
    """``ahead`` and ``behind`` are commits, None where there is nothing to compare with."""

    address: str  # without credentials, "" for none
    last: LastSync
    ahead: int | None = None
    behind: int | None = None


def remote_state(workspace: Workspace) -> RemoteState:
    """How far the workspace and its remote are apart, by what was fetched last: nothing is fetched
    for it. Where git refuses, nothing is compared, and nothing raised.
    """
    store, last = workspace.store, workspace.sync_log.last()
    remote = store.remote_in_full()
    if remote is None:
        return RemoteState("", last)
    try:
        branch, here = store.current_branch(), store.head()
        there = store.tip(f"refs/remotes/{remote.name}/{branch}")
        if not (here and there):
            return RemoteState(store.remote(), last)
        ahead, behind = (
            store.commits_between(there, here),
            store.commits_between(here, there),
        )
    except RepositoryError:
        return RemoteState(store.remote(), last)
    return RemoteState(store.remote(), last, ahead, behind)
