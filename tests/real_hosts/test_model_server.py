"""The played model speaks as the real ones do: the vendors' own libraries understand it."""

from __future__ import annotations

import json
import socket
import struct
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from late import Late
from model_server import Call, ModelServer, Step, model_server

anthropic, openai = Late("anthropic"), Late("openai")
QUESTION = "Which queue should hold the jobs?"
LOOK = Step("Let me look.", (Call("bash", {"command": "ls -la"}),))
ANSWER = "A table in Postgres."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        server.script.answer(QUESTION, LOOK, ANSWER)
        yield server


def test_anthropics_library_reads_texts_and_calls_of_tools(server: ModelServer) -> None:
    client = anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0)
    asked = [{"role": "user", "content": QUESTION}]
    tool = {"name": "bash", "input_schema": {"type": "object"}}
    given = {"model": "m", "max_tokens": 9, "tools": [tool], "system": "Be brief."}
    with client.messages.stream(messages=asked, **given) as stream:
        message = stream.get_final_message()
    text, call = message.content
    assert text.text == "Let me look."
    assert (call.name, call.input) == ("bash", {"command": "ls -la"})
    assert message.stop_reason == "tool_use"
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "none"}
    asked += [
        {"role": "assistant", "content": message.model_dump()["content"]},
        {"role": "user", "content": [result]},
    ]
    again = client.messages.create(messages=asked, **given)
    assert [block.text for block in again.content] == [ANSWER]
    first, second = server.requests
    assert (first.system, first.tools, first.prompts) == (
        "Be brief.",
        ("bash",),
        [QUESTION],
    )
    assert second.pieces[: len(first.pieces)] == first.pieces


def test_openais_library_reads_chat_completions(server: ModelServer) -> None:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="x", max_retries=0)
    tools = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]
    asked = [{"role": "user", "content": QUESTION}]
    with client.chat.completions.stream(
        model="m", messages=asked, tools=tools
    ) as stream:
        choice = stream.get_final_completion().choices[0]
    (call,) = choice.message.tool_calls
    assert (choice.message.content, choice.finish_reason) == (
        "Let me look.",
        "tool_calls",
    )
    assert json.loads(call.function.arguments) == {"command": "ls -la"}
    asked += [
        {"role": "assistant", "content": "Let me look."},
        {"role": "tool", "tool_call_id": call.id, "content": "none"},
    ]
    again = client.chat.completions.create(model="m", messages=asked, tools=tools)
    assert again.choices[0].message.content == ANSWER


def test_openais_library_reads_responses(server: ModelServer) -> None:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="x", max_retries=0)
    asked = [{"role": "user", "content": QUESTION}]
    tools = [{"type": "function", "name": "bash", "parameters": {}}]
    with client.responses.stream(model="m", input=asked, tools=tools) as stream:
        text, call = stream.get_final_response().output
    assert text.content[0].text == "Let me look."
    assert (call.name, json.loads(call.arguments)) == ("bash", {"command": "ls -la"})
    asked += [text.model_dump(), call.model_dump()]
    asked.append(
        {"type": "function_call_output", "call_id": call.call_id, "output": "none"}
    )
    again = client.responses.create(model="m", input=asked, tools=tools)
    assert again.output_text == ANSWER


def test_geminis_api_is_answered_in_a_stream_and_at_once(server: ModelServer) -> None:
    model = f"{server.url}/v1beta/models/gemini"
    contents = [{"role": "user", "parts": [{"text": QUESTION}]}]
    (first,) = posted(f"{model}:streamGenerateContent?alt=sse", contents).split(
        b"\r\n\r\n"
    )
    parts = json.loads(first.removeprefix(b"data: "))["candidates"][0]["content"]
    assert parts["parts"] == [
        {"text": "Let me look."},
        {
            "functionCall": {"name": "bash", "args": {"command": "ls -la"}},
            "thoughtSignature": "c2lnbmVk",
        },
    ]
    contents += [
        parts,
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "bash", "response": {}}}],
        },
    ]
    answer = json.loads(posted(f"{model}:generateContent", contents))
    assert answer["candidates"][0]["content"]["parts"] == [{"text": ANSWER}]


def test_an_answer_that_hangs_ends_when_the_host_gives_it_up(
    server: ModelServer,
) -> None:
    server.script.answer("Sort", Step("I begin.", hangs=True))
    client = anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0)
    asked = [{"role": "user", "content": "Sort the table."}]
    tools = [{"name": "bash", "input_schema": {"type": "object"}}]
    given = {"model": "m", "max_tokens": 9, "tools": tools}
    with client.messages.stream(messages=asked, **given) as stream:
        server.wait_until_hanging()
        assert next(iter(stream.text_stream)) == "I begin."
        assert not server.is_given_up(seconds=0)
    assert server.is_given_up(seconds=60)
    with pytest.raises(TimeoutError, match="Sort the table"):
        server.wait_for(lambda request: "never" in request.system, seconds=0.1)


def test_an_answer_does_not_hang_whose_host_hung_up_before_it_was_sent(
    server: ModelServer,
) -> None:
    body = json.dumps({"stream": True, "tools": [{"name": "bash"}], "messages": []})
    head = f"POST /v1/messages HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
    host = socket.create_connection(urlsplit(server.url).netloc.split(":"))
    # closed so, it is gone at once
    host.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    server.script.rule(lambda request: not host.close(), Step("I begin.", hangs=True))
    host.sendall((head + body).encode())
    server.wait_for(lambda request: True, seconds=60)
    with pytest.raises(TimeoutError, match="no answer hangs"):
        server.wait_until_hanging(seconds=0.3)
    assert server.is_given_up(seconds=0)


def posted(url: str, contents: list[dict]) -> bytes:
    tools = [{"functionDeclarations": [{"name": "bash"}]}]
    content = json.dumps({"contents": contents, "tools": tools}).encode()
    with urllib.request.urlopen(
        urllib.request.Request(url, content), timeout=60
    ) as done:
        return done.read().strip()
