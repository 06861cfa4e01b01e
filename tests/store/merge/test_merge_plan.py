"""The plan of a merge: symmetric, and nothing that a side wrote is lost."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.memory import Memory, new_id, new_meta, relative_path, serialise
from keeplore.store.git.objects import Blob, PathChange
from keeplore.store.merge.merge_plan import (
    MergePlan,
    distinct_names,
    id_of,
    merge_versions,
)

NAMES = ("first", "second", "third")
WORDS = ("red", "green", "blue")
blobs: dict[str, bytes] = {}


def blob(data: bytes) -> Blob:
    key = hashlib.sha1(data).hexdigest()
    blobs[key] = data
    return Blob(key)


def load(found: Blob, _path: str = "") -> bytes:
    return blobs[found.id]


def file(name: str, words: tuple[str, ...] = ()) -> tuple[str, bytes]:
    meta = new_meta(
        id=new_id("plan", name),
        kind="note",
        title=name,
        created_at="2026-02-09T10:00:00Z",
        scope="workspace",
        trust="user",
    )
    memory = Memory(meta, "".join(f"{line}\n\n" for line in ("start", *words, "end")))
    return relative_path(memory), serialise(memory).encode()


def archived(path: str) -> str:
    return path.replace("memory/", "memory/archive/", 1)


BASE = dict(file(name) for name in NAMES[:2])
ACTS = (
    "leave",
    "remove",
    "edit",
    "archive",
    "archive and edit",
)  # what a side does; the third memory is new
doing = st.tuples(st.sampled_from(ACTS), st.sampled_from(WORDS))
sides = st.tuples(doing, doing, doing)


def side(acts: tuple[tuple[str, str], ...]) -> dict[str, bytes]:
    tree = dict(BASE)
    for name, (act, word) in zip(NAMES, acts, strict=True):
        path, data = file(name)
        if act == "leave":
            continue
        tree.pop(path, None)
        if act != "remove":
            data = file(name, (word,))[1] if "edit" in act else data
            tree[archived(path) if "archive" in act else path] = data
    return tree


def difference(tree: dict[str, bytes]) -> dict[str, PathChange]:
    paths = [
        path
        for path in sorted(BASE.keys() | tree.keys())
        if BASE.get(path) != tree.get(path)
    ]
    return {
        path: PathChange(
            blob(BASE[path]) if path in BASE else None,
            blob(tree[path]) if path in tree else None,
        )
        for path in paths
    }


def result(one: dict[str, bytes], other: dict[str, bytes]) -> dict[str, bytes]:
    plan = MergePlan(difference(one), difference(other), load)
    tree = {
        **BASE,
        **plan.beside,
        **{
            path: load(c) if isinstance(c, Blob) else c
            for path, c in plan.files.items()
        },
    }
    return {path: data for path, data in tree.items() if data is not None}


@given(sides, sides)
def test_the_order_of_the_sides_does_not_matter(one: tuple, other: tuple) -> None:
    assert result(side(one), side(other)) == result(side(other), side(one))


@given(sides, sides)
def test_every_edit_survives_once_and_every_id_has_one_place(
    one: tuple, other: tuple
) -> None:
    trees = side(one), side(other)
    merged = result(*trees)
    ids = [id_of(path, data) for path, data in merged.items()]
    assert len(ids) == len(set(ids))
    everything = b"".join(merged.values()).decode()
    for number, name in enumerate(NAMES):
        edits = [acts[number][1] for acts in (one, other) if "edit" in acts[number][0]]
        held = "".join(
            data.decode()
            for data in merged.values()
            if f"title: {name}" in data.decode()
        )
        assert all(word in held for word in edits), everything


@given(sides)
def test_a_side_without_changes_gives_way(acts: tuple) -> None:
    assert result(side(acts), dict(BASE)) == side(acts)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_conflict_that_one_side_committed_is_read_as_its_two_versions(
    is_first: bool,
) -> None:
    path, base = file("first")
    ours, theirs = (file("first", (word,))[1] for word in ("red", "green"))
    marks = (b"<<<<<<< HEAD\nred\n", b"=======\ngreen\n", b">>>>>>> other\n\n")
    torn = ours.replace(b"red\n\n", b"".join(marks))
    sides = (torn, base) if is_first else (base, torn)
    assert merge_versions(path, base, *sides) == merge_versions(
        path, base, ours, theirs
    )


def test_names_alike_but_for_case_or_form_are_set_apart_by_content() -> None:
    paths = ["memory/Caf\u00e9.md", "memory/cafe\u0301.md", "memory/tea.md"]
    named = distinct_names(paths, {paths[1]}, lambda path: path.encode())
    assert list(named) == [sorted(paths[:2])[1]]
    assert distinct_names(paths, {"memory/tea.md"}, lambda path: path.encode()) == {}
