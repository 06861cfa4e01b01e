"""What Cursor's payloads told of the latest turns: more than its transcripts hold, and often
earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace

from keeplore_hooks.events import Origin, Question, Turn, Work
from keeplore_hooks.hosts.base import prompt_key
from keeplore_hooks.hosts.jsonl import Json, digest, mapping, mappings, short_digest
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT
from keeplore_hooks.hosts.prompt_text import without_spaces
from keeplore_hooks.typed_json import MALFORMED, decoded

HOST = "cursor"
COUNTED = 2000  # prompts whose repetition is counted
_KEPT = 5  # turns
_LONG = 60  # characters that two prompts hardly share by chance
_WORDS_LIMIT = 100  # replies of one turn

PromptCounts = dict[str, int]  # key of a prompt → how often it was typed


@dataclass(slots=True)
class CursorTurn:
    """A turn as payloads told it."""

    id: str
    prompt: str
    at: str
    # the host's id of the prompt, which comes again where two plugins tell of it
    generation: str = ""
    number: int = 0  # how often the same prompt came before
    # id of the turn in the transcript, where its prompt stands in other words there
    alias: str = ""
    words: list[str] = field(default_factory=list)
    ended_at: str = ""
    answers: dict[str, str] = field(default_factory=dict)  # by question
    is_over: bool = False
    work: Work = field(default_factory=Work)

    @staticmethod
    def from_data(data: Json) -> CursorTurn:
        """The turn that a cursor kept. Raises one of ``MALFORMED`` for data of another shape."""
        return decoded(CursorTurn, data | {"work": data})

    def to_data(self) -> Json:
        """What was done stands beside the rest."""
        data = asdict(self)
        work: Json = data.pop("work")
        return data | work

    def say(self, words: str, at: str) -> None:
        if words not in self.words and len(self.words) < _WORDS_LIMIT:
            self.words.append(words)
        self.ended_at = max(self.ended_at, at)

    def turn(self, origin: Origin) -> Turn:
        """The turn as far as payloads told it."""
        empty = Turn(self.id, origin, self.at, self.prompt)
        return replace(self.completed(empty), is_complete=self.is_over)

    def completed(self, turn: Turn) -> Turn:
        """A turn of the transcript with what it lacks: words, the time, references, answers."""
        replies = [self._with_answer(reply) for reply in turn.replies]
        said = without_spaces(turn.assistant)
        replies += [words for words in self.words if without_spaces(words) not in said]
        ended_at = max(turn.ended_at, self.ended_at)
        work = joined_work(turn.work, self.work)
        return replace(turn, replies=tuple(replies), ended_at=ended_at, work=work)

    def _with_answer(self, reply: str | Question) -> str | Question:
        if isinstance(reply, str):
            return reply
        return replace(reply, answer=self.answers.get(reply.id, reply.answer))


@dataclass(slots=True)
class PayloadLog:
    """The latest turns, oldest first, and how often each prompt was announced."""

    turns: list[CursorTurn] = field(default_factory=list)
    announced: PromptCounts = field(default_factory=dict)
    has_joined: bool = False  # announcements are counted from a known place on

    @staticmethod
    def from_data(data: Json) -> PayloadLog:
        """The log that a cursor holds; an empty one where the data are of another shape."""
        try:
            turns = [CursorTurn.from_data(item) for item in mappings(data, "entries")]
            return PayloadLog(
                turns, counts_in(data, "announced"), bool(data["has_joined"])
            )
        except MALFORMED:
            return PayloadLog()

    def to_data(self) -> Json:
        announced = dict(list(self.announced.items())[-COUNTED:])
        kept = [turn.to_data() for turn in self.turns[-_KEPT:]]
        return {"entries": kept, "announced": announced, "has_joined": self.has_joined}

    def at(self, turn_id: str) -> str:
        """When the prompt of a turn was typed, ``""`` where no payload told."""
        turn = self.find(turn_id)
        return turn.at if turn else ""

    def id_of(self, turn_id: str, prompt: str, typed: Mapping[str, int] | None) -> str:
        """The id under which a turn of the transcript was announced: its own, or that of nearly the
        same words.

        ``typed`` counts the prompts that came before it, None for a turn that was read before.
        """
        for turn in self.turns:
            if turn_id in (turn.id, turn.alias):
                return turn.id
        for turn in self.missing(typed) if typed is not None else ():
            if _is_nearly(turn.prompt, prompt):
                turn.alias = turn_id
                return turn.id
        return turn_id

    def completed(self, turn: Turn) -> Turn:
        logged = self.find(turn.id)
        return logged.completed(turn) if logged else turn

    def find(self, turn_id: str) -> CursorTurn | None:
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    def has_prompt(self, generation: str) -> bool:
        """Was the prompt announced before, by another plugin?"""
        return bool(generation) and any(
            turn.generation == generation for turn in self.turns
        )

    def of_generation(self, generation: str) -> CursorTurn | None:
        """The turn that a payload is about; the latest where it does not say."""
        for turn in reversed(self.turns):
            if generation and turn.generation == generation:
                return turn
        return self.turns[-1] if self.turns else None

    def join(self, typed: Mapping[str, int], last: Turn | None, prompt: str) -> None:
        """Take the prompts of the transcript as announced where Keeplore was not there to hear
        them.
        """
        if self.has_joined:
            return
        self.has_joined = True
        self.announced = dict(typed)
        key = key_of(prompt)
        is_there = last and prompt and key_of(last.user) == key
        if is_there:  # the transcript has this very prompt already
            self.announced[key] -= 1

    def announce(
        self,
        session: str,
        prompt: str,
        generation: str,
        at: str,
        last: Turn | None = None,
    ) -> CursorTurn:
        """Take a prompt; ``last`` is the turn at the end of the transcript, which may have it in
        other words.
        """
        key = key_of(prompt)
        number = self.announced.get(key, 0)
        self.announced[key] = number + 1
        turn_id = turn_id_of(session, key, number)
        turn = CursorTurn(turn_id, prompt[:PROMPT_LIMIT], at, generation, number)
        if last and not self.find(last.id) and _is_nearly(prompt, last.user):
            turn.id = turn.alias = last.id
        self.turns.append(turn)
        return turn

    def missing(self, typed: Mapping[str, int]) -> list[CursorTurn]:
        """The turns that the transcript does not have."""
        return [turn for turn in self.turns if _is_missing(turn, typed)]


def turn_id_of(session: str, key: str, number: int) -> str:
    """The id of a turn: nothing in a transcript has one, so it comes of the words and how often
    they came before.
    """
    return digest(HOST, session, key, str(number))


def key_of(prompt: str) -> str:
    return short_digest(prompt_key(prompt))


def counts_in(data: Json, key: str) -> PromptCounts:
    """The counts that a cursor holds under ``key``."""
    items = mapping(data, key).items()
    return {prompt: count for prompt, count in items if isinstance(count, int)}


def joined_work(one: Work, other: Work) -> Work:
    """What both name, each once."""
    names = [kind.name for kind in fields(Work)]
    both = ((*getattr(one, name), *getattr(other, name)) for name in names)
    return Work(*(tuple(dict.fromkeys(items)) for items in both))


def _is_missing(turn: CursorTurn, typed: Mapping[str, int]) -> bool:
    is_typed = typed.get(key_of(turn.prompt), 0) > turn.number
    return not turn.alias and not is_typed and bool(turn.prompt or turn.words)


def _is_nearly(one: str, other: str) -> bool:
    """Is one prompt most of the other, which the host may have changed a little?"""
    short, long = sorted((prompt_key(one), prompt_key(other)), key=len)
    return short != long and short in long and len(short) >= min(_LONG, len(long) / 2)
