"""What an adapter asks of memory beside a run, which goes on whatever becomes of that."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from keeplore.errors import NotFound
from keeplore.frameworks.common import AdapterSession, SafeRunner

from .conftest import AGAIN, BECAUSE, TOLD, WHY, Office

LONG_S = 60.0


def raising(error: Exception) -> Callable[[], NoReturn]:
    def act() -> NoReturn:
        raise error

    return act


def test_what_fails_or_is_late_gives_what_was_there_instead(
    caplog: pytest.LogCaptureFixture,
) -> None:
    never = threading.Event()

    async def run(runner: SafeRunner, act: Callable[[], Any], within_s: float) -> Any:
        found = await runner.run(act, "instead", within_s)
        never.set()
        return found

    seen = []
    with caplog.at_level(logging.DEBUG, logger="keeplore"):
        for act, within_s in (
            (lambda: "found", LONG_S),
            (raising(NotFound("there is none", "look elsewhere")), LONG_S),
            (raising(OSError("disk")), LONG_S),
            (raising(KeyError("bug")), LONG_S),
            (never.wait, 0.05),
        ):
            runner = SafeRunner()
            never.clear()
            told = []
            for _ in range(2):
                caplog.clear()
                found = asyncio.run(run(runner, act, within_s))
                told += [
                    (record.levelname, record.getMessage(), bool(record.exc_info))
                    for record in caplog.records
                    if record.name.startswith("keeplore")
                ]
                never.clear()
            seen.append((found, told))
    left = "Keeplore is left out of this run: "

    def twice(
        reason: str, *, is_bug: bool = False
    ) -> tuple[str, list[tuple[str, str, bool]]]:
        levels = ("WARNING", "DEBUG")
        return "instead", [(level, left + reason, is_bug) for level in levels]

    assert seen == [
        ("found", []),
        twice("there is none. look elsewhere"),
        twice("disk"),
        twice("'bug'", is_bug=True),
        twice("it took longer than 0.05 seconds"),
    ]


def test_a_prompt_has_the_same_block_at_every_call(office: Office) -> None:
    office.tell()
    talk = AdapterSession(office.host().session("s-1"), SafeRunner())

    async def calls() -> list[list[str]]:
        return [
            await talk.blocks([]),
            await talk.blocks(["hello", AGAIN]),
            await talk.blocks(["hello", AGAIN]),
            await talk.blocks([AGAIN, "hello", "thanks"]),
        ]

    nothing, first, again, later = asyncio.run(calls())
    assert nothing == []
    assert first[0] == "" and TOLD in first[1]
    assert again == first
    assert later == [first[1], "", later[2]]
    assert asyncio.run(talk.add(WHY, [BECAUSE, "Done."], "t-1")) == "t-1"
    office.hosts[-1].close()
    assert sorted(office.said()) == [(WHY, BECAUSE), (WHY, f"{BECAUSE}\n\nDone.")]


def test_what_cannot_be_told_or_taken_in_is_nothing() -> None:
    class Broken:
        def context(self, _: str) -> str:
            raise OSError("disk")

        def add(self, *_: str, id_: str) -> str:
            raise OSError("disk")

    session: Any = Broken()
    talk = AdapterSession(session, SafeRunner())
    assert asyncio.run(talk.blocks(["hello"])) == [""]
    assert asyncio.run(talk.add("hello", ["Hello."], "t-1")) == ""
