"""Rows of OpenCode's table session_message (version 2) → messages in the form of version 1."""

from __future__ import annotations

from keeplore_hooks.hosts.jsonl import Json, mapping, mappings, text

_UNSPOKEN = (
    "agent-switched",
    "model-switched",
    "location-switched",
    "synthetic",
    "system",
    "skill",
)
# what stands in a message's info beside the usual, and its parts
_Form = tuple[Json, list[Json]]


def message_of(key: str, kind: str, data: Json) -> Json | None:
    """A row in the form ``{"info", "parts"}``; None for what nobody said. Another kind than is
    known is the role.
    """
    is_unfinished = kind == "compaction" and text(data, "status") not in (
        "completed",
        "",
    )
    if kind in _UNSPOKEN or is_unfinished:
        return None
    form = _FORMS.get(kind)
    info, parts = form(data) if form else ({}, [])
    usual = {"id": key, "role": kind, "time": mapping(data, "time")}
    return {"info": usual | info, "parts": parts}


def _user(data: Json) -> _Form:
    files = [
        {"type": "file", "mime": text(file, "mime")} for file in mappings(data, "files")
    ]
    return {}, [_text_part(data, "text"), *files]


def _assistant(data: Json) -> _Form:
    info: Json = {name: data[name] for name in ("finish", "error") if name in data}
    return info, [_part_message(part) for part in mappings(data, "content")]


def _shell(data: Json) -> _Form:
    """A command that the person ran, in the form of version 1."""
    output = text(data, "output") or text(data, "output", "output")
    given = {"command": text(data, "command")}
    state = {"input": given, "status": "completed", "output": output}
    return {"role": "assistant"}, [{"type": "tool", "tool": "bash", "state": state}]


def _compaction(data: Json) -> _Form:
    created = mapping(data, "time").get("created")
    time = {
        "created": created,
        "completed": mapping(data, "time").get("completed", created),
    }
    info = {
        "role": "assistant",
        "summary": True,
        "parentID": text(data, "reason"),
        "time": time,
    }
    return info, [_text_part(data, "summary")]


def _part_message(part: Json) -> Json:
    """A part of a message of the assistant."""
    if text(part, "type") != "tool":
        return {**_text_part(part, "text"), "type": text(part, "type")}
    state = mapping(part, "state")
    output = "\n".join(text(item, "text") for item in mappings(state, "content"))
    call = {"type": "tool", "tool": text(part, "name"), "callID": text(part, "id")}
    return {**call, "state": {**state, "output": output}}


def _text_part(data: Json, key: str) -> Json:
    return {"type": "text", "text": text(data, key)}


_FORMS = {
    "user": _user,
    "assistant": _assistant,
    "shell": _shell,
    "compaction": _compaction,
}
