"""All that is known about one memory: its place among versions, what it is tied to, and where it
was said again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.index import MemoryRow
from keeplore.text.dates import minute_of
from keeplore.workspace.registry import FoundMemory
from keeplore.workspace.writing.disputes import disputed_with

SHOWN_AGAIN = 5
SHORT_ID = 8  # digits of an id, as file names have them


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
    disputed_with: tuple[MemoryRow, ...] = ()  # what a merge set beside it, until a person decides


def details_of(found: FoundMemory) -> MemoryDetails:
    """Raises IndexUnavailable."""
    index, row = found.workspace.index, found.row
    members = next(
        (chain.members for chain in index.chains() if row.id in chain.members), (row.id,)
    )
    head = index.memories([row.superseded_by]).get(row.superseded_by) if row.superseded_by else None
    again = tuple(
        entry
        for entry in found.workspace.store.records()
        if entry.get("event") == "again" and entry.get("id") in members
    )
    others = tuple(disputed_with(index, found.workspace.store, members))
    links = tuple(_links(found, set(members)))
    return MemoryDetails(found, members.index(row.id) + 1, len(members), head, links, again, others)


def _links(found: FoundMemory, chain: set[str]) -> Iterator[MemoryLink]:
    index = found.workspace.index
    own = [(relationship, id_, True) for relationship, id_ in found.memory.links]
    others = [(relationship, id_, False) for relationship, id_ in index.linking(found.row.id)]
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
    state = [
        row.kind,
        row.category,
        "permanent" if row.permanent else "",
        "archived" if row.is_archived else "",
    ]
    yield "what", ", ".join(filter(None, (*state, "still being written" if row.is_open else "")))
    where = f"project {row.project}" if row.scope == "project" else f"{row.scope} scope"
    yield "where", f"{where}, workspace {described.found.workspace.name}"
    changed = f", changed {minute_of(row.updated_at)}" if row.updated_at != row.created_at else ""
    yield "when", f"{minute_of(row.created_at)}{changed}"
    if described.versions > 1:
        old = f"; this is an old one, {described.head.id} replaced it" if described.head else ""
        # as it stands in the file: two ends of a fork may have the same
        which = f"{memory.version}, " if memory.version != described.number else ""
        yield "version", f"{which}{described.number} of {described.versions}{old}"
    confidence = memory.meta.get("confidence")
    yield (
        "trust",
        f"{_trust(described)}{f', confidence {confidence}' if confidence is not None else ''}",
    )
    yield "source", source_of(memory.source, str(memory.meta.get("trigger") or ""))
    for entry in described.again[-SHOWN_AGAIN:]:
        source = entry.get("source")
        told = source_of(source if isinstance(source, dict) else {})
        yield "said again", f"{minute_of(str(entry.get('at', '')))} {told}"
    for other in described.disputed_with:
        named = f"{other.id.removeprefix('mem_')[:SHORT_ID]} {other.title}"
        yield (
            "contradiction",
            f"two machines changed the same lines, see {named}; `keeplore review` decides",
        )
    for link in described.links:
        short = link.id.removeprefix("mem_")[:SHORT_ID]
        title = f"{short} {link.title}" if link.title else f"{link.id}, which is not here"
        yield (
            (link.relationship, title)
            if link.is_from_here
            else (f"{link.relationship} this", title)
        )


def _trust(described: MemoryDetails) -> str:
    """What the file states, and where that is not believed, why."""
    found = described.found
    if not found.workspace.machine_trust.is_foreign(found.memory):
        return found.memory.trust
    return f"foreign: from another person's machine, where it counts as {found.memory.trust}"


def source_of(source: Mapping[str, Any], trigger: str = "") -> str:
    """Where a memory was said, in one line."""
    turns = source.get("turns")
    counted = f"{len(turns)} turns" if isinstance(turns, list) and turns else ""
    keys = ("url", "path", "session", "branch", "machine", "commit")
    named = [f"{key} {source[key]}" for key in keys if source.get(key)]
    return ", ".join(filter(None, (str(source.get("host") or ""), trigger, *named, counted)))
