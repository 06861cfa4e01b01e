"""Leaving projects out of memory, and letting them in again."""

from __future__ import annotations

from collections.abc import Mapping

from keeplore.config.capture_choice import CaptureRule, RuleKind
from keeplore.errors import ConfigError
from keeplore.web.actions.action_result import ActionResult, undo_address
from keeplore.web.notices import Notice
from keeplore.web.page_context import PageContext
from keeplore.worker.after_writing import tell_worker
from keeplore.workspace.writing import person_choice

PLACES = "projects"


def exclude_project(context: PageContext, form: Mapping[str, str]) -> ActionResult:
    """Capture nothing of a project any more, on this machine; its memories stay."""
    person_choice.exclude(context.workspace, _rules(form["id"]), is_shared=False)
    tell_worker(context.workspace.places)
    return ActionResult(
        context.links.page(PLACES),
        Notice(
            f"Left out of memory on this machine: {form['id']}. What is there stays.",
            undo_address(context, "include", id=form["id"]),
        ),
    )


def include_project(context: PageContext, form: Mapping[str, str]) -> ActionResult:
    """Capture it again."""
    rules = _rules(form["id"])
    person_choice.include(context.registry, context.workspace, rules, is_shared=False)
    tell_worker(context.workspace.places)
    undo = undo_address(context, "exclude", id=form["id"])
    notice = Notice(f"Captured again: {form['id']}", undo)
    return ActionResult(context.links.page(PLACES), notice)


def _rules(project: str) -> person_choice.Rules:
    """The rule that means this project. Raises ConfigError."""
    try:
        return (CaptureRule.of(RuleKind.PROJECT, project),)
    except ValueError as e:
        raise ConfigError(str(e), "Choose a project of the list") from e
