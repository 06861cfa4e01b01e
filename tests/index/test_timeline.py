"""Memories in the order of time: page after page each once, and counted by day and sort."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.index.timeline import DoubtedWriters, Timeline, TimelineFilter
from keeplore.memory import Memory, new_id, new_meta
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore_hooks.contracts import ScopeFilter

COUNT = 25
EVERYTHING = TimelineFilter()
HOSTS = {1: "codex", 3: "codex", 4: "codex", 9: "cursor"}


@pytest.fixture
def timeline(tmp_path: Path) -> Iterator[Timeline]:
    """Two memories of each moment; every fifth replaces the one before it."""
    places = Places(tmp_path / "state", tmp_path / "cache")
    initialise(places, tmp_path / "memory")
    with Registry(places) as registry:
        workspace = registry.for_directory(tmp_path / "memory")
        for number in range(COUNT):
            meta = new_meta(
                id=new_id(str(number)),
                kind="note",
                title=f"note {number}",
                created_at=f"2026-02-{1 + number // 2:02}T10:00:00Z",
                scope="project" if number == 7 else "workspace",
                project="shop" if number == 7 else "",
                permanent=number == 6,
                category="gotchas" if number % 2 else "patterns",
                supersedes=new_id(str(number - 1)) if number % 5 == 4 else "",
                trust="tool" if number == 5 else "user",
                source={
                    "machine": "laptop" if number == 2 else "studio",
                    "host": HOSTS.get(number, ""),
                },
            )
            workspace.store.save(Memory(meta, f"# note {number}\n\nText {number}.\n"))
        workspace.index.refresh()
        yield workspace.index.timeline


def test_pages_give_every_newest_version_once_the_newest_first(
    timeline: Timeline,
) -> None:
    found, after = [], ""
    while True:
        page = timeline.page(EVERYTHING, after, limit=3)
        found += [(row.updated_at, row.title) for row in page.rows]
        after = page.next
        if not after:
            break
    heads = {f"note {number}" for number in range(COUNT) if number % 5 != 3}
    assert {title for _, title in found} == heads and len(found) == len(heads)
    moments = [at for at, _ in found]
    assert moments == sorted(moments, reverse=True)


def test_a_moment_begins_the_page(timeline: Timeline) -> None:
    page = timeline.page(TimelineFilter(until="2026-02-02T10:00:00Z"), limit=50)
    assert {row.title for row in page.rows} == {"note 0", "note 1", "note 2"}
    assert page.next == ""


def test_a_page_holds_what_was_asked_for(timeline: Timeline) -> None:
    laptop = DoubtedWriters(("laptop",), ())
    first = "2026-02-02T10:00:00Z"
    asked = {
        TimelineFilter(ScopeFilter((("project", "shop"),))): "7",
        TimelineFilter(kind="conversation"): "",
        TimelineFilter(category="gotchas", until="2026-02-03T10:00:00Z"): "5 1",
        TimelineFilter(host="codex"): "4 1",
        TimelineFilter(machine="laptop"): "2",
        TimelineFilter(trust="tool"): "5",
        TimelineFilter(trust="tool", doubted=laptop): "5",
        TimelineFilter(trust="foreign", doubted=laptop): "2",
        TimelineFilter(trust="user", doubted=laptop, until=first): "1 0",
        TimelineFilter(permanent=True): "6",
        TimelineFilter(may_ask=True): "",
    }
    found = {
        wanted: {row.title for row in timeline.page(wanted, limit=50).rows}
        for wanted in asked
    }
    assert found == {
        wanted: {f"note {number}" for number in numbers.split()}
        for wanted, numbers in asked.items()
    }


def test_what_is_kept_fills_the_page(timeline: Timeline) -> None:
    page = timeline.page(EVERYTHING, "", 2, lambda row: row.title.endswith(" 0"))
    assert [row.title for row in page.rows] == ["note 0"]


def test_days_and_facets_count_newest_versions(timeline: Timeline) -> None:
    days = timeline.days(EVERYTHING, "2026-02-11")
    assert days == {"2026-02-11": 2, "2026-02-12": 1, "2026-02-13": 1}
    facets = timeline.facets()
    assert facets == {
        "kind": {"note": 20},
        "category": {"patterns": 11, "gotchas": 9},
        "project": {"shop": 1},
        "host": {"codex": 2, "cursor": 1},
        "machine": {"studio": 19, "laptop": 1},
        "trust": {"user": 19, "tool": 1},
    }


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place whose clocks are fourteen hours ahead."""
    monkeypatch.setenv("TZ", "LINT-14")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_days_are_those_of_this_place(timeline: Timeline, far_east: None) -> None:
    days = timeline.days(EVERYTHING, "2026-02-11T10:00:00Z")
    assert days == {"2026-02-12": 2, "2026-02-13": 1, "2026-02-14": 1}


def test_a_gist_is_what_a_memory_says_first(timeline: Timeline) -> None:
    id_ = new_id("7")
    assert timeline.gists([id_]) == {id_: "Text 7."}
