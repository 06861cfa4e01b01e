"""Anthropic's Messages API: ``POST /v1/messages``, ``POST /v1/messages/count_tokens``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .script import Message, Request, Step

NAME = "messages"


def serves(path: str) -> bool:
    return path.endswith(("/messages", "/messages/count_tokens"))


def read(path: str, body: dict[str, Any]) -> Request:
    system = _text(body.get("system", ""))
    tools = body.get("tools") or []
    messages = body.get("messages") or []
    pieces = [body.get("system", ""), *tools, *messages]
    return Request(
        NAME,
        path,
        body,
        system,
        tuple(_message(message) for message in messages),
        tuple(tool["name"] for tool in tools),
        tuple(json.dumps(_uncached(piece), ensure_ascii=False) for piece in pieces),
    )


def _message(message: dict[str, Any]) -> Message:
    content = message["content"]
    blocks = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    )
    is_prompt = message["role"] == "user" and any(
        block["type"] == "text" for block in blocks
    )
    is_tool = any(block["type"] == "tool_result" for block in blocks)
    role = "tool" if is_tool and not is_prompt else message["role"]
    return Message(role, _text(blocks), is_prompt)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        block.get("text") or _text(block.get("content", "")) for block in content
    )


def _uncached(piece: Any) -> Any:
    """Without the marks that say up to where to cache: they move on with every request, and a
    text alone is the same as a list of one text.
    """
    if isinstance(piece, list):
        return [_uncached(part) for part in piece]
    if not isinstance(piece, dict):
        return piece
    kept = {
        name: _uncached(part) for name, part in piece.items() if name != "cache_control"
    }
    if isinstance(kept.get("content"), str):
        kept["content"] = [{"type": "text", "text": kept["content"]}]
    return kept


def is_stream(request: Request) -> bool:
    return bool(request.body.get("stream"))


def whole(request: Request, step: Step, number: int) -> dict[str, Any]:
    if request.path.endswith("count_tokens"):
        return {"input_tokens": request.tokens}
    content: list[dict[str, Any]] = [{"type": "text", "text": step.text}]
    for place, call in enumerate(step.calls):
        content.append(
            {
                "type": "tool_use",
                "id": f"toolu_{number:06d}{place}",
                "name": call.tool,
                "input": call.arguments,
            }
        )
    return {
        "id": f"msg_{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "model"),
        "content": content if step.text else content[1:],
        "stop_reason": "tool_use" if step.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": request.tokens,
            "output_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def events(request: Request, step: Step, number: int) -> Iterator[bytes]:
    """The answer as server-sent events; one that hangs ends after its text."""
    message = whole(request, step, number)
    content = message.pop("content")
    start = {**message, "content": [], "stop_reason": None}
    yield _event("message_start", message=start)
    for index, block in enumerate(content):
        if block["type"] == "text":
            empty = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {
                "type": "input_json_delta",
                "partial_json": json.dumps(block["input"]),
            }
        yield _event("content_block_start", index=index, content_block=empty)
        yield _event("content_block_delta", index=index, delta=delta)
        if step.hangs:
            return
        yield _event("content_block_stop", index=index)
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": 20})
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
