"""The canonical text: files in a git repository. The only door to libgit2, and the only writer of
memory files.
"""

from keeplore.store.creation import create
from keeplore.store.delete.tombstones import Tombstone
from keeplore.store.files import File
from keeplore.store.git.checkout_info import CheckoutInfo, checkout_info
from keeplore.store.git.git_command import Done, run
from keeplore.store.git.remotes import Remote, displayed
from keeplore.store.results import Committed, Merged, Purged, PurgePlan
from keeplore.store.store import Store

__all__ = [
    "CheckoutInfo",
    "Committed",
    "Done",
    "File",
    "Merged",
    "PurgePlan",
    "Purged",
    "Remote",
    "Store",
    "Tombstone",
    "checkout_info",
    "create",
    "displayed",
    "run",
]
