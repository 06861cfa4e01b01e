"""Rows of OpenCode's table session_message (version 2) → messages in the form of version 1."""

from __future__ import annotations

from typing import Any

from keeplore_hooks.hosts.jsonl import Json, mapping, mappings, text

IDLE = "idle"  # role of a message by which the host says that a turn is over
TRIGGERS = (
    "auto",
    "manual",
)  # of a compaction; stand where version 1 names the message that asked for it
_UNSPOKEN = (
    "agent-switched",
    "model-switched",
    "location-switched",
    "synthetic",
    "system",
    "skill",
)


def message_of(key: str, kind: str, data: Json) -> Json | None:
    """A row in the form ``{"info", "parts"}``; None for what nobody said. Another kind than is
    known is the role.
    """
    info: Json = {"id": key, "role": kind, "time": mapping(data, "time")}
    if kind in _UNSPOKEN:
        return None
    if kind == "user":
        files = [{"type": "file", "mime": text(file, "mime")} for file in mappings(data, "files")]
        return {"info": info, "parts": [{"type": "text", "text": text(data, "text")}, *files]}
    if kind == "assistant":
        more = {name: data[name] for name in ("finish", "error") if name in data}
        return {"info": info | more, "parts": [_part(part) for part in mappings(data, "content")]}
    if kind == "shell":
        info["role"] = "assistant"  # as version 1 tells of a command that the person ran
        state = {
            "input": {"command": text(data, "command")},
            "status": "completed",
            "output": _output(data),
        }
        return {"info": info, "parts": [{"type": "tool", "tool": "bash", "state": state}]}
    if kind == "compaction":
        return _compaction(info, data)
    return {"info": info, "parts": []}


def _compaction(info: Json, data: Json) -> Json | None:
    if text(data, "status") not in ("completed", ""):
        return None
    created = mapping(data, "time").get("created")
    more = {"role": "assistant", "summary": True, "parentID": text(data, "reason")}
    time = {"created": created, "completed": mapping(data, "time").get("completed", created)}
    return {
        "info": info | more | {"time": time},
        "parts": [{"type": "text", "text": text(data, "summary")}],
    }


def _part(part: Json) -> Json:
    if text(part, "type") != "tool":
        return {"type": text(part, "type"), "text": text(part, "text")}
    state = mapping(part, "state")
    return {
        "type": "tool",
        "tool": text(part, "name"),
        "callID": text(part, "id"),
        "state": {
            **state,
            "output": "\n".join(text(item, "text") for item in mappings(state, "content")),
        },
    }


def _output(data: Json) -> str:
    output: Any = data.get("output")
    return text(data, "output") or text(mapping({"output": output}, "output"), "output")
