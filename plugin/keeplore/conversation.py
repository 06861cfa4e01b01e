"""The message history of one session of a Python agent: in memory, safe for several threads, cut to
fit a context.

Nothing is written to disk. What should outlast the session is emitted to a workspace: see
docs/python.md.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress

# some models call their instructions by the second name
SYSTEM_ROLES = frozenset({"system", "developer"})
CHARACTERS_PER_TOKEN = 4

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Message:
    """One message as model APIs take it, and when it was said."""

    role: str  # system | developer | user | assistant | tool
    content: str
    at: str = ""  # RFC 3339, UTC; "" where the caller gave none

    @property
    def is_system(self) -> bool:
        return self.role in SYSTEM_ROLES


def estimated_tokens(content: str) -> int:
    """A quarter of the characters, rounded up: close enough for English, too low for most other
    scripts.
    """
    return -(-len(content) // CHARACTERS_PER_TOKEN)


class MessageHistory:
    """What was said in a session, oldest first.

    ``count_tokens`` gives the tokens of a message's content, 0 or more; it is called once for each
    message, outside of any lock. Every list that is handed out is the caller's own.
    """

    def __init__(self, count_tokens: TokenCounter = estimated_tokens) -> None:
        self._count_tokens = count_tokens
        self._lock = threading.Lock()
        self._counted: list[tuple[Message, int]] = []

    def add(self, role: str, content: str, at: str = "") -> Message:
        """Append a message and return it. Raises ValueError for an empty role or a counter below
        zero.
        """
        if not role:
            raise ValueError(
                "a message needs a role, for example 'user' or 'assistant'"
            )
        tokens = self._count_tokens(content)
        if tokens < 0:
            raise ValueError(f"the token counter gave {tokens}; it must give 0 or more")
        message = Message(role, content, at)
        with self._lock:
            self._counted.append((message, tokens))
        return message

    def get_all(self) -> list[Message]:
        with self._lock:
            return [message for message, _ in self._counted]

    def get_recent(self, count: int) -> list[Message]:
        """The last ``count`` messages, system messages among them; all where there are fewer, none
        for 0 or less.
        """
        with self._lock:
            return (
                [message for message, _ in self._counted[-count:]] if count > 0 else []
            )

    def count(self) -> int:
        """How many messages there are."""
        with self._lock:
            return len(self._counted)

    def clear(self) -> None:
        """Forget every message, system messages too."""
        with self._lock:
            self._counted.clear()

    def prune(self, max_tokens: int) -> list[Message]:
        """Drop the oldest messages until the rest fits into ``max_tokens``, and return what was
        dropped.

        System messages stay, in their place, also where they alone are over the budget. Of the
        others the most recent that fit beside them stay, without a gap: an older one never stays
        where a newer one went.
        """
        with self._lock:
            kept = _kept(self._counted, max_tokens)
            dropped = [
                message
                for (message, _), stays in zip(self._counted, kept, strict=True)
                if not stays
            ]
            self._counted = [*compress(self._counted, kept)]
        return dropped


def _kept(counted: list[tuple[Message, int]], max_tokens: int) -> list[bool]:
    """Whether each message stays."""
    room = max_tokens - sum(tokens for message, tokens in counted if message.is_system)
    kept: list[bool] = []
    for message, tokens in reversed(counted):
        if not message.is_system:
            # below zero, not even an empty message fits
            room = room - tokens if tokens <= room else -1
        kept.append(message.is_system or room >= 0)
    return kept[::-1]
