"""Cloning: a workspace from its remote, and the projects of a workspace.

The address of a project comes from other machines, so nothing of it is believed or run.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from keeplore.errors import ConfigError
from keeplore.store import run, without_credentials
from keeplore.store.git.git_command import output
from keeplore.sync.remote_git import CLONE_TIMEOUT_S, attempt, check, checked_url

SETTINGS = "keeplore.yaml"
# --no-local: the files of a clone must not be links into somebody's repository
_CLONE = "clone --no-local --no-recurse-submodules --origin origin"


def clone(url: str, directory: Path) -> None:
    """Clone a workspace; the directory appears when it is complete.

    Raises ConfigError where the directory is not empty or the repository is no workspace, SyncError
    (a RemoteError).
    """
    url, protocols = checked_url(url, is_path_allowed=True)
    if protocols == "file" and "://" not in url:
        url = str(Path(url).expanduser().resolve())
    _expect_empty(directory)
    with _temporary_neighbour(directory) as temporary:
        arguments = (_CLONE, "--quiet", "--", url, str(temporary))
        done = attempt(
            directory.parent, protocols, *arguments, timeout_s=CLONE_TIMEOUT_S
        )
        check(done)
        if not (_is_workspace(temporary) or checks_out_workspace(temporary)):
            raise ConfigError(
                f"{without_credentials(url)} holds no {SETTINGS}, so it is no Keeplore workspace",
                "Check the address; to start a workspace there, run `keeplore init` in a "
                "clone of it and push",
            )
        temporary.replace(directory)


def _expect_empty(directory: Path) -> None:
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ConfigError(
            f"{directory} is there already and not empty",
            "Name a directory that does not exist",
        )


def clone_project(
    url: str, protocols: str, place: Path, on_progress: Callable[[str], None]
) -> None:
    """Clone a repository without submodules and without git hooks; ``place`` appears when it is
    complete.

    ``protocols`` are those that git may use, as ``checked_url`` gives them; ``on_progress``
    is given git's own words on how far it is. Raises SyncError or OSError.
    """
    with _temporary_neighbour(place) as temporary:
        done = attempt(
            place.parent,
            protocols,
            _CLONE,
            *("--progress", "--template=", "--", url, str(temporary)),
            timeout_s=CLONE_TIMEOUT_S,
            on_progress=on_progress,
        )
        check(done)
        if place.is_dir():
            place.rmdir()  # it was empty
        temporary.replace(place)


@contextlib.contextmanager
def _temporary_neighbour(place: Path) -> Iterator[Path]:
    """A name beside a place, for what is not complete yet; what is left there goes at the end."""
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name}-{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _is_workspace(directory: Path) -> bool:
    """Whether the directory has the settings of a workspace."""
    return (directory / SETTINGS).is_file() and not (directory / SETTINGS).is_symlink()


def checks_out_workspace(directory: Path) -> bool:
    """Check out the branch of a clone that holds the workspace, False where none does: a bare
    repository's HEAD often names a branch that nobody pushed. Raises RepositoryError.
    """
    listed = run(
        directory, "for-each-ref --format=%(refname:lstrip=3) refs/remotes/origin"
    ).text.split()
    for branch in sorted(listed, key=lambda name: (name != "main", name)):
        ref = f"refs/remotes/origin/{branch}"
        if run(directory, "cat-file -e", f"{ref}:{SETTINGS}").code == 0:
            output(directory, "checkout --quiet -B", branch, "--track", ref)
            return _is_workspace(directory)
    return False
