"""What is kept of a file for as long as it looks the same: not of one that is so young that it may
change again without looking otherwise.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sample_note import note

from keeplore.memory import serialise
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import files
from keeplore.store.commit import _ids
from keeplore.store.delete import delete
from keeplore.store.git.objects import CycleCache

PATH = "memory/facts/2026-02-09-one-00000001.md"
NOW = 1_800_000_000


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(time, "time_ns", lambda: NOW * 10**9)
    place = tmp_path / PATH
    place.parent.mkdir(parents=True)
    return place


def written(file: Path, title: str, age_s: float) -> files.FileState:
    file.write_text(serialise(note(title)))
    moment = int((NOW - age_s) * 10**9)
    os.utime(file, ns=(moment, moment))
    found = files.file_state(file.parents[2], PATH)
    assert found
    return found


@pytest.mark.parametrize(
    ("age_s", "is_kept"),
    [(0.0, False), (1.9, False), (2.0, False), (2.1, True), (9e6, True), (-9.0, False)],
)
def test_the_id_of_a_file(file: Path, age_s: float, is_kept: bool) -> None:
    cache, root = CycleCache(""), file.parents[2]
    state = written(file, "One", age_s)
    assert delete._id_at(root, cache, state) == note("One").id
    assert cache.ids == ({PATH: (state, note("One").id)} if is_kept else {})
    # it is not read again while it looks the same, and otherwise it is
    file.write_text(serialise(note("Two")))
    now = note("One").id if is_kept else note("Two").id
    assert delete._id_at(root, cache, state) == now
    other = written(file, "Two", age_s + 1)
    assert delete._id_at(root, cache, other) == note("Two").id


@pytest.mark.parametrize(
    ("age_s", "is_kept"), [(0.0, False), (2.0, False), (2.1, True), (-9.0, False)]
)
def test_the_hash_of_a_file(file: Path, age_s: float, is_kept: bool) -> None:
    asked: list[list[str]] = []

    def hashes(paths: list[str]) -> dict[str, str]:
        asked.append(paths)
        return dict.fromkeys(paths, f"hash {len(asked)}")

    backend: Any = SimpleNamespace(name="git", root=file.parents[2], hashes=hashes)
    cache = CycleCache("")
    state = written(file, "One", age_s)
    huge = "memory/facts/huge.md"
    on_disk = {PATH: state, huge: state._replace(path=huge, size=MAX_FILE + 1)}
    assert _ids(backend, cache, on_disk) == {PATH: "hash 1"}
    assert cache.files == ({("git", PATH): (state, "hash 1")} if is_kept else {})
    again = _ids(backend, cache, on_disk)
    assert again == {PATH: "hash 1" if is_kept else "hash 2"}
    assert asked == ([[PATH], []] if is_kept else [[PATH], [PATH]])
    edge = {PATH: state._replace(size=MAX_FILE, inode=1)}
    assert _ids(backend, cache, edge) == {PATH: "hash 3"}
    assert asked[-1] == [PATH]
