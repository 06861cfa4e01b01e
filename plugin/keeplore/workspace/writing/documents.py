"""Documents of a workspace: what a source says, as one memory; what it says later is that memory's
next version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from keeplore.errors import AlreadyExists, StoreError
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter, load_or_none
from keeplore.index.passages import passages_of
from keeplore.ingest import Extracted, SourceAddress
from keeplore.ingest.document_body import body_for, document_hash
from keeplore.memory import Memory, new_id, new_meta
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.names import short_id
from keeplore.text import agent_scope
from keeplore.text.dates import now
from keeplore.workspace.workspace import Workspace

TRIGGER = "document"
TRUST = "document"


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document that is not written yet; ``pieces`` is how many passages it will be found by."""

    memory: Memory
    pieces: int


class DocumentChange(StrEnum):
    """What ingesting a source came to."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    what: DocumentChange
    memory: Memory
    path: str


class Documents:
    """The documents of one workspace that have a source."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        # by id; what a file states of its source does not change
        self._sources: dict[str, tuple[str, str, str]] = {}

    def make_draft(
        self, extracted: Extracted, origin: SourceAddress, scope: str, project: str
    ) -> DocumentDraft:
        """The memory of a source, without secrets. Raises StoreError for one that no file
        may hold.
        """
        redact = self._workspace.plugins.redact
        title = redact(extracted.title, project)
        place = agent_scope.scope_meta(scope, project)
        meta = {"kind": "document", "title": title, **place}
        # as it will stand in the file, so that what a person changes there can be told
        body = self._workspace.plugins.body_before_write(
            meta, body_for(Extracted(title, redact(extracted.text, project)))
        )
        if len(body.encode("utf-8", "replace")) > MAX_FILE // 2:
            raise StoreError(
                "the document is too long for one memory", "Give a part of it"
            )
        name = redact(origin.name, project)
        content = document_hash(title, body)
        machine = self._workspace.machine
        at = now()
        meta = new_meta(
            **meta,
            id=new_id(
                "document",
                scope,
                project,
                "" if origin.is_url else machine,
                name,
                content,
            ),
            created_at=at,
            updated_at=at,
            version=1,
            trust=TRUST,
            trigger=TRIGGER,
            source={
                "machine": machine,
                "url" if origin.is_url else "path": name,
                "content": content,
            },
        )
        memory = Memory(meta, body)
        return DocumentDraft(memory, len(passages_of(memory)))

    def write(self, draft: DocumentDraft) -> WrittenDocument:
        """Write a document, unless its source says what it said; all that it said before becomes
        its past.

        Raises StoreError where a person changed the document here, Forgotten, or OSError.
        """
        workspace, memory = self._workspace, draft.memory
        with workspace.store.exclusive:
            workspace.index.refresh()
            heads = list(self._heads(memory))
            if not heads:
                written = self._write_first(memory)
            elif len(heads) == 1 and _says_the_same(heads[0][1], memory):
                return WrittenDocument(
                    DocumentChange.UNCHANGED, heads[0][1], heads[0][0].path
                )
            else:
                written = self._write_next(memory, heads)
        workspace.index.refresh()
        return written

    def _write_first(self, memory: Memory) -> WrittenDocument:
        store, index = self._workspace.store, self._workspace.index
        try:
            path = store.add(memory, index.path_of)
        except AlreadyExists:
            # a person gave it another source, or a merge set it aside
            path, known = store.get(memory.id)
            return WrittenDocument(DocumentChange.UNCHANGED, known, path)
        self._workspace.plugins.announce_written(memory.id, path)
        return WrittenDocument(DocumentChange.NEW, memory, path)

    def _write_next(
        self, memory: Memory, heads: list[tuple[MemoryRow, Memory]]
    ) -> WrittenDocument:
        """A version that replaces what the source said before, also what two machines read apart
        from each other.
        """
        head, old = heads[0]
        if old.source.get("content") != document_hash(old.title, old.body):
            raise _changed_here_error(short_id(head.id))
        # by its words, so that what was forgotten is known again; what it says a second time needs
        # another
        is_there = self._workspace.index.path_of(memory.id) is not None
        done = self._workspace.notes.revise(
            head.id,
            [row.id for row, _ in heads[1:]],
            body=memory.body,
            id=new_id("document", memory.id, head.id) if is_there else memory.id,
            title=memory.title,
            trust=TRUST,
            trigger=TRIGGER,
            source={**memory.source, "from": head.id},
        )
        return WrittenDocument(DocumentChange.UPDATED, done.memory, done.path)

    def _heads(self, memory: Memory) -> Iterator[tuple[MemoryRow, Memory]]:
        """What the same source said last in this place, the latest first; more than one where
        machines wrote apart.
        """
        rows = self._workspace.index.listed(
            MemoryFilter(ScopeFilter((memory.place,)), kind="document", archived="with")
        )
        wanted = _source_of(memory)
        for row in rows:
            if row.id not in self._sources and (read := self._load(row)):
                self._sources[row.id] = _source_of(read)
            if self._sources.get(row.id) == wanted and (read := self._load(row)):
                yield row, read

    def _load(self, row: MemoryRow) -> Memory | None:
        return load_or_none(self._workspace.store, row.path)


def _source_of(memory: Memory) -> tuple[str, str, str]:
    """What tells a source from others: a page is the same everywhere, a path is one of its
    machine.
    """
    source = memory.source
    url = str(source.get("url") or "")
    return (
        (url, "", "")
        if url
        else ("", str(source.get("machine") or ""), str(source.get("path") or ""))
    )


def _says_the_same(known: Memory, new: Memory) -> bool:
    return bool(known.source.get("content") == new.source["content"])


def _changed_here_error(digits: str) -> StoreError:
    return StoreError(
        "the document was changed here since it was ingested, and its source as well",
        f"`keeplore edit {digits}` takes over what is new; after `keeplore forget {digits}` it is "
        f"ingested anew",
    )
