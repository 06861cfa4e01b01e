"""What conversations hold of notes that was not sure enough to be written unasked: offered to a
person, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from keeplore.capture.notes.note_candidates import LEAST, NoteCandidate, candidates
from keeplore.capture.notes.note_taker import draft_of
from keeplore.index import MemoryFilter, MemoryRow, ScopeFilter, load_or_none
from keeplore.memory import Conversation, Memory
from keeplore.memory.note import NoteDraft
from keeplore.text.dates import now
from keeplore.text.similarity import content_hash
from keeplore.workspace.note_writer import NoteOutcome
from keeplore.workspace.workspace import Workspace

REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ReviewCandidate:
    """A candidate with the conversation that it is from, and the note that it would become."""

    candidate: NoteCandidate
    row: MemoryRow
    draft: NoteDraft


def review_candidates(
    workspace: Workspace,
    allowed: ScopeFilter,
    since: str = "",
    newest: int | None = None,
) -> Iterator[ReviewCandidate]:
    """What may be kept and nobody has decided about, of closed conversations changed since then,
    the newest first; of so many at most. What was said in several of a place is offered once.

    Nothing is stored for it: it follows from the conversations and from what was accepted, rejected
    or forgotten.
    """
    workspace.index.refresh_for_reading()
    settled = workspace.store.recorded_ids(REJECTED) | workspace.store.tombstones.ids()
    met: set[tuple[str, str, str]] = set()  # place and statement
    for row in workspace.index.listed(
        MemoryFilter(allowed, kind="conversation", since=since, limit=newest)
    ):
        if row.is_open:
            continue
        memory = load_or_none(workspace.store, row.path)
        # what another person said is that person's to decide
        if memory is None or workspace.machine_trust.is_foreign(memory):
            continue
        for candidate in _candidates_in(memory, row):
            draft = candidate.draft
            said = (draft.scope, draft.project, content_hash(draft.text))
            if candidate.candidate.confidence < LEAST or said in met:
                continue
            met.add(said)
            if draft.id not in settled and not workspace.index.memories([draft.id]):
                yield candidate


def _candidates_in(memory: Memory, row: MemoryRow) -> Iterator[ReviewCandidate]:
    exchanges = Conversation.from_markdown(memory.body).exchanges
    said_at = {exchange.id: exchange.at for exchange in exchanges}
    keys = ("host", "session", "branch")
    source = {
        **{key: memory.source[key] for key in keys if key in memory.source},
        "from": memory.id,
    }
    for candidate in candidates(exchanges):
        at = said_at.get(candidate.turn, row.created_at)
        draft = draft_of(candidate, memory.scope, memory.project, source, at)
        yield ReviewCandidate(candidate, row, draft)


def accept(workspace: Workspace, offer: ReviewCandidate, text: str = "") -> NoteOutcome:
    """Write the note, in the person's own words if they gave some. They confirmed it, so it is
    theirs.
    """
    draft = replace(offer.draft, trust="user", confidence=None)
    return workspace.notes.write(replace(draft, text=text, title="") if text else draft)


def reject(workspace: Workspace, machine: str, offer: ReviewCandidate) -> None:
    """Never offer the statement again, on any machine."""
    workspace.store.record(
        machine,
        {"at": now(), "event": REJECTED, "id": offer.draft.id, "from": offer.row.id},
    )
