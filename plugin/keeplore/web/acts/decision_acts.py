"""Deciding what waits: statements, proposals, disputes, and whose machines are believed."""

from __future__ import annotations

from collections.abc import Mapping

from keeplore.errors import NotFound
from keeplore.refine.decide import ProposalAction
from keeplore.web.acts.done import Done, commit_and_tell, undo_address
from keeplore.web.notices import Notice
from keeplore.web.page_desk import Desk
from keeplore.web.pages.review_page import dispute_with, proposal_of, statement_of_draft
from keeplore.worker.after_writing import tell_worker
from keeplore.workspace.writing import proposals, review
from keeplore.workspace.writing.disputes import DisputeDecision, settle_dispute

Form = Mapping[str, str]
REVIEW = "review"
PLACES = "projects"
_DECIDED = {
    DisputeDecision.FIRST: "What stood stays; the other is forgotten.",
    DisputeDecision.OTHER: "The other one stands in its place now.",
    DisputeDecision.BOTH: "Both are kept.",
}


def keep_statement(desk: Desk, form: Form) -> Done:
    """Make a note of a statement, in the person's own words if they gave some."""
    offer = statement_of_draft(desk, form["id"])
    outcome = review.accept(desk.workspace, offer, form.get("text", "").strip())
    undo = undo_address(desk, "forget", id=outcome.memory.id) if outcome.is_new else ""
    deed = "Kept" if outcome.is_new else "It is there already"
    notice = Notice(f"{deed}: “{outcome.memory.title}”.", undo, "Forget it")
    return _done_with_review(desk, notice, "Review: 1 kept")


def reject_statement(desk: Desk, form: Form) -> Done:
    """Never offer the statement again."""
    offer = statement_of_draft(desk, form["id"])
    review.reject(desk.workspace, desk.workspace.machine, offer)
    notice = Notice("It is not offered again.")
    return _done_with_review(desk, notice, "Review: 1 rejected")


def accept_proposal(desk: Desk, form: Form) -> Done:
    """Do what a model proposed, in the place of what it contradicts where that was asked."""
    held = proposal_of(desk, form["id"])
    replaced = held.against if form.get("replaces") == "yes" else None
    text = form.get("text", "").strip()
    proposals.accept(desk.workspace, held, text, in_place_of=replaced)
    changed = replaced or held.target
    if changed is None:
        undo = undo_address(desk, "forget", id=held.id)
        notice = Notice(f"Kept: “{text or held.statement}”.", undo, "Forget it")
    elif held.action == ProposalAction.DELETE and not text:
        notice = Notice(f"Archived: “{changed.title}”.")
    else:
        undo = undo_address(desk, "return", id=changed.id)
        notice = Notice(f"Changed: “{changed.title}”.", undo)
    return _done_with_review(desk, notice)


def reject_proposal(desk: Desk, form: Form) -> Done:
    proposals.reject(desk.workspace, proposal_of(desk, form["id"]))
    notice = Notice("It is not offered again.")
    return _done_with_review(desk, notice)


def decide_dispute(desk: Desk, form: Form) -> Done:
    """Take one of two versions, or both."""
    dispute = dispute_with(desk, form["id"])
    decision = DisputeDecision(form["decision"])
    settle_dispute(desk.workspace, dispute, decision)
    undo, label = "", "Undo"
    if decision == DisputeDecision.FIRST:
        undo = undo_address(desk, "restore", id=dispute.other.row.id)
        label = "Restore the other"
    elif decision == DisputeDecision.OTHER:
        undo = undo_address(desk, "return", id=dispute.first.row.id)
    notice = Notice(_DECIDED[decision], undo, label)
    return _done_with_review(desk, notice)


def accept_machine(desk: Desk, form: Form) -> Done:
    """Believe what a machine wrote."""
    id_ = _known_machine(desk, form["id"])
    desk.workspace.machine_trust.accept([id_])
    tell_worker(desk.workspace.places)
    undo = undo_address(desk, "refuse-machine", id=id_)
    notice = Notice(f"Believed from now on: {id_}", undo, "Refuse it")
    return Done(desk.links.page(PLACES), notice)


def refuse_machine(desk: Desk, form: Form) -> Done:
    """Never believe the machine."""
    id_ = _known_machine(desk, form["id"])
    if id_ == desk.workspace.machine:
        raise NotFound(f"{id_} is this machine", "Choose another one")
    desk.workspace.machine_trust.refuse([id_])
    tell_worker(desk.workspace.places)
    undo = undo_address(desk, "accept-machine", id=id_)
    notice = Notice(f"Not believed from now on: {id_}", undo, "Accept it")
    return Done(desk.links.page(PLACES), notice)


def _done_with_review(
    desk: Desk, notice: Notice, message: str = "Review: 1 decided"
) -> Done:
    """The way back to what else waits."""
    return commit_and_tell(desk.workspace, desk.links.page(REVIEW), notice, message)


def _known_machine(desk: Desk, id_: str) -> str:
    """The id, once it is known that such a machine has written here. Raises NotFound."""
    counts = desk.workspace.index.timeline.facets()["machine"]
    known = {machine.id for machine in desk.workspace.machine_trust.machines(counts)}
    if id_ not in known:
        raise NotFound(f"no machine {id_!r} has written here", "Load the page anew")
    return id_
