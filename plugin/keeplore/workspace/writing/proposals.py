"""What refining left to a person: proposals of a model that wait, each with its receipt, until
somebody decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.index import MemoryRow, ScopeFilter, load_or_none
from keeplore.memory import Conversation, Memory, Quote
from keeplore.memory.location import archived_path
from keeplore.memory.model import without_empty
from keeplore.memory.note import NoteDraft, body_of, title_and_text
from keeplore.refine.changes import EVENT
from keeplore.refine.decide import ProposalAction
from keeplore.refine.entity_facts import facts_in
from keeplore.refine.gates import ProposalOutcome
from keeplore.refine.receipts import receipt_of
from keeplore.refine.window import segments_of
from keeplore.store import audit_log
from keeplore.text.dates import now
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class HeldProposal:
    """A proposal that waits: its audit line, the conversation, and the note that it would change,
    None for a new one.

    ``against`` is a note that it contradicts.
    """

    entry: Mapping[str, Any]
    conversation: MemoryRow
    said_at: str
    target: MemoryRow | None
    against: MemoryRow | None

    @property
    def id(self) -> str:
        return str(self.entry["id"])

    @property
    def action(self) -> str:
        return str(self.entry["proposal"])

    @property
    def is_permanent(self) -> bool:
        """Whether it would become a new note for good; a change leaves that as it is."""
        return self.action == ProposalAction.ADD and self.entry.get("permanent") is True

    @property
    def place(self) -> tuple[str, str]:
        """Scope and project of the note that it would become."""
        return str(self.entry.get("scope", "")), str(self.entry.get("project", ""))

    @property
    def statement(self) -> str:
        return str(self.entry.get("statement", ""))


def held_proposals(
    workspace: Workspace, allowed: ScopeFilter, since: str = ""
) -> Iterator[HeldProposal]:
    """The proposals that nobody has decided, the newest first; the index is taken as it is.

    Only from machines that are believed, and only where the quoted words still stand in the
    conversation: an audit line is text that anybody who writes to the workspace could have written.
    """
    lines = [
        entry for entry in _believed_entries(workspace) if entry.get("event") == EVENT
    ]
    decided = {
        str(e.get("id"))
        for e in lines
        if e.get("outcome") in (ProposalOutcome.ACCEPTED, ProposalOutcome.REJECTED)
    }
    for entry in reversed(lines):
        id_ = str(entry.get("id", ""))
        if (
            entry.get("outcome") != ProposalOutcome.REVIEW
            or id_ in decided
            or str(entry.get("at", "")) < since
        ):
            continue
        decided.add(id_)
        if held := _held_proposal(workspace, entry, allowed):
            yield held


def accept(
    workspace: Workspace,
    proposal: HeldProposal,
    text: str = "",
    *,
    in_place_of: MemoryRow | None = None,
) -> str:
    """Do what was proposed, in the person's own words if they gave some, and return the path that
    it led to.

    The person confirmed it, so it is theirs. ``in_place_of`` is a note that it replaces. Raises
    StoreError or OSError.
    """
    target = in_place_of or proposal.target
    statement = text or proposal.statement
    if proposal.action == ProposalAction.DELETE and target and not text:
        path = archived_path(target.path)
        workspace.store.move(target.path, path)
        workspace.plugins.announce_written(target.id, path)
    elif target is not None:
        path = _revise_target(workspace, proposal, target, statement)
    else:
        path = workspace.notes.write(_draft(workspace, proposal, statement)).path
    _record(workspace, proposal, ProposalOutcome.ACCEPTED, target)
    return path


def _revise_target(
    workspace: Workspace, proposal: HeldProposal, target: MemoryRow, statement: str
) -> str:
    title, said = title_and_text(statement)
    fields: dict[str, Any] = {
        "title": title,
        "trust": "user",
        "trigger": "refine",
        "source": _source(workspace, proposal),
    }
    fields |= facts_in(proposal.entry, statement)
    if proposal.is_permanent:
        fields["permanent"] = True
    body = body_of(title, said, (_quote(proposal),))
    return workspace.notes.revise(target.id, body=body, confidence=None, **fields).path


def reject(workspace: Workspace, proposal: HeldProposal) -> None:
    """Never offer the proposal again, on any machine."""
    _record(workspace, proposal, ProposalOutcome.REJECTED, proposal.target)


def _held_proposal(
    workspace: Workspace, entry: Mapping[str, Any], allowed: ScopeFilter
) -> HeldProposal | None:
    """The proposal of an audit line; None where it no longer holds or is of another place."""
    index = workspace.index
    ids = [
        str(entry.get(key, "")) for key in ("conversation", "target", "against", "id")
    ]
    rows = index.memories([id_ for id_ in ids if id_])
    conversation, target, against, made = (rows.get(id_) for id_ in ids)
    place = (str(entry.get("scope", "")), str(entry.get("project", "")))
    is_stale = (
        made is not None
        or workspace.store.is_forgotten(ids[3])
        or (ids[1] and not _is_current(target))
    )
    if (
        conversation is None
        or is_stale
        or (allowed.scopes and place not in allowed.scopes)
    ):
        return None
    memory = _load_believed(workspace, conversation)
    said_at = _said_at(memory, entry) if memory else None
    if said_at is None:
        return None
    return HeldProposal(
        entry, conversation, said_at, target, against if _is_current(against) else None
    )


def _said_at(memory: Memory, entry: Mapping[str, Any]) -> str | None:
    """When the quoted words were said; None where they do not stand in the conversation."""
    exchanges = Conversation.from_markdown(memory.body).exchanges
    found = receipt_of(
        str(entry.get("span", "")), segments_of(exchanges, exchanges, lambda _: False)
    )
    return next(
        (exchange.at for exchange in exchanges if found and exchange.id == found.turn),
        None,
    )


def _draft(workspace: Workspace, proposal: HeldProposal, statement: str) -> NoteDraft:
    entry = proposal.entry
    return NoteDraft(
        statement,
        category=str(entry.get("category", "")),
        scope=str(entry.get("scope", "")),
        project=str(entry.get("project", "")),
        permanent=proposal.is_permanent,
        trigger="refine",
        told=facts_in(entry, statement),
        quotes=(_quote(proposal),),
        source=_source(workspace, proposal),
        id=proposal.id,
        created_at=proposal.said_at,
    )


def _source(workspace: Workspace, proposal: HeldProposal) -> dict[str, Any]:
    said_in = proposal.conversation
    source = {
        "host": said_in.host,
        "session": said_in.session,
        "turns": [proposal.entry.get("turn")],
    }
    source |= {"machine": workspace.machine, "from": said_in.id}
    ended = proposal.entry.get("ended")
    return {**source, "ended": ended} if isinstance(ended, dict) else source


def _quote(proposal: HeldProposal) -> Quote:
    return Quote(
        *(str(proposal.entry.get(key, "")) for key in ("span", "speaker", "turn"))
    )


def _record(
    workspace: Workspace, proposal: HeldProposal, outcome: str, target: MemoryRow | None
) -> None:
    line = {
        "at": now(),
        "event": EVENT,
        "id": proposal.id,
        "proposal": proposal.action,
        "outcome": outcome,
    }
    line |= {
        "conversation": proposal.conversation.id,
        "target": target.id if target else "",
    }
    workspace.store.record(workspace.machine, without_empty(line))


def _believed_entries(workspace: Workspace) -> list[dict[str, Any]]:
    """The audit of this person's machines, the oldest line first."""
    machines = [
        seen.id for seen in workspace.machine_trust.machines() if seen.state.is_believed
    ]
    lines = [
        entry
        for machine in machines
        for entry in audit_log.entries(workspace.root, machine)
    ]
    return sorted(lines, key=lambda entry: str(entry.get("at", "")))


def _load_believed(workspace: Workspace, row: MemoryRow) -> Memory | None:
    memory = load_or_none(workspace.store, row.path)
    is_foreign = memory and workspace.machine_trust.is_foreign(memory)
    return None if is_foreign else memory


def _is_current(row: MemoryRow | None) -> bool:
    return row is not None and not row.superseded_by and not row.is_archived
