"""What a code repository says to Keeplore: a file ``.keeplore`` in it, or ``project.yaml`` in a
folder of that name, which holds memory too. Both have the same keys.

It comes with the code, so it is a stranger's text: it can leave a project out, and say that the
project keeps memory; it can make nobody's machine write or read any.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from keeplore.config.settings_yaml import parsed_yaml
from keeplore_hooks.hosts.jsonl import open_regular

NAME = ".keeplore"
IN_FOLDER = "project.yaml"  # not the name by which workspaces are known
IN_REPO = "in-repo"  # the value of ``memory``
MAX_FILE = 4096  # bytes


class UnreadableProjectFile(ValueError):
    """A project file that is there and cannot be read: whoever wrote it meant something."""


def project_file(folder: Path) -> Path:
    """The file that speaks for what lies in a folder; it need not be there."""
    place = folder / NAME
    # unlike that of Path it never raises
    return place / IN_FOLDER if os.path.isdir(place) else place  # noqa: PTH112


def load_project_file(folder: Path) -> Mapping[str, Any]:
    """What the file in a folder says, nothing where there is none. Raises
    UnreadableProjectFile.
    """
    try:
        data = parsed_yaml(_read_bytes(project_file(folder)))
    except (OSError, ValueError, TypeError, yaml.YAMLError) as e:
        raise UnreadableProjectFile(str(e)) from e
    if data is None:  # one that is empty, or a comment alone, says nothing
        return {}
    if not isinstance(data, Mapping):
        raise UnreadableProjectFile("it is no mapping")
    return data


def says_in_repo(folder: Path) -> bool:
    """Whether what lies in a folder keeps memory with the code; False where that cannot be read."""
    try:
        return load_project_file(folder).get("memory") == IN_REPO
    except UnreadableProjectFile:
        return False


def code_memory_folder(place: Path) -> Path | None:
    """The folder with the memory that the repository around a place keeps; None where it keeps
    none, or there is no repository.
    """
    for root in (place, *place.parents):
        if (root / ".git").exists():
            folder = root / NAME
            is_kept = says_in_repo(root) and not folder.is_symlink()
            return folder if is_kept else None
    return None


def _read_bytes(path: Path) -> bytes:
    """The bytes of the file, b"" where there is no regular file. Raises OSError or ValueError."""
    # unlike those of Path they never raise
    if not os.path.lexists(path) or os.path.isdir(path):  # noqa: PTH112
        return b""
    try:
        with open_regular(path) as file:
            text: bytes = file.read(MAX_FILE + 1)
    except FileNotFoundError:  # a link to nothing, or gone meanwhile
        return b""
    if len(text) > MAX_FILE:
        raise ValueError(f"it is larger than {MAX_FILE} bytes")
    return text
