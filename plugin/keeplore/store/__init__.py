"""The canonical text: files in a git repository. The only door to libgit2, and the only writer of
memory files.
"""

from keeplore.store.creation import create
from keeplore.store.files import FileState
from keeplore.store.freezable_store import FreezableStore
from keeplore.store.git.checkout_info import CheckoutInfo, checkout_info
from keeplore.store.git.git_command import GitResult, run
from keeplore.store.git.remotes import Remote, without_credentials
from keeplore.store.results import CommitResult, MergeResult, PurgePlan, PurgeResult
from keeplore.store.store import Store
from keeplore.store.tombstones import Tombstone

__all__ = [
    "CheckoutInfo",
    "CommitResult",
    "FileState",
    "FreezableStore",
    "GitResult",
    "MergeResult",
    "PurgePlan",
    "PurgeResult",
    "Remote",
    "Store",
    "Tombstone",
    "checkout_info",
    "create",
    "run",
    "without_credentials",
]
