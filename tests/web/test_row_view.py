"""One sentence of each memory in a list."""

from __future__ import annotations

from open_window import Window

from keeplore.memory import Quote
from keeplore.memory.note import NoteDraft
from keeplore.web.pages.row_view import views


def test_a_note_is_told_without_the_quotations_below_it(window: Window) -> None:
    workspace = window.registry.named("memory")
    said = (Quote("Use ruff, not flake8.", "user", "5e551011-turn"),)
    drafts = [
        NoteDraft("It is one program for all.", title="Linting", quotes=said),
        NoteDraft("Use ruff, not flake8.", quotes=said),
    ]
    ids = [workspace.notes.write(draft).memory.id for draft in drafts]
    workspace.index.refresh()
    rows = workspace.index.memories(ids)
    gists = [one.gist for one in views(workspace, [rows[id_] for id_ in ids])]
    assert gists == ["It is one program for all.", ""]
