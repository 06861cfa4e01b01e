"""pydantic-ai itself, with its own models for tests."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from late import Late
from pydantic import BaseModel

from keeplore.host import PythonHost

from .conftest import AGAIN, BECAUSE, TOLD, WHY, Office

sdk, sent, models = (
    Late("pydantic_ai"),
    Late("pydantic_ai.messages"),
    Late("pydantic_ai.models.function"),
)
played = Late("pydantic_ai.models.test")
ours = Late("keeplore.frameworks.pydantic_ai")


class Script:
    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.sent: list[list[Any]] = []

    def __call__(self, messages: list[Any], info: Any) -> Any:
        self.sent.append([*messages])
        answer = self.answers.pop(0)
        return (
            sent.ModelResponse([sent.TextPart(answer)])
            if isinstance(answer, str)
            else answer
        )


def user_words(messages: list[Any]) -> list[str]:
    requests = [
        message for message in messages if isinstance(message, sent.ModelRequest)
    ]
    return [
        str(part.content)
        for request in requests
        for part in request.parts
        if isinstance(part, sent.UserPromptPart)
    ]


def test_what_was_said_in_a_run_is_a_conversation_without_the_tools(
    office: Office,
) -> None:
    call = sent.ModelResponse(
        [
            sent.TextPart("Let me look."),
            sent.ToolCallPart("port_of", {"service": "TOOL ARGUMENT"}),
        ]
    )
    script = Script(call, BECAUSE, "Five, because of the outage.")
    with office.host() as host:
        agent = sdk.Agent(
            models.FunctionModel(script), capabilities=[ours.KeeploreMemory(host)]
        )

        @agent.tool_plain
        def port_of(service: str) -> str:
            return "TOOL RESULT"

        first = run(agent, WHY)
        run(agent, "How many retries do we need?", message_history=first.all_messages())
    assert office.said() == [
        (WHY, f"Let me look.\n\n{BECAUSE}"),
        ("How many retries do we need?", "Five, because of the outage."),
    ]
    (path,) = office.root.rglob("conversations/**/*.md")
    assert "TOOL" not in path.read_text()


def test_another_conversation_is_told_beside_its_prompt_and_keeps_its_history_clean(
    office: Office,
) -> None:
    office.tell()
    script = Script("Because it lost jobs.", "Yes.")
    with office.host() as host:
        agent = sdk.Agent(
            models.FunctionModel(script), capabilities=[ours.KeeploreMemory(host)]
        )
        first = run(agent, AGAIN)
        second = run(
            agent, "And is that still so?", message_history=first.all_messages()
        )
    assert TOLD in user_words(script.sent[0])[1]
    assert user_words(script.sent[1])[:2] == user_words(
        script.sent[0]
    )  # the same beginning at each call
    assert user_words(second.all_messages()) == [AGAIN, "And is that still so?"]
    assert "keeplore-recall" not in str(office.said())


def test_a_conversation_has_the_name_that_the_run_gives_it(office: Office) -> None:
    with office.host() as host:
        agent = sdk.Agent(
            played.TestModel(custom_output_text=BECAUSE),
            capabilities=[ours.KeeploreMemory(host)],
        )
        notes = sent.TextContent("Look at the incident notes.")
        prompt = [WHY, sent.ImageUrl("https://img.example/a.png"), notes]
        run(agent, prompt, conversation_id="talk-7")
    (path,) = office.root.rglob("conversations/**/*.md")
    assert (
        "session: talk-7" in path.read_text() and "host: test-agent" in path.read_text()
    )
    assert office.said() == [(f"{WHY}\n\nLook at the incident notes.", BECAUSE)]


def run(agent: Any, prompt: Any, **options: Any) -> Any:
    return asyncio.run(agent.run(prompt, **options))


async def streamed(agent: Any, prompt: str) -> str:
    async with agent.run_stream(prompt) as result:
        return "".join([piece async for piece in result.stream_text(delta=True)])


def test_a_run_that_is_streamed_is_taken_in_as_well(office: Office) -> None:
    with office.host() as host:
        agent = sdk.Agent(
            played.TestModel(custom_output_text=BECAUSE),
            capabilities=[ours.KeeploreMemory(host)],
        )
        assert asyncio.run(streamed(agent, WHY)) == BECAUSE
    assert office.said() == [(WHY, BECAUSE)]


class Port(BaseModel):
    service: str
    port: int
    since: datetime


def test_an_answer_that_is_no_text_is_kept_as_json(
    office: Office, tmp_path: Path
) -> None:
    with office.host() as host:
        model = played.TestModel(
            custom_output_args={
                "service": "Bücher",
                "port": 5433,
                "since": "2026-02-09T10:00:00",
            }
        )
        run(
            sdk.Agent(
                model, output_type=Port, capabilities=[ours.KeeploreMemory(host)]
            ),
            "Which port does staging use?",
        )
    assert office.said() == [
        (
            "Which port does staging use?",
            '{"service": "Bücher", "port": 5433, "since": "2026-02-09T10:00:00"}',
        )
    ]


def test_without_a_workspace_the_run_goes_on_and_it_is_said_once(
    nowhere: PythonHost, caplog: pytest.LogCaptureFixture
) -> None:
    agent = sdk.Agent(
        played.TestModel(custom_output_text="Well."),
        capabilities=[ours.KeeploreMemory(nowhere)],
    )
    with caplog.at_level(logging.WARNING):
        assert [run(agent, prompt).output for prompt in (WHY, AGAIN)] == [
            "Well.",
            "Well.",
        ]
    assert [
        record.levelname
        for record in caplog.records
        if record.name.startswith("keeplore")
    ] == ["WARNING"]
    assert "keeplore init" in caplog.text
