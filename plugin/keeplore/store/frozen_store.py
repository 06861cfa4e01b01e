"""The memories of a workspace into which nothing is written: every reading method of the store, and
none that writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from keeplore.errors import WorkspaceFrozen
from keeplore.memory import Memory
from keeplore.store.git.git_locks import WriteLock
from keeplore.store.results import CommitResult, PurgeResult
from keeplore.store.store import Store


class FrozenStore(Store):
    """Whoever wants to write gets WorkspaceFrozen; what is done now and then by itself (commits,
    repairs) does nothing.
    """

    def __init__(self, root: Path, *, branch: str = "", machine: str = "") -> None:
        super().__init__(root, branch=branch, machine=machine)
        self.exclusive = FrozenLock(root)

    def save(self, memory: Memory, known: str = "") -> str:
        del memory, known
        raise WorkspaceFrozen(self.root)

    def remove(self, path: str) -> None:
        del path
        raise WorkspaceFrozen(self.root)

    def write_text(self, path: str, text: str) -> None:
        del path, text
        raise WorkspaceFrozen(self.root)

    def purge(self, memory_ids: Collection[str], machine: str, at: str) -> PurgeResult:
        del memory_ids, machine, at
        raise WorkspaceFrozen(self.root)

    def follow_purges(self, other: str = "") -> PurgeResult:
        del other
        raise WorkspaceFrozen(self.root)

    def commit(self, message: str = "") -> CommitResult:
        del message
        return CommitResult(None)

    def recover(self) -> bool:
        return False

    def conclude(self, quiet_s: float = 0.0) -> tuple[str, ...]:
        del quiet_s
        return ()

    def heal(self, troubled: Iterable[str]) -> tuple[str, ...]:
        del troubled
        return ()


class FrozenLock(WriteLock):
    """The right to write, which nobody gets."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._place = root

    def __enter__(self) -> None:
        raise WorkspaceFrozen(self._place)
