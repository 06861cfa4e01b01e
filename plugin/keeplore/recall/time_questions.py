"""Questions that name a time and little else ("what did we do last week"): what was said then is
the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from keeplore.index import MemoryRow, PassageRow, ScopeFilter
from keeplore.recall.question import question_of, stems_of
from keeplore.recall.rank import Ranked, Standing, beside, in_order
from keeplore.recall.request import Here, Hit
from keeplore.recall.time_expressions import Span, apart_from_times
from keeplore.recall.verify import Kept, age_days, left_out, shown, standing_of, words_of
from keeplore.recall.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    from keeplore.index import Index, TextSource

LOOKED_AT = 60  # memories of a time, the newest
# what one says to ask for everything: beside these and a time a question says nothing to look for
_ANYTHING = stems_of(
    """
    accomplish achieve activity add agree agreed all anything build built catch change choose chose chosen code commit
    complete conclude conclusion conversation day decide decided decision develop discuss discussion done evening
    event everything finish fix happen history implement important learn learned learnt leave left list log look made
    make meeting memory mention month morning new news note overview plan point progress project recap recent remember
    report review said say session settle settled ship show something spoke speak standup start state status sum
    summarise summarize summary talk task team tell thing time today told topic understand update was week work worked
    write wrote year
    """
)
# asks for one thing of that time: for the time itself, or for somebody, or it names something
_ONE_THING = re.compile(r"^\s*(?:(?i:and|so) )?(?i:when|who|whose|why)\b|\S\s+(?!I\b)[A-Z]")
_DECIDED = re.compile(
    r"\b(?:deci[ds]\w*|agree\w*|chose\w*|choose|conclu\w+|settled?)\b", re.IGNORECASE
)
_DECISION = re.compile(
    r"^(?:Decision|Also decided)$", re.MULTILINE
)  # the heading as a passage has it
_DECISIONS = "architectural-decisions"  # the category


@dataclass(frozen=True, slots=True)
class Period:
    """What a question asks for that is only a time."""

    spans: tuple[Span, ...]
    is_of_decisions: (
        bool  # these come first in any case; asked for, they are what is shown of a talk
    )

    def __str__(self) -> str:
        return " and ".join(map(_days, self.spans))

    def holds(self, at: str) -> bool:
        return any(span.holds(at) for span in self.spans)


def period_of(text: str, session: Span | None, today: date) -> Period | None:
    """The period that a text asks for; None where it says something else as well, or names no time.

    ``session`` is when the session was that the text names, where it names one.
    """
    rest, spans = apart_from_times(text, today)
    spans = (*spans, session) if session else spans
    words = question_of(rest).words
    if (
        not spans
        or _ONE_THING.search(rest)
        or any(not spelling <= _ANYTHING for word in words for spelling in word)
    ):
        return None
    return Period(spans, bool(_DECIDED.search(rest)))


def told_in(
    index: Index,
    store: TextSource,
    period: Period,
    here: Here,
    wanted: Kept,
    *,
    is_wide: bool,
    now: datetime,
    w: Weights,
) -> tuple[list[Hit], list[str]]:
    """The hits of a period, and what has to be told of them."""
    allowed = ScopeFilter(() if is_wide else here.scopes)
    found = (index.said_between(allowed, span.first, span.last, LOOKED_AT) for span in period.spans)
    passages = {row.id: row for rows in found for row in rows}
    memories = index.memories(sorted({row.memory_id for row in passages.values()}))
    standings = {row.id: standing_of(row, here, now) for row in memories.values()}
    rows = [
        row
        for row in passages.values()
        if row.memory_id in memories and row.path == memories[row.memory_id].path
    ]
    ranked = ordered(
        period,
        rows,
        memories,
        standings,
        partial(age_days, now=now),
        w,
        by_exchange=wanted.by_exchange,
    )
    hits, left = shown(
        store, ranked, memories, passages, words_of(ranked, passages), question_of(""), wanted, w
    )
    return hits, [note_of(period, len(ranked), len(hits)), *left_out(left)]


def ordered(
    period: Period,
    rows: Sequence[PassageRow],
    memories: Mapping[str, MemoryRow],
    standings: Mapping[str, Standing],
    age_of: Callable[[str], float],
    w: Weights = WEIGHTS,
    *,
    by_exchange: bool = False,
) -> list[Ranked]:
    """The memories of these passages: decisions, other notes, talks that decided, talks; the newest
    of each first.

    ``age_of`` gives the days since a moment. ``by_exchange`` gives every exchange of the time, and
    only those.
    """
    of_memory: dict[str, list[PassageRow]] = {}
    for row in rows:
        of_memory.setdefault(row.memory_id, []).append(row)
    ranked = []
    for id_, own in of_memory.items():
        memory, standing = memories[id_], standings[id_]
        told = _DECIDED if memory.kind == "note" else _DECISION
        is_decided = memory.category == _DECISIONS or any(told.search(row.said) for row in own)
        # what is asked for by its time is not the worse for having been put aside since
        value = _worth(memory, w, is_decided=is_decided) + sum(
            beside(replace(standing, is_archived=False), w)
        )
        for row in _exchanges(own) if by_exchange else [_telling(period, memory, own)]:
            age = age_of(row.at) if row.at else standing.age_days
            ranked.append(Ranked(id_, round(value, 6), row.id, standing.distance, age))
    return in_order(ranked)


def note_of(period: Period, found: int, shown_of: int) -> str:
    """What is told beside the answer; ``found`` of the time's memories that there are, ``shown_of``
    of them.
    """
    if not found:
        return f"nothing in memory is from {period}"
    left = found - shown_of
    count = f"{left} or more" if found >= LOOKED_AT else str(left)
    more = f"; {count} others: {_listing(period)}" if left else ""
    return f"asked for a time alone: what is from {period}, decisions and notes first{more}"


def _listing(period: Period) -> str:
    """The command that lists all memories of a period."""
    since = min(span.first for span in period.spans)[:10]
    try:
        before = str(
            date.fromisoformat(max(span.last for span in period.spans)[:10]) + timedelta(days=1)
        )
    except (ValueError, OverflowError):  # of a session, which has it from front matter
        before = ""
    times = "".join(
        f" --{name} {day}" for name, day in (("since", since), ("before", before)) if day
    )
    return f"`keeplore list{times}`"


def _worth(memory: MemoryRow, w: Weights, *, is_decided: bool) -> float:
    if memory.kind == "note":
        return w.then_decision if is_decided else w.then_note
    if memory.kind == "conversation":
        return w.then_decided if is_decided else w.then_talk
    return w.then_document


def _telling(period: Period, memory: MemoryRow, own: Sequence[PassageRow]) -> PassageRow:
    """The passage that tells a memory: its decision where these are asked for, its head, else what
    was said first.

    Of a talk that began before the period, what was said within.
    """
    said = _exchanges(own)
    written = [row for row in own if row.kind != "exchange"]
    if said and not period.holds(memory.created_at):
        return said[0]
    decisions = (
        [row for row in written if _DECISION.search(row.text)] if period.is_of_decisions else []
    )
    told = [row for row in written if row.text.strip()]
    return [*decisions, *told, *said, *own][0]


def _exchanges(own: Sequence[PassageRow]) -> list[PassageRow]:
    return [row for row in own if row.kind == "exchange"]


def _days(span: Span) -> str:
    first, last = span.first[:10], span.last[:10]
    return last if first == last else f"{first} to {last}" if first else f"the beginning to {last}"
