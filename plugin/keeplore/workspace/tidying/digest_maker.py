"""Digests: of which conversations one is made, and what it says, by the model of the conversation
alone.

Conversations that go on with one another make one digest, the others of a project one a month. The
same files give the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from keeplore.config.setting_layers import capture_layers
from keeplore.index import MemoryFilter, MemoryRow, load_or_none
from keeplore.memory import Conversation, Memory, Quote, new_id, new_meta
from keeplore.memory.digest import (
    CHANGED,
    DECIDED,
    HEADINGS,
    KIND,
    OPEN,
    OUTCOME,
    Digest,
    DigestLine,
    Section,
)
from keeplore.memory.model import Trust, least_trusted
from keeplore.recall.question import looks_up_decision
from keeplore.recall.request import LaterStatement
from keeplore.recall.since.contradictions import gives_other_figure
from keeplore.recall.since.later_statements import ReplacementLookup
from keeplore.recall.unasked.open_questions import is_answered
from keeplore.recall.unasked.origin import MemorySource
from keeplore.text import agent_scope
from keeplore.text.pasted import is_pasted_into
from keeplore.text.turn_ids import short_turn
from keeplore.workspace.capture_policy import CapturePolicy, place_of
from keeplore.workspace.identity import load_projects
from keeplore.workspace.loading import load_by_id
from keeplore.workspace.reading.replacements import replacement_lookup
from keeplore.workspace.reading.threads import threads
from keeplore.workspace.workspace import Workspace

LEAST = 2  # conversations of a digest
MOST_LINES = 40  # of a part, the newest
TRIGGER = "tidy"
IsOurs = Callable[[MemoryRow], bool]


@dataclass(frozen=True, slots=True)
class DigestedConversation:
    """A conversation of a digest: its row, its file, and what was said in it."""

    row: MemoryRow
    memory: Memory
    said: Conversation

    @property
    def decided(self) -> list[Quote]:
        return self.own(self.said.decided)

    def own(self, quotes: Sequence[Quote]) -> list[Quote]:
        """The quotes that nobody pasted, in the order in which they were said."""
        exchanges = {e.id: (at, e.user) for at, e in enumerate(self.said.exchanges)}
        unknown = (len(exchanges), "")
        said = sorted(quotes, key=lambda quote: exchanges.get(quote.turn, unknown)[0])
        return [
            quote
            for quote in said
            if not is_pasted_into(exchanges.get(quote.turn, unknown)[1], quote.text)
        ]


@dataclass(frozen=True)
class DigestDraft:
    """A digest with the conversations that it is made of, the earliest first."""

    workspace: Workspace
    title: str
    sections: tuple[Section, ...]
    talks: Sequence[DigestedConversation]

    @cached_property
    def memory(self) -> Memory:
        return _memory(self.workspace, Digest(self.title, self.sections), self.talks)


def wanted_digests(workspace: Workspace) -> Iterator[DigestDraft]:
    """The digests that the workspace's conversations make now. Raises IndexUnavailable."""
    is_ours = row_filter(workspace)
    replacements = replacement_lookup(workspace, is_ours)
    for title, rows in _groups(workspace, is_ours):
        talks = [*_digested_conversations(workspace, rows)]
        if len(talks) < LEAST:
            continue
        sections = _sections(workspace, talks, replacements)
        if sections:
            yield DigestDraft(workspace, title, sections, talks)


def row_filter(workspace: Workspace) -> IsOurs:
    """Tells of rows whether tidying may use them: of this person's machines, closed, and of a
    project that is not left out.
    """
    source_of = workspace.machine_trust.sources()
    own, shared = capture_layers(workspace.root, workspace.places.state)
    policy = CapturePolicy(workspace.places, workspace.identities, own, shared)
    left_out = {
        project.name
        for project in load_projects(workspace.store)
        if not policy.decide_place(place_of(project)).may
    }

    def is_ours(row: MemoryRow) -> bool:
        is_own = source_of(row) is MemorySource.OWN and row.trust != Trust.FOREIGN
        return is_own and not row.is_open and row.project not in left_out

    return is_ours


def _groups(
    workspace: Workspace, is_ours: IsOurs
) -> Iterator[tuple[str, list[MemoryRow]]]:
    """Title and conversations of each digest, the earliest conversation first."""
    wanted = MemoryFilter(kind="conversation", archived="with")
    rows = workspace.index.listed(wanted, is_ours)
    rows.sort(key=lambda row: (row.created_at, row.id))
    firsts: dict[str, str] = {}  # conversation → first one of its thread
    for thread in threads(workspace.index):
        firsts |= {row.id: thread.id for row in thread.rows}
    threaded = _grouped((row for row in rows if row.id in firsts), firsts.get)
    taken: set[str] = set()
    for many in threaded:
        if len(many) >= LEAST:
            taken |= {row.id for row in many}
            yield f"Digest: {many[0].title}", many
    rest = (row for row in rows if row.id not in taken)
    for many in _grouped(rest, lambda _: None):
        place = agent_scope.short_place(many[0].scope, many[0].project)
        yield f"Digest: {place}, {many[0].created_at[:7]}", many


def _grouped(
    rows: Iterable[MemoryRow], thread_of: Callable[[str], str | None]
) -> list[list[MemoryRow]]:
    """The conversations in groups of one place and thread, or of one month where there is no
    thread.
    """
    found: dict[tuple[str, str, str], list[MemoryRow]] = {}
    for row in rows:
        together = thread_of(row.id) or row.created_at[:7]
        found.setdefault((row.scope, row.project, together), []).append(row)
    return list(found.values())


def _digested_conversations(
    workspace: Workspace, rows: Sequence[MemoryRow]
) -> Iterator[DigestedConversation]:
    for row in rows:
        if memory := load_or_none(workspace.store, row.path):
            yield DigestedConversation(
                row, memory, Conversation.from_markdown(memory.body)
            )


def _sections(
    workspace: Workspace,
    talks: Sequence[DigestedConversation],
    replacements: ReplacementLookup,
) -> tuple[Section, ...]:
    """What was decided in these conversations, what replaced such a decision later, what came of
    those without a decision, and what is still open.
    """
    parts: dict[str, list[DigestLine]] = {heading: [] for heading in HEADINGS}
    for number, talk in enumerate(talks, 1):
        decided_later = [quote for later in talks[number:] for quote in later.decided]
        decided = talk.decided
        for quote in decided:
            line = line_of(talk, quote)
            later = replacements.of(talk.row, talk.said, quote.text, quote.turn)
            if later is not None:
                speaker = _speaker(workspace, talks, later)
                parts[CHANGED].append(_newer_line(later, speaker, line))
            elif value := _newer_value(talks[number - 1 :], quote):
                parts[CHANGED].append(replace(value, before=line))
            else:
                parts[DECIDED].append(line)
        outcome = [] if decided else talk.own(talk.said.outcome)[-1:]
        parts[OUTCOME] += [line_of(talk, quote) for quote in outcome]
        parts[OPEN] += [
            line_of(talk, asked)
            for asked in talk.own(talk.said.open_questions)
            if not is_answered(asked.text, decided_later)
            and not looks_up_decision(asked.text)
        ]
    return tuple(ordered(parts))


def _newer_value(
    talks: Sequence[DigestedConversation], old: Quote
) -> DigestLine | None:
    """The last decision that gives another figure of what one in the first of these is about, None
    for none; the agent's word changes none of the person's.
    """
    for talk in reversed(talks):
        decided = talk.decided
        if talk is talks[0]:
            decided = decided[decided.index(old) + 1 :]
        for quote in reversed(decided):
            is_entitled = quote.speaker in {Trust.USER, old.speaker}
            if is_entitled and gives_other_figure(quote.text, old.text):
                return line_of(talk, quote)
    return None


def ordered(parts: Mapping[str, Sequence[DigestLine]]) -> Iterator[Section]:
    """The parts that have lines; a line that replaced something stands in only one of them."""
    taken = {(line.memory_id, line.quote.text) for line in parts[CHANGED]}
    for heading, lines in parts.items():
        left = [
            line
            for line in lines
            if heading != DECIDED or (line.memory_id, line.quote.text) not in taken
        ]
        if left:
            left.sort(key=lambda line: line.day)
            yield heading, tuple(left[-MOST_LINES:])


def line_of(talk: DigestedConversation, quote: Quote) -> DigestLine:
    """Words of a conversation as a line, on the day on which they were said."""
    said = (e.at for e in talk.said.exchanges if e.id == quote.turn and e.at)
    day = next(said, talk.row.created_at)[:10]
    return DigestLine(day, replace(quote, turn=short_turn(quote.turn)), talk.row.id)


def _newer_line(later: LaterStatement, speaker: str, before: DigestLine) -> DigestLine:
    quote = Quote(later.text, speaker, short_turn(later.turn))
    return DigestLine(later.at[:10], quote, later.memory_id, before)


def _speaker(
    workspace: Workspace, talks: Sequence[DigestedConversation], later: LaterStatement
) -> str:
    """Who said the later statement: user or assistant."""
    known = {talk.row.id: talk.memory for talk in talks}
    memory = known.get(later.memory_id)
    memory = memory or load_by_id(workspace.index, workspace.store, later.memory_id)
    if memory is None:
        return "assistant"
    quotes = Conversation.from_markdown(memory.body).quotes
    found = (quote.speaker for quote in quotes if quote.text == later.text)
    return next(found, "user" if memory.trust == "user" else "assistant")


def _memory(
    workspace: Workspace, digest: Digest, talks: Sequence[DigestedConversation]
) -> Memory:
    """The digest as a memory; it names no machine, so that all write the same bytes."""
    first = talks[0].row
    ids = sorted({talk.row.id for talk in talks} | _quoted_memories(digest))
    meta = new_meta(
        id=_id(workspace, first.id),
        kind=KIND,
        title=digest.title,
        created_at=first.created_at,
        updated_at=max(talk.row.updated_at for talk in talks),
        version=1,
        **agent_scope.scope_meta(first.scope, first.project),
        related=[{"id": id_, "relationship": "relates-to"} for id_ in ids],
        trust=least_trusted(*(talk.memory.trust for talk in talks)),
        trigger=TRIGGER,
    )
    return Memory(meta, digest.to_markdown())


def _quoted_memories(digest: Digest) -> set[str]:
    """The memories whose words it holds."""
    return {line.memory_id for _, lines in digest.sections for line in lines}


def _id(workspace: Workspace, first: str) -> str:
    """The id after the digest's first conversation, or another one where that digest was forgotten
    with a source.
    """
    number = 0
    while workspace.store.is_forgotten(id_ := new_id("digest", first, str(number))):
        number += 1
    return id_
