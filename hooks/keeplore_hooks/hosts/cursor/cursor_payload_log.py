"""What Cursor's payloads told of the latest turns: more than its transcripts hold, and often
earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from keeplore_hooks.events import Origin, Question, Turn, Work
from keeplore_hooks.hosts.base import prompt_key
from keeplore_hooks.hosts.cursor.cursor_transcript import COUNTED, Counts, key_of, turn_id
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT
from keeplore_hooks.hosts.turn_assembly import squashed

_KEPT = 5  # turns
_LONG = 60  # characters that two prompts hardly share by chance
_WORDS_LIMIT = 100  # replies of one turn
_REFERENCES = tuple(kind.name for kind in fields(Work))


@dataclass(slots=True)
class Entry:
    """One turn."""

    id: str
    prompt: str
    at: str
    generation: str = (
        ""  # the host's id of the prompt, which comes again where two plugins tell of it
    )
    number: int = 0  # how often the same prompt came before
    alias: str = (
        ""  # id of the turn in the transcript, where its prompt stands in other words there
    )
    words: list[str] = field(default_factory=list)
    ended_at: str = ""
    files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)  # by question
    is_over: bool = False

    def add(self, work: Work) -> None:
        for name in _REFERENCES:
            kept = getattr(self, name)
            kept += [item for item in getattr(work, name) if item not in kept]

    def turn(self, origin: Origin) -> Turn:
        """The turn as far as payloads told it."""
        empty = Turn(self.id, origin, self.at, self.prompt)
        return replace(self.completed(empty), is_complete=self.is_over)

    def completed(self, turn: Turn) -> Turn:
        """A turn of the transcript with what it lacks: words, the time, references, answers."""
        replies: list[str | Question] = []
        for reply in turn.replies:
            answer = "" if isinstance(reply, str) else self.answers.get(reply.id, reply.answer)
            replies.append(reply if isinstance(reply, str) else replace(reply, answer=answer))
        said = squashed(turn.assistant)
        replies += [words for words in self.words if squashed(words) not in said]
        work = Work(
            *(
                tuple(dict.fromkeys((*getattr(turn.work, name), *getattr(self, name))))
                for name in _REFERENCES
            )
        )
        return replace(
            turn, replies=tuple(replies), ended_at=max(turn.ended_at, self.ended_at), work=work
        )


@dataclass(slots=True)
class Ledger:
    """The latest turns, oldest first, and how often each prompt was announced."""

    entries: list[Entry] = field(default_factory=list)
    announced: Counts = field(default_factory=dict)
    has_joined: bool = False  # announcements are counted from a known place on

    @staticmethod
    def from_data(data: object) -> Ledger:
        """The ledger that a cursor holds; an empty one where the data are of another shape."""
        try:
            if not isinstance(data, dict):
                return Ledger()
            entries = [_entry(item) for item in data["entries"]]
            return Ledger(entries, _counts(data["announced"]), bool(data["has_joined"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            return Ledger()

    def to_data(self) -> dict[str, Any]:
        announced = dict(list(self.announced.items())[-COUNTED:])
        kept = [asdict(entry) for entry in self.entries[-_KEPT:]]
        return {"entries": kept, "announced": announced, "has_joined": self.has_joined}

    def at(self, turn: str) -> str:
        entry = self.find(turn)
        return entry.at if entry else ""

    def alias(self, turn: str, prompt: str, typed: Mapping[str, int] | None) -> str:
        """The id under which a turn of the transcript was announced: its own, or that of nearly the
        same words.

        ``typed`` counts the prompts that came before it, None for a turn that was read before.
        """
        for entry in self.entries:
            if turn in (entry.id, entry.alias):
                return entry.id
        for entry in self.missing(typed) if typed is not None else ():
            if _is_nearly(entry.prompt, prompt):
                entry.alias = turn
                return entry.id
        return turn

    def completed(self, turn: Turn) -> Turn:
        entry = self.find(turn.id)
        return entry.completed(turn) if entry else turn

    def find(self, turn: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.id == turn), None)

    def has_heard(self, generation: str) -> bool:
        """Was the prompt announced before, by another plugin?"""
        return bool(generation) and any(entry.generation == generation for entry in self.entries)

    def of_generation(self, generation: str) -> Entry | None:
        """The turn that a payload is about; the latest where it does not say."""
        for entry in reversed(self.entries):
            if generation and entry.generation == generation:
                return entry
        return self.entries[-1] if self.entries else None

    def join(self, typed: Mapping[str, int], last: Turn | None, prompt: str) -> None:
        """Take the prompts of the transcript as announced where Keeplore was not there to hear
        them.
        """
        if self.has_joined:
            return
        self.has_joined = True
        self.announced = dict(typed)
        key = key_of(prompt)
        if (
            last and prompt and key_of(last.user) == key
        ):  # the transcript has this very prompt already
            self.announced[key] -= 1

    def announce(
        self, session: str, prompt: str, generation: str, at: str, last: Turn | None = None
    ) -> Entry:
        """Take a prompt; ``last`` is the turn at the end of the transcript, which may have it in
        other words.
        """
        key = key_of(prompt)
        number = self.announced.get(key, 0)
        self.announced[key] = number + 1
        entry = Entry(turn_id(session, key, number), prompt[:PROMPT_LIMIT], at, generation, number)
        if last and not self.find(last.id) and _is_nearly(prompt, last.user):
            entry.id = entry.alias = last.id
        self.entries.append(entry)
        return entry

    def hear(self, entry: Entry, words: str, at: str) -> None:
        if words and words not in entry.words and len(entry.words) < _WORDS_LIMIT:
            entry.words.append(words)
        entry.ended_at = max(entry.ended_at, at)

    def missing(self, typed: Mapping[str, int]) -> list[Entry]:
        """The turns that the transcript does not have."""
        return [
            entry
            for entry in self.entries
            if not entry.alias
            and typed.get(key_of(entry.prompt), 0) <= entry.number
            and (entry.prompt or entry.words)
        ]


def _is_nearly(one: str, other: str) -> bool:
    """Is one prompt most of the other, which the host may have changed a little?"""
    short, long = sorted((prompt_key(one), prompt_key(other)), key=len)
    return short != long and short in long and len(short) >= min(_LONG, len(long) / 2)


def _entry(data: Any) -> Entry:
    entry = Entry(str(data["id"]), str(data["prompt"]), str(data["at"]))
    entry.generation, entry.alias, entry.ended_at = (
        str(data[key]) for key in ("generation", "alias", "ended_at")
    )
    for name in ("words", *_REFERENCES):
        setattr(entry, name, [str(item) for item in data[name]])
    entry.answers = {str(key): str(value) for key, value in data["answers"].items()}
    entry.number, entry.is_over = int(data["number"]), bool(data["is_over"])
    return entry


def _counts(data: Any) -> Counts:
    return {str(key): int(value) for key, value in data.items()}
