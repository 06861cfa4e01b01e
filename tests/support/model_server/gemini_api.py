"""Gemini's API: ``POST …:streamGenerateContent``, ``:generateContent``, ``:countTokens``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .script import Message, Request, Step

NAME = "gemini"
SIGNATURE = "c2lnbmVk"
SUFFIXES = (":streamGenerateContent", ":generateContent", ":countTokens")


def serves(path: str) -> bool:
    return path.endswith(SUFFIXES)


def read(path: str, body: dict[str, Any]) -> Request:
    system = body.get("systemInstruction") or {}
    tools = [
        function
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations", [])
    ]
    contents = body.get("contents") or []
    return Request(
        NAME,
        path,
        body,
        _text(system),
        tuple(_message(content) for content in contents),
        tuple(function["name"] for function in tools),
        tuple(json.dumps(p, ensure_ascii=False) for p in [system, *tools, *contents]),
    )


def _message(content: dict[str, Any]) -> Message:
    if content.get("role") == "model":
        return Message("assistant", _text(content))
    is_prompt = any("text" in part for part in content["parts"])
    return Message("user" if is_prompt else "tool", _text(content), is_prompt)


def _text(content: dict[str, Any]) -> str:
    return "\n".join(
        part.get("text")
        or json.dumps(part.get("functionResponse", ""), ensure_ascii=False)
        for part in content.get("parts", [])
    )


def is_stream(request: Request) -> bool:
    return request.path.endswith(":streamGenerateContent")


def whole(request: Request, step: Step, number: int) -> dict[str, Any]:
    if request.path.endswith(":countTokens"):
        return {"totalTokens": request.tokens}
    parts: list[dict[str, Any]] = [{"text": step.text}] if step.text else []
    parts += [
        {
            "functionCall": {"name": call.tool, "args": call.arguments},
            # the host puts in a mark of its own where there is none, and takes it out later
            "thoughtSignature": SIGNATURE,
        }
        for call in step.calls
    ]
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": parts},
        "index": 0,
    }
    if not step.hangs:
        candidate["finishReason"] = "STOP"
    tokens = request.tokens
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": tokens,
            "candidatesTokenCount": 20,
            "totalTokenCount": tokens + 20,
        },
        "modelVersion": "model",
        "responseId": f"r{number:06d}",
    }


def events(request: Request, step: Step, number: int) -> Iterator[bytes]:
    """The answer as server-sent events; one that hangs ends after its text."""
    yield f"data: {json.dumps(whole(request, step, number))}\n\n".encode()
