"""One memory: what it says, its exchanges, how it changed, and what it is tied to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from keeplore.memory import Conversation
from keeplore.memory.conversation_body import EXCHANGES, Exchange, short_turns
from keeplore.web.links import anchor
from keeplore.web.page_context import PageContext
from keeplore.web.safe_text import SafeMarkdown
from keeplore.web.templating import spoken_moment
from keeplore.workspace.freshness import changed_since
from keeplore.workspace.loading import load_by_id
from keeplore.workspace.reading.details import MemoryDetails, detail_lines, details_of
from keeplore.workspace.reading.receipts_source import transcript_of
from keeplore.workspace.reading.related_memories import neighbours_of
from keeplore.workspace.reading.version_steps import history_steps
from keeplore.workspace.registry import FoundMemory

HOPS = 2
NEIGHBOURS = 12
FIRST_LINE = 140  # characters of an exchange in the list of them
_OWN_HEADING = re.compile(r"\A\s*#[ \t]+\S.*(?:\n|\Z)")
# what the page shows in other places
_SHOWN_ELSEWHERE = ("contradiction", "later", "version", "when")


@dataclass(frozen=True, slots=True)
class SpokenPart:
    speaker: str  # you | agent | question
    html: Markup


@dataclass(frozen=True, slots=True)
class ExchangeView:
    number: int
    turn: str  # as receipts name it
    at: str
    first_line: str
    parts: tuple[SpokenPart, ...]


def memory_values(context: PageContext, found: FoundMemory) -> dict[str, Any]:
    """What the template of a memory's page is given. Raises IndexUnavailable."""
    workspace, memory = found.workspace, found.memory
    details = details_of(found)
    said_in, exchanges = _conversation_and_exchanges(found)
    is_here = said_in == found.row.id
    markdown = SafeMarkdown(
        context.links, _times(exchanges), "" if is_here else said_in
    )
    steps = history_steps(workspace, found.row.id) if details.versions > 1 else []
    return {
        "found": found,
        "row": found.row,
        "memory": memory,
        "details": details,
        "facts": _facts(details),
        "head": markdown.render(_head_text(found)),
        "exchanges": list(_exchange_views(exchanges, markdown)) if is_here else [],
        "steps": [*reversed(steps)],
        "neighbours": neighbours_of(found, HOPS)[:NEIGHBOURS],
        "since": changed_since(workspace, memory, context.cwd),
        "transcript": transcript_of(workspace.places, memory),
        "file": workspace.root / found.row.path,
        "is_foreign": workspace.machine_trust.is_foreign(memory),
    }


def raw_text(found: FoundMemory) -> str:
    """The file as it is on the disk."""
    return Path(found.workspace.root / found.row.path).read_text("utf-8", "replace")


def _facts(details: MemoryDetails) -> list[tuple[str, str]]:
    """Label and value of each fact that the page does not show in another form."""
    linked = {link.relationship for link in details.links}
    hidden = {*_SHOWN_ELSEWHERE, *linked, *(f"{name} this" for name in linked)}
    return [
        (label, value)
        for label, value in detail_lines(details)
        if value and label not in hidden
    ]


def _head_text(found: FoundMemory) -> str:
    """What stands above the exchanges, without the title, which the page shows."""
    head = found.memory.body.replace("\r\n", "\n").partition(f"\n{EXCHANGES}\n")[0]
    heading = _OWN_HEADING.match(head)
    is_title = heading and heading[0].strip("# \n") == found.row.title.strip()
    return head[heading.end() :] if heading and is_title else head


def _conversation_and_exchanges(found: FoundMemory) -> tuple[str, Sequence[Exchange]]:
    """The conversation that this is, or that holds the words of a note, and what was said there;
    "" where none is here.
    """
    workspace, memory = found.workspace, found.memory
    if memory.kind == "conversation":
        return found.row.id, Conversation.from_markdown(memory.body).exchanges
    said_in = next(iter(workspace.index.known_turns(memory.turns[:1]).values()), "")
    talk = load_by_id(workspace.index, workspace.store, said_in)
    return said_in, Conversation.from_markdown(talk.body).exchanges if talk else ()


def _times(exchanges: Sequence[Exchange]) -> dict[str, str]:
    """Anchor of a turn → when it was said, or which exchange it is where that is unknown."""
    turns = short_turns(exchanges)
    return {
        anchor(turns[exchange.id]): spoken_moment(exchange.at) or f"exchange {number}"
        for number, exchange in enumerate(exchanges, 1)
    }


def _exchange_views(
    exchanges: Sequence[Exchange], markdown: SafeMarkdown
) -> Iterator[ExchangeView]:
    turns = short_turns(exchanges)
    for number, exchange in enumerate(exchanges, 1):
        parts = tuple(_spoken_parts(exchange, markdown))
        line = _first_line(exchange.user)
        yield ExchangeView(number, turns[exchange.id], exchange.at, line, parts)


def _spoken_parts(exchange: Exchange, markdown: SafeMarkdown) -> Iterator[SpokenPart]:
    if exchange.user:
        yield SpokenPart("you", markdown.render(exchange.user))
    for reply in exchange.replies:
        if isinstance(reply, str):
            yield SpokenPart("agent", markdown.render(reply))
        else:
            yield SpokenPart("question", markdown.render(reply.question))
            yield SpokenPart("you", markdown.render(reply.answer or "(declined)"))


def _first_line(text: str) -> str:
    line = " ".join(text[: 10 * FIRST_LINE].split())
    return line if len(line) <= FIRST_LINE else f"{line[:FIRST_LINE]}…"
