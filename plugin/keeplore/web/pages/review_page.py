"""What waits for a decision: disputes side by side, proposals, machines, and statements to keep."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeVar

from keeplore.errors import NotFound
from keeplore.index import MemoryFilter, ScopeFilter
from keeplore.memory import Memory
from keeplore.memory.note import statement_of
from keeplore.text.counts import counted
from keeplore.text.dates import in_utc
from keeplore.web.page_context import PageContext
from keeplore.workspace.machine_trust import MachineState
from keeplore.workspace.reading.version_diff import FieldChange, fields_changed
from keeplore.workspace.writing.disputes import Dispute, disputes
from keeplore.workspace.writing.proposals import HeldProposal, held_proposals
from keeplore.workspace.writing.review import ReviewCandidate, review_candidates

SHOWN = 30  # statements; the others follow when these are decided
LOOKED_AT = 200  # conversations, in less than a second; 10,000 take half a minute
COUNTED = 20  # statements that wait; more are not looked for
LOOKED_BACK = timedelta(days=30)  # for these
MAX_WORDS = 2_000  # of two texts that are compared word by word
SHOWN_ELSEWHERE = ("related", "title")
EVERYWHERE = ScopeFilter()
CONVERSATIONS = MemoryFilter(EVERYWHERE, kind="conversation")
_WORD = re.compile(r"\s+|[^\s]+")
Pieces = tuple[tuple[str, bool], ...]
_Waiting = TypeVar("_Waiting")


@dataclass(frozen=True, slots=True)
class DisputeView:
    """``first`` and ``other`` are (text, differs) pieces of what the two say."""

    dispute: Dispute
    first: Pieces
    other: Pieces
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    disputes: int
    proposals: int
    statements: int
    machines: int

    @property
    def total(self) -> int:
        return self.disputes + self.proposals + self.statements + self.machines

    @property
    def told(self) -> list[str]:
        """A sentence on how many things wait."""
        found = (
            (self.disputes, "dispute", ""),
            (self.proposals, "proposal", ""),
            (self.machines, "machine", " to accept"),
            (self.statements, "statement", " of the last month to keep"),
        )
        return [
            f"{counted(number, what)}{rest}" for number, what, rest in found if number
        ]


def waiting(context: PageContext) -> WaitingCounts:
    """What a person is to decide about; statements of the last month. Raises IndexUnavailable."""
    workspace = context.workspace
    since = in_utc(datetime.now(UTC) - LOOKED_BACK)
    statements = islice(review_candidates(workspace, EVERYWHERE, since), COUNTED)
    machines = workspace.machine_trust.machines()
    return WaitingCounts(
        disputes=len(disputes(workspace.index, workspace.store)),
        proposals=sum(1 for _ in held_proposals(workspace, EVERYWHERE)),
        statements=sum(1 for _ in statements),
        machines=sum(machine.state is MachineState.UNKNOWN for machine in machines),
    )


def review_values(context: PageContext) -> dict[str, Any]:
    """What the template of the review page is given. Raises IndexUnavailable."""
    workspace = context.workspace
    counts = workspace.index.timeline.facets()["machine"]
    machines = workspace.machine_trust.machines(counts)
    unknown = [machine for machine in machines if machine.state is MachineState.UNKNOWN]
    return {
        "disputes": [*map(_dispute_view, disputes(workspace.index, workspace.store))],
        "proposals": [*held_proposals(workspace, EVERYWHERE)],
        "machines": [(machine, counts.get(machine.id, 0)) for machine in unknown],
        "statements": [*islice(_statements(context), SHOWN)],
        "is_cut": SHOWN,
        "looked_at": LOOKED_AT,
        "has_older": workspace.index.count(CONVERSATIONS) > LOOKED_AT,
    }


def dispute_with(context: PageContext, other_id: str) -> Dispute:
    """The open dispute that this other version is in. Raises NotFound."""
    workspace = context.workspace
    workspace.index.refresh()
    found = disputes(workspace.index, workspace.store)
    return _first_waiting(one for one in found if one.other.row.id == other_id)


def proposal_of(context: PageContext, proposal_id: str) -> HeldProposal:
    """The waiting proposal with this id. Raises NotFound."""
    held = held_proposals(context.workspace, EVERYWHERE)
    return _first_waiting(proposal for proposal in held if proposal.id == proposal_id)


def _statements(context: PageContext) -> Iterator[ReviewCandidate]:
    return review_candidates(context.workspace, EVERYWHERE, newest=LOOKED_AT)


def statement_of_draft(context: PageContext, draft_id: str) -> ReviewCandidate:
    """The waiting statement whose draft has this id. Raises NotFound."""
    return _first_waiting(
        one for one in _statements(context) if one.draft.id == draft_id
    )


def _first_waiting(found: Iterator[_Waiting]) -> _Waiting:
    """The first. Raises NotFound."""
    for one in found:
        return one
    raise NotFound("that does not wait any more", "It was decided in another window")


def _dispute_view(dispute: Dispute) -> DisputeView:
    first, other = dispute.first.memory, dispute.other.memory
    mine, theirs = _differing_pieces(first, other)
    fields = (
        change
        for change in fields_changed(first, other)
        if change.field not in SHOWN_ELSEWHERE
    )
    return DisputeView(dispute, mine, theirs, tuple(fields))


def _differing_pieces(first: Memory, other: Memory) -> tuple[Pieces, Pieces]:
    """What each says, cut where the two differ."""
    mine, theirs = (_WORD.findall(statement_of(memory)) for memory in (first, other))
    if len(mine) + len(theirs) > MAX_WORDS:
        mine, theirs = (
            statement_of(memory).splitlines(keepends=True) for memory in (first, other)
        )
    codes = difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    left = (("".join(mine[a:b]), kind != "equal") for kind, a, b, _, _ in codes)
    right = (("".join(theirs[a:b]), kind != "equal") for kind, _, _, a, b in codes)
    return tuple(_nonempty_pieces(left)), tuple(_nonempty_pieces(right))


def _nonempty_pieces(pieces: Iterator[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    return ((text, differs) for text, differs in pieces if text)
