"""What is near an entity without a stated relation, and names spelt alike, on a real index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keeplore.index import Index, refresh
from keeplore.index.graph import graph_rows
from keeplore.index.rows import EVERYWHERE
from keeplore.memory import Memory
from keeplore_hooks.contracts import ScopeFilter

SAID = (
    "`jobs_queue` and `rate_limit` and `tax_table`",
    "`jobs_queue` and `rate_limit`",
    "`jobs_queue` and `tax_table`",
    "`rate_limit` alone",
    "`rate_limit` again",
    "`rate_limits` are others",
)


@pytest.fixture
def ids(files: Any, index: Index, make_note: Callable[..., Memory]) -> list[str]:
    """The notes that say these; the last but one is of a project."""
    found = []
    for number, text in enumerate(SAID):
        place = {"scope": "project", "project": "shop"} if number == 4 else {}
        memory = make_note(f"Note {number}", text, **place)
        files.put(memory)
        found.append(memory.id)
    index.refresh()
    index.graph.link(steps=0)
    return found


def test_what_is_seldom_mentioned_elsewhere_is_the_closest(
    index: Index, ids: list[str]
) -> None:
    graph = index.graph
    assert graph.co_mentioned(ids[:3], 9, 2) == [
        ("jobs_queue", 3),
        ("tax_table", 2),
        ("rate_limit", 2),
    ]
    assert graph.co_mentioned(ids[:3], 2, 2) == [("jobs_queue", 3), ("tax_table", 2)]
    assert graph.co_mentioned(ids[:3], 9, 3) == [("jobs_queue", 3)]
    assert graph.co_mentioned([], 9, 1) == []


def test_the_most_mentioned_names_of_some_scopes(index: Index, ids: list[str]) -> None:
    assert index.graph.mentioned(EVERYWHERE, 9) == [
        ("rate_limit", 4),
        ("jobs_queue", 3),
        ("tax_table", 2),
        ("rate_limits", 1),
    ]
    assert index.graph.mentioned(EVERYWHERE, 2) == [
        ("rate_limit", 4),
        ("jobs_queue", 3),
    ]
    assert index.graph.mentioned(ScopeFilter((("project", "shop"),)), 9) == [
        ("rate_limit", 1)
    ]


def test_names_that_are_spelt_alike_and_then_those_that_hold_it(
    index: Index, ids: list[str]
) -> None:
    similar = index.graph.similar_names
    assert similar("Rate_Limit", 9) == ["rate_limit", "rate_limits"]
    assert similar("rate_limitt", 1) == ["rate_limit"]
    assert similar("queue", 9) == ["jobs_queue"]
    assert similar("zebra", 9) == similar("", 9) == []


def test_linking_takes_as_many_steps_as_it_may(
    files: Any,
    index: Index,
    make_note: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph_rows, "LINKED_AT_ONCE", 1)
    monkeypatch.setattr(refresh, "LINK_STEPS", 0)
    for number, text in enumerate(SAID):
        files.put(make_note(f"Note {number}", text))
    index.refresh()
    seen: list[int] = []
    left = [index.graph.link(steps, seen.append) for steps in (0, 1, 2, None)]
    assert (left, seen) == ([6, 5, 3, 0], [6, 5, 4, 3, 2, 1])
