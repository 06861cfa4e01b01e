"""Deciding what waits: statements, proposals, disputes, and whose machines are believed."""

from __future__ import annotations

from collections.abc import Mapping

from keeplore.errors import NotFound
from keeplore.refine.decide import ProposalAction
from keeplore.web.actions.action_result import (
    ActionResult,
    commit_and_tell,
    undo_address,
)
from keeplore.web.notices import Notice
from keeplore.web.page_context import PageContext
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


def keep_statement(context: PageContext, form: Form) -> ActionResult:
    """Make a note of a statement, in the person's own words if they gave some."""
    offer = statement_of_draft(context, form["id"])
    outcome = review.accept(context.workspace, offer, form.get("text", "").strip())
    undo = (
        undo_address(context, "forget", id=outcome.memory.id) if outcome.is_new else ""
    )
    deed = "Kept" if outcome.is_new else "It is there already"
    notice = Notice(f"{deed}: “{outcome.memory.title}”.", undo, "Forget it")
    return _done_with_review(context, notice, "Review: 1 kept")


def reject_statement(context: PageContext, form: Form) -> ActionResult:
    """Never offer the statement again."""
    offer = statement_of_draft(context, form["id"])
    review.reject(context.workspace, context.workspace.machine, offer)
    notice = Notice("It is not offered again.")
    return _done_with_review(context, notice, "Review: 1 rejected")


def accept_proposal(context: PageContext, form: Form) -> ActionResult:
    """Do what a model proposed, in the place of what it contradicts where that was asked."""
    held = proposal_of(context, form["id"])
    replaced = held.against if form.get("replaces") == "yes" else None
    text = form.get("text", "").strip()
    proposals.accept(context.workspace, held, text, in_place_of=replaced)
    changed = replaced or held.target
    if changed is None:
        undo = undo_address(context, "forget", id=held.id)
        notice = Notice(f"Kept: “{text or held.statement}”.", undo, "Forget it")
    elif held.action == ProposalAction.DELETE and not text:
        notice = Notice(f"Archived: “{changed.title}”.")
    else:
        undo = undo_address(context, "return", id=changed.id)
        notice = Notice(f"Changed: “{changed.title}”.", undo)
    return _done_with_review(context, notice)


def reject_proposal(context: PageContext, form: Form) -> ActionResult:
    proposals.reject(context.workspace, proposal_of(context, form["id"]))
    return _done_with_review(context, Notice("It is not offered again."))


def decide_dispute(context: PageContext, form: Form) -> ActionResult:
    """Take one of two versions, or both."""
    dispute = dispute_with(context, form["id"])
    decision = DisputeDecision(form["decision"])
    settle_dispute(context.workspace, dispute, decision)
    undo, label = "", "Undo"
    if decision == DisputeDecision.FIRST:
        undo = undo_address(context, "restore", id=dispute.other.row.id)
        label = "Restore the other"
    elif decision == DisputeDecision.OTHER:
        undo = undo_address(context, "return", id=dispute.first.row.id)
    return _done_with_review(context, Notice(_DECIDED[decision], undo, label))


def accept_machine(context: PageContext, form: Form) -> ActionResult:
    """Believe what a machine wrote."""
    id_ = _known_machine(context, form["id"])
    context.workspace.machine_trust.accept([id_])
    tell_worker(context.workspace.places)
    undo = undo_address(context, "refuse-machine", id=id_)
    notice = Notice(f"Believed from now on: {id_}", undo, "Refuse it")
    return ActionResult(context.links.page(PLACES), notice)


def refuse_machine(context: PageContext, form: Form) -> ActionResult:
    """Never believe the machine."""
    id_ = _known_machine(context, form["id"])
    if id_ == context.workspace.machine:
        raise NotFound(f"{id_} is this machine", "Choose another one")
    context.workspace.machine_trust.refuse([id_])
    tell_worker(context.workspace.places)
    undo = undo_address(context, "accept-machine", id=id_)
    notice = Notice(f"Not believed from now on: {id_}", undo, "Accept it")
    return ActionResult(context.links.page(PLACES), notice)


def _done_with_review(
    context: PageContext, notice: Notice, message: str = "Review: 1 decided"
) -> ActionResult:
    """The way back to what else waits."""
    return commit_and_tell(
        context.workspace, context.links.page(REVIEW), notice, message
    )


def _known_machine(context: PageContext, id_: str) -> str:
    """The id, once it is known that such a machine has written here. Raises NotFound."""
    counts = context.workspace.index.timeline.facets()["machine"]
    known = {machine.id for machine in context.workspace.machine_trust.machines(counts)}
    if id_ not in known:
        raise NotFound(f"no machine {id_!r} has written here", "Load the page anew")
    return id_
