"""What differs between two commits or trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keeplore.store.backend import EXECUTABLE, REGULAR, Blob

if TYPE_CHECKING:
    import pygit2


@dataclass(frozen=True, slots=True)
class Change:
    before: Blob | None
    after: Blob | None

    @property
    def is_plain(self) -> bool:
        """Whether only regular files are concerned."""
        return all(blob is None or blob.mode in (REGULAR, EXECUTABLE) for blob in (self.before, self.after))


Difference = Mapping[str, Change]


def difference(repository: pygit2.Repository, old: str, new: str) -> dict[str, Change]:
    """What differs between two commits or trees; ``old`` may be "" for nothing."""
    import pygit2  # here, because it costs 90 ms and whoever only reads files needs none

    after = repository[new].peel(pygit2.Tree)
    diff = repository[old].peel(pygit2.Tree).diff_to_tree(after) if old else after.diff_to_tree(swap=True)
    found: dict[str, Change] = {}
    for delta in diff.deltas:
        before = Blob(str(delta.old_file.id), int(delta.old_file.mode)) if delta.old_file.mode else None
        later = Blob(str(delta.new_file.id), int(delta.new_file.mode)) if delta.new_file.mode else None
        path = delta.new_file.path or delta.old_file.path
        if known := found.get(path):  # a link in the place of a file comes as a removal and an addition
            before, later = known.before or before, known.after or later
        found[path] = Change(before, later)
    return found
