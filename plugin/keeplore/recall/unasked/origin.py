"""The origin (provenance) of a memory: whose machine wrote it, and what of that an agent may be
told unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import TypeVar

from keeplore.index import MemoryRow
from keeplore.text.counts import counted

ACCEPT = "keeplore machines accept ID"
OTHERS_SHARE = 2  # others' memories take at most one in so many places
# the agent that reads it is not the one to decide
WAITING_LINE = (
    "{} to nobody unasked: the person's own "
    "decision, `keeplore machines` lists them, `{}` accepts one"
)


class MemorySource(IntEnum):
    """Which machine wrote a memory, or changed it last; of several the one furthest away counts."""

    OWN = 0
    ACCEPTED = 1  # another person's, which this person believes
    WAITING = 2  # another person's, of which nothing was said yet
    REFUSED = 3

    @property
    def is_believed(self) -> bool:
        """Whether what it wrote counts here, and may be told unasked."""
        return self <= MemorySource.ACCEPTED


SourceOf = Callable[[MemoryRow], MemorySource]


_Item = TypeVar("_Item")


def only_own() -> SourceOf:
    """The sources of a place where nobody else writes."""
    return lambda _: MemorySource.OWN


def own_first(
    items: Iterable[_Item], limit: int, is_own: Callable[[_Item], bool]
) -> list[_Item]:
    """The person's own items, then others' within their share, ``limit`` in all."""
    every = list(items)
    own = [item for item in every if is_own(item)]
    others = [item for item in every if not is_own(item)]
    return [*own, *others[: limit // OTHERS_SHARE]][:limit]


def within_share(
    limit: int, is_own: Callable[[_Item], bool]
) -> Callable[[_Item], bool]:
    """A function that is asked once about each item in order, and says whether it is within
    ``limit`` places, of which others' items have a share.
    """
    places = {True: limit, False: limit // OTHERS_SHARE}

    def is_within(item: _Item) -> bool:
        is_mine = is_own(item)
        if not places[True] or not places[is_mine]:
            return False
        places[True] -= 1
        places[False] -= not is_mine
        return True

    return is_within


def unasked_share(
    limit: int, is_told: Callable[[MemoryRow], bool], source_of: SourceOf
) -> Callable[[MemoryRow], bool]:
    """A function that says of each row in order whether to tell it: of those that may be told the
    first ``limit``, with a share for other people's rows.
    """
    is_within: Callable[[MemoryRow], bool] = within_share(
        limit, lambda row: source_of(row) is MemorySource.OWN
    )
    return lambda row: is_told(row) and is_within(row)


def waiting_line(count: int) -> str:
    """What is said of memories that wait for a machine to be accepted."""
    told = counted(
        count,
        "memory of other people's machines waits and is told",
        "memories of other people's machines wait and are told",
    )
    return WAITING_LINE.format(told, ACCEPT)
