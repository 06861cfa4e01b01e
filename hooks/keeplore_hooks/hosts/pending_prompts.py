"""Prompts that a payload announces and that the host's own record has, or will have, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts.base import prompt_key
from keeplore_hooks.hosts.jsonl import Json, digest, rfc3339

# prompts; one that is forgotten comes as a provisional turn, which is no harm
RECORDED_LIMIT = 200
PROMPT_LIMIT = 64_000  # characters of a prompt that a cursor keeps
# for so long a host may run the entries of several plugins about one prompt
_TWICE_S = 5
# by which a record may name an earlier time than the client that got the payload
_AHEAD = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class MissingPrompt:
    """A prompt that only a payload told of."""

    id: str
    task: str
    text: str
    at: str
    answers: tuple[str, ...] = ()  # that only payloads told of


@dataclass(frozen=True, slots=True)
class RecordedPrompt:
    """A prompt of the record; ``key`` stands for its words."""

    task: str
    key: str
    at: str


@dataclass(frozen=True, slots=True)
class PendingPrompts:
    """The newest prompts of the record, and the one that it lacks.

    ``task`` is the host's id of what it does about a prompt, ``""`` where it has none: then a
    record's prompt and an announced one are the same when their words are and their times are
    close.
    """

    recorded: tuple[RecordedPrompt, ...] = ()
    missing: MissingPrompt | None = None

    def to_data(self) -> Json:
        return asdict(self)

    def with_turns(self, turns: Iterable[tuple[str, Turn]]) -> PendingPrompts:
        """These prompts with those just read, each with its task; the missing one may be among
        them.
        """
        new = (RecordedPrompt(task, _key(turn.user), turn.at) for task, turn in turns)
        recorded = tuple(dict.fromkeys((*self.recorded, *new)))[-RECORDED_LIMIT:]
        known = replace(self, recorded=recorded)
        missing = self.missing
        is_there = missing and known.has(missing.task, missing.text, missing.at)
        return replace(known, missing=None) if is_there else known

    def has(self, task: str, words: str, at: str) -> bool:
        """Does the record have the prompt that was announced with these words?"""
        since = _shortly_before(at)
        same = [prompt for prompt in self.recorded if prompt.key == _key(words)]
        return any(
            prompt.task == task if task and prompt.task else prompt.at >= since
            for prompt in same
        )

    def again(self, task: str, words: str, at: str) -> MissingPrompt | None:
        """The missing prompt, where this is the same one announced by another entry."""
        missing = self.missing
        is_same = (
            missing
            and missing.task == task
            and is_twice(missing.text, missing.at, words, at)
        )
        return missing if is_same else None


def is_twice(words: str, at: str, other: str, other_at: str) -> bool:
    """Are these two announcements of one prompt, rather than two prompts in the same words?"""
    try:
        between = datetime.fromisoformat(other_at) - datetime.fromisoformat(at)
    except (ValueError, TypeError):  # one with a time zone, one without
        return False
    return (
        prompt_key(words) == prompt_key(other)
        and abs(between.total_seconds()) <= _TWICE_S
    )


def _key(words: str) -> str:
    return digest(prompt_key(words[:PROMPT_LIMIT]))


def _shortly_before(at: str) -> str:
    try:
        return rfc3339(datetime.fromisoformat(at) - _AHEAD)
    except (ValueError, OverflowError):
        return at
