"""What the server answers to a question: memories about something, or those of a time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from keeplore.errors import ConfigError
from keeplore.index import MemoryFilter, MemoryRow
from keeplore.mcp_server.answer_text import fenced, fitting, said_by
from keeplore.mcp_server.context import McpContext
from keeplore.recall.render import PATH_CHARS, TITLE_CHARS, label, one_line, place, quoted
from keeplore.recall.request import RecallRequest
from keeplore.recall.weights import EXCERPT_CHARS
from keeplore.text.dates import in_utc, moment_of
from keeplore.workspace.reading.listing import listing
from keeplore_hooks.spool import Spool

MORE = (
    "`read` with the id shows a memory as a whole; with `turn` the very words; with part=source "
    "where they were said."
)
MISSING = {
    "nothing": "Nothing found: the index is current, and no memory here is about that. Try other "
    "words, or wide=true "
    "for the other projects.",
    "empty": "There is no memory yet. `keeplore import --all` in a terminal reads the sessions "
    "that hosts recorded.",
    "stale": "Nothing found, but the index is behind the text and could not catch up, so it may be "
    "there. "
    "`keeplore doctor` in a terminal says why.",
}
NONE_YET = MISSING["empty"]


def search(
    desk: McpContext, query: str, limit: int, *, wide: bool, directory: str, max_tokens: int
) -> str:
    """The memories that answer a question, best first. Raises KeeploreError."""
    asked = desk.place.asked(directory)
    request = RecallRequest(query, asked.directory, limit, wide=wide)
    answer = desk.recall(request)
    if not answer["hits"] and answer["stamp"]["vectors"] < answer["stamp"]["passages"]:
        # beside passages with a vector, what has none yet is not sure enough
        answer = desk.recall(replace(request, text_only=True))
    notes = [*answer["notes"], *_waiting(desk)] if answer["status"] != "empty" else []
    about = "\n".join(f"Note: {one_line(note, EXCERPT_CHARS)}" for note in notes)
    if not answer["hits"]:
        return "\n".join(filter(None, (MISSING[answer["status"]], about)))
    hits = [_hit(number, hit) for number, hit in enumerate(answer["hits"], 1)]
    shown = fitting(hits, max_tokens)
    left = (
        f" {len(hits) - len(shown)} more did not fit max_tokens." if len(shown) < len(hits) else ""
    )
    before = f"{len(shown)} found, best first, {_seen_from(desk, directory)}.{left}"
    return fenced(before, "\n".join(shown), "\n".join(filter(None, (about, MORE))))


def timeline(
    desk: McpContext,
    *,
    since: str,
    before: str,
    kind: str,
    category: str,
    project: str,
    wide: bool,
    page: int,
    limit: int,
    directory: str,
    max_tokens: int,
) -> str:
    """Memories by time, newest first. Raises KeeploreError."""
    asked = desk.place.asked(directory)
    wanted = MemoryFilter(
        kind=kind, category=category, since=in_utc(_moment(since)), before=in_utc(_moment(before))
    )
    found = listing(
        desk.registry,
        asked.directory,
        wanted,
        project=project,
        all_projects=wide and not project,
        limit=page * limit,
    )
    rows = [item.row for item in found.items[(page - 1) * limit :]]
    if not rows:
        return _no_rows(total=found.total, is_empty=found.is_empty, page=page)
    lines = [_line(row) for row in rows]
    shown = fitting(lines, max_tokens)
    first = (page - 1) * limit + 1
    where = f"of project {label(project)}" if project else _seen_from(desk, directory)
    before_text = (
        f"Memories {first} to {first + len(shown) - 1} of {found.total}, newest first, {where}."
    )
    return fenced(
        before_text,
        "\n".join(shown),
        "\n".join((*_rest(len(shown), lines, first, found.total), MORE)),
    )


def _no_rows(*, total: int, is_empty: bool, page: int) -> str:
    if is_empty:
        return NONE_YET
    if total:
        return (
            f"There are {total} memories, and page {page} is beyond them. Ask for an earlier page."
        )
    return "No memory fits that. Leave out `kind`, `category` or the times, or look with wide=true."


def _rest(shown: int, lines: list[str], first: int, total: int) -> list[str]:
    if shown < len(lines):
        left = len(lines) - shown
        return [
            (
                f"{left} more did not fit max_tokens: ask with a smaller `limit`, then for the next "
                f"page."
            )
        ]
    return ["The next page goes on."] if first + shown - 1 < total else []


def _seen_from(desk: McpContext, directory: str) -> str:
    """Which project was asked, and how sure that is."""
    asked = desk.place.asked(directory)
    project = desk.registry.for_directory(asked.directory).identities.here(asked.directory).project
    told = (
        f"of project {label(project)} and what it inherits" if project else "seen from no project"
    )
    guessed = " (a guess from the newest session: give `directory` where that is wrong)"
    return told if asked.is_known else f"{told}{guessed}"


def _waiting(desk: McpContext) -> list[str]:
    waiting = Spool(desk.places.spool).counts()["new"]
    return (
        [f"{waiting} host events are not read yet, so what was said last may be missing"]
        if waiting
        else []
    )


def _hit(number: int, hit: dict[str, Any]) -> str:
    changed = f", changed {hit['changes']}×" if hit["changes"] else ""
    changed += f", replaced since by {label(hit['replaced_by'])}" if hit["replaced_by"] else ""
    parts = [
        label(hit["date"]),
        place(hit["scope"], hit["project"]),
        label(hit["category"] or hit["kind"]) + changed,
        said_by(hit["trust"], hit["title"], hit["passage"], hit["decision"]),
    ]
    lines = [f"{number}. {quoted(hit['title'], TITLE_CHARS)} ({' · '.join(parts)})"]
    if one_line(hit["passage"], EXCERPT_CHARS) != one_line(hit["title"], EXCERPT_CHARS):
        lines.append(quoted(hit["passage"], EXCERPT_CHARS))
    if hit["decision"] and one_line(hit["decision"], EXCERPT_CHARS) not in one_line(
        hit["passage"], EXCERPT_CHARS
    ):
        lines.append(f"decided: {quoted(hit['decision'], EXCERPT_CHARS)}")
    turn = f", turn={label(hit['turn'])}" if hit["turn"] else ""
    lines.append(f"read: id={label(hit['memory_id'])}{turn} · {one_line(hit['path'], PATH_CHARS)}")
    return "\n   ".join(lines)


def _line(row: MemoryRow) -> str:
    marks = [
        word
        for word, is_so in (("permanent", row.permanent), ("archived", row.is_archived))
        if is_so
    ]
    parts = [
        one_line(row.updated_at[:16].replace("T", " "), TITLE_CHARS),
        place(row.scope, row.project),
        ", ".join([label(row.category or row.kind), *marks]),
        said_by(row.trust, row.title),
    ]
    return f"- {quoted(row.title, TITLE_CHARS)} ({' · '.join(parts)}) read: id={label(row.id)}"


def _moment(value: str) -> datetime | None:
    if not value:
        return None
    if (moment := moment_of(value)) is None:
        raise ConfigError(
            f"{value!r} is no point in time",
            "Give a date such as 2026-01-31, or an age: 30d, 8w, 1y",
        )
    return moment
