"""The message history of one session of a Python agent: in memory, safe for several threads, cut to
fit a context.

Nothing is written to disk. What should outlast the session is emitted to a workspace: see
docs/python.md.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress

# some models call their instructions by the second name
SYSTEM_ROLES = frozenset({"system", "developer"})
CHARACTERS_PER_TOKEN = 4

SUMMARY_SHARE = 4  # the part of the budget that a summary may take: a quarter

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Message:
    """A message as model APIs take it, and when it was said."""

    role: str  # system | developer | user | assistant | tool
    content: str
    at: str = ""  # RFC 3339, UTC; "" where the caller gave none

    @property
    def is_system(self) -> bool:
        return self.role in SYSTEM_ROLES


Summariser = Callable[[list[Message]], str]
_Counted = tuple[Message, int]  # with its tokens


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
        self._counted: list[_Counted] = []
        # what stands for the messages that were pruned
        self._summary: Message | None = None

    def add(self, role: str, content: str, at: str = "") -> Message:
        """Append a message and return it. Raises ValueError for an empty role or a counter below
        zero, TypeError for a content that is no text.
        """
        [message] = self._add([Message(role, content, at)])
        return message

    def add_multiple(
        self, messages: Iterable[Message | Mapping[str, str]]
    ) -> list[Message]:
        """Append several, side by side, and return them: messages, or mappings with ``role``,
        ``content`` and perhaps ``at``. Raises as ``add`` does, or KeyError, and adds none then.
        """
        return self._add([*map(_message, messages)])

    def _add(self, messages: list[Message]) -> list[Message]:
        counted = [(message, self._tokens(message)) for message in messages]
        with self._lock:
            self._counted += counted
        return messages

    def _tokens(self, message: Message) -> int:
        if not message.role:
            raise ValueError(
                "a message needs a role, for example 'user' or 'assistant'"
            )
        content: object = message.content
        if not isinstance(content, str):  # blocks, as some models take them
            kind = type(content).__name__
            raise TypeError(
                f"a message's content must be text, not {kind}: join its blocks"
            )
        tokens = self._count_tokens(content)
        if tokens < 0:
            raise ValueError(f"the token counter gave {tokens}; it must give 0 or more")
        return tokens

    def get_all(self) -> list[Message]:
        with self._lock:
            return [message for message, _ in self._counted]

    def get_recent(self, count: int) -> list[Message]:
        """The last ``count`` messages, system messages among them; all where there are fewer, none
        for 0 or less.
        """
        return self.get_all()[-count:] if count > 0 else []

    def get_by_role(self, role: str) -> list[Message]:
        """The messages of one role."""
        return [message for message in self.get_all() if message.role == role]

    def search(self, words: str, limit: int = 10) -> list[Message]:
        """The messages that hold all of these words, in any order and case, the latest first."""
        found: list[Message] = []
        wanted = words.casefold().split()
        for message in reversed(self.get_all()):
            text = message.content.casefold()
            if wanted and all(word in text for word in wanted):
                found.append(message)
        return found[: max(limit, 0)]

    def count(self) -> int:
        """How many messages there are."""
        with self._lock:
            return len(self._counted)

    def clear(self) -> None:
        """Forget every message, system messages too."""
        with self._lock:
            self._counted.clear()
            self._summary = None

    def prune(
        self, max_tokens: int, summarise: Summariser | None = None
    ) -> list[Message]:
        """Drop the oldest messages until the rest fits into ``max_tokens``, and return what was
        dropped.

        System messages stay, in their place, also where they alone are over the budget. Of the
        others the most recent that fit beside them stay, without a gap: an older one never stays
        where a newer one went.

        ``summarise`` makes one text of what is dropped, outside of any lock; a system message with
        it, at most a quarter of the budget, takes its place, and is summed up with the rest the
        next time. If it raises, nothing is dropped.
        """
        with self._lock:
            going = self._overflow(max_tokens)
            if summarise is None:
                self._drop(going)
                return going
            room = max_tokens // SUMMARY_SHARE
            going = self._overflow(max_tokens - room) if going else []
        if going:
            self._sum_up(going, self._beginning_within(summarise([*going]), room))
        return going

    def _sum_up(self, going: Collection[Message], text: str) -> None:
        """Put a text in the place of these; none where it is empty."""
        tokens = self._count_tokens(text)
        with self._lock:
            self._drop(going)
            if text:
                self._summary = Message("system", text)
                is_system = [message.is_system for message, _ in self._counted]
                at = [*is_system, False].index(False)  # behind the system messages
                self._counted.insert(at, (self._summary, tokens))

    def _overflow(self, max_tokens: int) -> list[Message]:
        """What does not fit; whoever asks holds the lock."""
        stays = _kept_flags(self._counted, max_tokens, self._summary)
        messages = (message for message, _ in self._counted)
        return [*compress(messages, (not stay for stay in stays))]

    def _drop(self, going: Collection[Message]) -> None:
        """Take these out, as far as they are still there; whoever asks holds the lock."""
        gone = {*map(id, going)}
        self._counted = [one for one in self._counted if id(one[0]) not in gone]

    def _beginning_within(self, text: str, room: int) -> str:
        """The beginning of a text that has no more tokens than that."""
        while text and (tokens := self._count_tokens(text)) > room:
            text = text[: min(len(text) - 1, len(text) * max(room, 0) // tokens)]
        return text


def _message(given: Message | Mapping[str, str]) -> Message:
    if isinstance(given, Message):
        return given
    return Message(given["role"], given["content"], given.get("at", ""))


def _kept_flags(
    counted: list[_Counted], max_tokens: int, summary: Message | None
) -> list[bool]:
    """Whether each message stays: system messages always, but for the summary; of the others the
    newest that fit into the rest of ``max_tokens``.
    """
    is_fixed = [message.is_system and message is not summary for message, _ in counted]
    room = max_tokens - sum(tokens for _, tokens in compress(counted, is_fixed))
    newest_first: list[bool] = []
    for (_, tokens), stays in zip(reversed(counted), reversed(is_fixed), strict=True):
        if not stays:
            # once one is dropped, -1 drops every older one, even an empty one
            room = room - tokens if tokens <= room else -1
        newest_first.append(stays or room >= 0)
    return newest_first[::-1]
