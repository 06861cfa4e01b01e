"""Which memory replaced which: chains of ``supersedes``, as people and machines have written them, cycles included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MAX_CHAIN = 200  # steps; a longer walk is no history of a belief


@dataclass(frozen=True, slots=True)
class Link:
    """One memory in a chain; ``age`` orders memories, later is newer."""

    id: str
    supersedes: str
    age: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands in its chain."""

    superseded_by: str = ""  # the newest version, "" for the newest itself
    changes: int = 0  # earlier versions that can be walked to


def places(links: Iterable[Link], existing: set[str]) -> Mapping[str, Place]:
    """The place of every memory that takes part in a chain.

    Of several successors the newest counts. In a cycle made by hand the newest memory is the head, and a memory that
    supersedes itself or something that does not exist is no part of a chain by that.
    """
    before = {link.id: link for link in links if link.supersedes != link.id and link.supersedes in existing}
    after: dict[str, Link] = {}
    for link in before.values():
        known = after.get(link.supersedes)
        if known is None or known.age < link.age:
            after[link.supersedes] = link
    found = {}
    for id_ in before.keys() | after.keys():
        head = _head(id_, before, after)
        found[id_] = Place(head if head != id_ else "", _changes(id_, before))
    return found


def _head(start: str, before: Mapping[str, Link], after: Mapping[str, Link]) -> str:
    seen = {start: None}
    at = start
    while at in after and len(seen) < MAX_CHAIN:
        at = after[at].id
        if at in seen:
            walked = list(seen)
            return max(walked[walked.index(at) :], key=lambda id_: before[id_].age)
        seen[at] = None
    return at


def _changes(start: str, before: Mapping[str, Link]) -> int:
    seen = {start}
    at = start
    while at in before and before[at].supersedes not in seen and len(seen) < MAX_CHAIN:
        at = before[at].supersedes
        seen.add(at)
    return len(seen) - 1
