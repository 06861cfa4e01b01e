"""What recall is asked with and what it answers: plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from keeplore.index import IndexState, MemoryRow

OWN, INHERITED, SIBLING = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Here:
    """Where the question is asked: a project (``""`` outside of all), which inherits workspace and
    user.

    ``also`` are names under which memory of the project was filed before.
    """

    project: str = ""
    also: tuple[str, ...] = ()

    @property
    def own(self) -> tuple[tuple[str, str], ...]:
        """The scopes of the project alone."""
        return (
            tuple(("project", name) for name in (self.project, *self.also)) if self.project else ()
        )

    @property
    def scopes(self) -> tuple[tuple[str, str], ...]:
        return (*self.own, ("workspace", ""), ("user", ""))

    def distance(self, scope: str, project: str) -> int:
        """OWN, INHERITED or SIBLING, for a memory of that scope and project."""
        if scope != "project":
            return INHERITED if self.project else OWN
        return OWN if (scope, project) in self.own else SIBLING


@dataclass(frozen=True, slots=True)
class Hit:
    memory_id: str
    title: str
    date: str  # YYYY-MM-DD of its last change
    kind: str
    scope: str
    project: str
    category: str
    trust: str
    score: float  # 0..1: how likely it answers the question
    passage: str  # the best part, within 400 characters
    turn: str  # id of the turn that the passage is from, "" where it is from none
    path: str  # relative to the workspace
    changes: int  # earlier versions that it replaces
    session: str = ""  # of the host, where it was recorded in one
    decision: str = ""  # the first decision that a conversation led to, word for word
    replaced_by: str = ""  # id of its newest version, where this is an earlier one


@dataclass(frozen=True, slots=True)
class Unasked:
    """What is left out where nobody asked: memories below a score, those to be skipped, and texts
    that were told.
    """

    at_least: float = 0.0
    skip: Callable[[MemoryRow], bool] = lambda _: False
    is_told: Callable[[str], bool] = lambda _: False


ALL = Unasked()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, and how far that can be relied on.

    ``status`` is found; nothing: the index is current and holds no answer; empty: there is no
    memory yet; stale: nothing was found, but the index is behind the text and could not be brought
    up to date.
    """

    query: str
    hits: tuple[Hit, ...]
    status: str
    legs: tuple[str, ...]  # ("text", "vectors") or ("text",)
    notes: tuple[str, ...]
    stamp: IndexState


def to_json(answer: Answer) -> dict[str, Any]:
    """The answer as plain dictionaries and lists, for ``json.dumps``."""
    data = asdict(answer)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}
