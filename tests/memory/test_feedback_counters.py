"""Counters of machines: read as they were written, added in any order, and no more than a file can
hold.
"""

from __future__ import annotations

import json
from datetime import date
from functools import reduce

import pytest
from example_count import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore.memory import feedback_counters, new_id
from keeplore.memory.feedback_counters import (
    MAX_DAYS,
    UsageCounters,
    merge,
    parse,
    to_text,
    total,
)

ID = new_id("one")
DAYS = st.dates(date(2026, 1, 1), date(2027, 1, 1)).map(date.isoformat)
NUMBERS = st.integers(1, 99)
TALLIES = st.builds(
    lambda used, last, idle: UsageCounters(used, last if used else "", idle),
    st.integers(0, 99),
    DAYS,
    st.dictionaries(DAYS, NUMBERS, max_size=3),
)


@settings(max_examples=examples(30))
@given(st.lists(TALLIES, min_size=1, max_size=4), st.randoms())
def test_machines_add_up_whatever_the_order_and_the_grouping(tallies, random):
    shuffled = random.sample(tallies, len(tallies))
    assert (
        total(tallies)
        == total(shuffled)
        == reduce(lambda one, other: total([one, other]), shuffled, UsageCounters())
    )
    assert total(tallies).used == sum(tally.used for tally in tallies)


@settings(max_examples=examples(30))
@given(TALLIES, TALLIES)
def test_two_versions_of_one_machines_file_count_once(one, other):
    texts = [to_text({ID: tally}) for tally in (one, other)]
    joined = merge("", None, *texts).text
    assert (
        joined
        == merge("", None, *reversed(texts)).text
        == merge("", None, joined, texts[0]).text
    )
    assert parse(joined).get(ID, UsageCounters()).used == max(one.used, other.used)


def test_a_file_has_a_line_for_each_memory_in_the_order_of_ids():
    tallies = {
        new_id(name): UsageCounters(2, "2026-02-09", {"2026-03-01": 1})
        for name in "dacb"
    }
    lines = to_text(tallies).splitlines()
    assert parse(to_text(tallies)) == tallies
    assert (
        lines[1]
        == f'"{min(tallies)}": {{"used": 2, "last": "2026-02-09", "idle": {{"2026-03-01": 1}}}},'
    )
    assert [line[1:41] for line in lines[1:-1]] == sorted(tallies)
    assert parse(to_text({})) == {}


def test_a_file_stays_small_and_keeps_what_counts(monkeypatch):
    monkeypatch.setattr(feedback_counters, "MAX_MEMORIES", 2)
    days = {f"2026-03-{day:02d}": 1 for day in range(1, 31)}
    old, long, new = (new_id(name) for name in ("old", "long", "new"))
    kept = parse(
        to_text(
            {
                old: UsageCounters(9, "2025-01-01"),
                long: UsageCounters(0, "", days),
                new: UsageCounters(1, "2026-04-01"),
            }
        )
    )
    assert kept.keys() == {long, new}
    assert (len(kept[long].idle), sum(kept[long].idle.values())) == (MAX_DAYS, 30)
    assert {min(days), max(days)} <= kept[long].idle.keys()
    assert to_text(kept) == to_text(parse(to_text(kept)))
    # what was idle before the last use is settled by it
    assert (
        min(parse(to_text({new: UsageCounters(1, "2026-03-15", days)}))[new].idle)
        == "2026-03-16"
    )


@pytest.mark.parametrize(
    "said",
    [
        "[]",
        "{",
        "[" * 100_000,
        json.dumps({"schema": 2, "memories": {}}),
        json.dumps({"schema": 1, "memories": {"../x": {}}}),
        json.dumps({"schema": 1, "memories": {ID: {"used": -1, "last": "2026-02-09"}}}),
        json.dumps({"schema": 1, "memories": {ID: {"used": True}}}),
        json.dumps({"schema": 1, "memories": {ID: {"used": 1, "last": "today"}}}),
        json.dumps({"schema": 1, "memories": {ID: {"idle": {"2026-02-09": 1.5}}}}),
        json.dumps({"schema": 1, "memories": {ID: {"idle": [1]}}}),
    ],
)
def test_a_file_that_is_none_says_what_is_wrong(said):
    with pytest.raises(ValueError, match=r"it |its "):
        parse(said)
    assert merge(
        "", None, said, to_text({ID: UsageCounters(1, "2026-02-09")})
    ).text == to_text({ID: UsageCounters(1, "2026-02-09")})


def test_no_counter_is_higher_than_a_million():
    almost = UsageCounters(999_999, "2026-02-09", {"2026-02-10": 999_999})
    full = UsageCounters(1_000_000, "2026-02-11", {"2026-02-10": 1_000_000})
    assert almost.with_use("2026-02-11").with_idle("2026-02-10") == full
    assert full.with_use("2026-02-11").with_idle("2026-02-10") == full
