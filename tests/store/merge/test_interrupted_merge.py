"""A merge that was killed halfway is taken back, and made again."""

from __future__ import annotations

import json

import pytest

from keeplore.errors import RepositoryBusy
from keeplore.store import Store
from keeplore.store.merge import merge as merge_module


@pytest.fixture
def machine(store, note, git, tmp_path):
    """A clone that libgit2 refuses, with an edit of a memory that the other side has moved."""
    path = store.save(note("Parted", body="here\n"))
    (store.root / "aaa.txt").write_text("before\n")
    git("add", "aaa.txt", cwd=store.root)
    git("commit", "-qm", "Mine", cwd=store.root)
    store.commit()
    git("clone", "-q", str(store.root), str(tmp_path / "clone"), cwd=tmp_path)
    moved = path.replace("memory/", "memory/archive/", 1)
    store.move(path, moved)
    store.save(note("Parted", body="here\n\nput away there\n"), moved)
    store.commit()
    (store.root / "aaa.txt").write_text("after\n")
    git("commit", "-qam", "Mine", cwd=store.root)
    machine = Store(tmp_path / "clone", branch="main", machine="studio")
    machine.save(note("Parted", body="here\n\nkept here\n"), path)
    machine.commit()
    git("config", "core.sparseCheckout", "true", cwd=machine.root)
    return machine


def test_what_a_killed_git_had_removed_is_there_at_the_next_commit(
    machine, git, tmp_path
):
    # git has removed what the merge moves when it comes to the first file that it writes
    killing = tmp_path / "smudge"
    killing.write_text("#!/bin/sh\nkill -9 $PPID\n")
    killing.chmod(0o755)
    git("config", "filter.killing.smudge", str(killing), cwd=machine.root)
    attributes = machine.root / ".git" / "info" / "attributes"
    attributes.write_text("aaa.txt filter=killing\n")
    git("fetch", "-q", cwd=machine.root)
    theirs = git("rev-parse", "origin/main", cwd=machine.root)
    note = machine.root / ".git" / "merging.keeplore"
    place = machine.root / next(machine.scan()).path
    said = place.read_text()
    with pytest.MonkeyPatch.context() as patch:
        # we die with it
        patch.setattr("pathlib.Path.unlink", lambda *_args, **_options: None)
        with pytest.raises(RepositoryBusy):
            machine.merge(theirs)
    assert note.exists() and not place.exists()
    (machine.root / ".git" / "index.lock").unlink()
    attributes.unlink()
    assert machine.commit().paths == ()
    assert place.read_text() == said and not note.exists()
    machine.merge(theirs)
    bodies = "".join(machine.load(file.path).body for file in machine.scan())
    assert "kept here" in bodies and "put away there" in bodies
    assert git("status", "--porcelain", cwd=machine.root) == ""


def test_a_merge_that_ends_between_two_memories_that_swap_places(
    store, note, git, tmp_path
):
    paths = [store.save(note(title, body="old\n")) for title in ("One", "Other")]
    store.commit()
    git("clone", "-q", str(store.root), str(tmp_path / "clone"), cwd=tmp_path)
    machine = Store(tmp_path / "clone", branch="main", machine="studio")
    places = [store.root / path for path in paths]
    texts = [place.read_bytes() for place in places]
    for place, text in zip(places, reversed(texts), strict=True):
        place.write_bytes(text)
    store.commit()
    for title, path in zip(("One", "Other"), paths, strict=True):
        machine.save(note(title, body=f"old\n\nnew in {title}\n"), path)
    machine.commit()
    git("fetch", "-q", cwd=machine.root)
    theirs = git("rev-parse", "origin/main", cwd=machine.root)
    put, count = merge_module._put_file, 0

    def cut_short(*arguments):
        nonlocal count
        count += 1
        if count == 2:
            raise KeyboardInterrupt
        put(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge_module, "_put_file", cut_short)
        with pytest.raises(KeyboardInterrupt):
            machine.merge(theirs)
    assert machine.commit().paths == ()
    machine.merge(theirs)
    bodies = {
        memory.title: memory.body
        for memory in (machine.load(file.path) for file in machine.scan())
    }
    assert bodies == {
        "One": "old\n\nnew in One\n",
        "Other": "old\n\nnew in Other\n",
    }


def test_a_folder_in_the_way_of_what_is_taken_back_stays_and_nothing_is_lost(
    store, note, git
):
    kept = store.save(note("Kept", body="here\n"))
    store.commit()
    text = (store.root / kept).read_bytes()
    before = git("rev-parse", "HEAD", cwd=store.root)
    moved = store.save(note("New", body="there\n"))
    store.remove(kept)
    store.commit()
    after = git("rev-parse", "HEAD", cwd=store.root)
    git("reset", "-q", "--soft", before, cwd=store.root)
    git("read-tree", before, cwd=store.root)
    note_of_merge = store.root / ".git" / "merging.keeplore"
    note_of_merge.write_text(json.dumps([before, after]))
    (store.root / moved).unlink()
    for path in (kept, moved):
        (store.root / path).mkdir()
        (store.root / path / "theirs.txt").write_text("theirs\n")
    store.commit()
    assert not note_of_merge.exists()
    assert all((store.root / path / "theirs.txt").exists() for path in (kept, moved))
    [file] = store.scan()
    assert (store.root / file.path).read_bytes() == text
