"""What a host is given when a session begins or goes on, and after it has shortened its context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from keeplore.errors import StoreError
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.memory import Conversation, Memory, Quote
from keeplore.memory.note import said_by, statement_of
from keeplore.recall.excerpt import sentences_of
from keeplore.recall.injection_filter import (
    BELIEVED,
    FOREIGN,
    may_be_injected,
    stated_trust,
)
from keeplore.recall.render import (
    PATH_CHARS,
    SAID_BY,
    TITLE_CHARS,
    BlockLine,
    BlockSection,
    ContextBlock,
    TextBudget,
    block,
    label,
    one_line,
    place,
    quoted,
    reference,
)
from keeplore.text.similarity import content_hash, normalised

if TYPE_CHECKING:
    from keeplore.index import Index
    from keeplore.store import Store

SAME_CHARS = 20  # a title that begins like the statement is cut from it
QUOTE_CHARS = 260
LAST_WORDS_CHARS = 200
CONVERSATIONS = 12  # latest ones that are read for decisions and open questions
OWN_CONVERSATIONS = 30  # of a session that was compacted
NOTES = 2_000  # looked through for permanent ones
PERMANENT, DECISIONS, NOTED, QUESTIONS, OPTIONS, FILES = (
    8,
    10,
    6,
    6,
    6,
    12,
)  # items of each section
MORE_PERMANENT = (
    "{} more are permanent: `keeplore list --permanent --limit 0` lists them all"
)
DECIDED = "architectural-decisions"  # the category of notes that tell a decision
# of a session that was compacted: heading, parts of its conversations, and how many quotations
_OF_SESSION = (
    ("Decided earlier in this session:", ("decision", "also_decided"), 2 * DECISIONS),
    ("Reasons given earlier in this session:", ("reasoning",), OPTIONS),
    ("Still open in this session:", ("open_questions",), QUESTIONS),
    ("Options weighed earlier in this session:", ("options",), OPTIONS),
)


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """A workspace as it is seen from a directory: the scopes that apply, the own project first
    where there is one.

    ``trust`` tells how far a memory is believed here; over so many links a brief tells what is
    ``related``.
    """

    index: Index
    store: Store
    scopes: tuple[tuple[str, str], ...]
    trust: Callable[[Memory], str] = stated_trust
    related: int = 0


@dataclass(frozen=True, slots=True)
class InjectionHistory:
    """What a session knows already: when it was briefed last (RFC 3339, UTC), and when which memory
    was shown.

    ``since`` is "" for a session that knows nothing: everything is new to it. ``words`` are the
    keys of all that it was shown, ``answers`` the memories that came beside a prompt, before an
    edit or as an answer.
    """

    since: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LoadedMemory:
    """A row of the index with its file as it is now; of a conversation what was said until
    ``since`` is known.

    The row's trust is what the memory is believed here, not what its file states.
    """

    row: MemoryRow
    memory: Memory
    talk: Conversation | None = None
    since: str = ""

    def is_new(self, turn: str) -> bool:
        """Is what was said in this turn new to the session?"""
        exchanges = self.talk.exchanges if self.talk else ()
        at = next((e.ended_at or e.at for e in exchanges if e.id == turn), "")
        return not at or at > self.since


NOTHING = InjectionHistory()


def brief(
    views: Sequence[WorkspaceView],
    *,
    session: str,
    source: str,
    room: TextBudget,
    told: InjectionHistory = NOTHING,
) -> ContextBlock:
    """A fenced block and the ids of the memories it quotes; ("", ()) when there is nothing to say.

    ``source`` is the host's reason: after ``compact`` the block begins with what this very session
    said before. The first view is that of the directory itself, the others are inherited. ``told``
    leaves out what is known.
    """
    own_view = views[0]
    own: list[LoadedMemory] = []
    if session and source == "compact":
        own = [*_conversations(own_view, ScopeFilter(), session, OWN_CONVERSATIONS)]
    latest = [*_latest(own_view, session, told)]
    said = {content_hash(quote.text) for read in own for quote in decided_in(read)}
    notes: list[LoadedMemory] = []
    permanent = 0
    for view in views:
        found, count = _notes(view)
        permanent += count
        for read in found:
            is_said = not read.row.permanent and said & said_by(read.memory)
            if not is_said and _unknown(read, view, told):
                notes.append(read)
    # a session that goes on hears what is new, not how much there is
    if told.since:
        permanent = 0
    sections = [
        *_this_session(own),
        _permanent_section(notes, permanent),
        _stop_section(latest),
        _decision_section(notes, latest),
        _noted_section(notes),
        BlockSection(
            "Open questions:", list(_quotes(latest, "open_questions"))[:QUESTIONS]
        ),
        BlockSection(
            "Related to these:", list(_related(own_view, [*notes, *latest], told))
        ),
    ]
    return block(sections, room)


def _latest(
    view: WorkspaceView, session: str, told: InjectionHistory
) -> Iterator[LoadedMemory]:
    """The newest conversations of the project, with what is new in them.

    What a session that goes on said itself, its host still has or was just given.
    """
    is_project = view.scopes[0][0] == "project"
    there = ScopeFilter(view.scopes[:1] if is_project else view.scopes)
    for read in _conversations(view, there, "", CONVERSATIONS):
        is_own = session and read.row.session == session
        new = None if is_own else _unknown(read, view, told)
        if new:
            yield new


def _unknown(
    read: LoadedMemory, view: WorkspaceView, told: InjectionHistory
) -> LoadedMemory | None:
    """The memory with what is new in it to the session, None for nothing."""
    known_at = max(told.since, told.shown.get(read.row.id, ""))
    if not known_at:
        return read
    if read.row.updated_at > known_at:
        return replace(read, since=known_at) if read.talk else read
    # written before, but pulled from another machine later
    if read.row.id not in told.shown and _arrived(view, read.row.path) > told.since:
        return read
    return None


def _arrived(view: WorkspaceView, path: str) -> str:
    try:
        return (
            datetime.fromtimestamp(
                (view.store.root / path).stat().st_mtime, UTC
            ).isoformat()[:19]
            + "Z"
        )
    except (OSError, OverflowError, ValueError):
        return ""


def _this_session(own: list[LoadedMemory]) -> Iterator[BlockSection]:
    """Oldest first, as it was said."""
    oldest_first = own[::-1]
    for heading, parts, limit in _OF_SESSION:
        yield BlockSection(heading, list(_quotes(oldest_first, *parts))[-limit:])
    topics = list(filter(None, map(_topic, oldest_first)))
    yield BlockSection("What this session worked on:", topics)


def _permanent_section(notes: Sequence[LoadedMemory], count: int) -> BlockSection:
    """``count`` is how many permanent notes there are, also those that are not in ``notes``."""
    rules = [note_item(read) for read in notes if read.row.permanent]
    return BlockSection("Permanent:", rules[:PERMANENT], count, MORE_PERMANENT)


def _stop_section(latest: Sequence[LoadedMemory]) -> BlockSection:
    # where another person stopped is no place to go on from
    last = next((read for read in latest if read.row.trust != FOREIGN), None)
    stop = _stop(last) if last else None
    return BlockSection("Where the last session stopped:", [stop] if stop else [])


def _decision_section(
    notes: Sequence[LoadedMemory], latest: Sequence[LoadedMemory]
) -> BlockSection:
    """Notes that tell a decision, and what conversations decided that no note tells."""
    noted = {said for read in notes for said in said_by(read.memory)}
    dated = [
        (read.row.updated_at, note_item(read))
        for read in notes
        if not read.row.permanent and read.row.category == DECIDED
    ]
    quotes = [
        (read, quote)
        for read in latest
        for quote in decided_in(read)
        if _may_be_quoted(read, quote)
    ]
    dated += [
        (read.row.updated_at, quote_item(read, quote))
        for read, quote in quotes
        if content_hash(quote.text) not in noted
    ]
    # newest first; the sort is stable, so quotations of one conversation stay in their order
    dated.sort(key=lambda pair: pair[0], reverse=True)
    return BlockSection("Latest decisions:", [item for _, item in dated[:DECISIONS]])


def _noted_section(notes: Sequence[LoadedMemory]) -> BlockSection:
    others = [r for r in notes if not r.row.permanent and r.row.category != DECIDED]
    others.sort(key=lambda read: read.row.updated_at, reverse=True)
    return BlockSection("Noted lately:", [note_item(read) for read in others[:NOTED]])


def _related(
    view: WorkspaceView, reads: Sequence[LoadedMemory], told: InjectionHistory
) -> Iterator[BlockLine]:
    """What stands within some links of what is told, one line each; what the session has seen is
    left out.
    """
    seen = {read.row.id for read in reads} | told.shown.keys()
    for read in reads if view.related else ():
        neighbours = view.index.graph.neighbours(read.row.id, view.related)
        near = {one.id: one for one in neighbours if one.id not in seen}
        seen |= near.keys()
        rows = view.index.memories([*near])
        here = [row for row in rows.values() if _is_here(row, view)]
        texts = {found.row.id: found for found in loaded(view, here)}
        for one in near.values():
            found = texts.get(one.id)
            if found and may_be_injected(found.row.trust, found.row.title):
                said = f"{one.said} {reference(one.near)}; {_source(found)}"
                title = quoted(found.row.title, TITLE_CHARS)
                yield BlockLine(f"{_about(found)} · {title} ({said})", one.id)


def _is_here(row: MemoryRow, view: WorkspaceView) -> bool:
    return (row.scope, row.project) in view.scopes and not row.is_archived


def _source(read: LoadedMemory) -> str:
    return f"{SAID_BY[read.row.trust]}; {reference(read.row.id)}"


def _conversations(
    view: WorkspaceView, allowed: ScopeFilter, session: str, limit: int
) -> Iterator[LoadedMemory]:
    """Newest first."""
    rows = view.index.listed(
        MemoryFilter(allowed, session=session, kind="conversation", limit=limit)
    )
    for read in loaded(view, rows):
        yield LoadedMemory(
            read.row, read.memory, Conversation.from_markdown(read.memory.body)
        )


def _notes(view: WorkspaceView) -> tuple[list[LoadedMemory], int]:
    """Permanent notes and the newest others, newest first; how many permanent ones there are."""
    rows = view.index.listed(
        MemoryFilter(ScopeFilter(view.scopes), kind="note", limit=NOTES)
    )
    permanent = [row for row in rows if row.permanent]
    decided = [row for row in rows if not row.permanent and row.category == DECIDED]
    noted = [row for row in rows if not row.permanent and row.category != DECIDED]
    found = loaded(view, (*permanent[:PERMANENT], *decided[:DECISIONS], *noted[:NOTED]))
    told = [
        r for r in found if may_be_injected(r.row.trust, r.row.title, r.memory.body)
    ]
    return told, len(permanent)


def loaded(view: WorkspaceView, rows: Iterable[MemoryRow]) -> Iterator[LoadedMemory]:
    for row in rows:
        try:
            memory = view.store.load(row.path)
        except (StoreError, OSError):
            continue  # gone since it was indexed; doctor lists what cannot be read
        if memory.id == row.id:
            yield LoadedMemory(replace(row, trust=view.trust(memory)), memory)


def _quotes(talks: Iterable[LoadedMemory], *parts: str) -> Iterator[BlockLine]:
    for read in talks:
        for part in parts:
            for quote in getattr(read.talk, part):
                if _may_be_quoted(read, quote):
                    yield quote_item(read, quote)


def _may_be_quoted(read: LoadedMemory, quote: Quote) -> bool:
    return read.is_new(quote.turn) and may_be_injected(read.row.trust, quote.text)


def quote_item(read: LoadedMemory, quote: Quote) -> BlockLine:
    by = (
        f"the {label(quote.speaker)}"
        if read.row.trust in BELIEVED
        else SAID_BY[read.row.trust]
    )
    said = quoted(quote.text, QUOTE_CHARS)
    source = f"{by}; {reference(read.row.id, quote.turn)}"
    return BlockLine(f"{_about(read)} · {said} ({source})", read.row.id)


def decided_in(read: LoadedMemory) -> tuple[Quote, ...]:
    return (*read.talk.decision, *read.talk.also_decided) if read.talk else ()


def note_item(read: LoadedMemory) -> BlockLine:
    text = quoted(_statement(read.memory), QUOTE_CHARS)
    category = label(read.row.category or read.row.kind)
    return BlockLine(
        f"{_about(read)} · {category} · {text} ({_source(read)})", read.row.id
    )


def _statement(memory: Memory) -> str:
    """What the note states, after its title where that says something else."""
    said = " ".join(statement_of(memory).split())
    is_beginning = normalised(said).startswith(normalised(memory.title)[:SAME_CHARS])
    return said if is_beginning else f"{memory.title}. {said}"


def _topic(read: LoadedMemory) -> BlockLine | None:
    files = one_line(
        ", ".join(read.talk.work.files[:FILES]) if read.talk else "", PATH_CHARS
    )
    if not may_be_injected(read.row.trust, read.row.title, files):
        return None
    touched = f"; files: {files}" if files else ""
    return BlockLine(
        f"{_about(read)} · {quoted(read.row.title, TITLE_CHARS)} "
        f"({reference(read.row.id)}{touched})"
    )


def _stop(read: LoadedMemory) -> BlockLine | None:
    """The subject, the person's last words and the agent's last sentence."""
    topic = _topic(read)
    if topic is None or not read.talk or not read.talk.exchanges:
        return topic
    last = read.talk.exchanges[-1]
    ending = "".join(sentences_of(last.assistant.strip())[-1:])
    if not may_be_injected(read.row.trust, last.user, ending):
        return topic
    said = f"; the user: {quoted(last.user, LAST_WORDS_CHARS)}" if last.user else ""
    said += (
        f"; the assistant ended: {quoted(ending, LAST_WORDS_CHARS)}" if ending else ""
    )
    return BlockLine(topic.text + said)


def _about(read: LoadedMemory) -> str:
    """Date and place."""
    day = (read.row.updated_at or read.row.created_at)[:10]
    return f"{label(day)} · {place(read.row.scope, read.row.project)}"
