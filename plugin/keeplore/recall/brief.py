"""What a host is given when a session begins or goes on, and after it has shortened its context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain

from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter
from keeplore.memory import Conversation, Memory, Quote
from keeplore.memory.model import Category
from keeplore.memory.note import gist_of, stated_hashes
from keeplore.recall.render import (
    MORE,
    MORE_OF_IDS,
    TITLE_CHARS,
    BlockLine,
    BlockSection,
    ContextBlock,
    TellFreshness,
    TextBudget,
    block,
    freshness_line,
    one_line,
    quoted,
    reference,
)
from keeplore.recall.unasked.digest_lines import (
    Joinable,
    NotedLine,
    QuotedLine,
    joined_lines,
)
from keeplore.recall.unasked.freshness_ends import with_freshness
from keeplore.recall.unasked.memory_lines import (
    LoadedMemory,
    date_and_place,
    decided_in,
    may_be_quoted,
    note_item,
    provenance,
    quote_item,
    stop_line,
    topic_line,
)
from keeplore.recall.unasked.open_questions import waiting_questions
from keeplore.recall.unasked.origin import (
    MemorySource,
    own_first,
    unasked_share,
    waiting_line,
    within_share,
)
from keeplore.recall.unasked.prompt_injection import may_be_injected
from keeplore.recall.unasked.unasked_filter import unasked_filter
from keeplore.recall.unasked.workspace_view import (
    NOTHING,
    InjectionHistory,
    WorkspaceView,
    loaded_memories,
    unasked_rows,
    waiting_in,
)
from keeplore.text.query_terms import token_count
from keeplore.text.similarity import content_hash
from keeplore_hooks.hosts.jsonl import time_of_file

CONVERSATIONS = 12  # latest ones that are read for decisions and open questions
OWN_CONVERSATIONS = 30  # of a session that was compacted
NOTES = 2_000  # looked through for permanent ones
PERMANENT, DECISIONS, NOTED = 8, 10, 6  # items of each section
QUESTIONS, OPTIONS = 6, 6
MORE_PERMANENT = (
    "{} more are permanent: `keeplore list --permanent --limit 0` lists them all"
)
INSTRUCTED = "In the person's own words, for all agents in this workspace (AGENTS.md):"
MORE_INSTRUCTED = "{} more lines of it stand in the workspace's AGENTS.md"
INSTRUCTION_CHARS = 600  # of a line
INSTRUCTION_SHARE = 0.4  # of the tokens of a brief
# of a session that was compacted: heading, parts of its conversations, and how many quotations
_OF_SESSION = (
    ("Decided earlier in this session:", ("decision", "also_decided"), 2 * DECISIONS),
    ("Reasons given earlier in this session:", ("reasoning",), OPTIONS),
    ("Still open in this session:", ("open_questions",), QUESTIONS),
    ("Options weighed earlier in this session:", ("options",), OPTIONS),
)


_Told = tuple[str, list[tuple[LoadedMemory, Quote]]]  # a heading and its quotations


@dataclass(frozen=True, slots=True)
class _DatedItem:
    """A line, when its memory changed (RFC 3339), and whether the person's machines wrote it."""

    line: Joinable
    at: str
    is_own: bool


def brief(
    views: Sequence[WorkspaceView],
    *,
    session: str,
    source: str,
    room: TextBudget,
    history: InjectionHistory = NOTHING,
    tell: TellFreshness = freshness_line,
) -> ContextBlock:
    """A fenced block and the ids of the memories it quotes; ("", ()) when there is nothing to say.

    ``source`` is the host's reason: after ``compact`` the block begins with what this very session
    said before. The first view is that of the directory itself, the others are inherited. What
    ``history`` has is left out. ``tell`` gives what a line ends with whose files may have changed.
    """
    own_view = views[0]
    own: list[LoadedMemory] = []
    if session and source == "compact":
        own = [*_conversations(own_view, ScopeFilter(), session, OWN_CONVERSATIONS)]
    latest = [*_latest_conversations(own_view, session, history)]
    of_session = [*_session_blocks(own)]
    said = _said_in(of_session)
    notes: list[LoadedMemory] = []
    permanent = 0
    for view in views:
        found, count = _notes(view)
        permanent += count
        for read in found:
            is_said = not read.row.permanent and said & stated_hashes(read.memory)
            if not is_said and _new_to_session(read, view, history):
                notes.append(read)
                said |= _told_by(read.memory)
    # a session that goes on hears what is new, not how much there is
    waiting = sum(map(waiting_in, views))
    if history.since:
        permanent = waiting = 0
    decided = _decision_section(notes, latest, own_view, said)
    asked = _question_section(latest, own_view)
    sections = [
        _instruction_section(own_view, history, room),
        *_this_session(own, of_session),
        _permanent_section(notes, permanent),
        _waiting_section(waiting),
        _stop_section(latest, decided, asked),
        decided,
        _noted_section(notes, own_view),
        asked,
        _related_section(own_view, [*notes, *latest], history),
    ]
    shown = with_freshness(sections, own_view.freshness, tell)
    return block(shown, room, more=MORE if own else MORE_OF_IDS)


def _told_by(note: Memory) -> set[str]:
    """Content hashes of what a memory's line says: one that keeps exchanges may state several
    things.
    """
    return {*stated_hashes(note), *map(content_hash, gist_of(note).splitlines())}


def _latest_conversations(
    view: WorkspaceView, session: str, history: InjectionHistory
) -> Iterator[LoadedMemory]:
    """The newest conversations of the project, with what is new in them.

    What a session that goes on said itself, its host still has or was just given.
    """
    there = ScopeFilter(view.own or view.scopes)
    for read in _conversations(view, there, "", CONVERSATIONS):
        is_own = session and read.row.session == session
        new = None if is_own else _new_to_session(read, view, history)
        if new:
            yield new


def _new_to_session(
    read: LoadedMemory, view: WorkspaceView, history: InjectionHistory
) -> LoadedMemory | None:
    """The memory with what is new in it to the session; None where nothing is."""
    known_at = max(history.since, history.shown.get(read.row.id, ""))
    if not known_at:
        return read
    if read.row.updated_at > known_at:
        return replace(read, since=known_at) if read.talk else read
    # written before, but pulled from another machine later
    if (
        read.row.id not in history.shown
        and _arrived_at(view, read.row.path) > history.since
    ):
        return read
    return None


def _arrived_at(view: WorkspaceView, path: str) -> str:
    """When the file was last written on this machine (RFC 3339, UTC); "" where that is unknown."""
    try:
        return time_of_file(view.store.root / path)
    except (OSError, OverflowError, ValueError):
        return ""


def _this_session(
    own: list[LoadedMemory], of_session: Iterable[_Told]
) -> Iterator[BlockSection]:
    """Oldest first, as it was said."""
    for heading, lines in of_session:
        yield BlockSection(heading, [quote_item(*said) for said in lines])
    topics = list(filter(None, map(topic_line, own[::-1])))
    yield BlockSection("What this session worked on:", topics)


def _said_in(sections: Iterable[_Told]) -> set[str]:
    """Content hashes of the quotations."""
    return {content_hash(quote.text) for _, lines in sections for _, quote in lines}


def _session_blocks(own: list[LoadedMemory]) -> Iterator[_Told]:
    """Headings with what is told below them, oldest first."""
    for heading, parts, limit in _OF_SESSION:
        yield heading, list(_quotable(own[::-1], *parts))[-limit:]


def _instruction_section(
    view: WorkspaceView, history: InjectionHistory, room: TextBudget
) -> BlockSection:
    """What the person wrote for all agents; once in a session, in a share of the room."""
    written = view.instructions() if view.own and not history.since else ()
    shown = [BlockLine(one_line(line, INSTRUCTION_CHARS)) for line in written]
    left = room.tokens * INSTRUCTION_SHARE
    kept = []
    for line in shown:
        left -= token_count(line.text)
        if left < 0:
            break
        kept.append(line)
    return BlockSection(INSTRUCTED, kept, len(shown), MORE_INSTRUCTED)


def _permanent_section(notes: Sequence[LoadedMemory], count: int) -> BlockSection:
    """``count`` is how many permanent notes there are, also those that are not in ``notes``."""
    rules = own_first(
        (read for read in notes if read.row.permanent), PERMANENT, _is_own
    )
    return BlockSection(
        "Permanent:", [note_item(read) for read in rules], count, MORE_PERMANENT
    )


def _waiting_section(count: int) -> BlockSection:
    """How many memories of other people's machines are not told."""
    line = BlockLine(waiting_line(count))
    return BlockSection("Not told:", [line] if count else [])


def _stop_section(latest: Sequence[LoadedMemory], *below: BlockSection) -> BlockSection:
    # where another person stopped is no place to go on from
    last = next((read for read in latest if read.is_own), None)
    others = [*chain.from_iterable(section.items for section in below)]
    stop = stop_line(last, others) if last else None
    return BlockSection("Last session:", [stop] if stop else [])


def _decision_section(
    notes: Sequence[LoadedMemory],
    latest: Sequence[LoadedMemory],
    view: WorkspaceView,
    said: Set[str],
) -> BlockSection:
    """Notes that tell a decision, and what conversations decided that is not among what is ``said``
    elsewhere (content hashes).
    """
    decisions = [
        _DatedItem(NotedLine(read), read.row.updated_at, read.is_own)
        for read in notes
        if not read.row.permanent and read.row.category == Category.DECISIONS
    ]
    quotes = [
        (read, quote)
        for read in latest
        for quote in decided_in(read)
        if may_be_quoted(read, quote)
    ]
    decisions += [
        _DatedItem(QuotedLine(read, quote), read.row.updated_at, read.is_own)
        for read, quote in quotes
        if content_hash(quote.text) not in said
    ]
    return BlockSection(
        "Decided:", _lines_by_digest(_newest_share(decisions, DECISIONS), view)
    )


def _question_section(
    latest: Sequence[LoadedMemory], view: WorkspaceView
) -> BlockSection:
    asked = [
        QuotedLine(*said) for said in waiting_questions(latest) if may_be_quoted(*said)
    ]
    return BlockSection("Open questions:", _lines_by_digest(asked[:QUESTIONS], view))


def _lines_by_digest(lines: Sequence[Joinable], view: WorkspaceView) -> list[BlockLine]:
    """Lines with those that a digest stands for as one."""
    return joined_lines(lines, view.index, view.unasked_filter())


def _is_own(item: LoadedMemory | _DatedItem) -> bool:
    return item.is_own


def _newest_share(items: Iterable[_DatedItem], limit: int) -> list[Joinable]:
    """The newest first; other people's at most up to their share."""
    # the sort is stable, so quotations of one conversation stay in their order
    in_order = sorted(items, key=lambda item: item.at, reverse=True)
    return [item.line for item in filter(within_share(limit, _is_own), in_order)]


def _noted_section(notes: Sequence[LoadedMemory], view: WorkspaceView) -> BlockSection:
    lines = (
        _DatedItem(NotedLine(read), read.row.updated_at, read.is_own)
        for read in notes
        if not read.row.permanent and read.row.category != Category.DECISIONS
    )
    return BlockSection("Noted:", _lines_by_digest(_newest_share(lines, NOTED), view))


def _related_section(
    view: WorkspaceView, reads: Sequence[LoadedMemory], history: InjectionHistory
) -> BlockSection:
    return BlockSection("Related to these:", [*_related_lines(view, reads, history)])


def _related_lines(
    view: WorkspaceView, reads: Sequence[LoadedMemory], history: InjectionHistory
) -> Iterator[BlockLine]:
    """A line for each memory a few links away from what is told; what the session has seen is left
    out.
    """
    seen = {read.row.id for read in reads} | history.shown.keys()
    for read in reads if view.related else ():
        neighbours = view.index.graph.neighbours(read.row.id, view.related)
        near = {one.id: one for one in neighbours if one.id not in seen}
        seen |= near.keys()
        rows = view.index.memories([*near])
        here = [row for row in unasked_rows(view, rows.values()) if _is_here(row, view)]
        texts = {found.row.id: found for found in loaded_memories(view, here)}
        for one in near.values():
            found = texts.get(one.id)
            if found and may_be_injected(found.row.trust, found.row.title):
                said = f"{one.said} {reference(one.near)}; {provenance(found)}"
                title = quoted(found.row.title, TITLE_CHARS)
                yield BlockLine(f"{date_and_place(found)} · {title} ({said})", one.id)


def _is_here(row: MemoryRow, view: WorkspaceView) -> bool:
    return (row.scope, row.project) in view.scopes and not row.is_archived


def _conversations(
    view: WorkspaceView, allowed: ScopeFilter, session: str, limit: int
) -> Iterator[LoadedMemory]:
    """Newest first, others' within their share."""
    wanted = MemoryFilter(allowed, session=session, kind="conversation", limit=limit)
    source_of = view.sources()
    is_told = unasked_filter(view.index, source_of)
    rows = view.index.listed(wanted, unasked_share(limit, is_told, source_of))
    for read in loaded_memories(view, rows):
        yield replace(read, talk=Conversation.from_markdown(read.memory.body))


def _notes(view: WorkspaceView) -> tuple[list[LoadedMemory], int]:
    """Permanent notes and the newest others, newest first; how many permanent ones there are."""
    source_of = view.sources()
    is_told = unasked_filter(view.index, source_of)
    # whether a version is replaced depends on whose the newer one is
    wanted = MemoryFilter(
        ScopeFilter(view.scopes), kind="note", superseded=True, limit=NOTES
    )
    rows = view.index.listed(wanted, is_told)
    permanent = [row for row in rows if row.permanent]
    passing = [row for row in rows if not row.permanent]
    decided = [row for row in passing if row.category == Category.DECISIONS]
    noted = [row for row in passing if row.category != Category.DECISIONS]
    chosen = (
        *own_first(
            permanent, PERMANENT, lambda row: source_of(row) is MemorySource.OWN
        ),
        *filter(unasked_share(DECISIONS, is_told, source_of), decided),
        *filter(unasked_share(NOTED, is_told, source_of), noted),
    )
    current = [
        r
        for r in loaded_memories(view, chosen)
        if may_be_injected(r.row.trust, r.row.title, r.memory.body)
    ]
    return current, len(permanent)


def _quotable(
    talks: Iterable[LoadedMemory], *parts: str
) -> Iterator[tuple[LoadedMemory, Quote]]:
    for read in talks:
        for part in parts:
            for quote in getattr(read.talk, part):
                if may_be_quoted(read, quote):
                    yield read, quote
