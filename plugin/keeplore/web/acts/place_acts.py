"""Leaving projects out of memory, and letting them in again."""

from __future__ import annotations

from collections.abc import Mapping

from keeplore.config.capture_choice import CaptureRule, RuleKind
from keeplore.errors import ConfigError
from keeplore.web.acts.done import Done, undo_address
from keeplore.web.notices import Notice
from keeplore.web.page_desk import Desk
from keeplore.worker.after_writing import tell_worker
from keeplore.workspace.writing import person_choice

PLACES = "projects"


def exclude_project(desk: Desk, form: Mapping[str, str]) -> Done:
    """Capture nothing of a project any more, on this machine; its memories stay."""
    rules = _rules(form["id"])
    person_choice.exclude(desk.workspace, rules, is_shared=False)
    tell_worker(desk.workspace.places)
    undo = undo_address(desk, "include", id=form["id"])
    text = f"Left out of memory on this machine: {form['id']}. What is there stays."
    return Done(desk.links.page(PLACES), Notice(text, undo))


def include_project(desk: Desk, form: Mapping[str, str]) -> Done:
    """Capture it again."""
    rules = _rules(form["id"])
    workspace = desk.workspace
    person_choice.include(desk.registry, workspace, rules, is_shared=False)
    tell_worker(desk.workspace.places)
    undo = undo_address(desk, "exclude", id=form["id"])
    notice = Notice(f"Captured again: {form['id']}", undo)
    return Done(desk.links.page(PLACES), notice)


def _rules(project: str) -> person_choice.Rules:
    """The rule that means this project. Raises ConfigError."""
    try:
        return (CaptureRule.of(RuleKind.PROJECT, project),)
    except ValueError as e:
        raise ConfigError(str(e), "Choose a project of the list") from e
