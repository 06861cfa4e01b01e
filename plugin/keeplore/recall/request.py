"""What recall is asked with and what it answers: plain values, which cost nothing to import."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keeplore.errors import ConfigError
from keeplore.text.agent_scope import is_of_project, key_of

if TYPE_CHECKING:
    from keeplore.index import IndexState, MemoryRow

OWN, INHERITED, SIBLING = 0, 1, 2
BREAK = "\n"  # between the lines of a passage
# share of the best one's likelihood from which hits are told together in order of time; judgement
TOGETHER = 0.75
USUAL_LIMIT = 5  # hits; whoever asks for more gets unlikely ones as well
_FIELD_TYPES = {
    "query": str,
    "cwd": str,
    "limit": int,
    "wide": bool,
    "exchanges": bool,
    "text": bool,
    "agent": str,
    "session": str,
    "within": str,
}


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where the question is asked: a project (``""`` outside of all), which inherits workspace and
    user, and the agent of it that asks, ``""`` for none.

    ``also`` are names under which memory of the project was filed before.
    """

    project: str = ""
    also: tuple[str, ...] = ()
    agent: str = ""

    @property
    def own(self) -> tuple[tuple[str, str], ...]:
        """The scopes of the project alone, those of the agent first."""
        names = (self.project, *self.also) if self.project else ()
        scopes = (key_of(self.agent), "project") if self.agent else ("project",)
        return tuple((scope, name) for scope in scopes for name in names)

    @property
    def scopes(self) -> tuple[tuple[str, str], ...]:
        return (*self.own, ("workspace", ""), ("user", ""))

    def distance(self, scope: str, project: str) -> int:
        """OWN, INHERITED or SIBLING, for a memory of that scope and project. What an agent shares
        with its project is as near to it as its own.
        """
        if not is_of_project(scope):
            return INHERITED if self.project else OWN
        return OWN if (scope, project) in self.own else SIBLING


@dataclass(frozen=True, slots=True)
class ResultFilter:
    """What is left out of an answer: memories below a score, memories to be skipped, and passages
    that were shown before.

    ``is_unasked``: nobody put the question, so that only what is sure may be told, and nothing of
    another person's whose machine was not accepted.
    """

    at_least: float = 0.0
    skip: Callable[[MemoryRow], bool] = lambda _: False
    is_shown: Callable[[str], bool] = lambda _: False
    is_unasked: bool = False


UNFILTERED = ResultFilter()


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One question to memory and how it is to be answered.

    ``by_exchange`` gives every exchange that answers, not one of each memory. ``wide`` asks the
    other projects as well, which otherwise happens when little is found. ``text_only`` leaves the
    model alone. ``at_once`` says that a person waits and somebody else keeps the index in step:
    neither files nor model are waited for, and other projects are not asked. ``agent`` is the name
    of the agent that asks: it has its own memory as well. ``session`` is the host's session that
    asks: what others did last comes before what it did itself. ``within`` stands for one memory, as
    ``Registry.find`` takes it: that alone answers, at length.
    """

    query: str
    cwd: Path = field(default_factory=Path.cwd)
    limit: int = USUAL_LIMIT
    wide: bool = False
    by_exchange: bool = False
    text_only: bool = False
    at_once: bool = False
    filter: ResultFilter = UNFILTERED
    agent: str = ""
    session: str = ""
    within: str = ""

    @property
    def may_widen(self) -> bool:
        """Whether the other projects are asked where little is found."""
        return not (self.wide or self.at_once)

    def to_json(self) -> dict[str, Any]:
        """What a worker is sent; ``at_once`` and ``filter`` never leave the process."""
        return {
            "query": self.query,
            "cwd": str(self.cwd),
            "limit": self.limit,
            "wide": self.wide,
            "exchanges": self.by_exchange,
            "text": self.text_only,
            "agent": self.agent,
            "session": self.session,
            "within": self.within,
        }

    @classmethod
    def from_json(cls, payload: bytes) -> RecallRequest:
        """What ``to_json`` gave, as bytes. Raises ConfigError, which names what is wrong."""
        try:
            data = json.loads(payload)
        except ValueError as e:
            raise _malformed(str(e)) from e
        _check_fields(data)
        return cls(
            data["query"],
            Path(data["cwd"]),
            data["limit"],
            wide=data["wide"],
            by_exchange=data["exchanges"],
            text_only=data["text"],
            agent=data["agent"],
            session=data["session"],
            within=data["within"],
        )


def _check_fields(data: Any) -> None:
    """Raise ConfigError where the fields do not form a request."""
    if not isinstance(data, dict):
        raise _malformed("it is no object")
    if different := sorted(data.keys() ^ _FIELD_TYPES.keys()):
        raise _malformed(f"missing or unknown: {', '.join(different)}")
    for name, kind in _FIELD_TYPES.items():
        if type(data[name]) is not kind:
            raise _malformed(f"{name} is no {kind.__name__}")
    if data["limit"] < 1:
        raise _malformed("limit is below 1")


def _malformed(reason: str) -> ConfigError:
    return ConfigError(
        f"a question to memory cannot be read: {reason}",
        "Update Keeplore where the question comes from: both sides must have one version",
    )


@dataclass(frozen=True, slots=True)
class HeldStatement:
    """A sentence that still holds at the end of its conversation; ``message`` numbers the messages,
    ``salience`` is the log-odds that it tells what the conversation came to. One that
    ``points_back`` begins with "that" or "these" and needs what was said before it.
    """

    text: str
    turn: str
    message: int
    salience: float
    is_decision: bool = False
    is_pasted: bool = False
    heading: str = ""  # that it stands under
    lead: str = ""  # of a list item: the line that introduces its list
    points_back: bool = False

    @property
    def in_context(self) -> str:
        """The sentence behind its heading and the line that introduces its list."""
        return " ".join(filter(None, (self.heading, self.lead, self.text)))


Said = tuple[str, str]  # words, and the turn that they are from


def lines_with_turns(passage: str, turns: Sequence[str], turn: str) -> list[Said]:
    """The lines of a hit's passage, each with its turn."""
    lines = passage.split(BREAK)
    return [*zip(lines, turns or [turn] * len(lines), strict=True)]


def turns_of(said: Sequence[Said], turn: str) -> tuple[str, ...]:
    """The turn of each line, none where all are from this one."""
    turns = tuple(of for words, of in said for _ in words.split(BREAK))
    return () if set(turns) <= {turn} else turns


@dataclass(frozen=True, slots=True)
class LaterStatement:
    """What was said in the place of something: its words, their memory and turn, and when."""

    text: str
    memory_id: str
    turn: str  # "" where it is from none
    at: str  # RFC 3339


@dataclass(frozen=True, slots=True)
class RecallHit:
    memory_id: str
    title: str
    changed_at: str  # RFC 3339
    kind: str
    scope: str
    project: str
    category: str
    trust: str
    # 0..1: how likely it answers the question; 0 where it alone was asked
    score: float
    passage: str  # the best part
    turn: str  # id of the turn that the passage is from, "" where it is from none
    path: str  # relative to the workspace
    changes: int  # earlier versions that it replaces
    session: str = ""  # of the host, where it was recorded in one
    replaced_by: str = ""  # id of its newest version, where this is an earlier one
    at: str = ""  # RFC 3339: when the turn was, "" where it is from none
    # of each line of the passage, none where all are from its turn
    turns: tuple[str, ...] = ()
    # RFC 3339: when each line was said, where they are of several turns and told from the first on
    times: tuple[str, ...] = ()
    # of each line "user" or "pasted", the person's words or what they pasted, and "decided", as in
    # "user, decided"; none where no line has any
    marks: tuple[str, ...] = ()
    # files that the passage names and that have changed since, or are gone; paths in their project
    files_changed: tuple[str, ...] = ()
    files_gone: tuple[str, ...] = ()
    # what was said later in the place of what the passage says
    later: LaterStatement | None = None


class AnswerStatus(StrEnum):
    FOUND = "found"
    NOTHING = "nothing"  # the index is current and holds no answer
    EMPTY = "empty"  # there is no memory yet
    # nothing was found, but the index is behind the text and could not be brought up to date
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, and how far that can be relied on.

    ``legs`` are the searches that were made.
    """

    query: str
    hits: tuple[RecallHit, ...]
    status: AnswerStatus
    legs: tuple[str, ...]  # ("text", "vectors") or ("text",)
    notes: tuple[str, ...]
    stamp: IndexState
    # the question wants a list, an order or a summary: the hits answer it together
    is_of_several: bool = False

    @property
    def by_time(self) -> list[int]:
        """The places of the hits as they are told: of those that answer together the digests, then
        the earliest first, and behind them what is far less likely; otherwise the best first.
        """
        places = range(len(self.hits))
        if not self.is_of_several:
            return [*places]
        least = TOGETHER * max((hit.score for hit in self.hits), default=0.0)

        def moment(place: int) -> tuple[int, str]:
            hit = self.hits[place]
            is_digest = hit.kind == "digest"
            if hit.score < least and not is_digest:
                return 2, ""
            return int(not is_digest), hit.at or hit.changed_at

        return sorted(places, key=moment)

    def with_note(self, note: str) -> Answer:
        """The same, with one more sentence on how far it can be relied on."""
        return replace(self, notes=(*self.notes, note))

    def to_json(self) -> dict[str, Any]:
        """The answer as plain dictionaries and lists, for ``json.dumps``."""
        data = asdict(self)
        lists = {key: list(data[key]) for key in ("hits", "legs", "notes")}
        return data | lists | {"by_time": self.by_time}
