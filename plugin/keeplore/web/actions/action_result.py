"""What came of an action: the page that is shown next, and what is told there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keeplore.web.notices import Notice
from keeplore.web.page_context import PageContext
from keeplore.worker.after_writing import commit_written, tell_worker
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ActionResult:
    address: str
    notice: Notice


def undo_address(context: PageContext, action: str, **fields: str) -> str:
    """The address of the form that takes an action back; an id may be any text."""
    return context.links.page(f"act/{action}", **fields)


def commit_and_tell(
    workspace: Workspace, address: str, notice: Notice, message: str = ""
) -> ActionResult:
    """Commit, tell the worker, and say where git refuses that nothing is lost."""
    reason = commit_written(workspace, message)
    tell_worker(workspace.places)
    workspace.index.refresh()
    if reason:
        notice = replace(notice, text=f"{notice.text} But {reason}.", is_warning=True)
    return ActionResult(address, notice)
