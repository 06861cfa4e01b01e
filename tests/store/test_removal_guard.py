"""Files that went because their memory stands elsewhere: what is written down of them, and when a
commit brings them back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from keeplore.memory import Memory
from keeplore.memory.merge.memory_merge import beside_path
from keeplore.store import Store, files
from keeplore.store.git.objects import Moved
from keeplore.store.removal_guard import (
    FOLDER,
    KILLED_S,
    guarded_remove,
    remove_notes,
    removed_paths,
    settled_notes,
)
from keeplore.store.tombstones import Tombstone


@pytest.fixture
def paths(store: Store, note: Callable[..., Memory]) -> tuple[str, str]:
    """A memory, and another one that stands for it."""
    return store.save(note("Old way")), store.save(note("New way"))


@pytest.fixture
def notes(store: Store) -> Callable[[], list[Path]]:
    return lambda: sorted((store.root / ".git" / FOLDER).glob("*"))


def committed(store: Store) -> dict[str, files.FileState]:
    return {state.path: state for state in store.scan()}


def test_what_went_is_written_down_first(store: Store, paths, notes) -> None:
    old, new = paths
    text, print_ = (
        (store.root / old).read_bytes(),
        sha256((store.root / new).read_bytes()),
    )
    id_ = store.load(old).id
    guarded_remove(store.root, old, [new], is_joined=True)
    (written,) = notes()
    heirs = {new: print_.hexdigest()}
    assert json.loads(written.read_text()) == [old, id_, heirs, text.decode(), True]
    assert written.parent.stat().st_mode & 0o777 == 0o700
    assert not (store.root / old).exists()
    assert removed_paths(store.root) == {old}
    # what is gone already, and what is its own heir
    guarded_remove(store.root, old, [new])
    guarded_remove(store.root, new, [old, new])
    assert notes() == [written]
    assert (store.root / new).is_file()


def test_without_a_repository_it_just_goes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Old")
    guarded_remove(tmp_path, "a.md", [])
    assert [*tmp_path.iterdir()] == []


def test_a_copy_that_is_committed_settles_it(store: Store, paths, notes) -> None:
    old, new = paths
    (store.root / new).write_bytes((store.root / old).read_bytes())
    guarded_remove(store.root, old, [new])
    settled = settled_notes(store.root, committed(store))
    assert settled == tuple(notes())
    remove_notes(settled)
    assert (notes(), removed_paths(store.root)) == ([], set())
    remove_notes(settled)


@pytest.mark.parametrize(
    ("added", "is_edited", "is_settled"),
    [("", False, False), ("Old way", False, True), ("Old way", True, False)],
)
def test_where_texts_were_joined_every_word_must_be_there(
    store: Store, paths, notes, added: str, is_edited: bool, is_settled: bool
) -> None:
    old, new = paths
    text = (store.root / old).read_text()
    heir = store.root / new
    heir.write_text(f"{heir.read_text()}{added}")
    guarded_remove(store.root, old, [new], is_joined=True)
    if is_edited:
        heir.write_text("Somebody wrote it anew, and no copy of the memory is left.\n")
    if is_settled:
        assert settled_notes(store.root, committed(store)) == tuple(notes())
        return
    with pytest.raises(Moved):
        settled_notes(store.root, committed(store))
    assert (store.root / old).read_text() == text
    assert notes() == []


def test_what_is_forgotten_stays_gone(store: Store, paths, notes) -> None:
    old, _ = paths
    id_ = store.load(old).id
    guarded_remove(store.root, old, [])
    store.tombstones.write(Tombstone(id_))
    assert settled_notes(store.root, committed(store)) == tuple(notes())


def test_what_comes_back_does_so_beside_what_took_its_place(
    store: Store, paths, notes
) -> None:
    old, _ = paths
    data = (store.root / old).read_bytes()
    guarded_remove(store.root, old, [])
    (store.root / old).symlink_to("nowhere")
    with pytest.raises(Moved):
        settled_notes(store.root, committed(store))
    assert (store.root / beside_path(old, data)).read_bytes() == data
    assert (store.root / old).is_symlink() and notes() == []


def test_what_comes_back_does_so_beside_a_folder(store: Store, paths, notes) -> None:
    old, new = paths
    data = (store.root / old).read_bytes()
    guarded_remove(store.root, old, [new], is_joined=True)
    (store.root / old).mkdir()
    beside = beside_path(old, data)
    assert beside in store.commit().paths
    assert (store.root / beside).read_bytes() == data
    assert (store.root / old).is_dir()
    assert notes() == []


def test_a_file_that_is_there_again_keeps_its_note_while_its_writer_may_live(
    store: Store, paths, notes
) -> None:
    old, _ = paths
    text = (store.root / old).read_text()
    guarded_remove(store.root, old, [])
    (store.root / old).write_text(text)
    assert settled_notes(store.root, committed(store)) == ()
    (note,) = notes()
    long_ago = note.stat().st_mtime - KILLED_S - 1
    os.utime(note, (long_ago, long_ago))
    assert settled_notes(store.root, committed(store)) == (note,)
