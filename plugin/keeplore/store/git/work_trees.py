"""The work trees of a code repository and their branches, read from git's files alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store.git.checkout_info import main_of, top_of
from keeplore.store.repository_state import directories, pointer

_HEADS = "ref: refs/heads/"
MAX_TREES = 1000


@dataclass(frozen=True, slots=True)
class WorkTree:
    """``main`` is the top of the main one, the same for all of a repository."""

    top: Path
    main: Path
    branch: str  # "" on none


def work_tree_of(directory: Path) -> WorkTree | None:
    """The work tree that a directory is in, None outside of one."""
    with contextlib.suppress(RepositoryError, OSError):
        top = top_of(directory.resolve())
        return _work_tree(top) if top else None
    return None


def work_trees(main: Path) -> Iterator[WorkTree]:
    """The work trees of a repository that exist, the main one first."""
    is_bare = not (main / ".git").exists()
    try:
        common = main if is_bare else directories(main).common
        linked = sorted((common / "worktrees").iterdir())[:MAX_TREES]
    except (RepositoryError, OSError):
        linked = []
    if not is_bare:
        linked.insert(0, main)
    for place in linked:
        with contextlib.suppress(RepositoryError, OSError, ValueError):
            top = main if place == main else Path(pointer(place / "gitdir")).parent
            if (found := _work_tree(top)) and found.main == main:
                yield found


def _work_tree(top: Path) -> WorkTree:
    """The work tree with this top folder. Raises RepositoryError or OSError."""
    places = directories(top)
    head = pointer(places.own / "HEAD")
    branch = head.removeprefix(_HEADS) if head.startswith(_HEADS) else ""
    return WorkTree(top, main_of(top, places), branch)
