"""ChatGPT's export: a conversation is a tree of messages, of which the branch that was last shown
is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from keeplore_hooks.hosts.base import DOCUMENT, IMAGE
from keeplore_hooks.hosts.exports.chat_export import (
    ChatExport,
    ChatHead,
    ChatMessage,
    ChatReading,
    plain_id,
)
from keeplore_hooks.hosts.jsonl import (
    Json,
    clean,
    digest,
    first_text,
    mapping,
    mappings,
    rfc3339,
    sequence,
    text,
    value_at,
)

MAX_MESSAGES = 20_000
# how the page marks sources, between signs of the private use area, and earlier
_SOURCES = re.compile(
    "\ue200[^\ue200\ue201]{0,5000}\ue201"
    r"|\u3010[^\u3010\u3011\n]{0,40}\u2020[^\u3010\u3011\n]{0,200}\u3011"
    r"|:contentReference\[oaicite:\d{1,6}\]\{index=\d{1,6}\}"
)
# a name that the page links: ["city","Paris",…]
_ENTITY = re.compile("\ue200entity\ue202([^\ue200\ue201]{0,5000})\ue201")
_FENCE = re.compile(r"`{3,}")


class ChatGpt(ChatExport):
    """Reads ``conversations.json`` as it is described from 2023 to 2026."""

    name = "chatgpt"

    def head_of(self, conversation: Json) -> ChatHead:
        if not isinstance(conversation.get("mapping"), dict):
            raise ValueError("it is no conversation of ChatGPT: it has no `mapping`")
        began = _time(conversation.get("create_time"))
        known = first_text(conversation, "conversation_id", "id")
        named = known or digest(began, text(conversation, "title"))
        changed = _time(conversation.get("update_time"))
        return ChatHead(plain_id(named), began, changed or began)

    def read_conversation(self, conversation: Json, began: str) -> ChatReading:
        nodes = mapping(conversation, "mapping")
        problems: list[str] = []
        path = _branch(nodes, text(conversation, "current_node"), problems)
        messages = []
        at = began
        for node in reversed(path):
            message = mapping(nodes, node, "message")
            at = _time(message.get("create_time")) or at
            said = _visible_text(message)
            if said:
                is_person = text(message, "author", "role") == "user"
                named = text(message, "id") or node
                messages.append(ChatMessage(plain_id(named), at, is_person, said))
        return ChatReading(tuple(messages), tuple(problems))


def _branch(nodes: Json, current: str, problems: list[str]) -> list[str]:
    """The nodes from the one last shown up to the root."""
    if current not in nodes:
        problems.append("no current message is named; the branch of the newest is read")
        current = _newest_message(nodes)
    path: dict[str, None] = {}
    while current in nodes and current not in path and len(path) < MAX_MESSAGES:
        path[current] = None
        current = text(nodes, current, "parent")
    if current in path:
        problems.append("its messages form a circle, which is cut")
    elif current in nodes:
        problems.append(f"only the last {MAX_MESSAGES} messages are read")
    return list(path)


def _newest_message(nodes: Json) -> str:
    """The message that was written last; "" where there is none."""
    times = {
        name: _time(value_at(nodes, (name, "message", "create_time"))) for name in nodes
    }
    return max(times, key=lambda name: (times[name], name), default="")


def _visible_text(message: Json) -> str:
    """What a person sees of a message; "" of what tools, the system or a reasoning model wrote."""
    role = text(message, "author", "role")
    is_hidden = (
        value_at(message, ("metadata", "is_visually_hidden_from_conversation")) is True
    )
    is_for_tool = (text(message, "recipient") or "all") != "all"
    is_aside = is_for_tool or text(message, "channel") == "analysis"
    if role not in ("user", "assistant") or is_hidden or is_aside:
        return ""
    parts = [*_content_texts(mapping(message, "content")), *_attachment_lines(message)]
    return "\n\n".join(filter(None, (_plain_part(part) for part in parts)))


def _content_texts(content: Json) -> Iterator[str]:
    kind = text(content, "content_type")
    if kind == "code":
        yield _fenced(text(content, "text"), text(content, "language"))
    elif kind in ("text", "multimodal_text"):
        for part in sequence(content, "parts"):
            yield part if isinstance(part, str) else _part_text(part)


def _part_text(part: Any) -> str:
    """A part that is no text: spoken words as they were written down, else the line for a thing."""
    kind = text(part, "content_type")
    if kind == "audio_transcription":
        return text(part, "text")
    if "image" in kind:
        return IMAGE
    return DOCUMENT if kind and "audio" not in kind and "video" not in kind else ""


def _attachment_lines(message: Json) -> Iterator[str]:
    """A line for each file; pictures have theirs among the parts."""
    for attachment in mappings(message, "metadata", "attachments"):
        if not first_text(attachment, "mimeType", "mime_type").startswith("image/"):
            yield f"{DOCUMENT} {' '.join(text(attachment, 'name').split())[:200]}".strip()


def _fenced(code: str, language: str) -> str:
    if not code.strip():
        return ""
    longest = max((len(found[0]) for found in _FENCE.finditer(code)), default=2)
    fence = "`" * (longest + 1)
    known = language if language.isalnum() and language != "unknown" else ""
    return f"{fence}{known}\n{code}\n{fence}"


def _plain_part(part: str) -> str:
    named = _ENTITY.sub(lambda found: _name_in(found[1]), part)
    return clean(_SOURCES.sub("", named)).strip()


def _name_in(mark: str) -> str:
    """The name that the page shows for a mark."""
    try:
        known = json.loads(mark)
    except (ValueError, RecursionError):
        return ""
    is_named = isinstance(known, list) and len(known) > 1 and isinstance(known[1], str)
    return known[1] if is_named else ""


def _time(value: Any) -> str:
    """Seconds since 1970 as RFC 3339, "" for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ""
    try:
        return rfc3339(datetime.fromtimestamp(value, UTC)) if value > 0 else ""
    except (ValueError, OverflowError, OSError):
        return ""
