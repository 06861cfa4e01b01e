"""Exchanging a workspace with its remote, through the user's own git."""

from keeplore.sync.clone import clone
from keeplore.sync.errors import SyncError
from keeplore.sync.reach import reach
from keeplore.sync.synchronise import Synced, synchronise

__all__ = ["SyncError", "Synced", "clone", "reach", "synchronise"]
