"""All that is known about one memory: its place among versions, what it is tied to, and where it
was said again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.index import MemoryRow
from keeplore.memory import Conversation
from keeplore.memory.model import Relationship
from keeplore.memory.names import short_id
from keeplore.memory.note import statement_of
from keeplore.recall.request import LaterStatement
from keeplore.text.agent_scope import long_place
from keeplore.text.counts import counted
from keeplore.text.dates import day_of, minute_of
from keeplore.workspace.loading import chain_of
from keeplore.workspace.reading.replacements import replacement_lookup
from keeplore.workspace.registry import FoundMemory
from keeplore.workspace.writing.disputes import disputed_with

SHOWN_AGAIN = 5
SHOWN_LATER = 3


@dataclass(frozen=True, slots=True)
class MemoryLink:
    """``is_from_here`` is False where the other memory names this one; ``title`` is "" for one that
    is not here.
    """

    relationship: str
    id: str
    title: str
    is_from_here: bool


@dataclass(frozen=True, slots=True)
class MemoryDetails:
    found: FoundMemory
    number: int  # of this version, from 1
    versions: int
    head: MemoryRow | None  # the newest version, None where this is it
    links: tuple[MemoryLink, ...]  # the chain of versions left out
    again: tuple[dict[str, Any], ...]  # lines of the audit: at, source
    # what a merge set beside it, until a person decides
    disputed_with: tuple[MemoryRow, ...]
    later: tuple[LaterStatement, ...]  # in the place of what it decides or states


def details_of(found: FoundMemory) -> MemoryDetails:
    """What is known about a memory beside its text. Raises IndexUnavailable."""
    index, store, row = found.workspace.index, found.workspace.store, found.row
    members = chain_of(index, row.id).members
    repeated = (entry for entry in store.records() if entry.get("event") == "again")
    return MemoryDetails(
        found,
        number=members.index(row.id) + 1,
        versions=len(members),
        head=index.memories([row.superseded_by]).get(row.superseded_by),
        links=tuple(_links(found, members)),
        again=tuple(entry for entry in repeated if entry.get("id") in members),
        disputed_with=tuple(disputed_with(index, store, members)),
        later=tuple(_later_statements(found)),
    )


def _later_statements(found: FoundMemory) -> Iterator[LaterStatement]:
    """What was said later in the place of what it decides or states, each once."""
    row, memory = found.row, found.memory
    replacements = replacement_lookup(found.workspace)
    talk, stated = None, [(statement_of(memory), "")]
    if row.kind == "conversation":
        talk = Conversation.from_markdown(memory.body)
        stated = [(q.text, q.turn) for q in talk.decided]
    later = (replacements.of(row, talk, text, turn) for text, turn in stated)
    yield from list(dict.fromkeys(filter(None, later)))[:SHOWN_LATER]


def _links(found: FoundMemory, chain: Collection[str]) -> Iterator[MemoryLink]:
    index = found.workspace.index
    own = [(relationship, id_, True) for relationship, id_ in found.memory.links]
    # of two conversations each may name the other
    others = [
        (relationship, id_, False)
        for relationship, id_ in index.linking(found.row.id)
        if relationship != Relationship.RELATES_TO
        or (relationship, id_, True) not in own
    ]
    known = index.memories([id_ for _, id_, _ in (*own, *others)])
    for relationship, id_, is_from_here in (*own, *others):
        if id_ not in chain:
            title = known[id_].title if id_ in known else ""
            yield MemoryLink(relationship, id_, title, is_from_here)


def detail_lines(described: MemoryDetails) -> Iterator[tuple[str, str]]:
    """Label and value of what is known about a memory beside its text, as it stands in the files;
    some are "".
    """
    row, memory = described.found.row, described.found.memory
    yield "id", row.id
    yield "what", _kind_of(row)
    where = long_place(row.scope, row.project)
    yield "where", f"{where}, workspace {described.found.workspace.name}"
    yield "when", _written_and_changed(row)
    if described.versions > 1:
        yield "version", _version(described)
    yield "trust", _trust(described)
    yield "source", source_of(memory.source, str(memory.meta.get("trigger") or ""))
    yield from map(_repetition, described.again[-SHOWN_AGAIN:])
    yield from map(_contradiction, described.disputed_with)
    for later in described.later:
        yield "later", f"{later.text} ({day_of(later.at)}, {short_id(later.memory_id)})"
    yield from map(_link_line, described.links)


def _written_and_changed(row: MemoryRow) -> str:
    """When it was written, and when it was changed since."""
    written = minute_of(row.created_at)
    if row.updated_at == row.created_at:
        return written
    return f"{written}, changed {minute_of(row.updated_at)}"


def _contradiction(other: MemoryRow) -> tuple[str, str]:
    named = f"{short_id(other.id)} {other.title}"
    text = (
        f"two machines changed the same lines, see {named}; `keeplore review` decides"
    )
    return "contradiction", text


def _link_line(link: MemoryLink) -> tuple[str, str]:
    direction = "" if link.is_from_here else " this"
    title = (
        f"{short_id(link.id)} {link.title}"
        if link.title
        else f"{link.id}, which is not here"
    )
    return f"{link.relationship}{direction}", title


def _kind_of(row: MemoryRow) -> str:
    """Kind, category and what holds of it, as one line."""
    states = {
        "permanent": row.permanent,
        "archived": row.is_archived,
        "still being written": row.is_open,
    }
    held = (state for state, holds in states.items() if holds)
    return ", ".join(filter(None, (row.kind, row.category, *held)))


def _version(described: MemoryDetails) -> str:
    old = (
        f"; this is an old one, {described.head.id} replaced it"
        if described.head
        else ""
    )
    # as it stands in the file: two ends of a fork may have the same
    stated = described.found.memory.version
    which = f"{stated}, " if stated != described.number else ""
    return f"{which}{described.number} of {described.versions}{old}"


def _repetition(entry: Mapping[str, Any]) -> tuple[str, str]:
    source = entry.get("source")
    origin = source_of(source if isinstance(source, dict) else {})
    return "said again", f"{minute_of(str(entry.get('at', '')))} {origin}"


def _trust(described: MemoryDetails) -> str:
    """What the file states, and where that is not believed, why."""
    found = described.found
    trust = found.memory.trust
    if found.workspace.machine_trust.is_foreign(found.memory):
        trust = f"foreign: from another person's machine, where it counts as {trust}"
    confidence = found.memory.meta.get("confidence")
    return trust if confidence is None else f"{trust}, confidence {confidence}"


def source_of(source: Mapping[str, Any], trigger: str = "") -> str:
    """Where a memory was said, in one line."""
    turns = source.get("turns")
    said = counted(len(turns), "turn") if isinstance(turns, list) and turns else ""
    keys = ("url", "path", "session", "branch", "machine", "commit")
    named = [f"{key} {source[key]}" for key in keys if source.get(key)]
    return ", ".join(
        filter(None, (str(source.get("host") or ""), trigger, *named, said))
    )
