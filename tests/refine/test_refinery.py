"""What becomes of a job of refining: done, put off, or tried again, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keeplore.config.settings import TokenPrice
from keeplore.errors import LlmRefused, LlmUnavailable, WorkspaceFrozen
from keeplore.llm.base import TransientFailure
from keeplore.llm.open_model import accept
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.refinery import (
    RefineEstimate,
    Refinery,
    backlog,
    estimate,
)
from keeplore_hooks.specs import hookimpl

from .conftest import ADVICE, ASKED, DECIDED, Desk, Script

SETTINGS = (
    "schema: 1\nllm:\n  provider: scripted\n  model: m\nrefine:\n  mode: controlled\n"
)
CHOICE = "The orders service uses PostgreSQL 16."
AGAIN = "It is tried again by itself; `keeplore doctor` says whether the model answers"
MORE = "`keeplore doctor` says more"
SPAN = "We go with PostgreSQL 16 for the orders service"


class Scripted:
    """The plugin that gives the model of the test."""

    def __init__(self, model: Script) -> None:
        self._model = model

    @hookimpl
    def keeplore_llm(self, provider: str) -> Script | None:
        return self._model if provider == "scripted" else None


@pytest.fixture
def registry(desk: Desk) -> Iterator[Registry]:
    (desk.workspace.root / "keeplore.yaml").write_text(SETTINGS)
    with Registry(desk.workspace.places) as registry:
        workspace = registry.named("memory")
        workspace.plugins.register(Scripted(desk.model))
        accept(workspace.places, workspace.root, workspace.settings.llm)
        yield registry


@pytest.fixture
def queue(desk: Desk, registry: Registry) -> Callable[..., None]:
    def queue(talk: str, **fields: Any) -> None:
        payload = {"workspace": "memory", **fields}
        Refinery(registry).queue.add("refine", talk, payload, datetime.now(UTC))

    return queue


def test_a_job_is_done_once_and_tells_what_it_came_to(
    desk: Desk, registry: Registry, queue: Callable[..., None], fact: Callable[..., Any]
) -> None:
    refinery = Refinery(registry)
    talk = desk.say((ASKED, ADVICE), (DECIDED, "It is set up."))
    answer = {"facts": [fact(CHOICE, SPAN)]}
    # the mode of a job goes before that of the settings
    for mode, why, outcomes in (
        ("shadow", "", {"ADD shadow": 1}),
        ("", "", {"ADD applied": 1}),
        ("", "it was refined before", {}),
    ):
        queue(talk, mode=mode)
        assert refinery.next_due_s() == 0
        desk.model.answers = [] if why else [answer]
        step = refinery.step()
        assert step is not None and step.result is not None
        assert (step.job.key, step.problem, step.wait_s) == (talk, "", 0)
        assert (step.result.conversation, step.result.why) == (talk, why)
        assert (+step.result.outcomes, +step.result.dropped) == (outcomes, {})
        assert (refinery.queue.counts(), desk.model.answers) == ([], [])
    assert (refinery.step(), refinery.next_due_s()) == (None, None)


@pytest.mark.parametrize(
    ("error", "problem", "wait_s", "due_s", "attempts"),
    [
        (LlmUnavailable("it is away", "wait"), "it is away. wait", 300, 300, 0),
        (
            TransientFailure("it broke off", is_billed=True),
            f"it broke off. {AGAIN}",
            0,
            300,
            1,
        ),
        (
            TransientFailure("it is busy", wait_s=900),
            f"it is busy. {AGAIN}",
            300,
            300,
            0,
        ),
        (LlmRefused("it will not", "ask another"), "it will not. ask another", 0, 0, 1),
        (OSError("disk"), f"scripted failed: disk. {MORE}", 300, 300, 0),
        (
            ZeroDivisionError("bug"),
            f"scripted failed: ZeroDivisionError. {MORE}",
            0,
            0,
            1,
        ),
    ],
)
def test_what_a_model_makes_impossible_is_tried_again(
    desk: Desk,
    registry: Registry,
    queue: Callable[..., None],
    error: Exception,
    problem: str,
    wait_s: int,
    due_s: int,
    attempts: int,
) -> None:
    refinery = Refinery(registry)
    queue(desk.say((ASKED, ADVICE), (DECIDED, "It is set up.")))
    desk.model.answers = [error] * 9
    assert comes_to(refinery, problem, wait_s, due_s) == attempts


def comes_to(refinery: Refinery, problem: str, wait_s: int, due_s: int) -> int:
    """How many attempts a job counts that came to nothing for this reason; ``due_s`` is when it is
    tried again, in about so many seconds.
    """
    step = refinery.step()
    assert step is not None
    assert (step.result, step.problem, math.ceil(step.wait_s)) == (
        None,
        problem,
        wait_s,
    )
    (count,) = refinery.queue.counts()
    assert (count.state, count.reason) == ("waiting", problem)
    due_in_s = refinery.next_due_s()
    assert due_in_s is not None and due_s - 30 < due_in_s < due_s + 30
    again = refinery.queue.lease(["refine"], datetime.now(UTC) + timedelta(days=1))
    assert again is not None
    return again.attempts - 1


def test_what_is_in_the_way_is_waited_for_and_what_is_gone_is_done(
    desk: Desk, registry: Registry, queue: Callable[..., None]
) -> None:
    refinery, settings = Refinery(registry), desk.workspace.root / "keeplore.yaml"
    talk = desk.say((ASKED, ADVICE), (DECIDED, "It is set up."))
    queue("mem_99999999-0000-4000-8000-000000000000")
    gone = refinery.step()
    assert gone is not None and (gone.result, gone.problem) == (
        None,
        "there is no memory 'mem_99999999-0000-4000-8000-000000000000'",
    )
    assert refinery.queue.counts() == []
    settings.write_text("schema: 1\n")
    queue(talk)
    unset = refinery.step()
    assert unset is not None and unset.result is not None
    assert (unset.result.why, refinery.queue.counts()) == ("no model is set", [])
    settings.write_text(f"{SETTINGS}frozen: true\n")
    queue(talk)
    frozen = WorkspaceFrozen(desk.workspace.root)
    assert comes_to(refinery, str(frozen), 60, 60) == 0
    assert desk.model.questions == []


def test_what_is_left_is_priced(desk: Desk, registry: Registry) -> None:
    later = desk.say((ASKED, ADVICE), (DECIDED, "It is set up."), day=9)
    first = desk.say((ASKED * 9, ADVICE), (DECIDED, "It is set up."), day=8)
    workspace = registry.named("memory")
    parts = list(backlog(workspace))
    assert [part.memory.id for part in parts] == [first, later]
    since = backlog(workspace, since="2026-02-09T00:00:00Z")
    assert [part.memory.id for part in since] == [later]
    settings = workspace.settings
    llm = replace(settings.llm, prices={"m": TokenPrice(2.0, 8.0)})
    # what is read holds the prompts as they are now
    for has_aspects, read, written, price in (
        (False, 3217, 300, 0.008834),
        (True, 5922, 321, 0.014412),
    ):
        asked = replace(settings, refine=replace(settings.refine, aspects=has_aspects))
        whole = RefineEstimate(2, 720, read, written, None)
        assert estimate(iter(parts), asked) == whole
        priced = estimate(iter(parts), replace(asked, llm=llm))
        assert priced == replace(whole, price=pytest.approx(price))
