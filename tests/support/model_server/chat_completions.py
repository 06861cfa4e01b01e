"""OpenAI's chat completions: ``POST /v1/chat/completions``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .script import Message, Request, Step

NAME = "chat"


def serves(path: str) -> bool:
    return path.endswith("/chat/completions")


def read(path: str, body: dict[str, Any]) -> Request:
    tools = body.get("tools") or []
    messages = body.get("messages") or []
    system = [m for m in messages if m["role"] in ("system", "developer")]
    return Request(
        NAME,
        path,
        body,
        "\n".join(_text(message["content"]) for message in system),
        tuple(
            Message(m["role"], _text(m.get("content")), m["role"] == "user")
            for m in messages
            if m not in system
        ),
        tuple(tool["function"]["name"] for tool in tools),
        tuple(json.dumps(piece, ensure_ascii=False) for piece in [*tools, *messages]),
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def is_stream(request: Request) -> bool:
    return bool(request.body.get("stream"))


def whole(request: Request, step: Step, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = _calls(step, number)
    return {
        **_frame(request, number, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": _reason(step)}],
        "usage": _usage(request),
    }


def events(request: Request, step: Step, number: int) -> Iterator[bytes]:
    """The answer as server-sent events; one that hangs ends after its text."""
    frame = _frame(request, number, "chat.completion.chunk")
    yield _event(frame, {"role": "assistant", "content": ""})
    if step.text:
        yield _event(frame, {"content": step.text})
    if step.hangs:
        return
    for index, call in enumerate(_calls(step, number)):
        yield _event(frame, {"tool_calls": [{"index": index, **call}]})
    yield _event(frame, {}, _reason(step))
    last = {**frame, "choices": [], "usage": _usage(request)}
    yield f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode()


def _calls(step: Step, number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number:06d}{place}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
        }
        for place, call in enumerate(step.calls)
    ]


def _reason(step: Step) -> str:
    return "tool_calls" if step.calls else "stop"


def _frame(request: Request, number: int, kind: str) -> dict[str, Any]:
    model = request.body.get("model", "model")
    return {
        "id": f"chatcmpl-{number:06d}",
        "object": kind,
        "created": 1,
        "model": model,
    }


def _usage(request: Request) -> dict[str, int]:
    tokens = request.tokens
    return {
        "prompt_tokens": tokens,
        "completion_tokens": 20,
        "total_tokens": tokens + 20,
    }


def _event(
    frame: dict[str, Any], delta: dict[str, Any], reason: str | None = None
) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({**frame, 'choices': [choice]})}\n\n".encode()
