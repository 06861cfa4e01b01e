"""Which paths of a workspace are Keeplore's, and which names may be written."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from keeplore.errors import UnsafePath

# all of ours is below these
FOLDERS = ("memory", "projects", "user", "forgotten", "audit", "entities", "feedback")
INDEXED = ("memory", "projects", "user", "entities", "feedback")
_PROJECT_FILE = "project.json"
# Text that is indexed and no memory: files right below such a folder, of the workspace or of a
# project, and with such an end. Whatever else a person keeps in a folder of that name is the
# person's.
_SIDE = {"entities": ".yaml", "feedback": ".json"}
_SIDE_OF_PROJECT = {"entities": ".yaml", "manifests": ".json"}
# which part of a path is the folder of memory
_PLACES = {"memory": 0, "user": 1, "projects": 2}
_WRITTEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\Z")
# names that Windows reserves whatever their extension
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?\Z")
# how Python shows bytes of a name that are no UTF-8
_NO_TEXT = re.compile("[\ud800-\udfff]")
_FORBIDDEN = re.compile(r'[\\:*?"<>|]')
MAX_NAME = 255  # bytes, the limit of common file systems
MAX_DEPTH = 32


def is_ours(path: str) -> bool:
    """Whether a path below the workspace is one that Keeplore commits."""
    parts = path.split("/")
    if parts[0] == "projects":
        return (len(parts) >= 4 and parts[2] == "memory") or _is_side_of_project(parts)
    if parts[0] in _SIDE:
        return _is_side(parts)
    return len(parts) >= 2 and parts[0] in FOLDERS


def is_side(path: str) -> bool:
    """Whether a path is that of text that is indexed beside the memories: who and what there is,
    what was of use.
    """
    parts = path.split("/")
    if parts[0] == "projects":
        return _is_side_of_project(parts)
    return _is_side(parts)


def _is_side(parts: list[str]) -> bool:
    return len(parts) == 2 and parts[1].endswith(_SIDE.get(parts[0], "/"))


def _is_side_of_project(parts: list[str]) -> bool:
    if len(parts) == 3:
        return parts[2] == _PROJECT_FILE
    return len(parts) == 4 and parts[3].endswith(_SIDE_OF_PROJECT.get(parts[2], "/"))


def may_hold_ours(folder: str) -> bool:
    """Whether there can be paths of ours below a folder."""
    parts = folder.split("/")
    if parts[0] == "projects":
        return (
            len(parts) < 3
            or parts[2] == "memory"
            or (len(parts) == 3 and parts[2] in _SIDE_OF_PROJECT)
        )
    return parts[0] in FOLDERS and (parts[0] not in _SIDE or len(parts) == 1)


def is_portable(path: str) -> bool:
    """Whether every system can hold a file of this name, and it neither hides nor leaves the
    workspace.

    libgit2 takes ``CON.md``, line breaks, backslashes and colons; a clone on another system would
    fail on them.
    """
    folder, _, name = path.rpartition("/")
    return _is_portable_name(name) and (not folder or _is_portable_folder(folder))


@functools.lru_cache(maxsize=1024)  # asked for every file of a folder
def _is_portable_folder(folder: str) -> bool:
    parts = folder.split("/")
    return len(parts) < MAX_DEPTH and all(_is_portable_name(part) for part in parts)


def is_safe(path: str) -> bool:
    """Whether a path that another machine's commit names may be written among the person's files:
    portable like a memory's, or hidden.

    ``git~1`` is what Windows makes of ``.git``.
    """
    return all(
        _is_portable_name(part.removeprefix("."))
        and not part.lower().startswith("git~")
        and part.lower() != ".git"
        for part in path.split("/")
    )


def is_memory(path: str) -> bool:
    """Whether a path is a memory's: a markdown file below a ``memory`` folder, with a name that is
    UTF-8.
    """
    if not path.endswith(".md"):
        return False
    parts = path.split("/", 3)  # asked of every file at every look, so in few steps
    place = _PLACES.get(parts[0], -1)
    is_below = 0 <= place < len(parts) - 1 and parts[place] == "memory"
    return is_below and (path.isascii() or not _NO_TEXT.search(path))


def check_written(path: str) -> None:
    """Raise UnsafePath unless the path is one of ours with a name that Keeplore gives."""
    if not (
        is_ours(path)
        and is_portable(path)
        and all(_WRITTEN.match(part) for part in path.split("/"))
    ):
        raise UnsafePath(
            f"{path!r} is not a path that Keeplore writes",
            "Rename the project or report this as a bug",
        )


def check_moved(path: str) -> None:
    """Raise UnsafePath unless the path is one of ours; its name may be one that a person chose."""
    if not is_ours_to_write(path):
        raise UnsafePath(
            f"{path!r} is a name that not every system can hold",
            "Rename the file first",
        )


def alike_paths(paths: Iterable[str]) -> list[list[str]]:
    """The paths in groups, each in order, of those that differ in case or Unicode form alone: one
    file on macOS and Windows.
    """
    groups: dict[str, list[str]] = {}
    for path in sorted(paths):
        groups.setdefault(unicodedata.normalize("NFC", path).casefold(), []).append(
            path
        )
    return [*groups.values()]


def check_read(path: str) -> None:
    """Raise UnsafePath for a path that is absolute, hidden, or leads out of the workspace."""
    parts = path.split("/")
    if (
        "\0" in path
        or PurePosixPath(path).is_absolute()
        or any(part in ("", "..") or part[0] == "." for part in parts)
    ):
        raise UnsafePath(
            f"{path!r} is not a path inside the workspace",
            "Give the id of a memory, or a path below the workspace",
        )


def _is_portable_name(name: str) -> bool:
    if not name or name[0] == "." or name[-1] in ". " or _RESERVED.match(name):
        return False
    if _WRITTEN.match(name):  # nearly every name, in a tenth of the time
        return True
    if _FORBIDDEN.search(name):
        return False
    try:
        size = len(name.encode())
    except UnicodeEncodeError:  # bytes on disk that are no UTF-8
        return False
    # Cc: control characters; Cf: also those without width, which let two names look alike
    return size <= MAX_NAME and all(
        unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp") for char in name
    )


def is_ours_to_write(path: str) -> bool:
    """True for a path of ours that every machine can have."""
    return is_ours(path) and is_portable(path)
