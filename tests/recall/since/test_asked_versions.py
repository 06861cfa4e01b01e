"""Which earlier versions of a memory a question asks for."""

from __future__ import annotations

import pytest

from keeplore.index import MemoryRow
from keeplore.recall.since.asked_versions import _asked_for
from keeplore.text.times.time_expressions import Span

MAY = (Span("2026-05-01", "2026-05-31"),)


def version(day: str) -> MemoryRow:
    return MemoryRow(
        id=f"mem_{day}", path=f"memory/{day}.md", title="x", kind="note", scope="workspace",
        project="", category="", created_at=f"{day}T00:00:00Z", updated_at=f"{day}T00:00:00Z",
        permanent=False, trust="user", session="", host="", is_open=False, is_archived=False,
    )  # fmt: skip


VERSIONS = [version(f"2026-0{month}-03") for month in (6, 5, 4, 3)]  # the latest first


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("which queue do we use", (), []),
        ("which queue did we use before", (), VERSIONS[:1]),
        ("which queue did we use originally", (), VERSIONS[3:]),
        ("how did our queue change, how has it evolved", (), VERSIONS[:2]),
        ("which queue did we use in May", MAY, VERSIONS[1:2]),
    ],
)
def test_a_question_asks_for_the_version_before_the_first_or_the_latest_two(
    text: str, spans: tuple[Span, ...], expected: list[MemoryRow]
) -> None:
    assert [*_asked_for(VERSIONS, text, spans)] == expected


def test_of_a_time_with_many_versions_the_latest_two_are_told() -> None:
    spring = (Span("2026-03-01", "2026-05-31"),)
    assert [*_asked_for(VERSIONS, "in spring", spring)] == VERSIONS[1:3]
