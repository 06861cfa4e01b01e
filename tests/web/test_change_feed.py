"""What open pages are told of changes, without a browser: a feed over files, events for each page."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.errors import IndexUnavailable
from keeplore.index.rows import RefreshResult
from keeplore.web import live_changes
from keeplore.web.live_changes import ChangeFeed


class Indexed:
    """A workspace whose index gives these results one after the other."""

    def __init__(self, *results: RefreshResult) -> None:
        self.results = [*results]
        self.warmed = 0
        self.index = self

    def refresh(self) -> RefreshResult:
        return self.results.pop(0)

    def warm_up(self) -> None:
        self.warmed += 1
        raise IndexUnavailable("there is no model", "")


def feed(workspace: Any = None) -> ChangeFeed:
    return ChangeFeed(lambda: workspace)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """``now`` is what the clock says; whoever sleeps moves it on."""
    clock = SimpleNamespace(now=1000.0, slept=[])

    async def sleep(seconds: float) -> None:
        clock.slept.append(seconds)
        clock.now += seconds

    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(live_changes.asyncio, "sleep", sleep)
    return clock


def test_the_version_rises_with_what_a_look_at_the_files_finds() -> None:
    nothing, changed, removed = (RefreshResult(*n) for n in ((0, 0), (2, 0), (0, 1)))
    workspace: Any = Indexed(nothing, changed, removed)
    changes = feed()
    versions = []
    for _ in range(3):
        changes._catch_up(workspace, is_watched=True)
        versions.append(changes.version)
    assert versions == [0, 1, 2]
    assert workspace.warmed == 1  # once, and without a model words are enough


def test_an_index_needs_no_refresh_only_while_files_are_watched() -> None:
    workspace: Any = Indexed(*[RefreshResult(0, 0)] * 3)
    changes = feed()
    followed = []
    for is_watched in (False, True, False):
        changes._catch_up(workspace, is_watched=is_watched)
        followed.append((changes.is_following, workspace.warmed))
    assert followed == [(False, 0), (True, 1), (False, 1)]
    assert not changes._changed.is_set()


def test_a_page_is_told_of_each_change_and_now_and_then_that_the_server_is_there(
    clock: SimpleNamespace,
) -> None:
    changes = feed()
    told = []

    async def listen() -> None:
        async for event in changes.stream():
            told.append((event, round(clock.now - 1000.0, 1)))
            if len(told) == 2:
                changes.version += 1
            if len(told) == 4:
                changes.stop()

    asyncio.run(listen())
    assert [event for event, _ in told] == [
        "retry: 2000\n\n",
        ": still here\n\n",
        "event: changed\ndata: 1\n\n",
        ": still here\n\n",
    ]
    assert [at for _, at in told] == [0.0, 15.3, 15.6, 30.9]
    assert {*clock.slept} == {0.3}


def test_how_long_nobody_looks_counts_from_the_last_page_that_closed(
    clock: SimpleNamespace,
) -> None:
    changes = feed()
    clock.now += 5.0
    assert changes.unseen_s == 5.0
    changes.note_visit()
    clock.now += 2.0
    assert changes.unseen_s == 2.0

    async def look() -> None:
        one, other = changes.stream(), changes.stream()
        await anext(one)
        await anext(other)
        clock.now += 60.0
        assert changes.unseen_s == 0.0
        await one.aclose()
        clock.now += 60.0
        assert changes.unseen_s == 0.0
        await other.aclose()

    asyncio.run(look())
    clock.now += 3.0
    assert changes.unseen_s == 3.0


@pytest.mark.parametrize(
    "name", ["state/sync/memory.json", "state/machines/memory.json", "root/forgotten"]
)
def test_what_the_index_does_not_hold_is_looked_at_too(
    tmp_path: Path, name: str
) -> None:
    workspace: Any = SimpleNamespace(
        name="memory",
        root=tmp_path / "root",
        places=SimpleNamespace(state=tmp_path / "state"),
    )
    changes = feed(workspace)
    before = changes._side_stamps(workspace)
    assert changes._side_stamps(workspace) == before
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("{}")
    assert changes._side_stamps(workspace) != before
