"""What a project is made of, as its checkout on this machine says: names of packages and tools, one
file a machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from keeplore.errors import NotFound, StoreError
from keeplore.store import files
from keeplore.store.files import FileState
from keeplore.store.git.checkout_info import checkout_info
from keeplore.workspace.identity import MARKER
from keeplore.workspace.importing.manifest_formats import (
    OWN,
    PACKAGES,
    SYSTEMS,
    TOOLS,
    is_manifest,
    names_in,
)
from keeplore.workspace.workspace import Workspace

SCHEMA = 1
MAX_FILE = 256 * 1024  # bytes of one manifest, and of what is written
MAX_TOTAL = 2 * 1024 * 1024  # bytes of all manifests of a project
MAX_MANIFESTS = 100
MAX_FOLDERS = 100
MAX_ENTRIES = 2000  # of one folder
MAX_NAMES = 1000  # of a kind
KINDS = (OWN, PACKAGES, SYSTEMS, TOOLS)
# below these the parts of one product have a folder each
_GROUPS = (
    "apps",
    "components",
    "crates",
    "libs",
    "modules",
    "packages",
    "plugins",
    "projects",
    "services",
)
_OTHERS = {
    "bower_components",
    "build",
    "dist",
    "env",
    "node_modules",
    "out",
    "target",
    "third_party",
    "vendor",
    "venv",
}


class ProjectManifests:
    """The manifests of this machine's projects. A file that has not changed since it was read is
    not read again.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], tuple[FileState, ...]] = {}

    def take(self, workspace: Workspace, directory: Path) -> bool:
        """Write down what the project of a directory is made of; returns whether anything changed.

        A project that the workspace has no entry of is left alone, and one that is left out of
        memory. Raises StoreError, ConfigError or OSError.
        """
        if not workspace.capture_policy.decide(str(directory)).may:
            return False
        project = workspace.identities.of(directory).project
        # what a host calls a directory may be anything, and isdir never raises
        is_there = os.path.isdir(directory)  # noqa: PTH112
        if not project or not is_there or not is_known(workspace, directory):
            return False
        top = _project_root(directory)
        found = tuple(manifests(top)) if os.access(top, os.R_OK | os.X_OK) else None
        key = (workspace.name, project, str(top))
        if found is None or self._seen.get(key) == found:
            return False
        text = _text(workspace, project, _names_in_files(top, found))
        path = f"projects/{project}/manifests/{workspace.machine}.json"
        has_changed = _is_other(workspace, path, text)
        if has_changed:
            _write(workspace, path, text)
        self._seen[key] = found
        return has_changed


def is_known(workspace: Workspace, directory: Path) -> bool:
    """Whether the workspace has an entry of a directory's project, also one that was written a
    moment ago.
    """
    identity = workspace.identities.of(directory)
    return (
        identity.is_known
        or files.file_state(workspace.root, f"projects/{identity.project}/project.json")
        is not None
    )


def manifests(top: Path) -> Iterator[FileState]:
    """The manifests at the top of a project, in the folders right below it, and in each part of a
    product.

    Links are not followed, and what has a git repository of its own is another project.
    """
    count = size = 0
    for folder in _folders(top):
        for entry in _entries(top / folder):
            if not is_manifest(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            found = entry.stat(follow_symlinks=False)
            count, size = count + 1, size + found.st_size
            if count > MAX_MANIFESTS or size > MAX_TOTAL:
                return
            path = f"{folder}/{entry.name}" if folder else entry.name
            yield FileState(path, found.st_mtime_ns, found.st_size, found.st_ino)


def _folders(top: Path) -> list[str]:
    below = _part_names(top)
    parts: list[str] = []
    for group in filter(_GROUPS.__contains__, below):
        parts += (f"{group}/{name}" for name in _part_names(top / group))
    return ["", *[*below, *parts][:MAX_FOLDERS]]


def _part_names(folder: Path) -> list[str]:
    return [entry.name for entry in _entries(folder) if _is_part(entry)]


def _is_part(entry: os.DirEntry[str]) -> bool:
    is_folder = (
        entry.is_dir(follow_symlinks=False)
        and entry.name[0] != "."
        and entry.name not in _OTHERS
    )
    repository = os.path.join(entry.path, ".git")  # noqa: PTH118 (a name of scandir's)
    return is_folder and not os.path.lexists(repository)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What a folder holds, by name; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as listing:
            return sorted(
                (entry for entry, _ in zip(listing, range(MAX_ENTRIES), strict=False)),
                key=lambda e: e.name,
            )
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def _names_in_files(top: Path, found: Iterable[FileState]) -> set[tuple[str, str]]:
    names: set[tuple[str, str]] = set()
    for file in found:
        try:
            data = files.read(top, file.path, MAX_FILE)
        except (StoreError, OSError):  # too large to be one, a link by now, or gone
            continue
        names |= names_in(file.path.rpartition("/")[2], data.decode("utf-8", "replace"))
    return names


def _text(workspace: Workspace, project: str, names: set[tuple[str, str]]) -> str:
    """The file's text, without names that hold a secret; "" where there are none."""
    data: dict[str, Any] = {"schema": SCHEMA}
    for kind in KINDS:
        named = {name for its, name in names if its == kind}
        in_order = sorted(named, key=lambda name: (name.lower(), name))
        if kept := _without_secrets(workspace, project, in_order)[:MAX_NAMES]:
            data[kind] = kept
    return (
        json.dumps(data, indent=2, ensure_ascii=False) + "\n" if len(data) > 1 else ""
    )


def _without_secrets(workspace: Workspace, project: str, names: list[str]) -> list[str]:
    together = "\n".join(names)
    # nearly always, and at once
    if workspace.plugins.redact(together, project) == together:
        return names
    return [name for name in names if workspace.plugins.redact(name, project) == name]


def _is_other(workspace: Workspace, path: str, text: str) -> bool:
    try:
        return workspace.store.read_text(path, MAX_FILE) != text
    except NotFound:
        return bool(text)
    except StoreError:  # somebody broke it
        return True


def _project_root(directory: Path) -> Path:
    """Where a project begins: the main worktree, the folder with the marker, else the directory
    itself.
    """
    checkout = checkout_info(directory)
    if checkout is None:
        return next(
            (
                place
                for place in (directory, *directory.parents)
                if (place / MARKER).is_file()
            ),
            directory,
        )
    return checkout.main if (checkout.main / ".git").exists() else checkout.top


def _write(workspace: Workspace, path: str, text: str) -> None:
    if text:
        workspace.store.write_text(path, text)
    else:
        workspace.store.remove(path)
