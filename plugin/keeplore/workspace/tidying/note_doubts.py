"""What a person should look at: notes that a later conversation contradicts, and preferences that
several projects share.

Both become proposals as refining leaves them for `keeplore review`, with their receipts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from keeplore.memory import Memory, new_id
from keeplore.memory.model import Trust
from keeplore.memory.note import statement_of
from keeplore.recall.request import LaterStatement
from keeplore.refine.changes import EVENT
from keeplore.refine.decide import ProposalAction
from keeplore.refine.gates import ProposalOutcome
from keeplore.text.dates import now
from keeplore.text.similarity import similarity
from keeplore.text.turn_ids import short_turn
from keeplore.workspace.loading import load_by_id
from keeplore.workspace.reading.replacements import replacement_lookup
from keeplore.workspace.tidying.digest_maker import TRIGGER, IsOurs
from keeplore.workspace.tidying.note_joins import SAME_FROM, CurrentNote
from keeplore.workspace.tidying.tidy_step import TidyAction, TidyStep
from keeplore.workspace.workspace import Workspace

PREFERENCE = "coding-preferences"
MOST_PREFERENCES = 500  # of all projects, each compared with each
_QUOTED = re.compile(r"^> “(.*)” — (user|assistant), turn (\S+)$", re.MULTILINE)


def doubt_steps(
    workspace: Workspace, notes: Sequence[CurrentNote], is_ours: IsOurs
) -> Iterator[TidyStep]:
    """A step for each note in whose place a conversation says something later."""
    replacements = replacement_lookup(workspace, is_ours)
    known = workspace.store.recorded_ids(EVENT)
    for note in notes:
        later = replacements.of(note.row, None, note.statement)
        id_ = new_id("doubt", note.row.id, later.memory_id, later.turn) if later else ""
        if later is None or id_ in known:
            continue
        said = _receipt(workspace, later)
        if said:
            entry = _entry(id_, ProposalAction.UPDATE, note, said)
            entry |= {"target": note.row.id, "statement": later.text}
            entry |= {"gate": "contradiction", "detail": "said later"}
            yield TidyStep(
                TidyAction.DOUBT,
                note.row.title,
                f"later: {later.text}",
                (id_,),
                entries=(entry,),
            )


def raise_steps(
    workspace: Workspace, notes: Sequence[CurrentNote]
) -> Iterator[TidyStep]:
    """A step for each preference of the person's own words that several projects have."""
    mine = [
        note
        for note in notes
        if note.row.category == PREFERENCE and note.memory.trust == Trust.USER
    ]
    wide = [note for note in mine if not note.row.project]
    own = [note for note in mine if note.row.project][:MOST_PREFERENCES]
    known, taken = workspace.store.recorded_ids(EVENT), set[str]()
    for note in sorted(own, key=lambda note: (note.row.created_at, note.row.id)):
        same = [other for other in own if is_alike(note, other)]
        ids = {other.row.id for other in same}
        projects = sorted({other.row.project for other in same})
        is_told = any(is_alike(note, other) for other in wide) or ids & taken
        step = _raise_step(workspace, note, projects)
        if len(projects) > 1 and not is_told and step and step.ids[0] not in known:
            taken |= ids
            yield step


def _raise_step(
    workspace: Workspace, note: CurrentNote, projects: Sequence[str]
) -> TidyStep | None:
    """The offer of a preference for all projects; None without a receipt."""
    said = _own_receipt(workspace, note.memory)
    if said is None:
        return None
    scope = "user" if workspace.is_home else "workspace"
    id_, detail = new_id("raise", scope, note.row.id), f"said in {', '.join(projects)}"
    entry = _entry(id_, ProposalAction.ADD, note, said)
    entry |= {"scope": scope, "project": "", "statement": note.statement}
    entry |= {"gate": "rule", "detail": detail}
    return TidyStep(TidyAction.RAISE, note.row.title, detail, (id_,), entries=(entry,))


def is_alike(one: CurrentNote, other: CurrentNote) -> bool:
    return similarity(one.statement, other.statement) >= SAME_FROM


def _receipt(workspace: Workspace, later: LaterStatement) -> dict[str, str] | None:
    """Conversation, turn, speaker and words of what was said later."""
    memory = load_by_id(workspace.index, workspace.store, later.memory_id)
    if memory is None or memory.kind != "conversation":
        return _own_receipt(workspace, memory) if memory else None
    said = {"conversation": memory.id, "turn": later.turn, "span": later.text}
    return {**said, "speaker": "user"}


def _own_receipt(workspace: Workspace, note: Memory) -> dict[str, str] | None:
    """What a note rests on: its first quotation, its statement where it needs none, and the
    conversation it is from; None where that is not known.
    """
    quoted = _QUOTED.search(note.body)
    turns = [turn for turn in note.turns if not quoted or short_turn(turn) == quoted[3]]
    found = workspace.index.known_turns(turns[:1])
    if not found:
        return None
    turn = turns[0]
    words, speaker = quoted.group(1, 2) if quoted else (statement_of(note), note.trust)
    said = {"conversation": found[turn], "turn": turn, "span": words}
    return {**said, "speaker": speaker}


def _entry(
    id_: str, action: ProposalAction, note: CurrentNote, said: dict[str, str]
) -> dict[str, Any]:
    """The audit line of a proposal, as `keeplore review` reads it."""
    return {
        "at": now(),
        "event": EVENT,
        "id": id_,
        "proposal": action,
        "outcome": ProposalOutcome.REVIEW,
        "reason": TRIGGER,
        **said,
        "scope": note.row.scope,
        "project": note.row.project,
        "category": note.row.category,
        "trust": note.memory.trust,
        "confidence": 1.0,
    }
