"""Questions to the rows of memories: each kind of choice, references that a person types, sessions
and days.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keeplore.index import Index
from keeplore.index.memory_queries import complete_reference
from keeplore.index.rows import EVERYWHERE, MemoryFilter
from keeplore.memory import Memory, new_id
from keeplore_hooks.contracts import ScopeFilter

SHOP = ScopeFilter((("project", "shop"),))


@pytest.fixture
def asked(
    files: Any,
    index: Index,
    make_note: Callable[..., Memory],
    make_conversation: Callable[..., Memory],
) -> Index:
    """Notes a (replaced by b), c (of a project, permanent), d (in the archive), a talk of two
    sessions.
    """

    def put(name: str, day: int, path: str = "", **meta: Any) -> None:
        at = f"2026-02-{day:02}T10:00:00Z"
        fields = {"created_at": at, "updated_at": at, "category": "gotchas", **meta}
        files.put(make_note(name, f"Text of {name}.", **fields), path)

    put("a 50%", 1)
    put("b 50_", 2, supersedes=new_id("a 50%"), category="patterns")
    put("c", 3, scope="project", project="shop", permanent=True)
    put("d", 4, "memory/archive/gotchas/2026-02-04-d-00000000.md")
    for name, day, session in (
        ("first", 5, "s-1"),
        ("again", 6, "s-1"),
        ("last", 7, "s-2"),
    ):
        at = f"2026-02-{day:02}T10:00:00Z"
        files.put(
            make_conversation(
                name,
                (f"Why {name}?", "Because."),
                created_at=at,
                updated_at=at.replace("T10", "T11"),
                source={"host": "codex", "session": session},
            )
        )
    index.refresh()
    return index


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        (MemoryFilter(), "last again first c b 50_"),
        (MemoryFilter(superseded=True), "last again first c b 50_ a 50%"),
        (MemoryFilter(archived="only"), "d"),
        (MemoryFilter(archived="with", kind="note"), "d c b 50_"),
        (MemoryFilter(kind="conversation"), "last again first"),
        (MemoryFilter(category="patterns"), "b 50_"),
        (MemoryFilter(session="s-1"), "again first"),
        (MemoryFilter(permanent=True), "c"),
        (MemoryFilter(permanent=False, kind="note"), "b 50_"),
        (MemoryFilter(since="2026-02-06"), "last again"),
        (MemoryFilter(before="2026-02-03T10:00:00Z"), "b 50_"),
        (MemoryFilter(since="2026-02-03", before="2026-02-06"), "first c"),
        (MemoryFilter(SHOP), "c"),
    ],
)
def test_lists_and_counts_of_each_choice(
    asked: Index, wanted: MemoryFilter, titles: str
) -> None:
    found = [row.title for row in asked.listed(wanted)]
    assert " ".join(found) == titles
    assert asked.count(wanted) == len(found)


def test_a_limit_is_of_those_that_are_kept(asked: Index) -> None:
    wanted = MemoryFilter(limit=2)
    found = asked.listed(wanted, lambda row: row.title != "again")
    assert [row.title for row in found] == ["last", "first"]
    assert asked.count(wanted) == 5


def test_what_a_reference_may_mean(asked: Index) -> None:
    id_ = new_id("c")
    path = asked.path_of(id_)
    assert path is not None
    name = path.rpartition("/")[2]
    for reference in (id_, id_[:12], id_[4:8], id_[4:20], path, name):
        assert [row.title for row in asked.find(reference)] == ["c"], reference
    for reference in ("", "mem_", id_[:7], "c", name[1:], "%", path[1:]):
        assert asked.find(reference) == [], reference


def test_what_a_shell_completes(asked: Index, index_directory: Path) -> None:
    def titles(text: str, limit: int = 9) -> list[str]:
        found = complete_reference(index_directory, text, limit)
        assert all(id_ == new_id(title) for id_, title in found)
        return [title for _, title in found]

    assert titles("") == ["last", "again", "first", "d", "c", "b 50_"]
    assert titles("", 2) == ["last", "again"]
    assert titles(new_id("a 50%")[:9]) == ["a 50%"]
    assert titles(new_id("a 50%")[4:9]) == ["a 50%"]
    assert (titles("50_"), titles("50%"), titles("AIN")) == (["b 50_"], [], ["again"])
    assert complete_reference(index_directory / "none", "", 9) == []


def test_when_each_session_was_and_what_was_said_in_a_time(asked: Index) -> None:
    first = ("2026-02-05T10:00:00Z", "2026-02-06T11:00:00Z")
    last = ("2026-02-07T10:00:00Z", "2026-02-07T11:00:00Z")
    spans = [asked.session_span(EVERYWHERE, n) for n in (1, 2, 3, -1, -2, -3)]
    assert spans == [first, last, None, last, first, None]
    assert asked.session_span(SHOP, 1) is None

    def said(
        begin: str, end: str, limit: int = 99, allowed: ScopeFilter = EVERYWHERE
    ) -> Any:
        found = asked.said_between(allowed, begin, end, limit)
        names = {
            new_id(name): name
            for name in ("a 50%", "b 50_", "c", "d", "first", "again")
        }
        return sorted({names.get(passage.memory_id, "last") for passage in found})

    assert said("2026-02-03", "2026-02-04") == ["c", "d"]
    assert said("", "2026-02-03") == ["a 50%", "b 50_", "c"]
    assert said("2026-02-03T10:00:00Z", "2026-02-03T10:00:00Z") == ["c"]
    assert said("", "2026-02-04", 1) == ["d"]
    assert said("", "2026-02-28", allowed=SHOP) == ["c"]
    # a talk is of every day that it lasted, its words of the moment at which they were said
    assert said("2026-02-06", "2026-02-08") == []
    assert said("2026-02-06T11:00:00Z", "2026-02-09") == ["again", "last"]
