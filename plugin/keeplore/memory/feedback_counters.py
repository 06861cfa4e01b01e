"""``feedback/<machine>.json``: how often one machine saw memories being of use. Ids, days and
numbers, no text.

A file has one writer and its numbers only grow, so that all machines together are their sum, in
whatever order they are read (a G-counter, Shapiro et al. 2011). A memory stands on a line of its
own, sorted by id, for git to merge and show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keeplore.memory.merge.memory_merge import FileMerge
from keeplore.memory.names import is_id

FOLDER = "feedback"
SCHEMA = 1
MAX_FILE = 4 * 1024 * 1024  # bytes
# of one machine, some 80 bytes each; those longest out of use go first
MAX_MEMORIES = 10_000
MAX_DAYS = 12  # kept of a memory; with more, the second oldest joins the third
MOST = 1_000_000  # no counter is higher
_DAY = re.compile(r"\d{4}-[01]\d-[0-3]\d\Z")


@dataclass(frozen=True, slots=True)
class UsageCounters:
    """What is known of one memory: in how many sessions it was of use, and in how many it was told
    for nothing.
    """

    used: int = 0
    last: str = ""  # the day on which it was of use last (YYYY-MM-DD), "" for never
    # day → sessions that were told of it and made no use of it
    idle: Mapping[str, int] = field(default_factory=dict)

    def with_use(self, day: str) -> UsageCounters:
        return UsageCounters(min(self.used + 1, MOST), max(self.last, day), self.idle)

    def with_idle(self, day: str) -> UsageCounters:
        return UsageCounters(
            self.used,
            self.last,
            {**self.idle, day: min(self.idle.get(day, 0) + 1, MOST)},
        )

    @property
    def seen(self) -> str:
        """The last day of which it tells."""
        return max((self.last, *self.idle))


def path_of(machine: str) -> str:
    """The path of a machine's file."""
    return f"{FOLDER}/{machine}.json"


def total(tallies: Iterable[UsageCounters]) -> UsageCounters:
    """What several machines, or several memories, have seen together."""
    used, last, idle = 0, "", dict[str, int]()
    for tally in tallies:  # a recall adds up a thousand, so in few steps
        used, last = used + tally.used, max(last, tally.last)
        for day, number in tally.idle.items():
            idle[day] = idle.get(day, 0) + number
    return UsageCounters(used, last, idle)


def parse(text: str) -> dict[str, UsageCounters]:
    """What a file says. Raises ValueError with what is wrong in it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise ValueError(f"it is no JSON: {e}") from e
    return {id_: _parse_counters(id_, said) for id_, said in _memories(data).items()}


def _memories(data: Any) -> dict[str, Any]:
    """The counters by memory, not looked at yet. Raises ValueError."""
    memories = data.get("memories") if isinstance(data, dict) else None
    if not isinstance(memories, dict):
        raise ValueError("it should have the key memories, with a line for each")
    if data.get("schema") != SCHEMA:
        raise ValueError(
            f"its schema is {data.get('schema')!r}, and this Keeplore knows {SCHEMA}"
        )
    if len(memories) > MAX_MEMORIES:
        raise ValueError(f"it has more than {MAX_MEMORIES} memories")
    return memories


def to_text(tallies: Mapping[str, UsageCounters]) -> str:
    """The text of a file; of too many memories those that were of use or told last."""
    kept = sorted(tallies, key=lambda id_: (tallies[id_].seen, id_), reverse=True)[
        :MAX_MEMORIES
    ]
    lines = [
        f"{json.dumps(id_)}: {json.dumps(_counters_json(tallies[id_]))}"
        for id_ in sorted(kept)
    ]
    return f'{{"schema": {SCHEMA}, "memories": {{\n' + ",\n".join(lines) + "\n}}\n"


def merge(_path: str, _base: str | None, one: str, other: str) -> FileMerge:
    """Two versions of one machine's file, which only a copied disk can make: of each number the
    higher.

    One that cannot be read counts nothing.
    """
    first, second = _parse_or_empty(one), _parse_or_empty(other)
    joined = {
        id_: _maximum(first.get(id_, UsageCounters()), second.get(id_, UsageCounters()))
        for id_ in first.keys() | second.keys()
    }
    return FileMerge(to_text(joined), {})


def _parse_or_empty(text: str) -> dict[str, UsageCounters]:
    """What a file says, nothing where it cannot be read."""
    try:
        return parse(text)
    except ValueError:
        return {}


def _maximum(one: UsageCounters, other: UsageCounters) -> UsageCounters:
    """The higher of the two for each number."""
    days = one.idle.keys() | other.idle.keys()
    idle = {day: max(one.idle.get(day, 0), other.idle.get(day, 0)) for day in days}
    return UsageCounters(max(one.used, other.used), max(one.last, other.last), idle)


def _counters_json(tally: UsageCounters) -> dict[str, Any]:
    used = {"used": tally.used, "last": tally.last} if tally.used else {}
    # what was idle before the last use is settled by it, on whatever machine
    idle = dict(
        _limited_days(
            sorted(item for item in tally.idle.items() if item[0] > tally.last)
        )
    )
    return {**used, **({"idle": idle} if idle else {})}


def _limited_days(days: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """At most ``MAX_DAYS``: the first and the latest stay; the second takes in what is left out."""
    while len(days) > MAX_DAYS:
        (_, number), (day, more) = days[1:3]
        days[1:3] = [(day, number + more)]
    yield from days


def _parse_counters(id_: str, data: Any) -> UsageCounters:
    """The counters of a memory. Raises ValueError with what is wrong in them."""
    if not is_id(id_) or not isinstance(data, dict):
        raise ValueError(f"{id_[:100]!r} is no memory with its counters")
    used, last, idle = data.get("used", 0), data.get("last", ""), data.get("idle", {})
    if not isinstance(idle, dict) or not all(map(_is_number, [used, *idle.values()])):
        raise ValueError(f"{id_}: its numbers should be whole ones up to {MOST}")
    days = [last, *idle] if used else idle
    if len(idle) > 10 * MAX_DAYS or not all(map(_is_day, days)):
        raise ValueError(f"{id_}: its days should be like 2026-02-09, and few")
    return UsageCounters(used, last if used else "", idle)


def _is_day(value: Any) -> bool:
    """Whether it is a day as YYYY-MM-DD."""
    return isinstance(value, str) and _DAY.match(value) is not None


def _is_number(value: Any) -> bool:
    """Whether it is a counter; ``true`` is none."""
    return type(value) is int and 0 <= value <= MOST
