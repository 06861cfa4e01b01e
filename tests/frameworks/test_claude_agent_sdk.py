"""The Claude Agent SDK itself, with a program in the place of Claude Code that speaks its
protocol.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from late import Late
from waiting import until

from keeplore import client
from keeplore.config.places import Places
from keeplore.worker.loop import Worker
from keeplore_hooks.spool import Spool

from .conftest import AGAIN, BECAUSE, TOLD, WHY, Office

sdk, ours = Late("claude_agent_sdk"), Late("keeplore.frameworks.claude_agent_sdk")
CLI = Path(__file__).with_name("claude_cli.py")
CLIENT = str(Path(client.__file__).with_name("client.py"))
WAIT_S = 60


class Programs:
    """Runs programs that use the SDK, each with a session of its own, beside a worker."""

    def __init__(self, office: Office, directory: Path) -> None:
        self.office = office
        self.directory = directory
        self.cli = directory / "claude"
        self.cli.write_text(
            f"#!/bin/sh\nexec {sys.executable} {CLI}\n", encoding="utf-8"
        )
        self.cli.chmod(0o755)
        self.spool = Spool(Places.from_environment(os.environ).spool)
        self.sessions = 0

    def run(
        self, prompt: str, answer: str, *, plugin: str = ""
    ) -> list[dict[str, Any]]:
        """What was answered to Claude Code, event by event."""
        self.sessions += 1
        name = f"session-{self.sessions}"
        replies = self.directory / f"{name}.replies"
        environment = {
            "SESSION": name,
            "ANSWER": answer,
            "TRANSCRIPT": str(self.directory / f"{name}.jsonl"),
            "REPLIES": str(replies),
            "PLUGIN": plugin,
        }
        options = sdk.ClaudeAgentOptions(
            hooks=ours.hooks(),
            cli_path=self.cli,
            cwd=self.office.project,
            env=environment,
        )

        async def talk() -> list[str | None]:
            messages = [
                message async for message in sdk.query(prompt=prompt, options=options)
            ]
            return [
                message.result
                for message in messages
                if isinstance(message, sdk.ResultMessage)
            ]

        assert asyncio.run(talk()) == [answer]
        return [
            json.loads(line)
            for line in replies.read_text(encoding="utf-8").splitlines()
        ]

    def taken(self) -> None:
        until(
            lambda: self.spool.counts()["new"] == self.spool.counts()["claimed"] == 0,
            "the spool is empty",
        )


@pytest.fixture
def programs(office: Office, tmp_path: Path) -> Iterator[Programs]:
    worker = Worker(Places.from_environment(os.environ))
    thread = threading.Thread(target=worker.run)
    thread.start()
    until(
        (Places.from_environment(os.environ).state / "worker.addr").exists,
        "the worker listens",
    )
    yield Programs(office, tmp_path)
    worker.stop()
    thread.join(WAIT_S)
    assert not thread.is_alive()


def contexts(replies: list[dict[str, Any]]) -> list[str]:
    """Every text that was given to the model, in the order in which it was."""
    outputs = [answer["reply"].get("response", {}) for answer in replies]
    outputs += [
        json.loads(answer["reply"]["plugin"])
        for answer in replies
        if answer["reply"].get("plugin")
    ]
    found = [
        output.get("hookSpecificOutput", {}).get("additionalContext", "")
        for output in outputs
    ]
    return [text for text in found if text]


def told(programs: Programs, **options: Any) -> list[str]:
    """What the first program is told that is told anything: where the machine is slow, the client
    gives up in time.
    """
    for _ in range(20):
        if found := contexts(programs.run(AGAIN, "It lost jobs.", **options)):
            return found
    raise AssertionError("no program was told anything")


def test_what_one_program_said_another_is_told(programs: Programs) -> None:
    replies = programs.run(WHY, BECAUSE)
    events = [answer["event"] for answer in replies]
    assert events == ["UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"]
    assert {answer["reply"]["subtype"] for answer in replies} == {"success"}
    programs.taken()
    assert programs.office.said() == [(WHY, BECAUSE)]
    # one whose prompt was given up for the time it took has the brief alone
    assert any(TOLD in "".join(told(programs)) for _ in range(5))


def test_beside_the_plugins_own_entries_nothing_is_kept_or_told_twice(
    programs: Programs,
) -> None:
    programs.office.tell()
    found = told(programs, plugin=CLIENT)
    # the brief says how the last session ended, the prompt gets why
    for words in ("Last session", BECAUSE.split(". ")[0]):
        assert sum(words in text for text in found) <= 1, words
    programs.taken()
    said = programs.office.said()
    assert said.count((WHY, BECAUSE)) == 1
    assert (
        len(said) == 1 + programs.sessions
        and said.count((AGAIN, "It lost jobs.")) == programs.sessions
    )


def test_a_program_on_a_machine_without_a_workspace_runs_as_ever(
    project: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (Path(os.environ["HOME"]) / "state").rmdir()
    (Path(os.environ["HOME"]) / "state").write_text("no directory")
    with caplog.at_level(logging.WARNING):
        replies = Programs(Office(tmp_path, project), tmp_path).run(WHY, BECAUSE)
    assert [answer["reply"].get("response", {}) for answer in replies] == [{}] * 4
    assert (
        len([record for record in caplog.records if record.name.startswith("keeplore")])
        == 1
    )


def test_a_first_prompt_brings_the_brief_and_what_fails_is_left_out_of_one_event(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked, reply = home / "asked", home / "reply"
    program = home / "program.py"
    program.write_text(
        "import os, pathlib, sys, time\n"
        f"with pathlib.Path({str(asked)!r}).open('a') as file:\n"
        "    print(sys.argv[2], sys.stdin.read(), file=file)\n"
        f"text = pathlib.Path({str(reply)!r}).read_text()\n"
        "if text == 'wait':\n"
        "    time.sleep(60)\n"
        "print(text.replace('EVENT', sys.argv[2]))\n"
        "sys.exit(3)\n"
    )
    monkeypatch.setattr("keeplore.frameworks.claude_agent_sdk.CLIENT", str(program))
    ((matcher,),) = [ours.hooks()["UserPromptSubmit"]]
    (callback,) = matcher.hooks

    def told(event: str, session: str, answer: str) -> dict[str, Any]:
        reply.write_text(answer)
        payload = {
            "hook_event_name": event,
            "session_id": session,
            "cwd": "/x",
            "prompt": "p",
        }
        found: dict[str, Any] = asyncio.run(callback(payload, None, None))
        return found

    def context(event: str, text: str) -> dict[str, Any]:
        return {
            "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
        }

    says = json.dumps(context("", "of EVENT"))
    both = context("UserPromptSubmit", "of SessionStart\nof UserPromptSubmit")
    alone = context("UserPromptSubmit", "of UserPromptSubmit")
    assert told("UserPromptSubmit", "s-1", says) == both
    assert told("UserPromptSubmit", "s-1", says) == alone
    assert told("Stop", "s-2", says) == context("Stop", "of Stop")
    assert told("UserPromptSubmit", "s-2", " \n") == {}
    start = {
        "session_id": "s-1",
        "cwd": "/x",
        "hook_event_name": "SessionStart",
        "source": "resume",
    }
    prompt = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s-1",
        "cwd": "/x",
        "prompt": "p",
    }
    lines = asked.read_text().splitlines()
    assert lines[0] == f"SessionStart {json.dumps(start)}"
    assert lines[1] == lines[2] == f"UserPromptSubmit {json.dumps(prompt)}"
    with caplog.at_level(logging.DEBUG, logger="keeplore"):
        assert told("Stop", "s-1", "no JSON") == {}
        monkeypatch.setattr("keeplore.frameworks.claude_agent_sdk.CLIENT_S", 0.2)
        assert told("Stop", "s-1", "wait") == {}
    said = [
        (record.levelname, record.getMessage())
        for record in caplog.records
        if record.name.startswith("keeplore")
    ]
    assert said == [
        ("WARNING", "Keeplore is left out: Expecting value: line 1 column 1 (char 0)"),
        ("DEBUG", "Keeplore is left out: TimeoutError"),
    ]


def test_only_events_are_asked_for_that_the_sdk_hands_to_python() -> None:
    hooks = ours.hooks()
    assert list(hooks) == list(ours.EVENTS)
    assert [matcher.matcher for matcher in hooks["PostToolUse"]] == ["AskUserQuestion"]
    assert all(
        matcher.on_failure is None and matcher.timeout > 2 * ours.CLIENT_S
        for matchers in hooks.values()
        for matcher in matchers
    )
