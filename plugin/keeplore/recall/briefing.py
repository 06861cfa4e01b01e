"""What a host is given when a session begins, and after it has shortened its context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keeplore.errors import StoreError
from keeplore.index import Allowed, MemoryRow, Wanted
from keeplore.memory import Conversation, Memory, Quote
from keeplore.memory.content import content_hash, normalised
from keeplore.memory.note import said_by, statement_of
from keeplore.recall.excerpt import sentences_of
from keeplore.recall.render import (
    PATH_CHARS,
    SAID_BY,
    TITLE_CHARS,
    Item,
    Section,
    block,
    may_be_injected,
    one_line,
    quoted,
)
from keeplore.recall.values import Here

if TYPE_CHECKING:
    from keeplore.index import Index, Source

SAME_CHARS = 20  # a title that begins like the statement is cut from it
QUOTE_CHARS = 260
LAST_WORDS_CHARS = 200
CONVERSATIONS = 12  # latest ones that are read for decisions and open questions
OWN_CONVERSATIONS = 30  # of a session that was compacted
NOTES = 2_000  # looked through for permanent ones
PERMANENT, DECISIONS, QUESTIONS, OPTIONS, FILES = 8, 10, 6, 6, 12  # items of each section


@dataclass(frozen=True, slots=True)
class Read:
    """A row of the index with its file as it is now."""

    row: MemoryRow
    memory: Memory
    talk: Conversation | None = None


def brief(
    index: Index, store: Source, here: Here, *, session: str, source: str, max_chars: int
) -> tuple[str, tuple[str, ...]]:
    """A fenced block and the ids of the memories it quotes; ("", ()) when there is nothing to say.

    ``source`` is the host's reason: after ``compact`` the block begins with what this very session said before.
    """
    is_compact = source == "compact"
    own = _conversations(index, store, Allowed(), session, OWN_CONVERSATIONS) if session and is_compact else []
    place = Allowed((("project", here.project),) if here.project else here.scopes)
    # what a session that goes on said itself, its host still has or was just given
    latest = [
        c for c in _conversations(index, store, place, "", CONVERSATIONS) if c.row.session != session or not session
    ]
    told = {content_hash(quote.text) for read in own for quote in _decided(read)}
    notes = [read for read in _notes(index, store, here) if read.row.permanent or not told & said_by(read.memory)]
    return block([*_this_session(own), *_standing(notes, latest)], max_chars)


def _this_session(own: list[Read]) -> Iterator[Section]:
    """Oldest first, as it was said."""
    talks = own[::-1]
    yield Section(
        "Decided earlier in this session:", list(_quotes(talks, "decision", "also_decided"))[-DECISIONS * 2 :]
    )
    yield Section("Reasons given earlier in this session:", list(_quotes(talks, "reasoning"))[-OPTIONS:])
    yield Section("Still open in this session:", list(_quotes(talks, "open_questions"))[-QUESTIONS:])
    yield Section("Options weighed earlier in this session:", list(_quotes(talks, "options"))[-OPTIONS:])
    yield Section("What this session worked on:", [_topic(read) for read in talks])


def _standing(notes: list[Read], latest: list[Read]) -> Iterator[Section]:
    yield Section("Permanent:", [_note(r) for r in notes if r.row.permanent][:PERMANENT])
    yield Section("Where the last session stopped:", [_stop(latest[0])] if latest else [])
    dated = [(r.row.updated_at, _note(r)) for r in notes if not r.row.permanent]
    noted = {said for read in notes for said in said_by(read.memory)}
    dated += [
        (r.row.updated_at, _quoted(r, quote))
        for r in latest
        for quote in _decided(r)
        if content_hash(quote.text) not in noted and may_be_injected(r.row.trust, quote.text)
    ]
    # newest first; the sort is stable, so quotations of one conversation stay in their order
    decisions = [item for _, item in sorted(dated, key=lambda pair: pair[0], reverse=True)]
    yield Section("Latest decisions:", decisions[:DECISIONS])
    yield Section("Open questions:", list(_quotes(latest, "open_questions"))[:QUESTIONS])


def _conversations(index: Index, store: Source, allowed: Allowed, session: str, limit: int) -> list[Read]:
    """Newest first."""
    rows = index.listed(Wanted(allowed, session=session, kind="conversation", limit=limit))
    return [Read(r.row, r.memory, Conversation.from_markdown(r.memory.body)) for r in _loaded(store, rows)]


def _notes(index: Index, store: Source, here: Here) -> list[Read]:
    """Permanent notes and the newest others, newest first."""
    rows = index.listed(Wanted(Allowed(here.scopes), kind="note", limit=NOTES))
    current = [row for row in rows if not row.superseded_by and not row.is_archived]
    wanted = [r for r in current if r.permanent][:PERMANENT] + [r for r in current if not r.permanent][:DECISIONS]
    return [r for r in _loaded(store, wanted) if may_be_injected(r.row.trust, r.row.title, r.memory.body)]


def _loaded(store: Source, rows: Iterable[MemoryRow]) -> Iterator[Read]:
    for row in rows:
        try:
            memory = store.load(row.path)
        except (StoreError, OSError):
            continue  # gone since it was indexed; doctor lists what cannot be read
        if memory.id == row.id:
            yield Read(row, memory)


def _quotes(talks: Iterable[Read], *parts: str) -> Iterator[Item]:
    for read in talks:
        found: list[Quote] = [quote for part in parts for quote in getattr(read.talk, part)]
        for quote in found:
            if may_be_injected(read.row.trust, quote.text):
                yield _quoted(read, quote)


def _quoted(read: Read, quote: Quote) -> Item:
    text = f"{_date(read)} · {quoted(quote.text, QUOTE_CHARS)} ({_who(read, quote)})"
    return Item(text, read.row.id, _source(read))


def _decided(read: Read) -> tuple[Quote, ...]:
    return (*read.talk.decision, *read.talk.also_decided) if read.talk else ()


def _who(read: Read, quote: Quote) -> str:
    by = f"the {quote.speaker}" if read.row.trust in ("user", "assistant") else SAID_BY[read.row.trust]
    return f"{by}, {_source(read)[0]}"


def _source(read: Read) -> tuple[str, str]:
    """A memory's short name, the one that its file name ends with, and its path."""
    return one_line(read.row.id, TITLE_CHARS)[4:12], one_line(read.row.path, PATH_CHARS)


def _note(read: Read) -> Item:
    about = " · ".join(filter(None, (_date(read), one_line(read.row.project, TITLE_CHARS), _category(read))))
    text = quoted(_statement(read.memory), QUOTE_CHARS)
    return Item(f"{about} · {text} ({SAID_BY[read.row.trust]}, {_source(read)[0]})", read.row.id, _source(read))


def _statement(memory: Memory) -> str:
    """What the note states, after its title where that says something else."""
    said = " ".join(statement_of(memory).split())
    is_beginning = normalised(said).startswith(normalised(memory.title)[:SAME_CHARS])
    return said if is_beginning else f"{memory.title}. {said}"


def _topic(read: Read) -> Item:
    files = read.talk.work.files[:FILES] if read.talk else ()
    touched = f"; files: {one_line(', '.join(files), PATH_CHARS)}" if files else ""
    text = f"{_date(read)} · {quoted(read.row.title, TITLE_CHARS)} ({_source(read)[0]}{touched})"
    return Item(text, source=_source(read))


def _stop(read: Read) -> Item:
    """The subject, the person's last words and the agent's last sentence."""
    said = ""
    if read.talk and read.talk.exchanges and may_be_injected(read.row.trust, read.memory.body):
        last = read.talk.exchanges[-1]
        ending = sentences_of(last.assistant.strip())[-1:]
        said = f"; the user: {quoted(last.user, LAST_WORDS_CHARS)}" if last.user else ""
        said += f"; the assistant ended: {quoted(ending[0], LAST_WORDS_CHARS)}" if ending else ""
    topic = _topic(read)
    return Item(topic.text + said, source=topic.source)


def _date(read: Read) -> str:
    return one_line((read.row.updated_at or read.row.created_at)[:10], TITLE_CHARS)


def _category(read: Read) -> str:
    return one_line(read.row.category or read.row.kind, TITLE_CHARS)
