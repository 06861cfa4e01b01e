"""Which memory replaced which: chains of ``supersedes``, as people and machines have written them.

Nothing here fails on what hands can write: cycles, links to nothing, two memories that supersede
the same one. Every machine that has the same files comes to the same result, since only what stands
in them counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

Age = tuple[str, str]  # created_at and id: later is newer


@dataclass(frozen=True, slots=True)
class Chain:
    """Memories that replaced one another, oldest first.

    ``leaves`` are those that nothing supersedes: more than one is a fork, none a cycle. ``head`` is
    the newest leaf, in a pure cycle the newest member.
    """

    members: tuple[str, ...]
    leaves: tuple[str, ...]
    head: str
    has_cycle: bool


@dataclass(frozen=True, slots=True)
class ChainPosition:
    """Where a memory stands in its chain."""

    superseded_by: str = ""  # the head, "" for the head itself
    changes: int = 0  # members before it


def chains(
    supersedes: Mapping[str, Iterable[str]], ages: Mapping[str, Age]
) -> list[Chain]:
    """Every chain of two or more memories, in the order of their oldest members.

    ``supersedes`` maps a memory to those that it replaces, ``ages`` has every memory that exists. A
    memory that supersedes itself, or one that does not exist, is no part of a chain by that.
    """
    before: dict[str, set[str]] = {}
    for id_, olds in supersedes.items():
        if id_ in ages:
            before[id_] = {old for old in olds if old in ages} - {id_}
    after: dict[str, set[str]] = {}
    for id_, olds in before.items():
        for old in olds:
            after.setdefault(old, set()).add(id_)
    found = [_chain(group, before, after, ages) for group in _groups(before, after)]
    return sorted(found, key=lambda chain: ages[chain.members[0]])


def chain_positions(all_chains: Iterable[Chain]) -> dict[str, ChainPosition]:
    """The place of every memory that takes part in a chain."""
    found = {}
    for chain in all_chains:
        for at, id_ in enumerate(chain.members):
            found[id_] = ChainPosition(chain.head if id_ != chain.head else "", at)
    return found


def _groups(
    before: Mapping[str, set[str]], after: Mapping[str, set[str]]
) -> Iterable[set[str]]:
    """Memories that are linked with one another, directly or through others."""
    waiting = {id_ for id_, olds in before.items() if olds}
    while waiting:
        group: set[str] = set()
        found = [waiting.pop()]
        while found:
            id_ = found.pop()
            if id_ not in group:
                group.add(id_)
                found += [*before.get(id_, ()), *after.get(id_, ())]
        waiting -= group
        yield group


def _chain(
    group: set[str],
    before: Mapping[str, set[str]],
    after: Mapping[str, set[str]],
    ages: Mapping[str, Age],
) -> Chain:
    """The versions in their order, the newest leaf at the end."""
    members, has_cycle = _in_order(group, before, after, ages)
    leaves = sorted(
        (id_ for id_ in group if not after.get(id_)), key=lambda id_: ages[id_]
    )
    head = leaves[-1] if leaves else max(group, key=lambda id_: ages[id_])
    # what a fork left beside the head was written before it as far as a reader is concerned
    members = [id_ for id_ in members if id_ != head] + [head]
    return Chain(tuple(members), tuple(leaves), head, has_cycle)


def _in_order(
    group: set[str],
    before: Mapping[str, set[str]],
    after: Mapping[str, set[str]],
    ages: Mapping[str, Age],
) -> tuple[list[str], bool]:
    """What is superseded before what supersedes it, older first where that says nothing (Kahn
    1962).
    """
    left = {id_: len(before.get(id_, ())) for id_ in group}
    ready = [(ages[id_], id_) for id_ in group if not left[id_]]
    heapq.heapify(ready)
    ordered: list[str] = []
    has_cycle = False
    while left:
        if not ready:  # a cycle: its oldest member is taken as its beginning
            has_cycle = True
            ready = [min((ages[id_], id_) for id_ in left)]
        _, id_ = heapq.heappop(ready)
        if left.pop(id_, None) is not None:
            ordered.append(id_)
            for newer in _ready_ids(after.get(id_, ()), left):
                heapq.heappush(ready, (ages[newer], newer))
    return ordered, has_cycle


def _ready_ids(newer: Iterable[str], left: dict[str, int]) -> Iterator[str]:
    """The ids whose turn has come, now that one more of what they wait for is done; ``left`` counts
    for each id what it still waits for.
    """
    for id_ in newer:
        if id_ in left:
            left[id_] -= 1
            if not left[id_]:
                yield id_
