"""Where the last session stopped is told with its last words."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from keeplore.index import Index
from keeplore.recall.brief import WorkspaceView, brief
from keeplore.recall.render import TextBudget, reference
from keeplore.recall.request import SearchScope
from keeplore.store import Store


def test_the_last_words_of_both_stand_in_the_brief(
    workspace_of: Callable[..., tuple[Index, Store]], memory_builders: SimpleNamespace
) -> None:
    said = [
        ("How long is the queue?", "It holds forty jobs."),
        (
            "Shall we look at the retries?",
            "They are limited to five. The next step is a test.",
        ),
    ]
    talk = memory_builders.conversation(
        "stop", "2026-04-30", "The queue", said, project="api"
    )
    index, store = workspace_of([talk])
    index.refresh()
    view = WorkspaceView(index, store, SearchScope("api").scopes)
    text, ids = brief([view], session="", source="startup", room=TextBudget(1500, 6000))
    line = (
        f"- 2026-04-30 · api · “The queue” ({reference(talk.id)}); the user: “Shall we look at the "
        "retries?”; the assistant ended: “The next step is a test.”"
    )
    lines = text.splitlines()
    start = lines.index("Where the last session stopped:")
    assert lines[start : start + 3] == [
        "Where the last session stopped:",
        line,
        "",
    ]
    assert ids == ()
