"""What came of an act: the page that is shown next, and what is told there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from keeplore.web.notices import Notice
from keeplore.worker.after_writing import commit_written, tell_worker
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Done:
    address: str
    notice: Notice


def undo_address(act: str, id_: str) -> str:
    """Of the form that takes an act back; an id may be any text."""
    return f"/act/{act}?{urlencode({'id': id_})}"


def settled(
    workspace: Workspace, address: str, notice: Notice, message: str = ""
) -> Done:
    """Commit, tell the worker, and say where git refuses that nothing is lost."""
    reason = commit_written(workspace, message)
    tell_worker(workspace.places)
    workspace.index.refresh()
    if reason:
        told = f"{notice.text} But {reason}."
        notice = replace(notice, text=told, is_warning=True)
    return Done(address, notice)
