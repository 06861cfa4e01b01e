"""The notes of one project in its own code repository: files below ``.keeplore/``, which people
review and commit with the code.

Nothing is committed, staged or merged here, and what a branch does not have is not there: no file
that is missing is taken for forgotten. Tombstones, audit and what was forgotten are kept in the
person's workspace.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from keeplore.config.project_file import NAME
from keeplore.errors import NotFound, RepositoryError, StoreError, UnsafePath
from keeplore.memory import Memory, relative_path
from keeplore.memory.conversation_body import turns_of
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import code_path, digits_of
from keeplore.memory.merge.conflict_marks import versions
from keeplore.memory.model import Scope
from keeplore.memory.names import short_id
from keeplore.memory.note import hash_of
from keeplore.store import files, memory_files
from keeplore.store.delete.delete import KEPT, MissingMemory, forget_all
from keeplore.store.files import FileState
from keeplore.store.git.git_command import output, run
from keeplore.store.git.remotes import Remote
from keeplore.store.memory_files import MemoryFile
from keeplore.store.merge.merge_plan import merge_versions
from keeplore.store.paths import is_memory, is_side
from keeplore.store.repository_state import check_idle, directories, plain_head
from keeplore.store.results import PurgePlan, PurgeResult
from keeplore.store.store import Store, place_of
from keeplore.store.tombstones import Tombstone

FOLDER = "memory"
ENTITIES = "entities"
# more can only be meant to keep us busy
MAX_FILES = 20_000


class CodeStore(Store):
    """The notes kept in one work tree; ``home`` is the store of the person's workspace.

    Every memory is of ``project``, whatever its file says of its scope: what comes with the code
    is about the code. Raises UnsafePath where ``.keeplore`` is a link.
    """

    def __init__(
        self,
        top: Path,
        project: str,
        home: Store,
        before_write: Callable[[Memory], Memory],
        *,
        is_elsewhere: Callable[[str], bool],
    ) -> None:
        """``is_elsewhere`` tells of ids that the workspace has, which counts then."""
        super().__init__(
            top / NAME, machine=home.cache.machine, before_write=before_write
        )
        self.top = top
        self._project = project
        self._home = home
        self._is_elsewhere = is_elsewhere
        # one lock for both: a note is looked for in the one and written to the other
        self.exclusive = home.exclusive
        self.tombstones = home.tombstones
        self.history = home.history
        self._check_place()

    def save(self, memory: Memory, known: str = "") -> str:
        """Like a workspace's ``save``; a file that exists is not changed while git is in the middle
        of something of the person's.
        """
        if memory.scope != Scope.PROJECT:
            raise StoreError(
                f"{memory.id} is kept with the code of {self._project}",
                "Write it with `keeplore remember --scope`, then forget this one",
            )
        self._check_place()
        if known:
            self._check_idle()
        return super().save(memory, known)

    def move(self, path: str, to: str) -> None:
        self._check_place()
        self._check_idle()
        super().move(path, to)

    def remove(self, path: str) -> None:
        self._check_place()
        self._check_idle()
        super().remove(path)

    def load(self, path: str) -> Memory:
        """The memory at a path. Raises NotFound also for what this person has forgotten, whichever
        branch brings it, and for what the workspace has.
        """
        memory = super().load(path)
        if memory.id in self.tombstones:
            raise NotFound(
                f"{memory.id} is forgotten",
                f"`keeplore restore {memory.id}` brings it back",
            )
        if self._is_elsewhere(memory.id):
            raise NotFound(f"{memory.id} is in the workspace", "`keeplore show` has it")
        meta = {**memory.meta, "scope": str(Scope.PROJECT), "project": self._project}
        return Memory(meta, memory.body, memory.problems, memory.hints)

    def present(self) -> Iterator[FileState]:
        found = files.walk(self.root, FOLDER, [])
        memories = (file for file in found if is_memory(file.path))
        yield from itertools.islice(memories, MAX_FILES)
        yield from self._entities()

    def _entities(self) -> Iterator[FileState]:
        """Entity files of the person's workspace that say what names stand for in this project."""
        for folder in (ENTITIES, f"projects/{self._project}/{ENTITIES}"):
            found = files.walk(self._home.root, folder, [])
            yield from (file for file in found if is_side(file.path))

    def read_text(self, path: str, limit_bytes: int) -> str:
        if is_side(path):
            return self._home.read_text(path, limit_bytes)
        return super().read_text(path, limit_bytes)

    def head(self) -> str:
        if known := plain_head(directories(self.top)):
            return known
        return run(self.top, "rev-parse --quiet --verify HEAD^{commit}").text

    def forget_all(
        self, memory_ids: Iterable[str], machine: str, at: str
    ) -> list[Tombstone]:
        """Remove the files, which git has until somebody commits that, and write the tombstones
        into the person's workspace.
        """
        with self.exclusive:
            self._check_place()
            found = memory_files.copies_of_all(self.root, self.scan(), memory_ids)
            if any(found.values()):
                self._check_idle()
            write = partial(self._write_tombstone, machine=machine, at=at)
            return forget_all(self.root, self.tombstones, found, write)

    def _write_tombstone(
        self, copies: Sequence[MemoryFile], machine: str, at: str
    ) -> Tombstone:
        """Note that this person forgot a memory; its text stays in the workspace's git, to be
        restored.
        """
        path, memory = copies[0]
        data = files.read(self.root, path, MAX_FILE)
        # `restore` brings it back into the workspace: what lies in git here is the team's
        own = memory.with_meta(scope=str(Scope.PROJECT), project=self._project)
        tombstone = self.tombstones.get(memory.id) or Tombstone(
            memory.id,
            at,
            machine,
            content=hash_of(memory),
            turns=tuple(turns_of(memory)),
            path=relative_path(own),
        )
        blob = output(self._home.root, "hash-object -w --stdin", stdin=data).text
        output(self._home.root, "update-ref", f"{KEPT}{memory.id}", blob)
        self.tombstones.write(tombstone)
        return tombstone

    def forgotten(self, memory_id: str) -> Memory:
        return self._home.forgotten(memory_id)

    def restore(self, memory_id: str) -> str:
        """Bring back what was forgotten, into the person's workspace; the path is absolute."""
        return str(self._home.root / self._home.restore(memory_id))

    def deleted(self, *_args: object) -> Iterator[MissingMemory]:
        """None: a file that is not there is on another branch."""
        return iter(())

    def purge_plan(self, memory_ids: Collection[str]) -> PurgePlan:
        """What purging these memories takes away. The commits of the code that have the notes are
        counted and stay: its history is the team's.
        """
        present = list(self.scan())
        paths = {
            f"{NAME}/{path}"
            for memory_id in memory_ids
            for path, _ in memory_files.copies(self.root, present, memory_id)
        }
        digits = {short_id(memory_id) for memory_id in memory_ids}
        listed = output(
            self.top, "log --all --format= --name-only -z --", f"{NAME}/{FOLDER}"
        )
        paths |= {path for path in listed.items if digits_of(path) in digits}
        commits = []
        if paths:
            commits = output(self.top, "rev-list --all --", *sorted(paths)).text.split()
        plan = self._home.purge_plan(memory_ids)
        paths.update(plan.paths)
        return replace(plan, paths=tuple(sorted(paths)), kept=len(commits))

    def purge(self, memory_ids: Collection[str], machine: str, at: str) -> PurgeResult:
        """Remove the files, and every word of them that Keeplore wrote elsewhere; what is
        committed here stays until the team rewrites its history.
        """
        self._home.purge_plan(memory_ids)  # raises where that cannot be done now
        self.forget_all(memory_ids, machine, at)
        return self._home.purge(memory_ids, machine, at)

    def record(self, machine: str, entry: Mapping[str, Any]) -> None:
        self._home.record(machine, entry)

    def records(self) -> Iterator[dict[str, Any]]:
        return self._home.records()

    def recover(self) -> bool:
        return False

    def remote_in_full(self) -> Remote | None:
        return None

    def is_held_up(self) -> bool:
        return False

    def unmerged(self) -> dict[str, dict[str, str]]:
        """The notes in conflict in the person's merge: path → stage → blob id."""
        found: dict[str, dict[str, str]] = {}
        listed = output(self.top, "ls-files -z --unmerged --", f"{NAME}/{FOLDER}")
        for (_, blob, stage), path in listed.entries:
            found.setdefault(path.removeprefix(f"{NAME}/"), {})[stage] = blob
        return found

    def repair_merges(self, troubled: Iterable[str]) -> tuple[str, ...]:
        """Merge by fields what git left with marks of a conflict; the person stages it.

        Returns what was written. Raises RepositoryError or OSError.
        """
        mended: list[str] = []
        with self.exclusive:
            self._check_place()
            unmerged = self.unmerged()
            for path in troubled:
                stages = unmerged.get(path, {})
                if "2" in stages and "3" in stages and self._has_marks(path):
                    mended += self._merge(path, stages)
        return tuple(mended)

    def _has_marks(self, path: str) -> bool:
        """False where the person has been at it."""
        with contextlib.suppress(StoreError, OSError, UnicodeDecodeError):
            return versions(files.read(self.root, path, MAX_FILE).decode()) is not None
        return False

    def _merge(self, path: str, stages: Mapping[str, str]) -> tuple[str, ...]:
        base, one, other = (
            output(self.top, "cat-file blob", stages[n]).out if n in stages else b""
            for n in "123"
        )
        data, extra = merge_versions(path, base or None, one, other)
        texts = {code_path(place): text for place, text in extra.items()}
        for place, text in {**texts, path: data}.items():
            files.write(self.root, place, text)
        return (*texts, path)

    def _place(self, memory: Memory, known: str) -> str:
        own = relative_path(memory.with_meta(scope=str(Scope.WORKSPACE), project=None))
        return place_of(memory, known, own)

    def _check_idle(self) -> None:
        """Raise RepositoryBusy: a changed file would stand in the person's way."""
        check_idle(self.top, directories(self.top))

    def _check_place(self) -> None:
        """Raise UnsafePath where another branch has put a link in the folder's place, or
        RepositoryError where the work tree is gone.
        """
        if self.root.is_symlink():
            raise UnsafePath(
                f"{self.root} is a symbolic link", "Put the folder itself there"
            )
        if not (self.top / ".git").exists():
            raise RepositoryError(
                f"{self.top} is no work tree any more", "Run it again"
            )
