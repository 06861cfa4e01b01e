"""Claude.ai's export: a conversation is a list of messages, each made of blocks."""

from __future__ import annotations

from collections.abc import Iterator

from keeplore_hooks.hosts.base import DOCUMENT
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
    mappings,
    text,
    utc_time,
)

_SENDERS = ("human", "assistant")


class ClaudeAi(ChatExport):
    """Reads ``conversations.json`` as it is described from 2024 to 2026."""

    name = "claude-ai"

    def head_of(self, conversation: Json) -> ChatHead:
        if not isinstance(conversation.get("chat_messages"), list):
            raise ValueError(
                "it is no conversation of Claude.ai: it has no `chat_messages`"
            )
        began = utc_time(text(conversation, "created_at"))
        named = text(conversation, "uuid") or digest(began, text(conversation, "name"))
        changed = utc_time(text(conversation, "updated_at"))
        return ChatHead(plain_id(named), began, changed or began)

    def read_conversation(self, conversation: Json, began: str) -> ChatReading:
        messages = []
        at = began
        for message in mappings(conversation, "chat_messages"):
            at = utc_time(text(message, "created_at")) or at
            said = "\n\n".join((*_said(message), *_attached(message)))
            sender = text(message, "sender")
            if said and sender in _SENDERS:
                named = text(message, "uuid") or digest(at, said)
                messages.append(
                    ChatMessage(plain_id(named), at, sender == "human", said)
                )
        return ChatReading(tuple(messages))


def _said(message: Json) -> Iterator[str]:
    """The blocks of text; the whole text where there are no blocks."""
    blocks = mappings(message, "content")
    told = [text(one, "text") for one in blocks if text(one, "type") == "text"]
    for words in told if blocks else [text(message, "text")]:
        if plain := clean(words).strip():
            yield plain


def _attached(message: Json) -> Iterator[str]:
    """A line for each file that came along; what it says is left out."""
    names = {
        " ".join(clean(text(one, "file_name")).split())[:200]
        for key in ("attachments", "files")
        for one in mappings(message, key)
    }
    for name in sorted(names):
        yield f"{DOCUMENT} {name}".strip()
