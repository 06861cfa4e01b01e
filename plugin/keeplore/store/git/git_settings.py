"""What the user's git says of its settings: asked once, and again where a file that it read may say
otherwise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from keeplore.store.git.git_command import run
from keeplore.store.repository_state import directories

_SYSTEM = Path("/etc/gitconfig")  # where a git keeps it elsewhere, it names that file
# what points git at other files
_DECIDING = (
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)
MAX_KEPT = 64  # repositories
Stamps = dict[Path, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Answer:
    entries: tuple[tuple[str, str], ...]
    stamps: Stamps
    deciding: tuple[str | None, ...]

    def holds(self) -> bool:
        return self.deciding == _deciding_values() and self.stamps == _stamps(
            self.stamps
        )


_kept: dict[Path, _Answer] = {}


def settings(root: Path, pattern: str) -> list[tuple[str, str]]:
    """Name and value of each git setting whose name fits, in git's order; one without a value is
    true.

    Raises RepositoryError where there is no repository.
    """
    known = _kept.get(root)
    if known is None or not known.holds():
        known = _ask_git(root)
    return [entry for entry in known.entries if re.search(pattern, entry[0])]


def _ask_git(root: Path) -> _Answer:
    """Ask git; its answer is kept where we know all the files that it rests on."""
    deciding = _deciding_values()
    places = directories(root)
    own = (places.common / "config", places.own / "config.worktree")
    before = _stamps({*own, *_personal_files(deciding), _SYSTEM})
    items = iter(run(root, "config -z --list --show-origin", options=()).items)
    entries, origins = [], set()
    for origin, item in zip(items, items, strict=True):
        key, separator, value = item.partition("\n")
        entries.append((key, value if separator else "true"))
        origins.add(root / origin.removeprefix("file:"))
    answer = _Answer(tuple(entries), before | _stamps(origins), deciding)
    # a file that is included may be one that does not exist yet
    if not any(key.startswith("include") for key, _ in entries):
        if len(_kept) >= MAX_KEPT:
            _kept.clear()
        _kept[root] = answer
    return answer


def _deciding_values() -> tuple[str | None, ...]:
    return tuple(map(os.environ.get, _DECIDING))  # passed on by git_command, not read


def _personal_files(deciding: tuple[str | None, ...]) -> list[Path]:
    """The files of the person's own settings, as gitconfig(5) names them."""
    home, xdg, own_file, system_file, _ = deciding
    folder = Path(home or "/")
    config_folder = Path(xdg) if xdg else folder / ".config"
    return [
        folder / ".gitconfig",
        config_folder / "git" / "config",
        *map(Path, filter(None, (own_file, system_file))),
    ]


def _stamps(paths: Iterable[Path]) -> Stamps:
    """What changes with a file's content; () for one that cannot be looked at."""
    found: Stamps = {}
    for path in paths:
        try:
            about = path.stat()
            found[path] = (
                about.st_ino,
                about.st_size,
                about.st_mtime_ns,
                about.st_ctime_ns,
            )
        except OSError:
            found[path] = ()
    return found
