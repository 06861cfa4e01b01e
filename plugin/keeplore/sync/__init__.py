"""Exchanging a workspace with its remote, through the user's own git."""

from keeplore.sync.clone import checks_out_workspace, clone
from keeplore.sync.errors import SyncError
from keeplore.sync.remote_git import check_reachable
from keeplore.sync.synchronise import SyncResult, synchronise

__all__ = [
    "SyncError",
    "SyncResult",
    "check_reachable",
    "checks_out_workspace",
    "clone",
    "synchronise",
]
