"""OpenAI's Responses API: ``POST /v1/responses``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .script import Message, Request, Step

NAME = "responses"


def serves(path: str) -> bool:
    return path.endswith(("/responses", "/responses/compact"))


def read(path: str, body: dict[str, Any]) -> Request:
    tools = body.get("tools") or []
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    pieces = [body.get("instructions", ""), *tools, *items]
    return Request(
        NAME,
        path,
        body,
        body.get("instructions") or "",
        tuple(_message(item) for item in items),
        tuple(tool.get("name", tool["type"]) for tool in tools),
        tuple(json.dumps(piece, ensure_ascii=False) for piece in pieces),
    )


def _message(item: dict[str, Any]) -> Message:
    if item.get("type", "message") == "message":
        role = item["role"]
        return Message(role, _text(item["content"]), role == "user")
    text = item.get("output", item.get("arguments", item.get("input", "")))
    is_output = item["type"].endswith("_output")
    return Message("tool" if is_output else "assistant", _text(text))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "\n".join(part.get("text", "") for part in content)


def is_stream(request: Request) -> bool:
    return bool(request.body.get("stream"))


def whole(request: Request, step: Step, number: int) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if step.text:
        output.append(
            {
                "type": "message",
                "id": f"msg_{number:06d}",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {"type": "output_text", "text": step.text, "annotations": []}
                ],
            }
        )
    for place, call in enumerate(step.calls):
        common = {"call_id": f"call_{number:06d}{place}", "name": call.tool}
        identity = {"id": f"fc_{number:06d}{place}", "status": "completed"}
        # a tool whose argument is a text is of the type custom
        given = (
            {"type": "custom_tool_call", "input": call.arguments["input"]}
            if _is_custom(request, call.tool)
            else {"type": "function_call", "arguments": json.dumps(call.arguments)}
        )
        output.append({**identity, **common, **given})
    return {
        "id": f"resp_{number:06d}",
        "object": "response",
        "status": "completed",
        "model": request.body.get("model", "model"),
        "output": output,
        "usage": {
            "input_tokens": request.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": request.tokens + 20,
        },
    }


def _is_custom(request: Request, name: str) -> bool:
    tools = request.body.get("tools") or []
    return any(tool.get("name") == name and tool["type"] == "custom" for tool in tools)


def events(request: Request, step: Step, number: int) -> Iterator[bytes]:
    """The answer as server-sent events; one that hangs ends after its text."""
    response = whole(request, step, number)
    yield _event(
        "response.created", response={**response, "output": [], "status": "in_progress"}
    )
    for index, item in enumerate(response["output"]):
        empty = {**item, "content": []} if item["type"] == "message" else item
        yield _event("response.output_item.added", output_index=index, item=empty)
        for part in item.get("content", []):
            yield from _part(part, step, {"item_id": item["id"], "output_index": index})
        if step.hangs:
            return
        yield _event("response.output_item.done", output_index=index, item=item)
    yield _event("response.completed", response=response)


def _part(part: dict[str, Any], step: Step, item: dict[str, Any]) -> Iterator[bytes]:
    place = {**item, "content_index": 0}
    empty = {**part, "text": ""}
    yield _event("response.content_part.added", **place, part=empty)
    yield _event("response.output_text.delta", **place, delta=part["text"])
    if not step.hangs:
        yield _event("response.content_part.done", **place, part=part)


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
