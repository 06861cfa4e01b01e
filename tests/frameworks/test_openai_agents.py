"""The OpenAI Agents SDK itself, with a model that answers from a script."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from late import Late

from keeplore.host import PythonHost

from .conftest import AGAIN, BECAUSE, TOLD, WHY, Office

agents, responses = Late("agents"), Late("openai.types.responses")
ours = Late("keeplore.frameworks.openai_agents")


def message(text: str) -> Any:
    content = responses.ResponseOutputText(
        text=text, type="output_text", annotations=[]
    )
    return responses.ResponseOutputMessage(
        id="m", content=[content], role="assistant", status="completed", type="message"
    )


def script(*answers: Any) -> Any:
    """A model that answers what the script says, and notes what it was sent."""

    class Script(agents.Model):
        def __init__(self) -> None:
            self.answers = [*answers]
            self.sent: list[Any] = []
            self.told: list[Any] = []

        async def get_response(self, *args: Any, **options: Any) -> Any:
            self.told.append(options.get("system_instructions", args[:1]))
            self.sent.append(options["input"] if "input" in options else args[1])
            return agents.ModelResponse(
                output=self.answers.pop(0), usage=agents.Usage(), response_id=None
            )

        def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
            raise NotImplementedError

    return Script()


def port_of(service: str) -> str:
    """Which port a service has."""
    return f"TOOL RESULT for {service}"


def run(model: Any, session: Any, *prompts: str) -> None:
    agent = agents.Agent(
        name="helper",
        instructions="Be brief.",
        model=model,
        tools=[agents.function_tool(port_of)],
    )
    config = agents.RunConfig(
        call_model_input_filter=session.recall, tracing_disabled=True
    )

    async def talk() -> None:
        for prompt in prompts:
            await agents.Runner.run(agent, prompt, session=session, run_config=config)

    asyncio.run(talk())


def words(items: Any) -> str:
    return str(items).replace("\\n", "\n")


def test_what_was_said_in_a_run_is_a_conversation_without_the_tools(
    office: Office,
) -> None:
    call = responses.ResponseFunctionToolCall(
        name="port_of",
        arguments='{"service": "TOOL ARGUMENT"}',
        call_id="c",
        type="function_call",
    )
    model = script(
        [message("Let me look."), call],
        [message(BECAUSE)],
        [message("Five, because of the outage.")],
    )
    with office.host() as host:
        run(
            model,
            ours.KeeploreSession(host, "one"),
            WHY,
            "How many retries do we need?",
        )
    assert office.said() == [
        (WHY, f"Let me look.\n\n{BECAUSE}"),
        ("How many retries do we need?", "Five, because of the outage."),
    ]
    assert "TOOL" not in "".join(
        path.read_text() for path in office.root.rglob("conversations/**/*.md")
    )


def test_another_session_is_told_beside_its_prompt_and_keeps_its_history_clean(
    office: Office,
) -> None:
    office.tell()
    model = script([message("Because it lost jobs.")], [message("Yes.")])
    with office.host() as host:
        session = ours.KeeploreSession(host, "two")
        run(model, session, AGAIN, "And is that still so?")
        history = asyncio.run(session.get_items())
    assert TOLD in words(model.sent[0][-1]["content"])
    assert model.told == ["Be brief."] * 2
    assert model.sent[1][0] == model.sent[0][0]  # the same beginning at each call
    assert "keeplore-recall" not in words(history)
    assert [item["content"] for item in history if item.get("role") == "user"] == [
        AGAIN,
        "And is that still so?",
    ]
    assert "keeplore-recall" not in str(office.said())


def test_a_session_of_the_sdk_inside_keeps_the_history(
    office: Office, tmp_path: Path
) -> None:
    inner = agents.SQLiteSession("kept", tmp_path / "history.db")
    with office.host() as host:
        session = ours.KeeploreSession(host, "kept", inner)
        assert (
            isinstance(session, agents.Session)
            and session.session_settings is inner.session_settings
        )
        run(script([message(BECAUSE)]), session, WHY)
        # what the session inside can do besides
        assert session.db_path == inner.db_path
        items = asyncio.run(inner.get_items())
        assert items == asyncio.run(session.get_items()) and len(items) == 2
        assert asyncio.run(session.get_items(1)) == items[1:]
        settings = agents.memory.SessionSettings(limit=1)
        session.session_settings = settings
        assert inner.session_settings is settings
    inner.close()


def test_what_is_taken_back_before_an_answer_was_never_said(office: Office) -> None:
    async def talk(session: Any) -> None:
        await session.add_items(
            [{"role": "user", "content": "Why did we drop Radish?"}]
        )
        assert await session.pop_item() is not None
        await session.add_items([{"role": "user", "content": WHY}])
        await session.add_items([{"role": "assistant", "content": BECAUSE}])
        await session.clear_session()
        assert await session.get_items() == [] and await session.pop_item() is None

    with office.host() as host:
        asyncio.run(talk(ours.KeeploreSession(host, "one")))
    assert office.said() == [(WHY, BECAUSE)]


def said(role: str, *texts: str) -> Any:
    kind = "input_text" if role == "user" else "output_text"
    parts = [{"type": kind, "text": text} for text in texts]
    return {"role": role, "content": [*parts, {"type": "input_image", "text": "no"}]}


def test_a_turn_is_saved_once_for_all_that_is_said_in_it(
    nowhere: PythonHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[tuple[Any, ...]] = []

    async def add(_: Any, prompt: str, replies: list[str], id_: str) -> str:
        saved.append((prompt, *replies, id_))
        return id_

    async def talk(session: Any) -> None:
        await session.add_items(
            [
                said("user", "Which queue?"),
                said("user", "And why?", "Be brief."),
                {"type": "reasoning", "role": "assistant", "content": "Hm"},
                said("assistant", "Postgres."),
                said("assistant", ""),
                {
                    "role": "assistant",
                    "content": [{"type": "refusal", "refusal": "No."}],
                },
            ]
        )
        await session.add_items([{"role": "tool", "content": "ignored"}])
        await session.add_items([said("assistant", "It is there.")])
        await session.add_items([said("user", "Good."), said("assistant", "Yes.")])
        await session.add_items([said("user", "Bye.")])
        await session.pop_item()
        await session.add_items([said("user", "So long.")])
        # what is taken back of the answer before is none of this turn
        await session.add_items([said("assistant", "Bye.")])
        for _ in range(3):
            await session.pop_item()
        await session.add_items([said("assistant", "Well.")])

    monkeypatch.setattr("keeplore.frameworks.common.AdapterSession.add", add)
    asyncio.run(talk(ours.KeeploreSession(nowhere, "one")))
    prompt = "Which queue?\n\nAnd why?\n\nBe brief."
    first, last = saved[0][-1], saved[-1][-1]
    assert saved == [
        (prompt, "Postgres.", "No.", first),
        (prompt, "Postgres.", "No.", "It is there.", first),
        ("Good.", "Yes.", saved[2][-1]),
        ("So long.", "Bye.", last),
        ("", "Well.", last),
    ]
    assert len({first, saved[2][-1], last}) == 3


def test_each_prompt_has_its_block_beside_it_and_nothing_else_has(
    nowhere: PythonHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def blocks(_: Any, prompts: list[str]) -> list[str]:
        return ["" if prompt == "Hm" else f"[{prompt}]" for prompt in prompts]

    parts = said("user", "And why?")
    items = [
        {"role": "user", "content": "Which queue?"},
        said("assistant", "Postgres."),
        {"role": "assistant", "content": "It is there."},
        {"type": "function_call", "role": "user", "content": "No words"},
        {"role": "user", "content": ""},
        {"role": "user", "content": "Hm"},
        parts,
    ]
    before = copy.deepcopy(items)
    given = agents.run.ModelInputData(input=items, instructions="Be brief.")
    data = agents.run.CallModelData(model_data=given, agent=None, context=None)
    monkeypatch.setattr("keeplore.frameworks.common.AdapterSession.blocks", blocks)
    told = asyncio.run(ours.KeeploreSession(nowhere, "one").recall(data))
    block = {"type": "input_text", "text": "[And why?]"}
    assert told == agents.run.ModelInputData(
        input=[
            {"role": "user", "content": "Which queue?\n\n[Which queue?]"},
            *before[1:6],
            {**parts, "content": [*parts["content"], block]},
        ],
        instructions="Be brief.",
    )
    assert items == before


def test_the_event_loop_goes_on_while_a_turn_is_taken_in(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = []

    async def talk(session: Any) -> None:
        async def tick() -> None:
            while True:
                ticks.append(1)
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await asyncio.sleep(0)
        before = len(ticks)
        await session.add_items(
            [
                {"role": "user", "content": WHY},
                {"role": "assistant", "content": BECAUSE},
            ]
        )
        assert len(ticks) > before + 100
        ticking.cancel()

    with office.host() as host:
        asyncio.run(talk(ours.KeeploreSession(host, "one")))


def test_without_a_workspace_the_run_goes_on_and_it_is_said_once(
    nowhere: PythonHost, caplog: pytest.LogCaptureFixture
) -> None:
    model = script([message("One.")], [message("Two.")])
    with caplog.at_level(logging.WARNING):
        run(model, ours.KeeploreSession(nowhere, "one"), WHY, AGAIN)
    assert model.answers == []
    assert [
        record.levelname
        for record in caplog.records
        if record.name.startswith("keeplore")
    ] == ["WARNING"]
    assert "keeplore init" in caplog.text
