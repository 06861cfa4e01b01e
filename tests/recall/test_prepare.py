"""What a question is answered with."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.index.rows import MemoryRow
from keeplore.recall.prepare import OpenedMemory, RecallContext, RecallDeps, age_days
from keeplore.recall.ranking.model import Standing
from keeplore.recall.request import INHERITED, SIBLING, RecallRequest, SearchScope
from keeplore.recall.request import OWN as OWN_PLACE

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "days"),
    [
        ("2026-05-01T12:00:00Z", 0.0),
        ("2026-04-30T12:00:00Z", 1.0),
        ("2026-04-30T12:00:00", 1.0),
        ("2026-04-30T12:00:00+12:00", 1.5),
        ("2025-05-01", 365.5),
        ("2026-05-02T12:00:00Z", 0.0),
        ("long ago", 3650.0),
        ("", 3650.0),
    ],
)
def test_an_age_is_told_in_days(at: str, days: float) -> None:
    assert age_days(at, NOW) == days


def test_a_question_reads_a_file_once(
    memory_builders: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = memory_builders.conversation(
        "talk", "2026-02-01", "Cache", [("Why?", "So.")], project="kasha-api"
    )
    index, store = memory_builders.indexed(tmp_path, [talk], None)
    (row,) = index.memories([talk.id]).values()
    read: list[str] = []
    load = store.load
    monkeypatch.setattr(store, "load", lambda path: read.append(path) or load(path))
    deps = RecallDeps(index, store)
    context = RecallContext(deps, RecallRequest("why?"), SearchScope(), NOW)
    for _ in range(2):
        opened = context.opened(row.path)
        assert opened == OpenedMemory(load(row.path))
        assert opened.exchange("talk-turn-0") == opened.conversation.exchanges[0]
        assert opened.exchange("other") is None
        assert context.loaded("memory/gone.md") is None
    index.close()
    assert read == [row.path, "memory/gone.md"]


PLACES = (
    ("user", ""),
    ("workspace", ""),
    ("project", "shop"),
    ("project", "till"),
    ("project", "site"),
    ("agent:ann", "shop"),
    ("agent:ann", "site"),
    ("agent:bob", "shop"),
)
OWN = ["user", "workspace", "project shop"]
SHARED = [*OWN, "project till", "project site"]
EVERY = [" ".join(place).strip() for place in PLACES]


@pytest.mark.parametrize(
    ("scope", "narrow", "open_to_it"),
    [
        (SearchScope("shop"), OWN, SHARED),
        (SearchScope("shop", ("till",)), [*OWN, "project till"], SHARED),
        (
            SearchScope("shop", (), "ann"),
            [*OWN, "agent:ann shop"],
            [*SHARED, "agent:ann shop"],
        ),
        (SearchScope("site", (), "bob"), ["user", "workspace", "project site"], SHARED),
        (SearchScope(), ["user", "workspace"], SHARED),
    ],
)
def test_what_others_keep_for_themselves_is_shown_where_it_is_asked_for(
    scope: SearchScope, narrow: list[str], open_to_it: list[str]
) -> None:
    index = SimpleNamespace(scopes=lambda: PLACES)
    deps = RecallDeps(index, SimpleNamespace())

    def shown(*, wide: bool, is_wide: bool) -> tuple[list[str], list[str]]:
        """The places whose memories may be shown, and those that are searched."""
        request = RecallRequest("why", Path("/"), wide=wide)
        context = RecallContext(deps, request, scope, NOW)
        rows = [
            SimpleNamespace(scope=place, project=project) for place, project in PLACES
        ]
        may = [context.may_show(row, is_wide=is_wide) for row in rows]
        searched = context.allowed(is_wide=is_wide).scopes or PLACES
        return (
            [name for name, is_shown in zip(EVERY, may, strict=True) if is_shown],
            [
                name
                for name, place in zip(EVERY, PLACES, strict=True)
                if place in searched
            ],
        )

    assert shown(wide=False, is_wide=False) == (narrow, narrow)
    assert shown(wide=False, is_wide=True) == (open_to_it, open_to_it)
    assert shown(wide=True, is_wide=True) == (EVERY, EVERY)


ROW = MemoryRow(
    *("mem_1", "memory/facts/a.md", "A", "note", "project", "shop", "facts"),
    *("2026-04-01T12:00:00Z", "2026-04-30T12:00:00Z"),
    permanent=False,
    trust="user",
    session="",
    host="",
    is_open=False,
    is_archived=False,
)


@pytest.mark.parametrize(
    ("row", "standing"),
    [
        ({}, Standing(OWN_PLACE, 1.0, place="project/shop")),
        ({"updated_at": ""}, Standing(OWN_PLACE, 30.0, place="project/shop")),
        (
            {"scope": "workspace", "project": "", "permanent": True},
            Standing(INHERITED, 1.0, is_permanent=True, place="workspace/"),
        ),
        (
            {"project": "till", "is_archived": True, "superseded_by": "mem_2"},
            Standing(
                SIBLING, 1.0, is_archived=True, head="mem_2", place="project/till"
            ),
        ),
        ({"kind": "document"}, Standing(OWN_PLACE, 1.0, place="project/shop")),
        ({"session": "s"}, Standing(OWN_PLACE, 1.0, place="project/shop")),
        (
            {"kind": "document", "session": "s"},
            Standing(OWN_PLACE, 1.0, is_summary=True, place="project/shop"),
        ),
    ],
)
def test_where_a_memory_stands(row: dict[str, Any], standing: Standing) -> None:
    deps = RecallDeps(SimpleNamespace(), SimpleNamespace())
    context = RecallContext(deps, RecallRequest("why"), SearchScope("shop"), NOW)
    assert context.standing_of(replace(ROW, **row)) == standing
