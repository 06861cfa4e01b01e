"""The timeline: memories by day, chosen by what they are, with a picture of how many there were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime, time, timedelta
from typing import Any

from keeplore.index import MemoryRow, ScopeFilter, load_or_none
from keeplore.index.timeline import DoubtedWriters, TimelineFilter
from keeplore.memory import Conversation
from keeplore.memory.model import without_empty
from keeplore.text.dates import in_utc
from keeplore.web.page_context import PageContext
from keeplore.web.pages.row_view import by_day, views
from keeplore.workspace.workspace import Workspace

AT_ONCE = 50  # memories of a page
WEEKS = 53
CELL = 12  # of the picture, in its own units, with the gap
LEVELS = (1, 3, 8)  # memories of a day: fewer are paler


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """What a person chose; as it stands in the address."""

    project: str
    kind: str = ""
    category: str = ""
    host: str = ""
    machine: str = ""
    trust: str = ""
    permanent: str = ""
    open: str = ""
    day: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> TimelineQuery:
        return cls(**{field.name: asked.get(field.name, "") for field in fields(cls)})

    @property
    def chosen(self) -> dict[str, str]:
        return without_empty(asdict(self))

    def filter(self, workspace: Workspace, *, with_day: bool = True) -> TimelineFilter:
        """The project's own memories and those of its agents, where one was chosen."""
        places = [pair for pair in workspace.index.scopes() if pair[1] == self.project]
        places = places or [("project", self.project)]  # none of that name is none
        return TimelineFilter(
            allowed=ScopeFilter(tuple(places) if self.project else ()),
            kind=self.kind,
            category=self.category,
            host=self.host,
            machine=self.machine,
            trust=self.trust,
            doubted=_doubted_writers(workspace) if self.trust else None,
            permanent=bool(self.permanent),
            may_ask=bool(self.open),
            until=_end_of(self.day) if with_day else "",
        )


@dataclass(frozen=True, slots=True)
class DayCell:
    """A day in the picture: where it stands, and how dark it is, 0 to 4."""

    day: str
    count: int
    x: int
    y: int
    level: int


def timeline_values(
    context: PageContext, query: TimelineQuery, after: str
) -> dict[str, Any]:
    """What the page shows behind a cursor. Raises IndexUnavailable."""
    workspace = context.workspace
    page = workspace.index.timeline.page(
        query.filter(workspace), after, AT_ONCE, _question_filter(workspace, query)
    )
    return {
        "query": query,
        "days": list(by_day(views(workspace, page.rows))),
        "next": page.next,
        "is_first": not after,
    }


def picture_values(context: PageContext, query: TimelineQuery) -> dict[str, Any]:
    """The choices that there are, and the activity of a year. Raises IndexUnavailable."""
    workspace, today = context.workspace, datetime.now().astimezone().date()
    timeline = workspace.index.timeline
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    chosen = query.filter(workspace, with_day=False)
    counts = timeline.days(chosen, in_utc(_begin(first)))
    cells = _cells(first, today, counts)
    return {
        "facets": timeline.facets(),
        "cells": cells,
        "months": _months(cells),
        "width": WEEKS * CELL,
        "total": sum(counts.values()),
        "busiest": max(counts, key=lambda day: counts[day], default=""),
        "counts": counts,
    }


def _cells(first: date, last: date, counts: Mapping[str, int]) -> list[DayCell]:
    found = []
    for number in range((last - first).days + 1):
        day = (first + timedelta(days=number)).isoformat()
        count = counts.get(day, 0)
        week, weekday = divmod(number, 7)
        level = sum(count >= least for least in LEVELS) + (count > 2 * LEVELS[-1])
        found.append(DayCell(day, count, week * CELL, weekday * CELL, level))
    return found


def _months(cells: Sequence[DayCell]) -> list[tuple[int, str]]:
    """Where each month begins in the picture, and its name."""
    firsts = (cell for cell in cells if cell.day.endswith("-01"))
    return [(cell.x, f"{date.fromisoformat(cell.day):%b}") for cell in firsts]


def _begin(day: date) -> datetime:
    """The beginning of a day in this place."""
    return datetime.combine(day, time()).astimezone()


def _end_of(text: str) -> str:
    """The last moment of a day that was asked for, "" for what is none."""
    try:
        following = _begin(date.fromisoformat(text) + timedelta(days=1))
        return in_utc(following - timedelta(seconds=1))
    except (ValueError, OverflowError):
        return ""


def _question_filter(
    workspace: Workspace, query: TimelineQuery
) -> Callable[[MemoryRow], bool]:
    """What the index cannot tell: whether a question is open in it."""
    return lambda row: not query.open or _has_open_question(workspace, row)


def _doubted_writers(workspace: Workspace) -> DoubtedWriters:
    writers = {row.machine for row in workspace.index.timeline.writers()}
    return workspace.machine_trust.doubted(sorted(writers))


def _has_open_question(workspace: Workspace, row: MemoryRow) -> bool:
    talk = load_or_none(workspace.store, row.path)
    return bool(talk and Conversation.from_markdown(talk.body).open_questions)
