"""What can be told about the code repository around a directory. Nothing of the repository's is
run.
"""

from __future__ import annotations

import collections
import functools
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store.git.git_command import output, run
from keeplore.store.git.objects import Unsupported
from keeplore.store.repository_state import Directories, directories, is_shallow


@dataclass(frozen=True, slots=True)
class CheckoutInfo:
    """``main`` is the top of the main worktree, the same for all worktrees; "" where a value does
    not exist.
    """

    top: Path
    main: Path
    remotes: dict[str, str]  # name → fetch URL
    # the first commit of HEAD's line; "" in a shallow clone, which does not know it
    root_commit: str
    branch: str
    head: str


def checkout_info(directory: Path) -> CheckoutInfo | None:
    """The repository that a directory is in; None outside of one, in a bare one, where git refuses
    it, or where it is that of the home directory and has no file there.
    """
    try:
        place = directory.resolve()
        top = top_of(place)
        if top is None or _is_beside_settings(top, place):
            return None
        places = directories(top)
        try:
            return _with_library(top, places)
        except Unsupported:
            return _read_by_git(top, places)
    except (RepositoryError, OSError, KeyError):
        return None


def top_of(directory: Path) -> Path | None:
    """The nearest directory upwards that holds ``.git``."""
    return next(
        (
            place
            for place in (directory, *directory.parents)
            if (place / ".git").exists()
        ),
        None,
    )


def _is_beside_settings(top: Path, place: Path) -> bool:
    """Is the home directory a repository, of settings, that has no file in this place below it?"""
    if top == place or top != Path.home().resolve():
        return False
    listed = run(top, "ls-files -z --", place.relative_to(top).as_posix())
    return not (listed.code or listed.items)


def main_of(top: Path, places: Directories) -> Path:
    """Worktrees of a bare repository have no main one; its own directory stands for it."""
    if places.own == places.common:
        return top
    return places.common.parent if places.common.name == ".git" else places.common


def _with_library(top: Path, places: Directories) -> CheckoutInfo:
    import pygit2  # here, because it costs 90 ms and many ask outside of git

    try:
        return _read_by_libgit(top, places)
    except pygit2.GitError as e:
        raise RepositoryError(
            f"{top} cannot be read: {e}", "Run `git status` there"
        ) from e


def _read_by_libgit(top: Path, places: Directories) -> CheckoutInfo:
    from keeplore.store.git.libgit_backend import open_repository  # here, as above

    repository = open_repository(top)
    target = repository.lookup_reference("HEAD").target
    branch = target.removeprefix("refs/heads/") if isinstance(target, str) else ""
    head = "" if repository.head_is_unborn else str(repository.head.target)
    named = [remote for remote in repository.remotes if remote.name and remote.url]
    remotes = {str(remote.name): str(remote.url) for remote in named}
    first = ""
    if head and not repository.is_shallow:
        first = _first_commit(str(top), places.common.stat().st_ino)
    return CheckoutInfo(top, main_of(top, places), remotes, first, branch, head)


@functools.lru_cache(maxsize=512)
def _first_commit(top: str, _inode: int) -> str:
    """The end of HEAD's first-parent line; kept, because the walk reads every commit. Another
    repository at the same place has another inode.
    """
    from pygit2.enums import SortMode  # here, as above

    from keeplore.store.git.libgit_backend import open_repository  # here, as above

    repository = open_repository(Path(top))
    walker = repository.walk(repository.head.target, SortMode.NONE)
    walker.simplify_first_parent()
    line = collections.deque(walker, maxlen=1)
    return str(line[0].id) if line else ""


def _read_by_git(top: Path, places: Directories) -> CheckoutInfo:
    output(top, "rev-parse --git-dir")
    branch = run(top, "symbolic-ref -q --short HEAD").text
    head = run(top, "rev-parse -q --verify HEAD^{commit}").text
    remotes = {}
    for line in run(top, "remote -v").text.splitlines():
        name, _, rest = line.partition("\t")
        if rest.endswith(" (fetch)"):
            remotes[name] = rest.removesuffix(" (fetch)")
    return CheckoutInfo(
        top,
        main_of(top, places),
        remotes,
        _root_commit(top, places, head),
        branch,
        head,
    )


def _root_commit(top: Path, places: Directories, head: str) -> str:
    """The first commit of HEAD's line, "" in a shallow clone."""
    if not head or is_shallow(places):
        return ""
    return run(top, "rev-list --max-parents=0 --first-parent", head).text.split("\n")[
        -1
    ]
