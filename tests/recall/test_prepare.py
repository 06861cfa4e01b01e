"""What a question is answered with."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.recall.prepare import OpenedMemory, RecallContext, RecallDeps, age_days
from keeplore.recall.request import RecallRequest, SearchScope

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
