"""What is counted of memories: the most frequent first, months in their order."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from keeplore.workspace.reading.statistics import _head_counts, size_of


def row(**more: Any) -> Any:
    known = {
        "permanent": False, "is_open": False, "scope": "project", "kind": "note",
        "category": "gotchas", "trust": "user", "project": "shop",
        "created_at": "2026-02-09T10:00:00Z",
    }  # fmt: skip
    return SimpleNamespace(**(known | more))


def test_the_current_memories_are_counted_by_what_they_are() -> None:
    rows = [
        row(permanent=True, scope="workspace", project="", category=""),
        row(is_open=True, kind="conversation", created_at="2025-12-31T10:00:00Z"),
        row(permanent=True, trust="assistant", created_at=""),
        row(kind="conversation", project="bank", category="b"),
    ]
    assert _head_counts(rows) == {
        "permanent": 2,
        "open": 1,
        "by_scope": {"project": 3, "workspace": 1},
        "by_kind": {"conversation": 2, "note": 2},
        "by_category": {"gotchas": 2, "b": 1, "none": 1},
        "by_trust": {"user": 3, "assistant": 1},
        "by_project": {"shop": 2, "bank": 1},
        "by_month": {"2025-12": 1, "2026-02": 2},
        "oldest": "2025-12-31T10:00:00Z",
        "newest": "2026-02-09T10:00:00Z",
    }
    orders = ("by_scope", "by_kind", "by_category", "by_month")
    counts = _head_counts(rows)
    assert [[*counts[order]] for order in orders] == [
        ["project", "workspace"],
        ["conversation", "note"],
        ["gotchas", "b", "none"],
        ["2025-12", "2026-02"],
    ]


def test_of_many_projects_and_months_the_largest_and_the_latest_are_told() -> None:
    rows = [
        row(project=f"p{number:02}", created_at=f"{2000 + number}-01-01T10:00:00Z")
        for number in range(40)
    ]
    counts = _head_counts([*rows, rows[39]])
    assert [*counts["by_project"]][:2] == ["p39", "p00"]
    assert [*counts["by_month"]][-1] == "2039-01"
    assert (len(counts["by_project"]), len(counts["by_month"])) == (10, 12)


def test_nothing_is_counted_of_nothing() -> None:
    counts = _head_counts([])
    assert (counts["oldest"], counts["newest"], counts["by_kind"]) == ("", "", {})


def test_the_size_of_a_folder_is_that_of_all_files_below_it(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "one").write_text("x" * 3)
    (tmp_path / "deep" / "er" / "two").write_text("x" * 4)
    assert size_of(tmp_path) == 7
    (tmp_path / "link").symlink_to(tmp_path / "one")
    assert size_of(tmp_path) == 7 + len(str(tmp_path / "one"))  # it is not followed
    assert size_of(tmp_path / "nowhere") == 0
