"""How long a worker may wait, and when it leaves."""

from types import SimpleNamespace

import pytest

from keeplore.worker.lifetime import Lifetime


def background(*, is_syncing=False, is_behind=False, is_loaded=False):
    return SimpleNamespace(
        sync=SimpleNamespace(is_running=is_syncing),
        is_behind=is_behind,
        model=SimpleNamespace(is_loaded=is_loaded),
    )


def lifetime(idle_exit_s=900.0, *, is_rested=False):
    return Lifetime(idle_exit_s, 300.0, is_rested=is_rested)


@pytest.mark.parametrize(
    ("after_s", "is_loaded", "wait_s", "wants_successor"),
    [
        (0.0, False, 900.0, False),
        (0.0, True, 300.0, False),
        (299.0, True, 1.0, False),
        (299.99, True, 0.05, False),  # never a loop without a pause
        (300.0, True, 0.0, True),  # to give the model's memory back
        (300.0, False, 600.0, False),
        (900.0, False, 0.05, False),
        (900.5, False, 0.0, False),
        (900.5, True, 0.0, False),
    ],
)
def test_an_idle_worker_gives_memory_back_and_then_leaves(
    clock, after_s, is_loaded, wait_s, wants_successor
):
    worker = lifetime()
    clock.now += after_s
    state = background(is_loaded=is_loaded)
    assert worker.allowed_wait_s(state, is_awaited=False) == pytest.approx(wait_s)
    assert worker.wants_successor is wants_successor
    assert worker.lived_s == after_s


def test_work_puts_off_both(clock):
    worker = lifetime()
    clock.now += 250.0
    assert not worker.note_work()
    clock.now += 100.0
    state = background(is_loaded=True)
    assert worker.allowed_wait_s(state, is_awaited=False) == 200.0


@pytest.mark.parametrize("state", [{"is_syncing": True}, {"is_behind": True}])
def test_a_worker_with_work_stays_and_looks_again_in_a_minute(clock, state):
    worker = lifetime()
    worker.is_superseded = True
    clock.now += 5000.0
    assert worker.allowed_wait_s(background(**state), is_awaited=False) == 60.0
    assert not worker.wants_successor


@pytest.mark.parametrize(
    ("idle_exit_s", "wait_s"), [(900.0, 60.0), (60.0, 60.0), (59.0, 0.0)]
)
def test_a_worker_stays_for_a_session_that_ends_unless_it_was_started_to_leave_soon(
    clock, idle_exit_s, wait_s
):
    worker = lifetime(idle_exit_s)
    clock.now += 5000.0
    assert worker.allowed_wait_s(background(), is_awaited=True) == wait_s


@pytest.mark.parametrize("after_s", [0.0, 5000.0])
def test_a_worker_that_is_superseded_leaves_to_a_successor_at_once(clock, after_s):
    worker = lifetime()
    worker.is_superseded = True
    clock.now += after_s
    assert worker.allowed_wait_s(background(), is_awaited=True) == 0.0
    assert worker.wants_successor


def test_a_rested_worker_has_no_work_behind_it_until_somebody_asks(clock):
    worker = lifetime(is_rested=True)
    clock.now += 100.0
    assert worker.is_rested
    # a model that was loaded all the same has its time from the start
    assert worker.allowed_wait_s(background(is_loaded=True), is_awaited=False) == 200.0
    assert worker.allowed_wait_s(background(), is_awaited=False) == 500.0
    assert [worker.note_work(), worker.note_work()] == [True, False]
    assert not worker.is_rested
    assert worker.allowed_wait_s(background(), is_awaited=False) == 900.0
