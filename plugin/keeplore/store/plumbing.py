"""Objects, refs and index by the user's git: for repositories that libgit2 refuses, filters, and signatures."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store.authors import with_machine
from keeplore.store.backend import EXECUTABLE, REGULAR, Blob, Changes, Locked, Memo, Moved
from keeplore.store.git import output, run
from keeplore.store.locks import Directories
from keeplore.store.paths import FOLDERS, is_ours
from keeplore.store.people import Person

TREE_INDEX = "keeplore-tree"  # a private index in which a tree is put together
SIGN_TIMEOUT_S = 30.0


def signed_commit(root: Path, tree: str, parents: Sequence[str], message: str, person: Person) -> str:
    """A commit object by ``git commit-tree``, signed where the person signs. Raises RepositoryError."""
    links = [argument for parent in parents for argument in ("-p", parent)]
    sign = ["-S"] if person.is_signing else []
    done = run(
        root,
        *("commit-tree", *sign, *links, tree),
        stdin=message.encode(),
        environment=person.environment,
        timeout_s=SIGN_TIMEOUT_S,
    )
    if done.code:
        said = " ".join(done.error.split())[-300:]
        remedy = "Unlock the key's agent, or set `commit.gpgsign` to false in this repository"
        raise RepositoryError(f"git could not make a commit: {said}", remedy if sign else "Mend what git names")
    return done.text


class Plumbing:
    """A Backend. Runs no git hooks; its commits are made as libgit2's are, by moving a ref to a commit object."""

    name = "git"

    def __init__(self, root: Path, places: Directories, memo: Memo) -> None:
        self._machine = memo.machine
        self.root = root
        self.places = places
        output(root, "rev-parse", "--git-dir")  # says why, where git refuses this repository

    def ref(self) -> str:
        return run(self.root, "symbolic-ref", "-q", "HEAD").text

    def tip(self, ref: str) -> str:
        return run(self.root, "rev-parse", "-q", "--verify", f"{ref}^{{commit}}").text

    def tracked(self, commit: str, extra: Collection[str] = ()) -> dict[str, Blob]:
        found = {}
        if commit:
            for item in output(self.root, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *FOLDERS, *extra).items:
                facts, path = item.split("\t", 1)
                mode, _, id_ = facts.split(" ")
                if int(mode, 8) in (REGULAR, EXECUTABLE) and (is_ours(path) or path in extra):
                    found[path] = Blob(id_, int(mode, 8))
        return found

    def hashes(self, paths: Sequence[str]) -> dict[str, str]:
        return self._hash(paths)

    def keep(self, paths: Sequence[str]) -> dict[str, str]:
        return self._hash(paths, "-w")

    def has_filter(self, paths: Iterable[str]) -> bool:  # noqa: ARG002  # git runs them
        return False

    def ignored(self, paths: Sequence[str]) -> set[str]:
        return set(run(self.root, "check-ignore", "-z", "--stdin", stdin=_joined(paths)).items)

    def left_out(self, paths: Sequence[str]) -> set[str]:
        tagged = output(self.root, "ls-files", "-t", "-z").items if paths else []
        return {item[2:] for item in tagged if item.startswith("S ")} & set(paths)

    def commit(self, parents: Sequence[str], changes: Changes, message: str, person: Person) -> str:
        private = self.places.own / TREE_INDEX
        environment = {"GIT_INDEX_FILE": str(private)}
        try:
            output(self.root, "read-tree", parents[0] if parents else "--empty", environment=environment)
            self._edit(private, changes)
            tree = output(self.root, "write-tree", "--missing-ok", environment=environment).text
        finally:
            for left in (private, private.with_name(f"{TREE_INDEX}.lock")):
                with contextlib.suppress(OSError):
                    left.unlink(missing_ok=True)
        return signed_commit(self.root, tree, parents, with_machine(message, self._machine), person)

    def move(self, ref: str, new: str, old: str, message: str) -> None:
        done = run(self.root, "update-ref", "-m", message, ref, new, old)
        if done.code:
            raise (Locked if "File exists" in done.error else Moved)(done.error)

    def has_unmerged(self, index: Path) -> bool:
        return bool(output(self.root, "ls-files", "-u", "-z", environment={"GIT_INDEX_FILE": str(index)}).out)

    def _edit(self, index: Path, changes: Changes) -> None:
        zero = "0" * len(next((blob.id for blob in changes.values() if blob), "0" * 40))
        lines = [f"{blob.mode:o} {blob.id}\t{path}" if blob else f"0 {zero}\t{path}" for path, blob in changes.items()]
        removals_first = sorted(lines, key=lambda line: not line.startswith("0 "))
        environment = {"GIT_INDEX_FILE": str(index)}
        output(
            self.root,
            "update-index",
            "--replace",
            "-z",
            "--index-info",
            stdin=_joined(removals_first),
            environment=environment,
        )

    def _hash(self, paths: Sequence[str], *options: str) -> dict[str, str]:
        if not paths:
            return {}
        paths = [path for path in paths if os.access(self.root / path, os.R_OK)]
        listed = "\n".join(paths).encode()  # there is no -z; names with line breaks never come here
        done = run(self.root, "hash-object", *options, "--stdin-paths", stdin=listed)
        if done.code:
            if all((self.root / path).exists() for path in paths):
                said = " ".join(done.error.split())[-300:]
                raise RepositoryError(f"git cannot take a file of memory: {said}", "Mend the filter that git names")
            raise Moved
        return dict(zip(paths, done.text.split("\n"), strict=True))


def _joined(items: Sequence[str]) -> bytes:
    return "".join(f"{item}\0" for item in items).encode("utf-8", "surrogateescape")
