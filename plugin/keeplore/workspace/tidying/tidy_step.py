"""One step of tidying as a value: what it would write, move and record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from keeplore.memory import Memory


class TidyAction(StrEnum):
    DIGEST = "digest"  # write a digest, or make it anew
    RETIRE = "retire"  # archive a digest that nothing stands for any more
    JOIN = "join"  # make one chain of notes that say the same
    DOUBT = "doubt"  # have a person look at a note that a later talk contradicts
    RAISE = "raise"  # offer a preference of several projects for a wider scope
    ARCHIVE = "archive"  # put aside what is old, unused and unlinked


@dataclass(frozen=True, slots=True)
class TidyStep:
    """``ids`` are the memories that it writes or moves, ``moves`` paths with their new places,
    ``entries`` lines for this machine's audit.
    """

    deed: TidyAction
    title: str
    detail: str
    ids: tuple[str, ...]
    memories: Sequence[Memory] = ()
    moves: Sequence[tuple[str, str]] = ()
    entries: Sequence[Mapping[str, Any]] = ()

    @property
    def message(self) -> str:
        """The subject of its commit."""
        return f"{MARK}{self.title}"


MARK = "Tidy: "
