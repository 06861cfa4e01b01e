"""One memory, from far to near: as a whole, its exchanges, one exchange word for word, and where it
was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from keeplore.errors import NotFound
from keeplore.mcp_server.answer_text import fenced, pages, source_and_warning
from keeplore.mcp_server.context import McpContext
from keeplore.memory import Conversation, Exchange
from keeplore.memory.conversation_body import shown_turns
from keeplore.recall.render import (
    PATH_CHARS,
    TITLE_CHARS,
    label,
    one_line,
    place,
    quoted,
)
from keeplore.text.dates import minute_of, shown_day
from keeplore.workspace.note_writer import NoteVersion
from keeplore.workspace.reading.details import detail_lines, details_of
from keeplore.workspace.reading.overview import overview
from keeplore.workspace.reading.receipts_source import exchange_of, transcript_of
from keeplore.workspace.reading.spoken_exchange import is_shortened, spoken_messages
from keeplore.workspace.registry import FoundMemory

FACT_CHARS = 400
LEFT_OUT = "[what was left out: part=exchanges]"
FIRST_LINE = 100  # characters of an exchange in the list of them
GOES_ON = {
    "overview": "part=exchanges gives the very words, turn=NUMBER those of one exchange, "
    "part=source where they are "
    "from, part=history the versions.",
    "exchanges": "turn=NUMBER gives one exchange; part=source says where they were said.",
    "exchange": "part=exchanges gives them all; part=source says where they were said.",
    "source": "The transcript is the host's own file, and may be gone.",
    "history": "`read` with the id of a version shows it.",
}


def read(
    context: McpContext,
    reference: str,
    part: str,
    turn: str,
    page: int,
    *,
    directory: str,
    max_tokens: int,
) -> str:
    """A page of a memory. Raises KeeploreError."""
    found = context.find(reference, directory)
    context.note_read(found)
    text = (
        _exchange_text(exchange_of(found, turn))
        if turn
        else PARTS[part](context, found)
    )
    every = pages(text, max_tokens)
    if page > len(every):
        raise NotFound(
            f"there is no page {page} of it",
            f"With this max_tokens, ask for a page from 1 to {len(every)}",
        )
    chosen = every[page - 1]
    counted = f", page {page} of {len(every)}" if len(every) > 1 else ""
    more = (
        f"page={page + 1} with the same max_tokens goes on. "
        if page < len(every)
        else ""
    )
    shown = "exchange" if turn else part
    return fenced(
        f"The {shown} of one memory{counted}.",
        f"{_facts_line(found, chosen)}\n\n{chosen}",
        f"{more}{GOES_ON[shown]}",
    )


def _facts_line(found: FoundMemory, text: str) -> str:
    """Title, day, place, who said the text, and id."""
    row = found.row
    trust = found.workspace.machine_trust.trust_of(found.memory)
    facts = [
        label(shown_day(row.updated_at)),
        place(row.scope, row.project),
        source_and_warning(trust, row.kind, row.title, text),
        label(row.id),
    ]
    return f"{quoted(row.title, TITLE_CHARS)} ({' · '.join(facts)})"


def _conversation(found: FoundMemory) -> Conversation | None:
    memory = found.memory
    return (
        Conversation.from_markdown(memory.body)
        if memory.kind == "conversation"
        else None
    )


def _overview(_context: McpContext, found: FoundMemory) -> str:
    facts = [
        f"{label}: {one_line(value, FACT_CHARS)}"
        for label, value in detail_lines(details_of(found))
        if value
    ]
    facts.append(
        f"file: {one_line(str(found.workspace.root / found.row.path), PATH_CHARS)}"
    )
    problems = [
        f"problem: {one_line(problem, FACT_CHARS)}" for problem in found.memory.problems
    ]
    talk = _conversation(found)
    if talk is None or not talk.exchanges:
        return "\n".join((*facts, *problems, "", found.memory.body))
    heading = "Exchanges, each with how it begins:"
    asked = _exchange_lines(talk.exchanges)
    return "\n".join((*facts, *problems, "", overview(talk.head), "", heading, *asked))


def _exchange_lines(exchanges: Sequence[Exchange]) -> Iterator[str]:
    short = shown_turns(exchanges)
    for number, exchange in enumerate(exchanges, 1):
        turn = label(short[exchange.id])
        asked = one_line(exchange.user, FIRST_LINE)
        yield f"{number}. {minute_of(exchange.at)} · turn={turn} · {asked}"


def _exchanges(_context: McpContext, found: FoundMemory) -> str:
    """The whole conversation. Raises NotFound for a memory that is none."""
    talk = _conversation(found)
    if talk is None or not talk.exchanges:
        turns = ", ".join(found.memory.turns)
        made_of = f"It was made from the turns {turns}. " if turns else ""
        raise NotFound(
            "this memory has no exchanges",
            f"{made_of}part=overview gives its whole text",
        )
    return "\n\n".join(
        f"## {number}\n\n{_exchange(exchange, is_full=True)}"
        for number, exchange in enumerate(talk.exchanges, 1)
    )


def _exchange_text(exchange: Exchange) -> str:
    """An exchange without what somebody reads over, which is named."""
    shown = _exchange(exchange, is_full=False)
    return f"{shown}\n\n{LEFT_OUT}" if is_shortened(exchange) else shown


def _exchange(exchange: Exchange, *, is_full: bool) -> str:
    said = (
        f"{who}: {words}" for who, words in spoken_messages(exchange, is_full=is_full)
    )
    return "\n\n".join((f"[{minute_of(exchange.at)}, turn {exchange.id}]", *said))


def _source(context: McpContext, found: FoundMemory) -> str:
    """The receipt: who said it where, in which turns, and the file in which the host
    recorded it.
    """
    memory = found.memory
    kept = [
        f"{key}: {one_line(str(value), FACT_CHARS)}"
        for key, value in memory.source.items()
        if key != "turns"
    ]
    turns = _turns(found)
    return "\n".join(
        (
            f"file: {found.workspace.root / found.row.path}",
            f"trigger: {memory.meta.get('trigger', '')}",
            *kept,
            f"transcript: {transcript_of(context.places, memory) or 'not on this machine'}",
            f"turns: {len(turns)}",
            *turns,
        )
    )


def _turns(found: FoundMemory) -> list[str]:
    """A line for each turn that it was made of, with its time where that is known."""
    talk = _conversation(found)
    times = (
        {exchange.id: minute_of(exchange.at) for exchange in talk.exchanges}
        if talk
        else {}
    )
    turns = dict.fromkeys((*found.memory.turns, *times))
    return [f"- {turn} {times.get(turn, '')}".rstrip() for turn in turns]


def _history(_context: McpContext, found: FoundMemory) -> str:
    versions = found.workspace.notes.history(found.row.id)
    whose = found.workspace.machine_trust
    return "\n".join(
        f"{n}. {_version(version, whose.trust_of(version.memory))}"
        for n, version in enumerate(versions, 1)
    )


def _version(version: NoteVersion, trust: str) -> str:
    row, memory = version.row, version.memory
    title = quoted(memory.title, TITLE_CHARS)
    newest = " · the newest" if version.is_head else ""
    source = source_and_warning(trust, memory.kind, memory.title)
    return (
        f"{minute_of(row.created_at)} · {title} · {source} · id={label(row.id)}{newest}"
    )


PARTS: Mapping[str, Callable[[McpContext, FoundMemory], str]] = {
    "overview": _overview,
    "exchanges": _exchanges,
    "source": _source,
    "history": _history,
}
