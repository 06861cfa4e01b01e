"""Saying yes, and no again, to the notes that a code repository keeps."""

from __future__ import annotations

import contextlib
from pathlib import Path

import yaml

from keeplore.config.code_consent import CodeConsents
from keeplore.config.project_file import (
    IN_FOLDER,
    IN_REPO,
    MAX_FILE,
    NAME,
    project_file,
    says_in_repo,
)
from keeplore.config.yaml_edit import with_key
from keeplore.errors import ConfigError, NotFound, RepositoryError, WorkspaceFrozen
from keeplore.store import files
from keeplore.store.code_store import FOLDER
from keeplore.store.git.checkout_info import checkout_info
from keeplore.store.git.git_command import ignored
from keeplore.store.git.work_trees import WorkTree, work_tree_of, work_trees
from keeplore.store.merge import merge_driver
from keeplore.workspace.in_repo.code_memories import drop_index
from keeplore.workspace.in_repo.code_workspace import CodeWorkspace, name_of
from keeplore.workspace.registry import Registry
from keeplore_hooks.events import Origin

_SETTINGS = "# Notes of this project are kept here and reviewed with the code.\n"
_ATTRIBUTES = f"{FOLDER}/** text eol=lf merge=keeplore\n"
_IGNORED = "# files that are being written\n.*.tmp\n"
MODE = 0o644  # of what everybody who has the code reads


def switch_on(registry: Registry, directory: Path) -> CodeWorkspace:
    """Keep the notes of a directory's project with its code, and read those that are there.

    Raises ConfigError where that cannot be, RepositoryError, UnsafePath or OSError.
    """
    tree = _tree(directory)
    own = registry.for_directory(directory)
    if not own.identities.project_of(str(directory)):
        raise ConfigError(f"{tree.top} is no project", "Go to a code repository")
    if not own.settings.frozen:
        write_settings(tree.top)
        merge_driver.install(tree.top)
        own.identities.place(Origin("", "", str(directory)))
    elif not says_in_repo(tree.top):
        raise WorkspaceFrozen(own.root)
    checkout = checkout_info(tree.top)
    first_commit = checkout.root_commit if checkout else ""
    CodeConsents(registry.places.state).accept(tree.main, first_commit)
    opened = registry.code_memory(directory)
    if not isinstance(opened, CodeWorkspace):
        raise ConfigError(
            f"{tree.top / NAME} cannot be used", "`keeplore whoami` says what is here"
        )
    opened.index.refresh()
    return opened


def switch_off(registry: Registry, directory: Path) -> Path:
    """Stop reading and writing the memory that a code repository keeps, on this machine; its files
    stay. Returns the top of the work tree. Raises NotFound where nobody said yes, ConfigError or
    OSError.
    """
    tree = _tree(directory)
    if not CodeConsents(registry.places.state).withdraw(tree.main):
        raise NotFound(
            f"nothing is kept with the code of {tree.top}", "`keeplore whoami` says so"
        )
    with contextlib.suppress(RepositoryError):
        merge_driver.uninstall(tree.top)
    said = registry.places.state / "machines" / f"{name_of(tree.main)}.json"
    said.unlink(missing_ok=True)
    for checkout in (tree, *work_trees(tree.main)):
        drop_index(registry.places, checkout.top)
    return tree.top


def is_ignored(top: Path) -> bool:
    """Whether git would leave out what is written there."""
    return bool(ignored(top, [f"{NAME}/{FOLDER}/any.md"]))


def _tree(directory: Path) -> WorkTree:
    if tree := work_tree_of(directory):
        return tree
    raise ConfigError(
        f"{directory} is in no work tree of git", "Go to a code repository"
    )


def write_settings(top: Path) -> None:
    """Let the repository say that it keeps notes, unless it does. Raises ConfigError, UnsafePath
    or OSError.
    """
    place = top / NAME
    if place.is_file() and not place.is_symlink():
        raise ConfigError(
            f"{place} is a file",
            f"Move what it says to {project_file(top) / IN_FOLDER}",
        )
    path = f"{NAME}/{IN_FOLDER}"
    if not says_in_repo(top):
        text = _SETTINGS
        if files.file_state(top, path):
            text = files.read(top, path, MAX_FILE).decode("utf-8", "replace")
        try:
            new = with_key(text, "memory", IN_REPO)
        except (ValueError, TypeError, yaml.YAMLError) as e:
            raise ConfigError(
                f"{place / IN_FOLDER} cannot be changed: {e}",
                f"Write `memory: {IN_REPO}` into it",
            ) from e
        files.write(top, path, new.encode(), MODE)
    for name, text in ((".gitattributes", _ATTRIBUTES), (".gitignore", _IGNORED)):
        if files.is_absent(top, f"{NAME}/{name}"):
            files.write(top, f"{NAME}/{name}", text.encode(), MODE)
