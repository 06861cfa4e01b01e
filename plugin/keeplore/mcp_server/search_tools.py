"""What the server answers to a question: memories about something, or those of a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from keeplore.errors import ConfigError
from keeplore.index import MemoryFilter, MemoryRow
from keeplore.mcp_server.answer_text import fenced, fitting, source_and_warning
from keeplore.mcp_server.context import McpContext
from keeplore.mcp_server.tool_types import (
    Budget,
    Category,
    Directory,
    Kind,
    Limit,
    OtherProject,
    Page,
    When,
    Wide,
)
from keeplore.recall.render import (
    PATH_CHARS,
    TITLE_CHARS,
    label,
    later_line,
    lines_by_turn,
    one_line,
    place,
    quoted,
    quoted_lines,
    quoted_passage,
    since_then,
)
from keeplore.recall.request import Answer, AnswerStatus, RecallHit, RecallRequest
from keeplore.recall.weights import EXCERPT_CHARS, WITHIN_CHARS
from keeplore.text.dates import NO_DATE, in_utc, minute_of, moment_of, shown_day
from keeplore.workspace.reading.listing import Listing, listing
from keeplore_hooks.spool import Spool

MORE = (
    "`search` with within=id tells more of one memory; `read` with the id shows it as a whole, "
    "with `turn` the very words, with part=source where they were said."
)
NONE_YET = (
    "There is no memory yet. `keeplore import --all` in a terminal reads the sessions that hosts "
    "recorded."
)
MISSING = {
    AnswerStatus.NOTHING: (
        "Nothing found: the index is current, and no memory here is surely about that. Try other "
        "words, or wide=true for the other projects and agents."
    ),
    AnswerStatus.EMPTY: NONE_YET,
    AnswerStatus.STALE: (
        "Nothing found, but the index is behind the text and could not catch up, so it may be "
        "there. `keeplore doctor` in a terminal says why."
    ),
}


def search(
    context: McpContext,
    query: str,
    limit: int,
    *,
    wide: bool,
    agent: str,
    within: str,
    directory: str,
    max_tokens: int,
) -> str:
    """The memories that answer a question, best first; where several answer together, in order of
    time. Raises KeeploreError.
    """
    place = context.place
    cwd, own = place.asked(directory).directory, agent or place.agent
    session = place.session.session
    request = RecallRequest(query, cwd, limit, wide=wide, agent=own, session=session)
    if within:
        found = context.find(within, directory)
        context.note_read(found)
        request = replace(request, within=found.row.id)
    answer = _recall(context, request)
    notes = (
        [*answer.notes, *_backlog_note(context)]
        if answer.status != AnswerStatus.EMPTY
        else []
    )
    about = "\n".join(f"Note: {one_line(note, EXCERPT_CHARS)}" for note in notes)
    if not answer.hits:
        return fenced(MISSING[answer.status], about)
    shown = _shown_hits(answer, max_tokens)
    left = len(answer.hits) - len(shown)
    more = f" {left} more did not fit max_tokens." if left else ""
    order = "which answer together, the likeliest in order of time"
    order = order if answer.is_of_several else "best first"
    order = "what it says to that, the earliest first" if within else order
    before = f"{len(shown)} found, {order}, {_seen_from(context, directory)}.{more}"
    return fenced(before, "\n".join(shown), "\n".join(filter(None, (about, MORE))))


def _shown_hits(answer: Answer, max_tokens: int) -> list[str]:
    """The best hits that fit, numbered, in the order in which they are told."""
    written = [_hit(hit) for hit in answer.hits]
    fit = len(fitting(written, max_tokens))
    places = [place for place in answer.by_time if place < fit]
    return [f"{number}. {written[place]}" for number, place in enumerate(places, 1)]


def _recall(context: McpContext, request: RecallRequest) -> Answer:
    answer = context.recall(request)
    if not answer.hits and answer.stamp.vectors < answer.stamp.passages:
        # beside passages with a vector, what has none yet is not sure enough
        return context.recall(replace(request, text_only=True))
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRequest:
    """Which memories are listed by time, and how many."""

    since: When = ""
    before: When = ""
    kind: Kind = ""
    category: Category = ""
    project: OtherProject = ""
    wide: Wide = False
    page: Page = 1
    limit: Limit = 20
    directory: Directory = ""
    max_tokens: Budget = 2_500

    @property
    def skipped(self) -> int:
        """Memories on earlier pages."""
        return (self.page - 1) * self.limit


def timeline(context: McpContext, request: TimelineRequest) -> str:
    """Memories by time, newest first. Raises KeeploreError."""
    found = _listing(context, request)
    rows = [item.row for item in found.items[request.skipped :]]
    told = (f"Note: {one_line(note, EXCERPT_CHARS)}" for note in found.notes)
    if not rows:
        none = _no_rows(total=found.total, is_empty=found.is_empty, page=request.page)
        return "\n".join((none, *told))
    lines = [_line(row) for row in rows]
    shown = fitting(lines, request.max_tokens)
    first, last = request.skipped + 1, request.skipped + len(shown)
    where = f"of project {label(request.project)}"
    if not request.project:
        where = _seen_from(context, request.directory)
    before = f"Memories {first} to {last} of {found.total}, newest first, {where}."
    rest = _omission_notes(len(lines) - len(shown), found.total - last)
    return fenced(before, "\n".join(shown), "\n".join((*rest, *told, MORE)))


def _listing(context: McpContext, request: TimelineRequest) -> Listing:
    return listing(
        context.registry,
        context.place.asked(request.directory).directory,
        MemoryFilter(
            kind=request.kind,
            category=request.category,
            since=in_utc(_parse_moment(request.since)),
            before=in_utc(_parse_moment(request.before)),
        ),
        project=request.project,
        agent=context.place.agent,
        all_projects=request.wide and not request.project,
        limit=request.page * request.limit,
    )


def _no_rows(*, total: int, is_empty: bool, page: int) -> str:
    if is_empty:
        return NONE_YET
    if total:
        return (
            f"There are {total} memories, and page {page} is beyond them. Ask for an earlier "
            f"page."
        )
    return "No memory fits that. Leave out `kind`, `category` or the times, or look with wide=true."


def _omission_notes(unfitting: int, left: int) -> list[str]:
    """Notes on memories of this page that did not fit, and on later pages."""
    if unfitting:
        advice = "ask with a smaller `limit`, then for the next page"
        return [f"{unfitting} more did not fit max_tokens: {advice}."]
    return ["The next page goes on."] if left > 0 else []


def _seen_from(context: McpContext, directory: str) -> str:
    """Which project was asked, and how sure that is."""
    asked = context.place.asked(directory)
    workspace = context.registry.for_directory(asked.directory)
    project = workspace.identities.here(asked.directory).project
    text = (
        f"of project {label(project)} and what it inherits"
        if project
        else "seen from no project"
    )
    guessed = " (a guess from the newest session: give `directory` where that is wrong)"
    return text if asked.is_known else f"{text}{guessed}"


def _backlog_note(context: McpContext) -> list[str]:
    waiting = Spool(context.places.spool).counts()["new"]
    return (
        [
            f"{waiting} host events are not read yet, so what was said last may be missing"
        ]
        if waiting
        else []
    )


def _hit(hit: RecallHit) -> str:
    lines = [f"{quoted(hit.title, TITLE_CHARS)} ({' · '.join(_facts(hit))})"]
    passage = one_line(hit.passage, WITHIN_CHARS)
    if hit.times:
        lines += [
            f"{turn}: {quoted_lines(said, WITHIN_CHARS)}"
            for turn, said in lines_by_turn(hit)
        ]
    elif passage != one_line(hit.title, WITHIN_CHARS):
        lines.append(quoted_passage(hit, WITHIN_CHARS))
    if hit.later:
        lines.append(later_line(hit.later))
    turn = f", turn={label(hit.turn)}" if hit.turn else ""
    lines.append(
        f"read: id={label(hit.memory_id)}{turn} · {one_line(hit.path, PATH_CHARS)}"
    )
    return "\n   ".join(lines)


def _facts(hit: RecallHit) -> list[str]:
    """What is told of a hit beside its text: its day, where it counts, what it is with its changes,
    and who said it.
    """
    what = label(hit.category or hit.kind)
    if hit.changes:
        what += f", changed {hit.changes}×"
    if hit.replaced_by:
        what += f", replaced since by {label(hit.replaced_by)}"
    if since := since_then(hit.files_changed, hit.files_gone):
        what += f", {since}"
    return [
        label(shown_day(hit.changed_at)),
        place(hit.scope, hit.project),
        what,
        source_and_warning(hit.trust, hit.kind, hit.title, hit.passage),
    ]


def _line(row: MemoryRow) -> str:
    marks = [
        word
        for word, is_so in (("permanent", row.permanent), ("archived", row.is_archived))
        if is_so
    ]
    parts = [
        one_line(minute_of(row.updated_at) or NO_DATE, TITLE_CHARS),
        place(row.scope, row.project),
        ", ".join([label(row.category or row.kind), *marks]),
        source_and_warning(row.trust, row.kind, row.title),
    ]
    return f"- {quoted(row.title, TITLE_CHARS)} ({' · '.join(parts)}) read: id={label(row.id)}"


def _parse_moment(value: str) -> datetime | None:
    if not value:
        return None
    if (moment := moment_of(value)) is None:
        raise ConfigError(
            f"{value!r} is no point in time",
            "Give a date such as 2026-01-31, or an age: 30d, 8w, 1y",
        )
    return moment
