"""What the command line tells a worker: that a memory was written, and that it wants what was said
just now.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from waiting import until

from keeplore.memory.note import NoteDraft
from keeplore.worker.loop import Worker
from keeplore.worker.server.protocol import ask
from keeplore.workspace.registry import Registry


def test_a_worker_that_is_told_of_a_change_commits_it(
    office: Any, git: Callable[..., str]
) -> None:
    office.init()
    office.start()
    # what it does on its own after its start is over
    until(
        lambda: (
            (ask(office.places.state, "status", timeout_s=30) or {}).get("is_behind")
            is False
        ),
        "it rests",
    )
    with Registry(office.places) as registry:
        registry.named("memory").notes.write(NoteDraft("Prices are kept in cents"))
    assert ask(office.places.state, "changed", timeout_s=30) is not None
    until(
        lambda: git("status", "--porcelain", cwd=office.root) == "", "it is committed"
    )
    assert "prices-are-kept" in git("show", "--stat", cwd=office.root)


def test_a_worker_that_is_asked_to_catch_up_has_taken_what_was_said(
    office: Any,
) -> None:
    office.init()
    office.start()
    until(
        lambda: ask(office.places.state, "status", timeout_s=30) is not None,
        "it answers",
    )
    office.prompt("Prices are kept in cents")
    assert ask(office.places.state, "catch-up", timeout_s=60) == {"is_caught_up": True}
    assert office.prompts() == ["Prices are kept in cents"]


def test_without_a_worker_the_spool_is_taken_here(office: Any) -> None:
    office.init()
    office.prompt("Prices are kept in cents")
    with Registry(office.places) as registry:
        assert Worker(office.places).catch_up(registry)
    assert office.prompts() == ["Prices are kept in cents"]
    assert office.spool.counts() == {"new": 0, "claimed": 0, "dead": 0}


def test_what_another_worker_holds_is_left_to_it(office: Any) -> None:
    office.init()
    office.start()
    until(
        lambda: ask(office.places.state, "status", timeout_s=30) is not None,
        "it answers",
    )
    with Registry(office.places) as registry:
        assert not Worker(office.places).catch_up(registry)


def test_what_has_to_wait_is_said_to_wait(office: Any) -> None:
    office.prompt("There is no workspace yet")
    with Registry(office.places) as registry:
        assert not Worker(office.places).catch_up(registry)
    assert office.spool.counts()["new"] == 1
