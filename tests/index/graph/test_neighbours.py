"""The walk over the links of a memory, on a real index."""

from collections.abc import Callable
from typing import Any

import pytest

from keeplore.index import Index
from keeplore.index.graph import neighbours as walk
from keeplore.memory import Memory, new_id


@pytest.fixture
def linked(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> Callable[[str, int], list[tuple[object, ...]]]:
    """a → b, c → b and a: a cycle; c2 replaces c; d → c2; e → d, itself, and nowhere; sixty → e."""

    def put(key: str, supersedes: str = "", **links: str) -> None:
        related = [
            {"id": new_id("n", other), "relationship": kind.replace("_", "-")}
            for kind, other in links.items()
        ]
        meta = {"supersedes": new_id("n", supersedes)} if supersedes else {}
        files.put(make_note(key, "text", id=new_id("n", key), related=related, **meta))

    put("a", refines="b")
    put("b")
    put("c", contradicts="b", relates_to="a")
    put("c2", supersedes="c")
    put("d", relates_to="c2")
    put("e", relates_to="d", refines="e", contradicts="nowhere")
    for number in range(60):
        put(f"spoke-{number}", relates_to="e")
    index.refresh()
    names = {new_id("n", key): key for key in ("a", "b", "c", "c2", "d", "e")}

    def walked(key: str, hops: int) -> list[tuple[object, ...]]:
        found = index.graph.neighbours(new_id("n", key), hops)
        return [
            (
                names.get(one.id, "spoke"),
                one.relationship,
                one.is_stated_there,
                names[one.near],
                one.hops,
            )
            for one in found
        ]

    return walked


def test_the_walk_goes_both_ways_counts_versions_as_one_and_survives_cycles(
    linked: Callable[[str, int], list[tuple[object, ...]]],
) -> None:
    near = {("a", "refines", False, "b", 1), ("c2", "contradicts", False, "b", 1)}
    assert set(linked("b", 1)) == near
    assert set(linked("b", 2)) == {*near, ("d", "relates-to", False, "c2", 2)}
    assert set(linked("b", 9)) == {*linked("b", 2), ("e", "relates-to", False, "d", 3)}
    # an earlier version has the neighbours of the newest
    assert linked("c", 1) == linked("c2", 1)
    assert {(key, kind) for key, kind, *_ in linked("c", 1)} == {
        ("a", "relates-to"), ("b", "contradicts"), ("d", "relates-to"),
    }  # fmt: skip
    hub = linked("e", 3)
    assert (len(hub), hub[0][4], {key for key, *_ in hub}) == (
        walk.MOST,
        1,
        {"d", "spoke"},
    )
    assert linked("nowhere", 3) == []
