"""Ids and names of files that every machine makes for itself: all versions make the same."""

from __future__ import annotations

from keeplore.memory import new_id
from keeplore.memory.merge.memory_merge import beside_path


def test_the_id_of_the_same_parts_is_the_same_on_every_machine() -> None:
    assert new_id("a", "b") == "mem_0e8ae03c-39b4-505e-919a-233ba37c534e"
    assert new_id("a", "b") != new_id("ab")
    assert new_id() != new_id()


def test_a_version_beside_is_called_by_what_it_holds() -> None:
    assert beside_path("a/b.md", b"x") == "a/b.conflict-2d711642.md"
    assert beside_path(".gitignore", b"x") == ".gitignore.conflict-2d711642"
