"""A rule that was replaced is never told beside, or instead of, the one that holds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from keeplore.index import MemoryRow
from keeplore.recall.answer import recall
from keeplore.recall.brief import brief
from keeplore.recall.file_context import edit_context
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.prompt_context import for_prompt, prompt_context
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.recall.unasked.origin import MemorySource
from keeplore.recall.unasked.workspace_view import WorkspaceView

WIDE = TextBudget(50_000, 1_000_000)
SCOPE = SearchScope("kasha-api")
OLD = "Sessions of app/login.py live in cookies."
NEW = "Sessions of app/login.py live in Postgres."


def _contradicts(note, key: str) -> list[dict[str, str]]:
    return [{"id": note(key, "2026-01-01", "t", "t").id, "relationship": "contradicts"}]


@dataclass
class Told:
    """What is told unasked; what the machine "ben" wrote waits."""

    index: object
    store: object

    def source_of(self, row: MemoryRow) -> MemorySource:
        return MemorySource.WAITING if row.machine == "ben" else MemorySource.OWN

    def texts(self) -> list[str]:
        sources = lambda: self.source_of  # noqa: E731  # as a view takes it
        view = WorkspaceView(
            self.index, self.store, SCOPE.scopes, sources=sources, related=3
        )
        found = recall(
            RecallDeps(self.index, self.store, sources=sources),
            RecallRequest(
                "Where do sessions live?", filter=for_prompt(0.0, already=())
            ),
            SCOPE,
        )
        return [
            brief([view], session="s", source="startup", room=WIDE)[0],
            prompt_context(found, room=WIDE)[0],
            edit_context([view], ["app/login.py"], "/x", room=WIDE)[0],
        ]


@pytest.mark.parametrize("permanent", [True, None])
@pytest.mark.parametrize(
    "how", ["supersedes", "contradicts", "contradicted by the older"]
)
def test_what_was_replaced_is_told_nowhere(
    how: str, permanent, workspace_of, memory_builders
) -> None:
    note = memory_builders.note
    facts = {"project": "kasha-api", "category": "gotchas", "permanent": permanent}
    links = {
        "supersedes": ({}, {"supersedes": "old"}),
        "contradicts": ({}, {"related": _contradicts(note, "old")}),
        "contradicted by the older": ({"related": _contradicts(note, "new")}, {}),
    }
    older, newer = links[how]
    index, store = workspace_of(
        [
            note("old", "2026-01-01", "Sessions", OLD, **facts, **older),
            note("new", "2026-02-01", "Sessions", NEW, **facts, **newer),
        ]
    )
    index.refresh()
    for text in Told(index, store).texts():
        assert NEW in text and OLD not in text


@pytest.mark.parametrize("link", ["supersedes", "contradicts"])
def test_what_waits_for_its_machine_replaces_nothing(
    link: str, workspace_of, memory_builders
) -> None:
    note = memory_builders.note
    facts = {"project": "kasha-api", "category": "gotchas", "permanent": True}
    theirs = (
        {"supersedes": "old"}
        if link == "supersedes"
        else {"related": _contradicts(note, "old")}
    )
    foreign = note("new", "2026-02-01", "Sessions", NEW, **facts, **theirs)
    foreign = foreign.with_meta(source={"machine": "ben"})
    index, store = workspace_of(
        [note("old", "2026-01-01", "Sessions", OLD, **facts), foreign]
    )
    index.refresh()
    told, _, _ = Told(index, store).texts()
    assert OLD in told and NEW not in told
