"""Objects, refs and index by the user's git: for repositories that libgit2 refuses, filters, and
signatures.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store.git.git_command import (
    MERGE_DRIVER,
    QUIET,
    GitResult,
    git_in,
    ignored,
    nul_separated,
    output,
    run,
)
from keeplore.store.git.objects import (
    PLAIN,
    Blob,
    Changes,
    ConflictSides,
    CycleCache,
    Locked,
    MergeIndex,
    Moved,
    PathChange,
)
from keeplore.store.git.signature import Signature, with_machine
from keeplore.store.paths import FOLDERS, is_ours
from keeplore.store.repository_state import Directories, check_rights

TREE_INDEX = "keeplore-tree"  # a private index in which a tree is put together
SIGN_TIMEOUT_S = 30.0
USAGE = 129  # how git ends that does not know an option
# renames are followed by ids, and our merge driver would write into the working tree
_PLAINLY = (
    f"-c merge.renames=false -c merge.directoryRenames=false -c {MERGE_DRIVER}.driver=false "
    f"-c {MERGE_DRIVER}.recursive=text"
).split()
_MERGE_TREE = "merge-tree --write-tree --allow-unrelated-histories -z --no-messages"


class GitBackend:
    """A repository by the user's git alone, for one cycle; ``LibgitBackend`` is quicker where it
    can be used. Runs no git hooks; a commit is made by moving a ref to a commit object.
    """

    name = "git"

    def __init__(self, root: Path, places: Directories, cache: CycleCache) -> None:
        self._cache = cache
        self.root = root
        self.places = places
        # says why, where git refuses this repository
        output(root, "rev-parse --git-dir")

    def ref(self) -> str:
        """The full name of what HEAD points to, "" where it is detached."""
        return run(self.root, "symbolic-ref -q HEAD").text

    def tip(self, ref: str) -> str:
        """The commit of a ref, "" where it has none."""
        return run(self.root, "rev-parse -q --verify", f"{ref}^{{commit}}").text

    def tracked(self, commit: str, extra: Collection[str] = ()) -> dict[str, Blob]:
        """The regular files of ours in a commit, and those of ``extra``."""
        listed = self._listed_blobs(commit, "--", *FOLDERS, *extra) if commit else {}
        return {
            path: blob
            for path, blob in listed.items()
            if blob.mode in PLAIN and (is_ours(path) or path in extra)
        }

    def hashes(self, paths: Sequence[str]) -> dict[str, str]:
        """The blob ids that the files on disk would get; nothing is written. A file that is gone is
        left out.
        """
        return self._hash(paths, "hash-object --stdin-paths")

    def keep(self, paths: Sequence[str]) -> dict[str, str]:
        """The blob ids of the files on disk, written to the object database. A file that is gone is
        left out.
        """
        return self._hash(paths, "hash-object -w --stdin-paths")

    def has_filter(self, _paths: Iterable[str]) -> bool:
        """Whether a program of the user's must turn one of the files into what git keeps, and this
        cannot run it.
        """
        return False  # git runs them

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Which of the paths git is told to ignore."""
        return ignored(self.root, paths)

    def left_out(self, paths: Sequence[str]) -> set[str]:
        """Which of the paths are absent from disk because the user checked out a part of the
        tree.
        """
        tagged = output(self.root, "ls-files -t -z").items if paths else []
        return {item[2:] for item in tagged if item.startswith("S ")} & set(paths)

    def commit(
        self, parents: Sequence[str], changes: Changes, message: str, person: Signature
    ) -> str:
        """Write the tree of the first parent with the changes, and a commit of it. No ref moves."""
        tree = self.tree(parents[0] if parents else "", changes)
        return self.commit_of(tree, parents, message, person)

    def commit_of(
        self, tree: str, parents: Sequence[str], message: str, person: Signature
    ) -> str:
        """A commit object of a tree, signed where the person signs. Raises RepositoryError."""
        links = [argument for parent in parents for argument in ("-p", parent)]
        done = run(
            self.root,
            "commit-tree -S" if person.is_signing else "commit-tree",
            *links,
            tree,
            stdin=with_machine(message, self._cache.machine).encode(),
            environment=person.environment,
            timeout_s=SIGN_TIMEOUT_S,
        )
        if done.code:
            remedy = "Mend what git names"
            if person.is_signing:
                remedy = (
                    "Unlock the key's agent, or set `commit.gpgsign` to false in this "
                    "repository"
                )
            raise RepositoryError(
                f"git could not make a commit: {done.complaint}", remedy
            )
        return done.text

    def tree(self, base: str, changes: Changes) -> str:
        """The tree of a commit or tree, "" for none, with the changes."""
        private = self.places.own / TREE_INDEX
        environment = {"GIT_INDEX_FILE": str(private)}
        entries = nul_separated(_index_lines(changes, base))
        try:
            output(self.root, "read-tree", base or "--empty", environment=environment)
            output(
                self.root,
                "update-index --replace -z --index-info",
                stdin=entries,
                environment=environment,
            )
            return output(
                self.root, "write-tree --missing-ok", environment=environment
            ).text
        finally:
            for left in (private, private.with_name(f"{TREE_INDEX}.lock")):
                with contextlib.suppress(OSError):
                    left.unlink(missing_ok=True)

    def changes(self, old: str, new: str) -> dict[str, PathChange]:
        """What differs between two commits or trees; ``old`` may be "" for nothing."""
        if not old:
            return {
                path: PathChange(None, blob)
                for path, blob in self._listed_blobs(new).items()
            }
        diff = output(
            self.root, "diff-tree -r -z --raw --no-renames --no-abbrev", old, new
        )
        return {
            path: PathChange(_blob(mode, id_), _blob(new_mode, new_id))
            for (mode, new_mode, id_, new_id, _), path in diff.changes
        }

    def read(self, blob: Blob, path: str) -> bytes:
        """The text of a file that git has, as it would be on disk at the path."""
        if blob.mode not in PLAIN:
            return output(self.root, "cat-file blob", blob.id).out
        return output(self.root, "cat-file --filters", f"--path={path}", blob.id).out

    def write(self, data: bytes, path: str) -> str:
        """The id of the blob for a file with this text at the path; it is there then."""
        return output(
            self.root, "hash-object -w --stdin", f"--path={path}", stdin=data
        ).text

    def merge_index(self, one: str, other: str) -> MergeIndex:
        """What git's merge makes of two commits; where it renames nothing, no file gets lines of
        another.
        """
        done = run(self.root, _MERGE_TREE, one, other, options=(*QUIET, *_PLAINLY))
        self._check_merge(done)
        tree = done.items[0]
        mine, theirs = self._listed_blobs(one), self._listed_blobs(other)
        listed = GitResult(0, done.out[len(tree) + 1 :], "")
        conflicts = _conflicts(listed, mine, theirs)
        # of a conflict git writes what is no file of anybody: one with marks, or under such a name
        known = (mine.keys() | theirs.keys()) - conflicts.keys()
        return _GitMergeIndex(self, tree, self._listed_blobs(tree), known, conflicts)

    def _check_merge(self, result: GitResult) -> None:
        if result.code == USAGE:
            raise RepositoryError(
                "this repository can only be merged by git 2.38 or newer", "Update git"
            )
        if result.code not in (0, 1):
            raise RepositoryError(
                f"git did not merge: {result.complaint}",
                f"Run `{git_in(self.root)} fsck` to see why",
            )

    def _listed_blobs(self, tree: str, *paths: str) -> dict[str, Blob]:
        """Every path of a commit or tree, links and submodules too."""
        entries = output(self.root, "ls-tree -r -z --full-tree", tree, *paths).entries
        return {path: Blob(id_, int(mode, 8)) for (mode, _, id_), path in entries}

    def move(self, ref: str, new: str, old: str, message: str) -> None:
        """Set a ref if it is still at ``old``. Raises Moved or Locked."""
        done = run(self.root, "update-ref -m", message, ref, new, old)
        if done.code:
            kind = Locked if "File exists" in done.error else Moved
            raise kind(done.error)

    def has_unmerged(self, index: Path) -> bool:
        """Whether an index file holds conflicts that nobody has resolved yet."""
        return bool(
            output(
                self.root, "ls-files -u -z", environment={"GIT_INDEX_FILE": str(index)}
            ).out
        )

    def staged(self, commit: str, index: Path) -> dict[str, PathChange]:
        """What differs between a commit, "" for none, and an index file without conflicts: paths of
        ours alone.
        """
        environment = {"GIT_INDEX_FILE": str(index)}
        if not commit:
            listed = output(self.root, "ls-files -s -z", environment=environment)
            added = (
                (path, _blob(mode, id_)) for (mode, id_, _), path in listed.entries
            )
            return {
                path: PathChange(None, blob) for path, blob in added if is_ours(path)
            }
        diff = output(
            self.root,
            "diff-index --cached -z --raw --no-renames --no-abbrev",
            commit,
            environment=environment,
        )
        return {
            path: PathChange(_blob(mode, id_), _blob(new_mode, new_id))
            for (mode, new_mode, id_, new_id, _), path in diff.changes
            if is_ours(path)
        }

    def _hash(self, paths: Sequence[str], command: str) -> dict[str, str]:
        paths = [path for path in paths if os.access(self.root / path, os.R_OK)]
        if not paths:
            return {}
        # there is no -z; names with line breaks never come here
        done = run(self.root, command, stdin="\n".join(paths).encode())
        if done.code == 0:
            return dict(zip(paths, done.text.split("\n"), strict=True))
        if not all((self.root / path).exists() for path in paths):
            raise Moved
        raise self._refusal(done)

    def _refusal(self, done: GitResult) -> RepositoryError:
        """Why git takes no file. Raises it itself where the rights are in the way."""
        check_rights(self.places, done.error)
        return RepositoryError(
            f"git cannot take a file of memory: {done.complaint}",
            "Install the filter that git names, or take it out of .gitattributes",
        )


class _GitMergeIndex(MergeIndex):
    def __init__(
        self,
        backend: GitBackend,
        base: str,
        files: dict[str, Blob],
        known: Collection[str],
        sides: Mapping[str, ConflictSides],
    ) -> None:
        super().__init__(
            {path: blob for path, blob in files.items() if path in known}, sides
        )
        self._changed = dict.fromkeys(path for path in files if path not in known)
        self._backend = backend
        self._base = base

    def tree(self) -> str:
        return self._backend.tree(self._base, self._changed)


def _blob(mode: str, id_: str) -> Blob | None:
    return Blob(id_, int(mode, 8)) if int(mode, 8) else None


def _conflicts(
    unmerged: GitResult, mine: Mapping[str, Blob], theirs: Mapping[str, Blob]
) -> dict[str, ConflictSides]:
    """The sides of each conflict, by the path that one of them has."""
    conflicts: dict[str, ConflictSides] = {}
    for (mode, id_, stage), listed in unmerged.entries:
        is_known = listed in mine or listed in theirs
        # git lists a file as "path~branch" where the other side has a folder at its path
        path = listed if is_known else listed.rpartition("~")[0]
        base = conflicts[path].base if path in conflicts else None
        if stage == "1":
            base = _blob(mode, id_)
        conflicts[path] = ConflictSides(base, mine.get(path), theirs.get(path))
    return conflicts


def _index_lines(changes: Changes, base: str) -> list[str]:
    """The changes of a commit or tree as ``update-index --index-info`` takes them, removals
    first.
    """
    zero = "0" * len(base)  # as long as its ids; "" has nothing to remove
    removed = [f"0 {zero}\t{path}" for path, blob in changes.items() if not blob]
    written = [
        f"{blob.mode:o} {blob.id}\t{path}" for path, blob in changes.items() if blob
    ]
    return [*removed, *written]
