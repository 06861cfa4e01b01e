"""Changing one memory: its text, where it belongs, whether it stays for good or goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keeplore.errors import StoreError
from keeplore.memory.model import CATEGORIES, SCOPES, Scope
from keeplore.text.counts import counted
from keeplore.web.actions.action_result import (
    ActionResult,
    commit_and_tell,
    undo_address,
)
from keeplore.web.notices import Notice
from keeplore.web.page_context import PageContext
from keeplore.web.pages.edit_page import EditedText
from keeplore.web.pages.review_page import dispute_with
from keeplore.worker.after_writing import tell_worker
from keeplore.workspace.reading.deleted_memories import find_forgotten
from keeplore.workspace.registry import FoundMemory
from keeplore.workspace.writing.disputes import OF_VERSION, DisputeDecision
from keeplore.workspace.writing.disputes import settle_dispute as settle_dispute
from keeplore.workspace.writing.editing import (
    check_unchanged,
    moved_fields,
    newest_version,
)
from keeplore.workspace.writing.forget import forget, restore

Form = Mapping[str, str]


def save_edit(context: PageContext, found: FoundMemory, form: Form) -> ActionResult:
    """The new version that a form asks for. Raises StoreError, NotFound or OSError."""
    typed = EditedText.of_form(form)
    check_unchanged(context.registry, found)
    changed = _changes(context, found, typed)
    if joins := form.get("joins", ""):
        return _join(context, found, joins, changed)
    outcome = found.workspace.notes.revise(found.row.id, **changed)
    if not outcome.is_new:
        return ActionResult(
            context.links.memory(found.row.id), Notice("Nothing changed.")
        )
    notice = Notice(
        f"Saved as version {outcome.memory.version}. The earlier one stays below.",
        undo_address(context, "return", id=found.row.id),
    )
    return commit_and_tell(
        found.workspace, context.links.memory(outcome.memory.id), notice
    )


def _join(
    context: PageContext, found: FoundMemory, other: str, changed: Mapping[str, Any]
) -> ActionResult:
    """Settle the dispute with the other version by what was typed."""
    dispute = dispute_with(context, other)
    settle_dispute(found.workspace, dispute, DisputeDecision.JOINED, changed)
    head = context.registry.find(found.row.id, context.cwd).row.superseded_by
    notice = Notice("The two are one now.")
    return commit_and_tell(found.workspace, context.links.memory(head), notice)


def _changes(
    context: PageContext, found: FoundMemory, typed: EditedText
) -> dict[str, Any]:
    """Body and fields that differ, and whose words it is then."""
    memory = found.memory
    if not typed.title:
        raise StoreError("a memory has a title", "Say in a few words what it is about")
    changed: dict[str, Any] = {"title": typed.title, "body": typed.body_for(memory)}
    if typed.category != memory.category:
        if typed.category and typed.category not in CATEGORIES:
            raise StoreError(f"{typed.category!r} is no category", "Choose one")
        changed["category"] = typed.category or None
    if (typed.scope, typed.project) != (memory.scope, memory.project):
        changed |= _scope_fields(context, found, typed)
    # a conversation stays what both have said
    if memory.kind == "note" and _is_change(changed, found):
        changed["trust"] = "user"
    return changed


def _is_change(changed: Mapping[str, Any], found: FoundMemory) -> bool:
    """Whether anything but the old values is in it."""
    meta = found.memory.meta
    fields = {key: value for key, value in changed.items() if key != "body"}
    is_other = any(meta.get(key) != value for key, value in fields.items())
    return is_other or changed["body"] is not None


def _scope_fields(
    context: PageContext, found: FoundMemory, typed: EditedText
) -> dict[str, str | None]:
    if typed.scope not in SCOPES:
        raise StoreError(f"{typed.scope!r} is no scope", f"One of {', '.join(SCOPES)}")
    is_agents = typed.scope == Scope.AGENT
    project = typed.project if typed.scope == Scope.PROJECT or is_agents else None
    agent = str(found.memory.meta.get("agent") or "") if is_agents else None
    scope = None if is_agents else typed.scope
    return moved_fields(context.registry, found, context.cwd, scope, project, agent)


def pin(context: PageContext, form: Form) -> ActionResult:
    """Make a memory permanent, or make it no longer so."""
    found = context.registry.find(form["id"], context.cwd)
    is_permanent = form.get("permanent") == "yes"
    outcome = found.workspace.notes.revise(found.row.id, permanent=is_permanent or None)
    state = "is permanent" if is_permanent else "is permanent no more"
    back = {"id": outcome.memory.id, "permanent": "no" if is_permanent else "yes"}
    undo = undo_address(context, "pin", **back)
    notice = Notice(f"“{outcome.memory.title}” {state}.", undo)
    return commit_and_tell(
        found.workspace, context.links.memory(outcome.memory.id), notice
    )


def return_to_version(context: PageContext, form: Form) -> ActionResult:
    """Make an earlier version the newest again, as a version of its own."""
    found = context.registry.find(form["id"], context.cwd)
    head = newest_version(context.registry, found)
    fields = {*found.memory.meta, *head.memory.meta}.difference(OF_VERSION)
    old = {name: found.memory.meta.get(name) for name in fields}
    source = {**found.memory.source, "from": found.row.id}  # whose words they are
    outcome = found.workspace.notes.revise(
        head.row.id,
        body=found.memory.body,
        **old,
        trust=found.memory.trust,
        source=source,
    )
    undo = undo_address(context, "return", id=head.row.id)
    notice = Notice(f"Version {found.memory.version} stands again.", undo)
    return commit_and_tell(
        found.workspace, context.links.memory(outcome.memory.id), notice
    )


def forget_memory(context: PageContext, form: Form) -> ActionResult:
    """Forget a memory with all its versions; it can be brought back."""
    found = context.registry.find(form["id"], context.cwd)
    done = forget(found.workspace, found.row.id)
    tell_worker(found.workspace.places)
    text = f"Forgotten: “{found.row.title}”."
    if done.quoting:
        text += f" What quotes it stays: {counted(len(done.quoting), 'note')}."
    back = undo_address(context, "restore", id=found.row.id)
    notice = Notice(text, back, "Restore it", is_warning=not done.is_committed)
    return ActionResult(context.links.page("timeline"), notice)


def restore_memory(context: PageContext, form: Form) -> ActionResult:
    """Bring back what was forgotten with its versions."""
    workspace, memory_id = find_forgotten(context.registry, form["id"], context.cwd)
    restore(workspace, memory_id)
    tell_worker(workspace.places)
    return ActionResult(context.links.memory(memory_id), Notice("It is back."))
