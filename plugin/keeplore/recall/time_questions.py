"""Questions that name a time and little else ("what did we do last week"): what was said then is
the answer.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import chain

from keeplore.index import MemoryRow, PassageRow
from keeplore.memory import Conversation, Quote
from keeplore.memory.digest import KIND as DIGEST
from keeplore.recall.prepare import (
    OpenedMemory,
    PreparedQuery,
    RecallContext,
    age_days,
)
from keeplore.recall.question import parse_question, stems_of
from keeplore.recall.ranking.model import Ranked, in_order
from keeplore.recall.ranking.prior_odds import prior_odds
from keeplore.recall.request import RecallHit, Said
from keeplore.recall.search import SearchResults
from keeplore.recall.statements.last_quotes import last_lines, quotes_of_work
from keeplore.recall.statements.memory_hit import hit_of_lines
from keeplore.recall.verify import changed_file_notes, verify, words_of
from keeplore.recall.weights import Weights
from keeplore.text.dates import day_of
from keeplore.text.times.time_expressions import Span, apart_from_times

LOOKED_AT = 60  # memories of a time, the newest
# what one says to ask for everything: beside these and a time a question says nothing to look for
_ANYTHING = stems_of(
    """
    accomplish achieve activity add agree agreed all anything build built catch change choose
    chose chosen code commit complete conclude conclusion conversation day decide decided decision
    develop discuss discussion done evening event everything finish fix happen history implement
    important learn learned learnt leave left list log look made make meeting memory mention month
    morning new news note overview plan point progress project recap recent remember report review
    said say session settle settled ship show something spoke speak standup start state status sum
    summarise summarize summary talk task team tell thing time today told topic understand update
    was week work worked write wrote year
    """
)
# asks for one thing: when something was, who did it, or it names something
_ONE_THING = re.compile(
    r"^\s*(?:(?i:and|so) )?(?i:when|who|whose|why)\b|\S\s+(?!I\b)[A-Z]"
)
# who asks, with somebody of whom nothing is told
_COMPANY = re.compile(r"\b[A-Z]\w+ and I\b|\bI and [A-Z]\w+")
_DECIDED = re.compile(
    r"\b(?:deci[ds]\w*|agree\w*|chose\w*|choose|conclu\w+|settled?)\b", re.IGNORECASE
)
_DECISIONS = "architectural-decisions"  # the category


@dataclass(frozen=True, slots=True)
class Period:
    """What a question asks for that is only a time."""

    spans: tuple[Span, ...]
    # these come first in any case; asked for, they are what is shown of a conversation
    is_of_decisions: bool

    def __str__(self) -> str:
        return " and ".join(map(_days, self.spans))

    def holds(self, at: str) -> bool:
        return any(span.holds(at) for span in self.spans)


def period_of(text: str, session: Span | None, today: date) -> Period | None:
    """The period that a text asks for; None where it says something else as well, or names no time.

    ``session`` is when the session or the event was that the question names, where it names one.
    """
    rest, spans = apart_from_times(_COMPANY.sub("I", text), today)
    spans = (*spans, session) if session else spans
    if not spans or is_of_one_thing(rest):
        return None
    if not parse_question(rest).written_stems <= _ANYTHING:
        return None
    return Period(tuple(span.in_utc() for span in spans), bool(_DECIDED.search(rest)))


def is_of_one_thing(text: str) -> bool:
    """Does a question ask when or why something was, or who did it, or name something?"""
    return bool(_ONE_THING.search(text))


def period_hits(
    context: RecallContext, period: Period, *, is_wide: bool
) -> tuple[list[RecallHit], list[str]]:
    """The hits of a period, and notes on them for the person."""
    index, allowed = context.deps.index, context.allowed(is_wide=is_wide)
    passages: dict[int, PassageRow] = {}
    for span in period.spans:
        rows = index.said_between(allowed, span.first, span.last, LOOKED_AT)
        passages |= {row.id: row for row in rows}
    memories = index.memories(sorted({row.memory_id for row in passages.values()}))
    told = _by_memory(passages.values(), memories)
    entries = (_entries(context, period, memories[id_], told[id_]) for id_ in told)
    ranked = in_order([*chain.from_iterable(entries)])
    is_by_exchange = context.request.by_exchange
    words = words_of(ranked, passages) if is_by_exchange else _words(told, ranked)
    results = SearchResults((), passages, memories, {})
    query = PreparedQuery(parse_question(""))
    hits, left = verify(context, query, ranked, results, words)
    notes = [note_of(period, len(ranked), len(hits)), *changed_file_notes(left)]
    if is_by_exchange:
        return hits, notes
    noted = {hit.passage for hit in hits if hit.kind == "note"}
    return [_by_what_came(context, period, hit, memories, noted) for hit in hits], notes


def _words(
    told: Mapping[str, Sequence[PassageRow]], ranked: Iterable[Ranked]
) -> dict[int, frozenset[str]]:
    """The words of all that a memory says in the period, by the passage that tells it: a note that
    states one of its decisions does not repeat a conversation.
    """
    words: dict[int, frozenset[str]] = {}
    for entry in ranked:
        if entry.passage is not None:
            said = [row.said for row in told[entry.memory]]
            words[entry.passage] = stems_of(" ".join(said))
    return words


def _by_what_came(
    context: RecallContext,
    period: Period,
    hit: RecallHit,
    memories: Mapping[str, MemoryRow],
    noted: Set[str],
) -> RecallHit:
    """The hit of a conversation with what came of it in the period, and no note told beside it;
    as it is where nothing else came of it.
    """
    opened = context.opened(hit.path) if hit.kind == "conversation" else None
    lines = _lines_of(opened, period, noted) if opened else []
    if not (opened and lines):
        return hit
    told = hit_of_lines(context, memories[hit.memory_id], opened, lines)
    return replace(told, score=hit.score)


def _lines_of(opened: OpenedMemory, period: Period, noted: Set[str]) -> list[Said]:
    if opened.conversation is None:
        return []
    for quotes in _what_came(opened.conversation, period):
        within = [q for q in quotes if _is_within(period, opened.time_of(q.turn))]
        lines = last_lines([q for q in within if q.text not in noted])
        if lines:
            return lines
    return []


def _what_came(talk: Conversation, period: Period) -> Iterator[Sequence[Quote]]:
    """What may tell what came of a conversation, the best first."""
    yield talk.decided if period.is_of_decisions else quotes_of_work(talk)
    if not period.is_of_decisions:
        yield talk.context


def _is_within(period: Period, at: str) -> bool:
    """Whether that is from the period, as is what has no time of its own."""
    return not at or period.holds(at)


def _by_memory(
    rows: Iterable[PassageRow], memories: Mapping[str, MemoryRow]
) -> dict[str, list[PassageRow]]:
    """The passages of each memory, without digests and files that are elsewhere now."""
    found: dict[str, list[PassageRow]] = {}
    for row in rows:
        memory = memories.get(row.memory_id)
        if memory and row.path == memory.path and memory.kind != DIGEST:
            found.setdefault(row.memory_id, []).append(row)
    return found


def _entries(
    context: RecallContext, period: Period, memory: MemoryRow, own: Sequence[PassageRow]
) -> Iterator[Ranked]:
    """What is shown of a memory: one passage of it, or by exchange all of the time, and only those.

    Decisions come first, then other notes, conversations that decided, conversations; the newest
    of each first.
    """
    w = context.deps.weights
    standing = context.standing_of(memory)
    # what is asked for by its time is not the worse for having been put aside since
    odds = _worth(memory, w, is_decided=_is_decided(memory, own))
    odds += sum(prior_odds(replace(standing, is_archived=False), w))
    by_exchange = context.request.by_exchange
    for row in (
        _exchanges(own) if by_exchange else [_telling_passage(period, memory, own)]
    ):
        age = age_days(row.at, context.now) if row.at else standing.age_days
        yield Ranked(memory.id, round(odds, 6), row.id, standing.distance, age)


def _is_decided(memory: MemoryRow, own: Iterable[PassageRow]) -> bool:
    """Whether it is a decision, or one of these passages says that one was taken."""
    is_note = memory.kind == "note"
    return memory.category == _DECISIONS or any(
        _DECIDED.search(row.said) if is_note else row.kind == "decision" for row in own
    )


def note_of(period: Period, found: int, shown: int) -> str:
    """What is told beside the answer; ``found`` of the time's memories that there are, ``shown``
    of them.
    """
    if not found:
        return f"nothing in memory is from {period}"
    left = found - shown
    count = f"{left} or more" if found >= LOOKED_AT else str(left)
    others = "other" if count == "1" else "others"
    more = f"; {count} {others}: {_listing(period)}" if left else ""
    return f"asked for a time alone: what is from {period}, decisions and notes first{more}"


def _listing(period: Period) -> str:
    """The command that lists all memories of a period."""
    since = _day(min(span.first for span in period.spans))
    last = _day(max(span.last for span in period.spans))
    times = f" --since {since}" if since else ""
    # of a session, which has it from front matter, it may be no date
    with contextlib.suppress(ValueError, OverflowError):
        times += f" --before {date.fromisoformat(last) + timedelta(days=1)}"
    return f"`keeplore list{times}`"


def _worth(memory: MemoryRow, w: Weights, *, is_decided: bool) -> float:
    """Log-odds by which decisions come before notes, and those before talks and documents."""
    if memory.kind == "note":
        return w.then_decision if is_decided else w.then_note
    if memory.kind == "conversation":
        return w.then_decided if is_decided else w.then_talk
    return w.then_document


def _telling_passage(
    period: Period, memory: MemoryRow, own: Sequence[PassageRow]
) -> PassageRow:
    """The passage that tells a memory: its decision where these are asked for, its head, else what
    was said first.

    Of a conversation that began before the period, what was said within.
    """
    said = _exchanges(own)
    if said and not period.holds(memory.created_at):
        return said[0]
    written = [row for row in own if row.kind != "exchange" and row.text.strip()]
    decisions = [row for row in written if row.kind == "decision"]
    if period.is_of_decisions and decisions:
        return decisions[0]
    return [*written, *said, *own][0]


def _exchanges(own: Sequence[PassageRow]) -> list[PassageRow]:
    return [row for row in own if row.kind == "exchange"]


def _days(span: Span) -> str:
    first, last = _day(span.first), _day(span.last)
    return last if first == last else f"{first or 'the beginning'} to {last}"


def _day(moment: str) -> str:
    """The day in this place of a moment in UTC, which may be written to the minute only."""
    return day_of(f"{moment[:16]}Z") if moment else ""
