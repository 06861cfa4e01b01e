"""Whether a workspace's remote answers, with the person's own credentials."""

from __future__ import annotations

from keeplore.errors import RepositoryError
from keeplore.store import Store
from keeplore.sync.network import call
from keeplore.sync.urls import checked

TIMEOUT_S = 30.0


def reach(store: Store) -> None:
    """Ask the remote what it has; nothing is fetched. Raises SyncError, or RepositoryError without
    a remote.
    """
    remote = store.remote_in_full()
    if remote is None:
        raise RepositoryError(
            "this workspace has no remote", f"`git -C '{store.root}' remote add origin URL`"
        )
    _, protocols = checked(remote.url, is_path_allowed=True)
    call(
        store.root,
        protocols,
        "ls-remote",
        "--quiet",
        "--heads",
        "--",
        remote.name,
        timeout_s=TIMEOUT_S,
    )
