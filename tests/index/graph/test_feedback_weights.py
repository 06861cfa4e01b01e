"""What counters come to: use adds, being told for nothing fades, and what nobody was told of stays
as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.index import Index
from keeplore.index.graph.feedback_weights import weight
from keeplore.memory import Memory, feedback_counters, new_id, new_meta
from keeplore.memory.feedback_counters import UsageCounters
from keeplore.store import Store

RATES = FeedbackSettings()
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
TODAY = NOW.date()
AGO = {days: (TODAY - timedelta(days=days)).isoformat() for days in range(100)}
START_UP = [
    {
        "entity": "fastembed",
        "type": "tool",
        "aspect": "start-up time",
        "kind": "constraint",
    }
]


def test_use_adds_up_to_a_ceiling_and_nothing_known_is_neutral() -> None:
    assert weight(UsageCounters(), TODAY, RATES) == 1.0
    once, often = (
        weight(UsageCounters(1, AGO[1]), TODAY, RATES),
        weight(UsageCounters(500, AGO[1]), TODAY, RATES),
    )
    assert (once, often) == (1.0 + RATES.delta, RATES.ceiling)
    # that nobody needed it since says nothing
    assert weight(UsageCounters(1, AGO[99]), TODAY, RATES) == once


def test_being_told_for_nothing_fades_after_a_while_and_to_a_floor() -> None:
    daily = {AGO[days]: 1 for days in range(40)}
    soon = RATES.grace_days + RATES.every
    fading = [
        weight(UsageCounters(5, AGO[days], daily), TODAY, RATES)
        for days in (soon - 1, soon, 39)
    ]
    assert (
        fading[0]
        == weight(UsageCounters(5, AGO[1]), TODAY, RATES)
        > fading[1]
        == fading[0] * RATES.fade
        > fading[2]
        == RATES.floor
    )
    # a week of it is no evidence yet, also for what was never of use
    assert (
        weight(
            UsageCounters(
                0, "", {AGO[days]: 9 for days in range(RATES.grace_days + 1)}
            ),
            TODAY,
            RATES,
        )
        == 1.0
    )
    assert weight(UsageCounters(0, "", daily), TODAY, RATES) == RATES.floor


@pytest.mark.parametrize("last", ["9999-12-31", "2999-01-01", "2026-02-31"])
def test_days_that_never_were_make_nobody_better_than_use_does(last: str) -> None:
    assert (
        weight(UsageCounters(1, last, {"9999-12-30": 50, AGO[50]: 50}), TODAY, RATES)
        <= 1.0 + RATES.delta
    )


class Shelf:
    """A workspace with its index, and machines that count."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "workspace")
        self.store.root.mkdir()
        self.index = Index(folder / "index", self.store, None)

    def note(self, title: str, **fields: Any) -> str:
        meta = new_meta(
            id=new_id(title),
            kind="note",
            title=title,
            created_at=f"{AGO[50]}T00:00:00Z",
            scope="workspace",
            **fields,
        )
        self.store.save(Memory(meta, f"{title} is so.\n"))
        return new_id(title)

    def count(self, machine: str, tallies: Mapping[str, UsageCounters]) -> None:
        self.store.write_text(
            feedback_counters.path_of(machine), feedback_counters.to_text(tallies)
        )

    def weights(self, *ids: str) -> list[float]:
        self.index.refresh()
        found = self.index.graph.feedback(ids, NOW, RATES)
        return [round(found.get(id_, 1.0), 6) for id_ in ids]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.index.close()


def test_machines_add_up_and_a_file_that_goes_takes_its_share_with_it(
    shelf: Shelf,
) -> None:
    one, other = shelf.note("one"), shelf.note("other")
    assert shelf.weights(one, other) == [1.0, 1.0]
    shelf.count("studio", {one: UsageCounters(2, AGO[3])})
    shelf.count(
        "laptop",
        {one: UsageCounters(1, AGO[1]), new_id("gone"): UsageCounters(9, AGO[1])},
    )
    assert shelf.weights(one, other) == [1.3, 1.0]
    (shelf.store.root / feedback_counters.path_of("laptop")).unlink()
    assert shelf.weights(one, other) == [1.2, 1.0]
    shelf.store.write_text(feedback_counters.path_of("studio"), "{}")
    assert shelf.weights(one, other) == [1.0, 1.0]
    assert [path for path, _ in shelf.index.problems()] == [
        feedback_counters.path_of("studio")
    ]


def test_a_newer_version_has_what_the_older_ones_earned(shelf: Shelf) -> None:
    first = shelf.note("first")
    second = shelf.note("second", supersedes=first)
    third = shelf.note("third", supersedes=second)
    shelf.count(
        "studio", {first: UsageCounters(2, AGO[3]), second: UsageCounters(1, AGO[1])}
    )
    assert shelf.weights(first, second, third) == [1.3, 1.3, 1.3]


def test_memories_of_one_aspect_share_what_they_earned(shelf: Shelf) -> None:
    other = [{**START_UP[0], "aspect": "licence"}]
    slow, quick = (
        shelf.note("slow", aspects=START_UP),
        shelf.note("quick", aspects=START_UP),
    )
    both, apart = (
        shelf.note("both", aspects=START_UP + other),
        shelf.note("apart", aspects=other),
    )
    elsewhere = shelf.note("elsewhere", aspects=START_UP, project="api")
    shelf.count("studio", {slow: UsageCounters(2, AGO[3])})
    assert shelf.weights(slow, quick, both, apart) == [1.2, 1.2, 1.1, 1.0]
    assert elsewhere


def test_what_a_weight_comes_from_is_added_up_each_memory_once(shelf: Shelf) -> None:
    first = shelf.note("first", aspects=START_UP)
    second = shelf.note("second", aspects=START_UP, supersedes=first)
    beside = shelf.note("beside", aspects=START_UP)
    apart = shelf.note("apart")
    shelf.count(
        "studio",
        {
            first: UsageCounters(2, AGO[3], {AGO[2]: 1}),
            second: UsageCounters(1, AGO[4], {AGO[2]: 2}),
            apart: UsageCounters(50, AGO[0]),
        },
    )
    shelf.count("laptop", {beside: UsageCounters(4, AGO[5], {AGO[4]: 7})})
    shelf.index.refresh()
    graph = shelf.index.graph
    of_all = UsageCounters(7, AGO[3], {AGO[2]: 3, AGO[4]: 7})
    assert [graph.use_of(id_) for id_ in (first, second, beside)] == [of_all] * 3
    assert graph.use_of(apart) == UsageCounters(50, AGO[0])
    assert graph.use_of(shelf.note("new")) == UsageCounters()
