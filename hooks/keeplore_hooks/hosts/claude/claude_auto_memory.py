"""Where Claude Code keeps notes of its own (auto memory), and of which directory they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore_hooks.hosts.claude import claude_transcript

FOLDER = "memory"  # beside the transcripts of a project
MAX_FILES = 2000  # of one folder; more are no notes
MAX_MEANT = 2  # directories that a name may stand for, to know that it is not one alone
_OTHER = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class AutoMemoryNotes:
    """A folder of notes with its files, relative with ``/``; ``directories`` are those that it may
    be of.
    """

    folder: Path
    files: tuple[str, ...]
    directories: tuple[str, ...]


def note_folders(base: Path) -> Iterator[AutoMemoryNotes]:
    """Every folder of notes under a configuration directory. Links are not followed: an agent may
    have made them.
    """
    for folder in sorted(base.glob(f"projects/*/{FOLDER}")):
        if folder.is_dir() and not folder.is_symlink() and (files := files_of(folder)):
            yield AutoMemoryNotes(folder, files, _directories(folder.parent))


def files_of(folder: Path) -> tuple[str, ...]:
    """The notes in a folder and below it, in the order of their names; hidden ones and links are
    left out.
    """
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        places = (
            Path(here, name)
            for name in names
            if name.endswith(".md") and not name.startswith(".")
        )
        found += [
            place.relative_to(folder).as_posix()
            for place in places
            if place.is_file() and not place.is_symlink()
        ]
        if len(found) > MAX_FILES:
            break
    return tuple(sorted(found)[:MAX_FILES])


def slug(directory: str) -> str:
    """What Claude Code calls a project's folder: each UTF-16 unit that is no ASCII letter or digit
    becomes a dash.
    """
    return _OTHER.sub(lambda found: "-" * (1 + (found[0] > "\uffff")), directory)


def _directories(project: Path) -> tuple[str, ...]:
    """The directories of the sessions beside the notes; where those were cleared away, the
    directory whose name the folder has.
    """
    cwds = dict.fromkeys(
        found.cwd for found in claude_transcript.recorded_in(project) if found.cwd
    )
    named = [cwd for cwd in cwds if slug(cwd) == project.name]
    if cwds:
        return tuple(named or cwds)[:1]
    return tuple(_directories_named(project.name))[:MAX_MEANT]


def _directories_named(name: str) -> Iterator[str]:
    root = Path(Path.home().anchor)
    start = slug(str(root))
    if name.startswith(start) and name != start:
        yield from _directories_below(root, name.removeprefix(start))


def _directories_below(directory: Path, name: str) -> Iterator[str]:
    """Directories whose path from here on is written so. Only those are entered that the name
    begins with.
    """
    try:
        with os.scandir(directory) as listing:
            folders = sorted(
                entry.name for entry in listing if entry.is_dir(follow_symlinks=False)
            )
    except OSError:  # nobody may look in there
        return
    for folder in folders:
        if (own := slug(folder)) == name:
            yield str(directory / folder)
        elif name.startswith(f"{own}-"):
            yield from _directories_below(
                directory / folder, name.removeprefix(f"{own}-")
            )
