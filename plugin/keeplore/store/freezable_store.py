"""The memories of a workspace that a person may freeze at any time: from then on nothing is written
into it, by whoever has it open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from keeplore.errors import WorkspaceFrozen
from keeplore.memory import Memory
from keeplore.store.git.git_locks import WriteLock
from keeplore.store.results import CommitResult, PurgeResult
from keeplore.store.store import Store


class FreezableStore(Store):
    """While ``is_frozen`` whoever wants to write gets WorkspaceFrozen; what is done now and then by
    itself (commits, repairs) does nothing.
    """

    def __init__(
        self,
        root: Path,
        *,
        is_frozen: Callable[[], bool],
        branch: str,
        machine: str,
        before_write: Callable[[Memory], Memory],
    ) -> None:
        super().__init__(
            root, branch=branch, machine=machine, before_write=before_write
        )
        self._is_frozen = is_frozen
        self.exclusive = FreezableLock(root, self._check)

    def _check(self) -> None:
        if self._is_frozen():
            raise WorkspaceFrozen(self.root)

    def save(self, memory: Memory, known: str = "") -> str:
        self._check()
        return super().save(memory, known)

    def remove(self, path: str) -> None:
        self._check()
        super().remove(path)

    def write_text(self, path: str, text: str) -> None:
        self._check()
        super().write_text(path, text)

    def purge(self, memory_ids: Collection[str], machine: str, at: str) -> PurgeResult:
        self._check()
        return super().purge(memory_ids, machine, at)

    def follow_purges(self, other: str = "") -> PurgeResult:
        self._check()
        return super().follow_purges(other)

    def commit(self, message: str = "", extra: Iterable[str] = ()) -> CommitResult:
        if self._is_frozen():
            return CommitResult(None)
        return super().commit(message, extra)

    def recover(self) -> bool:
        return not self._is_frozen() and super().recover()

    def conclude(self, quiet_s: float = 0.0) -> tuple[str, ...]:
        return () if self._is_frozen() else super().conclude(quiet_s)

    def repair_merges(self, troubled: Iterable[str]) -> tuple[str, ...]:
        return () if self._is_frozen() else super().repair_merges(troubled)


class FreezableLock(WriteLock):
    """The right to write, which nobody gets where ``check`` raises."""

    def __init__(self, root: Path, check: Callable[[], None]) -> None:
        super().__init__(root)
        self._check = check

    def __enter__(self) -> None:
        self._check()
        super().__enter__()
