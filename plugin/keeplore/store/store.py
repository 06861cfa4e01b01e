"""The canonical text: memories as files in a git repository, and the only writer of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from keeplore.errors import AlreadyExists, NotFound, RepositoryBusy
from keeplore.memory import Memory, relative_path, serialise
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import names_id
from keeplore.memory.names import no_such_memory
from keeplore.store import audit_log, files, memory_files, removal_guard, transaction
from keeplore.store.commit import reconcile
from keeplore.store.delete import delete
from keeplore.store.delete.mentions import merge_copies
from keeplore.store.files import FileState
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import run
from keeplore.store.git.git_locks import CommitLock, WriteLock
from keeplore.store.git.objects import CycleCache, Unsupported
from keeplore.store.git.remotes import Remote, remote_of, without_credentials
from keeplore.store.memory_files import MemoryFile
from keeplore.store.merge import repair
from keeplore.store.paths import (
    check_moved,
    check_read,
    check_written,
    is_memory,
    is_portable,
)
from keeplore.store.repository_state import (
    check_branch,
    check_idle,
    directories,
    plain_head,
    wait_for_rebase,
)
from keeplore.store.results import CommitResult, MergeResult, PurgePlan, PurgeResult
from keeplore.store.tombstones import Tombstone, Tombstones
from keeplore.store.transaction import TransactionChanges


def _unchanged(memory: Memory) -> Memory:
    return memory


class Store:
    """The memories of one workspace. Files are durable when a method returns; git follows with
    ``commit``.

    Safe for several threads and processes. ``branch`` is the only one that is committed on, "" for
    any; ``before_write`` sees every memory before it reaches the disk; commits name the
    ``machine``. What ``cache.scan`` finds a secret in is not committed.
    """

    def __init__(
        self,
        root: Path,
        *,
        branch: str = "",
        machine: str = "",
        before_write: Callable[[Memory], Memory] = _unchanged,
    ) -> None:
        # in a code store ``top`` is its repository, ``history`` the workspace of the person
        self.root = self.top = self.history = root
        self.branch = branch
        self._before_write = before_write
        self.cache = CycleCache(machine)
        self.exclusive = WriteLock(root)
        self.tombstones = Tombstones(root)

    def as_written(self, memory: Memory) -> Memory:
        """The memory as ``save`` would write it."""
        return self._before_write(memory)

    def save(self, memory: Memory, known: str = "") -> str:
        """Write a memory to its place and return the path; an older file of the same id beside it
        is removed after.

        ``known`` is where its file is, "" for none: a name or folder that a person chose stays.
        Raises Forgotten, UnsafePath or OSError; what stood there before is then untouched.
        """
        self.tombstones.check(memory.id)
        memory = self._before_write(memory)
        path = self._place(memory, known)
        older = memory_files.namesakes(self.root, path, memory.id)
        is_alone = not (self.root / ".git").exists()
        if not is_alone:
            wait_for_rebase(self.root)
        # a repair sets aside what is written while it goes on with a rebase, and must not miss any
        with contextlib.nullcontext() if is_alone else self.exclusive:
            files.write(self.root, path, serialise(memory).encode())
            self.cache.note_clean(path, files.file_state(self.root, path))
            for name in older:
                removal_guard.guarded_remove(self.root, name, [path])
        return path

    def add(
        self, memory: Memory, find: Callable[[str], str | None] | None = None
    ) -> str:
        """Write a memory whose id is new, and return the path; safe against others who add the same
        id at once.

        ``find`` tells the path of an id without a look at every file; whoever gives one holds
        ``exclusive``. Raises AlreadyExists, Forgotten, UnsafePath or OSError.
        """
        with self.exclusive:
            if path := (find or self.find)(memory.id):
                raise AlreadyExists(
                    f"{memory.id} is there already: {path}",
                    "`keeplore edit` changes a memory",
                )
            return self.save(memory)

    def get(self, memory_id: str) -> MemoryFile:
        """The file of a memory. Raises NotFound or OSError."""
        path = self.find(memory_id)
        if path is None:
            raise no_such_memory(memory_id)
        return MemoryFile(path, self.load(path))

    def move(self, path: str, to: str) -> None:
        """Give a memory's file another place, durably, with nothing in it changed.

        Raises NotFound, AlreadyExists where another text is there, UnsafePath or OSError.
        """
        check_moved(to)
        with self.exclusive:
            data = files.read(self.root, path, MAX_FILE)
            is_free = files.is_free(self.root, to)
            # the same text is there where a move was killed
            if not is_free and files.read(self.root, to, MAX_FILE) != data:
                raise AlreadyExists(f"{to} is there already", "Move one of them away")
            files.write(self.root, to, data)
            removal_guard.guarded_remove(self.root, path, [to], is_joined=True)

    def remove(self, path: str) -> None:
        """Remove a memory's file, durably; that it is gone already is no error. Raises UnsafePath
        or OSError.
        """
        check_read(path)
        files.remove(self.root, path)
        self.cache.own[path] = None

    def forget(self, memory_id: str, machine: str, at: str) -> Tombstone:
        """Take a memory away, archived copies too, and see to it that no machine brings it back;
        again is no error.

        ``at`` is RFC 3339. Its text stays in git. Raises NotFound, StoreError where its file cannot
        be removed, RepositoryError or OSError.
        """
        return self.forget_all((memory_id,), machine, at)[0]

    def forget_all(
        self, memory_ids: Iterable[str], machine: str, at: str
    ) -> list[Tombstone]:
        """Forget memories, with one look at the files; as ``forget``. Every one has its tombstone
        before the first file goes.
        """
        write = partial(
            delete.write_tombstone, self.root, self.tombstones, machine=machine, at=at
        )
        with self.exclusive:
            found = memory_files.copies_of_all(self.root, self.scan(), memory_ids)
            return delete.forget_all(self.root, self.tombstones, found, write)

    def restore(self, memory_id: str) -> str:
        """Bring back what was forgotten, or a file that was deleted by hand, as git had it, and
        return its path.

        Raises NotFound (never there, purged, or not in this git), AlreadyExists, RepositoryBusy or
        OSError.
        """
        if memory_id not in self.tombstones and (path := self.find(memory_id)):
            raise NotFound(
                f"{memory_id} is not forgotten, it is in {path}",
                f"`keeplore show {memory_id}` shows it",
            )
        with self.exclusive, CommitLock(directories(self.root)):
            return delete.restore(self.root, self.tombstones, memory_id)

    def purge_plan(self, memory_ids: Collection[str]) -> PurgePlan:
        """What taking these memories out of history too would change. Raises RepositoryBusy or
        RepositoryError.
        """
        # here, because libgit2 costs 90 ms and reading needs none
        from keeplore.store.delete import purge

        ids = (*memory_ids, *merge_copies(self.root, memory_ids))
        return purge.plan(self.root, self.branch, self.cache, ids)

    def purge(self, memory_ids: Collection[str], machine: str, at: str) -> PurgeResult:
        """Forget memories and take their text out of git, on this machine; sync tells the others to
        do the same.

        Can be run again after a kill, or for what was forgotten before. Raises NotFound,
        RepositoryBusy or RepositoryError, both before anything is changed where possible, or
        OSError.
        """
        from keeplore.store.delete import purge  # here, as above

        with self.exclusive:
            copies = {id_: [path for path, _ in self.copies(id_)] for id_ in memory_ids}
            for memory_id, paths in copies.items():
                if not paths and memory_id not in self.tombstones:
                    raise no_such_memory(memory_id)
            for copy in merge_copies(self.root, memory_ids):
                copies[copy] = [path for path, _ in self.copies(copy)]
            purge.check(self.root, self.branch, self.cache, copies)
            purge.mark_purged(self.root, self.tombstones, copies, machine, at)
        return self._carry_out_purges()

    def follow_purges(self, other: str = "") -> PurgeResult:
        """Do here what was purged on other machines; ``other`` is a commit of theirs that was
        fetched.

        Nothing is done where neither history holds such text. Raises RepositoryBusy or
        RepositoryError.
        """
        from keeplore.store.delete import purge  # here, as above

        head = self.head()
        theirs = purge.new_tombstones(self.root, head, other) if other else []
        known = purge.purged_blobs(self.tombstones)
        if purge.is_clean(
            self.root, purge.purged_blobs([*self.tombstones, *theirs]), [head, other]
        ):
            return PurgeResult()
        purge.check_loss(theirs, known, [file.path for file in self.scan()])
        with self.exclusive:
            purge.adopt(self.tombstones, theirs)
            at = max((tombstone.at for tombstone in theirs), default="")
            purge.include_copies(self.root, self.tombstones, self.cache.machine, at)
        return self._carry_out_purges()

    def _carry_out_purges(self) -> PurgeResult:
        """Take what is marked as purged out of history; its removal is committed first."""
        from keeplore.store.delete import purge  # here, as above

        if not purge.purged_blobs(self.tombstones):
            return PurgeResult()
        with self.exclusive:
            audit_log.drop(self.root, purge.purged_blobs(self.tombstones))
        self.commit(purge.MESSAGE)
        return purge.carry_out(self.root, self.branch, self.cache, self.tombstones)

    def forgotten(self, memory_id: str) -> Memory:
        """What ``restore`` would bring back. Raises NotFound."""
        return delete.forgotten_memory(self.root, self.tombstones, memory_id)

    def deleted(self, beginning: str) -> Iterator[delete.MissingMemory]:
        """The memories with such ids that git has had and whose files were deleted by hand; by
        their names alone.
        """
        return delete.deleted(
            self.root,
            beginning,
            lambda memory_id: (
                memory_id in self.tombstones or self.find(memory_id) is not None
            ),
        )

    def is_forgotten(self, memory_id: str) -> bool:
        """Whether the memory has a tombstone."""
        return memory_id in self.tombstones

    def forgotten_turns(self) -> Mapping[str, str]:
        """Turn → the forgotten conversation that held it."""
        return self.tombstones.turns()

    def record(self, machine: str, entry: Mapping[str, Any]) -> None:
        """Add a line to this machine's audit file; ``entry`` has ``at`` (RFC 3339). Raises
        UnsafePath or OSError.
        """
        with self.exclusive:
            audit_log.append(self.root, machine, entry)

    def records(self) -> Iterator[dict[str, Any]]:
        """What every machine has recorded."""
        return audit_log.entries(self.root)

    def recorded_ids(self, event: str) -> set[str]:
        """The ids that are recorded with this event."""
        entries = self.records()
        return {
            str(entry.get("id")) for entry in entries if entry.get("event") == event
        }

    def write_together(
        self, machine: str, changes: TransactionChanges
    ) -> tuple[str, ...]:
        """Make all these changes or none, and return the paths of the new memories; ``commit`` puts
        them into one commit.

        Whoever looked before, so that what is written fits, holds ``exclusive``. Raises Forgotten,
        UnsafePath, RepositoryBusy or OSError before anything is changed.
        """
        with self.exclusive:
            return transaction.write_together(
                self.root, machine, changes, self._before_write
            )

    def recover(self) -> bool:
        """Finish a transaction that a process left which died; returns whether there was one.
        Raises RepositoryBusy or OSError.
        """
        if not transaction.log_path(directories(self.root)).exists():
            return False
        with self.exclusive:
            return transaction.recover(self.root)

    def load(self, path: str) -> Memory:
        """Read a memory, also one that a person or another program wrote without front matter of
        ours.

        Raises NotFound, Corrupt, UnsafePath or OSError.
        """
        return memory_files.load(self.root, path)

    def find(self, memory_id: str) -> str | None:
        """The path of a memory, verified by its text; see ``memory_files.find``."""
        return memory_files.find(self.root, list(self.scan()), memory_id)

    def copies(self, memory_id: str) -> list[MemoryFile]:
        """Every file of a memory with what it says, archived ones too; first the one in use."""
        return memory_files.copies(self.root, list(self.scan()), memory_id)

    def scan(self) -> Iterator[FileState]:
        """Every memory file, the archive included, in no order; no links, no hidden files, nothing
        is read.
        """
        return (file for file in self.present() if is_memory(file.path))

    def present(self) -> Iterator[FileState]:
        """The memories, and beside them what is listed at ``paths.is_side``."""
        return files.indexed(self.root)

    def indexed(self) -> Iterator[FileState]:
        """Every file that is indexed: those present but what is forgotten, where the disk keeps it
        or somebody put it back.
        """
        present = self.present()
        return delete.without_forgotten(self.root, self.tombstones, self.cache, present)

    def came_back(self) -> set[str]:
        """Paths of present files that hold what is forgotten, which the next commit removes."""
        present = [*self.present()]
        kept = delete.without_forgotten(self.root, self.tombstones, self.cache, present)
        return {file.path for file in present} - {file.path for file in kept}

    def write_text(self, path: str, text: str) -> None:
        """Write another file of ours (a project's entry), as durably as a memory. Raises UnsafePath
        or OSError.
        """
        check_written(path)
        files.write(self.root, path, text.encode())
        self.cache.own[path] = files.file_state(self.root, path)

    def read_text(self, path: str, limit_bytes: int) -> str:
        """The text of a file inside the workspace. Raises NotFound, Corrupt, UnsafePath or
        OSError.
        """
        return files.read_text(self.root, path, limit_bytes)

    def commit(self, message: str = "", extra: Iterable[str] = ()) -> CommitResult:
        """Commit what differs between our files, and ``extra``, on disk and HEAD: nothing else.

        Raises RepositoryBusy (a merge, a rebase, another branch, a held lock: try again later) or
        RepositoryError.
        """
        return reconcile(self.root, self.branch, self.cache, message, extra)

    def merge(self, other: str, *, is_unrelated: bool = False) -> MergeResult:
        """Merge a commit that was fetched, and write what it changes to disk; see
        ``merge.merge``.
        """
        from keeplore.store.merge.merge import merge  # here, as above

        with self.exclusive:
            return merge(
                self.root, self.branch, self.cache, other, is_unrelated=is_unrelated
            )

    def conclude(self, quiet_s: float = 0.0) -> tuple[str, ...]:
        """Resolve what of ours a person's unfinished merge waits for; see ``repair.conclude``."""
        with self.exclusive:
            return repair.resolve_conflicts(self.root, self.cache, quiet_s)

    def repair_merges(self, troubled: Iterable[str]) -> tuple[str, ...]:
        """Mend the files among ``troubled`` that a merge by others left so, make one of two of one
        memory, and remove what is forgotten, under whatever name it came back.

        Returns what was written. Raises RepositoryError or OSError; every text that there was is on
        disk then.
        """
        paths = list(troubled)
        mended: list[str] = []
        with self.exclusive:
            for path in paths:
                if (held := memory_files.id_at(self.root, path)) in self.tombstones:
                    delete.withdraw_file(self.root, self.tombstones, path, held)
            for path in paths:
                mended += repair.repair_file(self.root, self.cache, path)
            mended += repair.join_copies(self.root, (file.path for file in self.scan()))
            for path in paths:
                copies = self.copies(memory_files.id_at(self.root, path))
                if len(copies) > 1:
                    paths_of_one = [copy.path for copy in copies]
                    mended += repair.join_or_separate(self.root, paths_of_one)
        return tuple(mended)

    def head(self) -> str:
        """The commit that is checked out, "" before the first. Raises RepositoryError."""
        if known := plain_head(directories(self.root)):
            return known
        backend = self._backend()
        return backend.tip(backend.ref() or "HEAD")

    def tip(self, ref: str) -> str:
        """The commit of a full ref name, "" where there is none."""
        return self._backend().tip(ref)

    def current_branch(self) -> str:
        """The branch that is committed on. Raises RepositoryBusy where another one or none is
        checked out.
        """
        return check_branch(self.root, self._backend().ref(), self.branch).removeprefix(
            "refs/heads/"
        )

    def is_held_up(self) -> bool:
        """Whether the person is in the middle of something, so that trying again at once is of no
        use.
        """
        try:
            check_idle(self.root, directories(self.root))
            self.current_branch()
        except RepositoryBusy:
            return True
        return False

    def remote(self) -> str:
        """The URL that the workspace is synchronised with, without credentials; "" for none."""
        remote = self.remote_in_full()
        return without_credentials(remote.url) if remote else ""

    def remote_in_full(self) -> Remote | None:
        """Name and URL as git uses them, credentials included: never for a person's eyes or
        a log.
        """
        return remote_of(self.root, self.branch)

    def commits_between(self, old: str, new: str) -> int:
        """How many commits ``new`` has that ``old`` has not; ``old`` may be ""."""
        exclude = [f"^{old}"] if old else []
        return int(run(self.root, "rev-list --count", new, *exclude).text or 0)

    def _place(self, memory: Memory, known: str) -> str:
        return place_of(memory, known, relative_path(memory))

    def _backend(self) -> GitBackend:
        from keeplore.store.git.libgit_backend import LibgitBackend  # here, as above

        places = directories(self.root)
        try:
            return LibgitBackend(self.root, places, self.cache)
        except Unsupported:
            return GitBackend(self.root, places, self.cache)


def place_of(memory: Memory, known: str, path: str) -> str:
    """The path where a memory is written; ``path`` is its regular place, ``known`` where its file
    is now, "" for none.
    """
    check_written(path)
    is_named_by_us = names_id(known, memory.id) and _folder(known) == _folder(path)
    if is_named_by_us or not is_portable(known):
        return path
    check_moved(known)
    return known


def _folder(path: str) -> str:
    """The folder of a path."""
    return path.rpartition("/")[0]
