"""Claude.ai's export: a conversation is a list of messages, each made of blocks. Newer ones are a
tree, of which the branch that was last shown is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keeplore_hooks.hosts.base import DOCUMENT
from keeplore_hooks.hosts.exports.chat_export import (
    ChatExport,
    ChatHead,
    ChatMessage,
    ChatReading,
    plain_id,
)
from keeplore_hooks.hosts.jsonl import Json, clean, digest, mappings, text, utc_time

_SENDERS = ("human", "assistant")
MAX_PASTED = 20_000  # characters of one text
_ARTIFACT = re.compile(
    r"<ant(Artifact|Thinking)\b([^<>]{0,1000})>.*?(?:</ant\1>|\Z)", re.DOTALL
)
_TITLE = re.compile(r'\btitle="([^"<>]{1,500})"')


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
        for message in _branch(conversation):
            at = utc_time(text(message, "created_at")) or at
            said = "\n\n".join((*_visible_texts(message), *_attachment_lines(message)))
            sender = text(message, "sender")
            if said and sender in _SENDERS:
                named = text(message, "uuid") or digest(at, said)
                messages.append(
                    ChatMessage(plain_id(named), at, sender == "human", said)
                )
        return ChatReading(tuple(messages))


def _branch(conversation: Json) -> list[Json]:
    """The messages from the first to the one last shown, else to the newest; all where they name
    none that they answer.
    """
    every = mappings(conversation, "chat_messages")
    known = {text(message, "uuid"): message for message in every}
    if not any(text(message, "parent_message_uuid") in known for message in every):
        return every
    answered = {text(message, "parent_message_uuid") for message in every}
    leaves = [message for message in every if text(message, "uuid") not in answered]
    newest = max(leaves or every, key=lambda one: text(one, "created_at"))
    named = text(conversation, "current_leaf_message_uuid")
    current = named if named in known else text(newest, "uuid")
    path: dict[str, Json] = {}
    while current in known and current not in path:
        path[current] = known[current]
        current = text(known[current], "parent_message_uuid")
    return [*path.values()][::-1]


def _visible_texts(message: Json) -> Iterator[str]:
    """The blocks of text; the whole text where there are no blocks; what was pasted as a text
    without a name.
    """
    blocks = mappings(message, "content")
    texts = [text(block, "text") for block in blocks if text(block, "type") == "text"]
    pasted = [
        text(attachment, "extracted_content")[:MAX_PASTED]
        for attachment in mappings(message, "attachments")
        if not text(attachment, "file_name")
    ]
    for words in (*(texts if blocks else [text(message, "text")]), *pasted):
        if plain := clean(_ARTIFACT.sub(_title_of, words)).strip():
            yield plain


def _title_of(artifact: re.Match[str]) -> str:
    """The line for a document that the assistant made; nothing for what it thought about it."""
    title = _TITLE.search(artifact[2] or "")
    made = " ".join(title[1].split())[:200] if title else ""
    return f"{DOCUMENT} {made}".rstrip() if artifact[1] == "Artifact" else ""


def _attachment_lines(message: Json) -> Iterator[str]:
    """A line for each file that came along; what it says is left out."""
    names = {
        " ".join(clean(text(attachment, "file_name")).split())[:200]
        for key in ("attachments", "files")
        for attachment in mappings(message, key)
        if text(attachment, "file_name") or not text(attachment, "extracted_content")
    }
    for name in sorted(names):
        yield f"{DOCUMENT} {name}".strip()
