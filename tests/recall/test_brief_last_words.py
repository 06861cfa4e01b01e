"""What the lines of a brief say: where the last session stopped with its last words, and each
statement once.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from keeplore.index import Index
from keeplore.recall.brief import brief
from keeplore.recall.render import TextBudget, reference
from keeplore.recall.request import SearchScope
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.store import Store

TABLE = "We make the queue a table, because it is there already."


def test_a_session_is_told_how_the_last_one_ended(
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
    line = f"- 2026-04-30 · “The queue” ({reference(talk.id)}); ended: “The next step is a test.”"
    lines = text.splitlines()
    start = lines.index("Last session:")
    assert lines[start : start + 3] == [
        "Last session:",
        line,
        "",
    ]
    assert ids == ()


@pytest.mark.parametrize(
    ("asked", "answered", "told"),
    [
        ("How long is the queue of jobs?", "It is now a table of jobs in Postgres.",
         "; ended: “It is now a table of jobs in Postgres.”"),
        ("How long is the queue of jobs?",
         "It is now a table of jobs in Postgres. If you need more queues, just let me know!",
         "; ended: “It is now a table of jobs in Postgres.”"),
        ("How long is it?", "Would you like me to count it?", "; user: “How long is it?”"),
        (f"1. {TABLE} Then run the tests.", "🚀", "; user: “Then run the tests.”"),
        (f"1. {TABLE}", "It is done:\n\n- the tests of the queue all pass", ""),
        ("Go on.", "::archive the whole of this session now", "; user: “Go on.”"),
        ("Go on.", "Committing, pushing, and now waiting:", "; user: “Go on.”"),
        ("$ make\ncc -o queue queue.c\nqueue.c:3: error: expected ';'", "🚀", ""),
        ("It fails:\n\n❯ ./run.sh\n[+] Building 1.3s (1/2)", "🚀", "; user: “It fails:”"),
    ],
)  # fmt: skip
def test_where_a_session_stopped_says_nothing_twice_and_nothing_empty(
    workspace_of: Callable[..., tuple[Index, Store]], memory_builders: SimpleNamespace,
    asked: str, answered: str, told: str,
) -> None:  # fmt: skip
    talk = memory_builders.conversation(
        "stop", "2026-04-30", "Length of the queue of jobs",
        [("What now?", f"Hm. {TABLE}"), (asked, answered)], project="api", decided=TABLE,
    )  # fmt: skip
    index, store = workspace_of([talk])
    index.refresh()
    view = WorkspaceView(index, store, SearchScope("api").scopes)
    text, _ = brief([view], session="", source="startup", room=TextBudget(1500, 6000))
    stopped = text.splitlines()[4]
    at = f"- 2026-04-30 · “Length of the queue of jobs” ({reference(talk.id)})"
    assert stopped == f"{at}{told}"


REDIS = "We drop Redis, because it was down twice."
KEPT = (
    f"{REDIS}\nThe queue is a table.\n\n"
    "> **User, 2026-04-30 10:00 UTC:** Drop Redis?\n>\n> **Assistant:** Yes."
)


def test_each_statement_is_told_once_and_without_the_talk_that_a_note_keeps(
    workspace_of: Callable[..., tuple[Index, Store]], memory_builders: SimpleNamespace
) -> None:
    note, decided = memory_builders.note, {"category": "architectural-decisions"}
    talk = memory_builders.conversation(
        "talk", "2026-04-30", "The queue", [("Drop Redis?", f"Yes. {REDIS}")],
        project="api", decided=REDIS,
    )  # fmt: skip
    kept = note("kept", "2026-04-30", "Drop Redis", KEPT, project="api", permanent=True)
    auto = note("auto", "2026-04-30", REDIS, REDIS, project="api", **decided)
    # its title was mended by hand
    cap = note(
        "cap", "2026-04-29", "Delays of 5 s to 4 h with jitter", "Delays of 5 s to 6 h with jitter.",
        project="api", **decided,
    )  # fmt: skip
    fork = note(
        "fork", "2026-04-28", "Delays of 5 s to 6 h with jitter", "Delays of 5 s to 6 h with jitter.",
        project="api", **decided,
    )  # fmt: skip
    index, store = workspace_of([talk, kept, auto, cap, fork])
    index.refresh()
    view = WorkspaceView(index, store, SearchScope("api").scopes)
    text, _ = brief([view], session="", source="startup", room=TextBudget(1500, 6000))
    sections = dict(section.split(":\n", 1) for section in text.split("\n\n")[1:-1])
    place = "2026-04-{} · "
    said = "user"
    assert sections["Permanent"] == (
        f"- {place.format(30)}note · “Drop Redis. We drop Redis, because it was down twice. "
        f"The queue is a table.” ({said}; {reference(kept.id)})"
    )
    assert sections["Decided"] == (
        f"- {place.format(29)}“Delays of 5 s to 4 h with jitter. Delays "
        f"of 5 s to 6 h with jitter.” ({said}; {reference(cap.id)})"
    )
