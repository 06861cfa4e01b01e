"""What open pages are told of changes, without a browser: a feed over files, events for each page."""

from __future__ import annotations

import threading
import time
from collections.abc import Coroutine
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


def carry_out(steps: Coroutine[Any, Any, None]) -> None:
    """What waits for nothing, since the clock is ours, needs no loop; a browser may have one."""
    with pytest.raises(StopIteration):
        steps.send(None)


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

    carry_out(listen())
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

    carry_out(look())
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


class Followed:
    """A feed that takes its steps one by one: before each the test changes something.

    ``looks`` are the moments at which the index was brought up to date.
    """

    def __init__(self, root: Path, clock: SimpleNamespace, *, is_watched: bool) -> None:
        self.clock, self.is_watched = clock, is_watched
        self.root, self.name = root / "root", "memory"
        self.places = SimpleNamespace(state=root / "state")
        self.index = self
        self.looks: list[float] = []
        self.steps: list[Any] = []
        self.problem: Exception | None = None
        self.feed = ChangeFeed(self.opened)
        self.feed._ended = self  # type: ignore[assignment]
        self.watches: list[Path] = []
        self.has_stopped = False

    def opened(self) -> Any:
        if self.problem:
            raise self.problem
        return self

    def watch(self, folder: Path, _: Any, on_change: Any) -> Any:
        self.watches.append(folder)
        self.on_change = on_change
        return self

    def follow(self, roots: list[Path]) -> str:
        assert roots == [self.root]
        return "" if self.is_watched else "too many files"

    def stop(self) -> None:
        self.has_stopped = True

    def wait(self, seconds: float) -> bool:
        assert seconds == live_changes.LOOK_S
        if not self.steps:
            return True
        self.clock.now += 1.0
        self.steps.pop(0)()
        return False

    def warm_up(self) -> None:
        pass

    def refresh(self) -> RefreshResult:
        self.looks.append(self.clock.now - 1000.0)
        return RefreshResult(0, 0)


def nothing() -> None:
    pass


@pytest.fixture
def followed(
    tmp_path: Path, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> Any:
    def made(*, is_watched: bool) -> Followed:
        one = Followed(tmp_path, clock, is_watched=is_watched)
        monkeypatch.setattr(live_changes, "Watch", one.watch)
        return one

    return made


def test_files_that_are_watched_are_looked_at_first_and_after_each_change(
    followed: Any,
) -> None:
    one = followed(is_watched=True)
    one.steps = [nothing, *[nothing] * 9, lambda: one.on_change(), nothing]  # noqa: PLW0108 (not yet)
    one.feed._follow()
    assert one.looks == [1.0, 11.0]
    assert one.watches == [one.places.state / "open"]
    assert (one.has_stopped, one.feed.is_following) == (True, True)


def test_files_that_cannot_be_watched_are_looked_at_every_five_seconds(
    followed: Any,
) -> None:
    one = followed(is_watched=False)
    one.steps = [nothing] * 14
    one.feed._follow()
    assert one.looks == [1.0, 7.0, 13.0]
    assert not one.feed.is_following


def test_what_the_index_does_not_hold_raises_the_version_once(followed: Any) -> None:
    one = followed(is_watched=True)

    def sync() -> None:
        (one.places.state / "sync").mkdir(parents=True)
        (one.places.state / "sync" / "memory.json").write_text("{}")

    one.steps = [nothing, sync, nothing, nothing]
    one.feed._follow()
    assert (one.feed.version, one.looks) == (1, [1.0])


@pytest.mark.parametrize("problem", [IndexUnavailable("no", ""), OSError("no")])
def test_a_workspace_that_cannot_be_opened_for_a_while_is_followed_again(
    followed: Any, problem: Exception
) -> None:
    one = followed(is_watched=True)

    def fail() -> None:
        one.problem = problem
        one.on_change()

    def mend() -> None:
        one.problem = None

    one.steps = [nothing, fail, nothing, mend]
    one.feed._follow()
    assert one.looks == [1.0, 4.0]


def test_it_follows_in_a_thread_that_lets_the_process_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[threading.Thread] = []

    def start(thread: threading.Thread) -> None:
        begun.append(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    followed: list[bool] = []
    monkeypatch.setattr(ChangeFeed, "_follow", lambda _: followed.append(True))
    feed().start()
    [thread] = begun
    assert (thread.name, thread.daemon) == ("changes", True)
    thread.run()
    assert followed == [True]
