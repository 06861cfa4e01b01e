"""The note of a deed that changes several files, while it is done: see ``together``."""

from __future__ import annotations

from pathlib import Path

from keeplore.errors import RepositoryBusy
from keeplore.store.git_locks import Directories

NAME = "keeplore.together"  # in the git directory; not one of the names that are swept there


def note_of(places: Directories) -> Path:
    return places.own / NAME


def check_whole(places: Directories) -> None:
    """Raise RepositoryBusy where half of a deed may be on disk; ``together.recover``
    finishes it.
    """
    if note_of(places).exists():
        raise RepositoryBusy(
            "a change of several files was cut short", "It is finished at the next try"
        )
