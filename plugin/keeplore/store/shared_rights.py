"""What others than the owner may do with the files of a workspace: nothing, unless a group shares
it. git's own setting says so, or the folder does.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store.repository_state import directories
from keeplore_hooks.durable import GROUP

# as git writes its configuration: a section's lines, and ours among them
_CORE = re.compile(r"^\s*\[core\]((?:\n(?!\s*\[).*)*)", re.MULTILINE | re.IGNORECASE)
_SETTING = re.compile(
    r"^\s*sharedRepository\s*(?:=\s*\"?(\w*))?", re.MULTILINE | re.IGNORECASE
)
_NAMED = {
    **dict.fromkeys(("group", "true", "yes", "on", "1"), GROUP),
    **dict.fromkeys(("all", "world", "everybody", "2"), 0o064),
}


def shared_rights(root: Path) -> int:
    """The rights to a file that group and others get, as bits of its mode; 0 where it is private.

    They are those of ``core.sharedRepository`` in the repository's own configuration, where ``git
    init --shared`` writes it. Where that says nothing, what is in a folder with setgid that its
    group may write is the group's.
    """
    setting = _setting(root)
    if setting is not None:
        return _meant(setting)
    return GROUP if _is_group_folder(root) else 0


def _setting(root: Path) -> str | None:
    """What the repository says, None where it says nothing."""
    try:
        text = (directories(root).common / "config").read_text("utf-8", "replace")
    except (RepositoryError, OSError):
        return None
    settings = [*_SETTING.finditer("\n".join(_CORE.findall(text)))]
    if not settings:
        return None
    return "true" if settings[-1][1] is None else settings[-1][1]


def _meant(value: str) -> int:
    """What a value of the setting means; it is a word, a truth, or a mode such as 0640."""
    if (named := _NAMED.get(value.lower())) is not None:
        return named
    try:
        return int(value, 8) & 0o066
    except ValueError:
        return 0


def _is_group_folder(folder: Path) -> bool:
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def folder_rights(rights: int) -> int:
    """Rights to a file as rights to a folder: who may read it may go through it."""
    return rights | (rights & 0o044) >> 2


def share_folder(folder: Path, rights: int) -> None:
    """Give a folder that was just made the rights to it, whatever the umask took."""
    if rights:
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) | folder_rights(rights))


class _Umask:
    """The umask of this process, which is one for all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._usual = 0

    def open(self, rights: int) -> None:
        with self._lock:
            here = os.umask(0o077)
            if not self._inside:
                self._usual = here
            self._inside += 1
            os.umask(here & ~folder_rights(rights))

    def close(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                os.umask(self._usual)


_umask = _Umask()


@contextlib.contextmanager
def shared_file_rights(root: Path) -> Iterator[None]:
    """Let git and libgit2 make files with the rights that are shared, while the context lasts: the
    one takes the umask's for a folder with setgid, the other knows no setting.
    """
    rights = shared_rights(root)
    if not rights:
        yield
        return
    _umask.open(rights)
    try:
        yield
    finally:
        _umask.close()
