"""The canonical text: files in a git repository. The only door to libgit2, and the only writer of memory files."""

from keeplore.store.creation import create
from keeplore.store.facts import Facts, facts
from keeplore.store.files import File
from keeplore.store.forgotten import Tombstone
from keeplore.store.git import Done, run
from keeplore.store.remotes import Remote, displayed
from keeplore.store.results import Committed, Merged, Purged, PurgePlan
from keeplore.store.store import Store

__all__ = [
    "Committed",
    "Done",
    "Facts",
    "File",
    "Merged",
    "PurgePlan",
    "Purged",
    "Remote",
    "Store",
    "Tombstone",
    "create",
    "displayed",
    "facts",
    "run",
]
