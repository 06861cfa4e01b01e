"""What was forgotten, the last first, and which of it a person means."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sample_note import note

from keeplore.errors import NotFound
from keeplore.memory import Memory
from keeplore.store import Tombstone
from keeplore.workspace.reading.deleted_memories import (
    deleted_memories,
    find_forgotten,
)

DAYS = [f"2026-02-0{day}T10:00:00Z" for day in (1, 2, 3)]


class KnownTombstones(list[Tombstone]):
    def ids(self) -> set[str]:
        return {tombstone.id for tombstone in self}


def workspace_of(
    gone: dict[str, tuple[str, str, Memory | None]],
    by_hand: dict[str, list[str]] | None = None,
) -> Any:
    """``gone`` is id → when, on which machine, and its text as git has it."""
    tombstones = [Tombstone(id_, at, machine) for id_, (at, machine, _) in gone.items()]

    def forgotten(memory_id: str) -> Memory:
        text = gone[memory_id][2]
        if text is None:
            raise NotFound("git has no text of it", "")
        return text

    def deleted(beginning: str) -> list[Any]:
        ids = (by_hand or {}).get(beginning, [])
        return [SimpleNamespace(id=id_) for id_ in ids]

    store = SimpleNamespace(
        tombstones=KnownTombstones(tombstones),
        forgotten=forgotten,
        deleted=deleted,
    )
    return SimpleNamespace(store=store)


def version(title: str, number: int, *older: str) -> Memory:
    links = [{"id": id_, "relationship": "supersedes"} for id_ in older]
    return note(title, version=number, related=links)


def found(workspace: Any) -> list[tuple[str, int]]:
    return [(one.title, one.version) for one in deleted_memories(workspace)]


def test_what_went_last_comes_first_and_one_without_a_text_is_told_too() -> None:
    one, two = note("One"), note("Two")
    gone = {
        one.id: (DAYS[0], "here", one),
        "mem_0": (DAYS[1], "here", None),
        two.id: (DAYS[2], "here", two),
    }
    workspace = workspace_of(gone)
    assert found(workspace) == [("Two", 1), ("", 0), ("One", 1)]
    assert [one.text is None for one in deleted_memories(workspace)] == [
        False,
        True,
        False,
    ]


def test_of_versions_that_went_together_the_newest_stands_for_all() -> None:
    first = version("First", 1)
    second = version("Second", 2, first.id)
    third = version("Third", 3, second.id)
    together = {one.id: (DAYS[1], "here", one) for one in (first, second, third)}
    assert found(workspace_of(together)) == [("Third", 3)]
    # but not for what went at another time, or on another machine
    apart = together | {first.id: (DAYS[0], "here", first)}
    assert found(workspace_of(apart)) == [("Third", 3), ("First", 1)]
    elsewhere = together | {first.id: (DAYS[1], "there", first)}
    assert found(workspace_of(elsewhere)) == [("First", 1), ("Third", 3)]


def test_of_versions_in_a_circle_one_is_told() -> None:
    first, second = note("First"), note("Second")
    circle = (version("First", 2, second.id), version("Second", 1, first.id))
    gone = {one.id: (DAYS[0], "here", one) for one in circle}
    assert found(workspace_of(gone)) == [("First", 2)]


ID, OTHER = "mem_12345678-aaaa", "mem_1234ffff-bbbb"


def registry_of(*workspaces: Any) -> Any:
    return SimpleNamespace(nearest_first=lambda _: workspaces)


@pytest.mark.parametrize(
    "reference", ["12345", "mem_12345678", " 1234567 ", "12345678-A"]
)
def test_a_memory_is_meant_by_four_digits_or_more(reference: str) -> None:
    near, far = workspace_of({}), workspace_of({ID: (DAYS[0], "here", None)})
    meant = find_forgotten(registry_of(near, far), reference, Path())
    assert meant == (far, ID)


def test_the_nearest_workspace_comes_first_and_a_file_deleted_by_hand_last() -> None:
    gone = {ID: (DAYS[0], "here", None)}
    near, far = workspace_of(gone), workspace_of(gone)
    assert find_forgotten(registry_of(near, far), "12345", Path())[0] is near
    by_hand = workspace_of({}, {"12345": [OTHER]})
    assert find_forgotten(registry_of(by_hand), "12345", Path()) == (by_hand, OTHER)
    both = workspace_of(gone, {"12345": [OTHER]})
    assert find_forgotten(registry_of(both), "12345", Path()) == (both, ID)


@pytest.mark.parametrize("reference", ["123", "12345 or so", "xyzw", "", "99999"])
def test_what_is_not_forgotten_is_told_with_how_to_see_what_is(reference: str) -> None:
    gone = workspace_of({ID: (DAYS[0], "here", None)})
    with pytest.raises(NotFound) as caught:
        find_forgotten(registry_of(gone), reference, Path())
    assert caught.value.message == f"{reference!r} is not forgotten"
    assert caught.value.remedy == "`keeplore restore --list` shows what is"


def test_a_beginning_of_several_ids_is_asked_again_with_five_of_them() -> None:
    ids = [f"mem_1234000{number}" for number in range(6)]
    gone = workspace_of(dict.fromkeys(ids, (DAYS[0], "here", None)))
    with pytest.raises(NotFound) as caught:
        find_forgotten(registry_of(gone), "1234", Path())
    assert caught.value.message == f"'1234' may mean {', '.join(ids[:5])}"
    assert caught.value.remedy == "Give more digits"
