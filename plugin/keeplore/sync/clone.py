"""A workspace from its remote."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from keeplore.errors import ConfigError
from keeplore.store import run, without_credentials
from keeplore.sync.remote_git import CLONE_TIMEOUT_S, call, checked_url

SETTINGS = "keeplore.yaml"


def clone(url: str, directory: Path) -> None:
    """Clone a workspace; the directory appears when it is complete.

    Raises ConfigError where the directory is not empty or the repository is no workspace, SyncError
    (a RemoteError).
    """
    url, protocols = checked_url(url, is_path_allowed=True)
    if protocols == "file" and "://" not in url:
        url = str(Path(url).expanduser().resolve())
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ConfigError(
            f"{directory} is there already and not empty", "Name a directory that does not exist"
        )
    directory.parent.mkdir(parents=True, exist_ok=True)
    aside = directory.with_name(f".{directory.name}-{secrets.token_hex(4)}.tmp")
    try:
        # --no-local: the files of a clone must not be links into somebody's repository
        options = ("--quiet", "--no-local", "--no-recurse-submodules", "--origin", "origin")
        call(
            directory.parent,
            protocols,
            "clone",
            *options,
            "--",
            url,
            str(aside),
            timeout_s=CLONE_TIMEOUT_S,
        )
        if not (_is_workspace(aside) or _is_on_workspace_branch(aside)):
            remedy = (
                "Check the address; to start a workspace there, run `keeplore init` in a "
                "clone of it and push"
            )
            raise ConfigError(
                f"{without_credentials(url)} holds no {SETTINGS}, so it is no Keeplore workspace",
                remedy,
            )
        aside.replace(directory)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _is_workspace(directory: Path) -> bool:
    return (directory / SETTINGS).is_file() and not (directory / SETTINGS).is_symlink()


def _is_on_workspace_branch(directory: Path) -> bool:
    """Check out the branch that holds the workspace: a bare repository's HEAD often names one that
    nobody pushed.
    """
    listed = run(
        directory, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/origin"
    ).text.split()
    for branch in sorted(listed, key=lambda name: (name != "main", name)):
        if run(directory, "cat-file", "-e", f"refs/remotes/origin/{branch}:{SETTINGS}").code == 0:
            run(
                directory,
                "checkout",
                "--quiet",
                "-B",
                branch,
                "--track",
                f"refs/remotes/origin/{branch}",
            )
            return _is_workspace(directory)
    return False


def clone_project(url: str, protocols: str, place: Path, followed: Callable[[str], None]) -> None:
    """Clone a repository without submodules and without git hooks; ``place`` appears when it is
    complete.

    ``protocols`` are those that git may use, as ``urls.checked`` gives them; ``followed`` is called
    with git's own words on how far it is. Raises SyncError or OSError.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f".{place.name}-{secrets.token_hex(4)}.tmp")
    try:
        options = (
            "--progress",
            "--no-recurse-submodules",
            "--no-local",
            "--template=",
            "--origin",
            "origin",
        )
        arguments = ("clone", *options, "--", url, str(aside))
        call(place.parent, protocols, *arguments, timeout_s=CLONE_TIMEOUT_S, followed=followed)
        if place.is_dir():
            place.rmdir()  # it was empty
        aside.replace(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
