"""Merges of what people seldom do, and do: mass moves, swapped names, folders for files, long
names, large files.
"""

from __future__ import annotations

import os

import pytest
from refusals import refused

from keeplore.errors import RepositoryError
from keeplore.memory import new_id, serialise
from keeplore.store import Store
from keeplore.store.merge.merge_plan import merge_versions

LARGE = 33 * 1024 * 1024  # bytes, more than a memory may have


@pytest.fixture
def other(store, git, tmp_path):
    """The same workspace on another machine; ``exchange`` brings each the commits of the other."""
    root = tmp_path / "other machine"
    git("clone", "-q", str(store.root), str(root), cwd=tmp_path)
    there = Store(root, branch="main")

    def exchange() -> None:
        for here, at in ((store, there), (there, store)):
            here.commit()
            at.commit()
            git("fetch", "-q", str(at.root), "main", cwd=here.root)
            here.merge(at.head())
            assert git("status", "--porcelain", cwd=here.root) == ""
        assert git("rev-parse", "HEAD^{tree}", cwd=store.root) == git(
            "rev-parse", "HEAD^{tree}", cwd=root
        )

    return there, exchange


def archived(path):
    return path.replace("memory/", "memory/archive/", 1)


def bodies(store):
    return {file.path: store.load(file.path).body for file in store.scan()}


def test_archiving_most_of_the_memory_is_no_loss(store, other, note):
    there, exchange = other
    paths = [store.save(note(f"Note {n}")) for n in range(20)]
    exchange()
    for path in paths[:15]:
        store.move(path, archived(path))
    exchange()
    assert sum("archive/" in path for path in bodies(there)) == 15


def test_forgetting_most_of_the_memory_is_no_loss(store, other, note):
    there, exchange = other
    for n in range(20):
        store.save(note(f"Note {n}"))
    exchange()
    store.forget_all(
        [new_id(f"Note {n}") for n in range(15)], "studio", "2026-03-01T10:00:00Z"
    )
    exchange()
    assert len(bodies(there)) == 5


def test_renaming_a_folder_by_hand_is_no_loss_and_losing_it_is(store, other, note):
    there, exchange = other
    for n in range(20):
        store.save(note(f"Note {n}"))
    exchange()
    (store.root / "memory" / "gotchas").rename(store.root / "memory" / "traps")
    exchange()
    assert all(path.startswith("memory/traps/") for path in bodies(there))
    for path in bodies(store):
        (store.root / path).unlink()
    with pytest.raises(RepositoryError, match="removes 20 of 20"):
        exchange()


def test_an_edit_reaches_a_file_that_got_a_name_by_hand(store, other, note):
    there, exchange = other
    path = store.save(note("Plan", body="start\n\nend\n"))
    exchange()
    (store.root / path).rename(store.root / "memory" / "my plan.md")
    there.save(note("Plan", body="start\n\nedited\n"))
    exchange()
    assert bodies(store) == {"memory/my plan.md": "start\n\nedited\n"}


def test_two_sides_that_archive_and_edit_have_what_they_both_came_from(
    store, other, note
):
    there, exchange = other
    path = store.save(note("Plan", body="start\n\nmiddle\n\nend\n"))
    exchange()
    for here, word, other_word in ((store, "start", "first"), (there, "end", "last")):
        here.move(path, archived(path))
        text = (here.root / archived(path)).read_text()
        (here.root / archived(path)).write_text(text.replace(word, other_word))
    exchange()
    assert bodies(store) == {archived(path): "first\n\nmiddle\n\nlast\n"}


def test_edits_follow_two_memories_that_swapped_their_names(store, other, note):
    there, exchange = other
    one, two = (store.save(note(title, body=f"{title}\n")) for title in ("One", "Two"))
    exchange()
    for old, new in ((one, "aside"), (two, one), ("aside", two)):
        (store.root / old).rename(store.root / new)
    there.save(note("One", body="One\n\nedited\n"))
    there.save(note("Two", body="Two\n\nedited\n"))
    exchange()
    assert bodies(store) == {two: "One\n\nedited\n", one: "Two\n\nedited\n"}


def test_a_file_stands_beside_the_folder_that_needs_its_name(store, other):
    there, exchange = other
    (store.root / "memory").mkdir(exist_ok=True)
    (store.root / "memory" / "todo").write_text("mine\n")
    (there.root / "memory" / "todo").mkdir(parents=True)
    (there.root / "memory" / "todo" / "today.md").write_text("theirs\n")
    exchange()
    [beside] = (store.root / "memory").glob("todo.conflict-*")
    assert beside.read_text() == "mine\n"
    assert (store.root / "memory" / "todo" / "today.md").read_text() == "theirs\n"


def test_two_files_with_the_longest_name_both_stay(store, other):
    there, exchange = other
    for here, text in ((store, "mine\n"), (there, "theirs\n")):
        (here.root / "memory").mkdir(exist_ok=True)
        (here.root / "memory" / f"{'n' * 252}.md").write_text(text)
    exchange()
    assert (
        sorted(bodies(store).values())
        == sorted(bodies(there).values())
        == ["mine\n", "theirs\n"]
    )


def test_two_versions_of_a_file_that_is_too_large_for_a_memory_both_stay(
    store, other, git
):
    there, exchange = other
    path = "memory/attached/picture.bin"
    for here, byte in ((store, b"a"), (there, b"b")):
        (here.root / path).parent.mkdir(parents=True)
        (here.root / path).write_bytes(b"\0" + byte * LARGE)
        git("add", path, cwd=here.root)
        git("commit", "-qm", "Attach", cwd=here.root)
    exchange()
    found = {file.read_bytes()[1:2] for file in (store.root / path).parent.iterdir()}
    assert found == {b"a", b"b"}


def test_a_program_that_both_changed_can_still_be_run(store, other, git):
    there, exchange = other
    (store.root / "run.sh").write_text("#!/bin/sh\nold\n")
    (store.root / "run.sh").chmod(0o755)
    git("add", "run.sh", cwd=store.root)
    git("commit", "-qm", "Run", cwd=store.root)
    exchange()
    for here, word in ((store, "mine"), (there, "theirs")):
        (here.root / "run.sh").write_text(f"#!/bin/sh\n{word}\n")
        git("commit", "-qam", "Edit", cwd=here.root)
    exchange()
    modes = git(
        "ls-tree", "HEAD", "--format=%(objectmode) %(path)", cwd=store.root
    ).split("\n")
    assert [line[:6] for line in modes if "run" in line] == ["100755", "100755"]


def test_a_memory_that_somebody_made_executable_leaves_nothing_staged(
    store, other, note, git
):
    there, exchange = other
    one, two = (
        store.save(note(title, body="start\n\nend\n")) for title in ("One", "Two")
    )
    exchange()
    for path in (one, two):
        with (store.root / path).open("a") as file:
            file.write("\nmore\n")
        (store.root / path).chmod(0o700)
    there.save(note("Two", body="first\n\nend\n"))
    exchange()  # which looks at git's status on both
    assert [os.access(there.root / path, os.X_OK) for path in (one, two)] == [
        True,
        False,
    ]
    git("update-index", "--chmod=-x", one, cwd=there.root)
    git("commit", "-qm", "No program", cwd=there.root)
    (there.root / one).chmod(0o600)
    exchange()
    assert not os.access(store.root / one, os.X_OK)


def test_a_memory_that_a_persons_merge_moved_twice_leaves_no_empty_file(
    store, other, note, git
):
    there, _ = other
    path = store.save(note("Plan", body="line\n\n" * 20))
    store.commit()
    git("pull", "-q", cwd=there.root)
    for here, name in ((store, "one.md"), (there, "two.md")):
        (here.root / path).rename(here.root / "memory" / name)
        here.commit()
    git("fetch", "-q", str(there.root), "main", cwd=store.root)
    try:
        git("merge", "-q", "--no-edit", "FETCH_HEAD", cwd=store.root)
    except AssertionError:
        store.conclude()
    assert not (store.root / ".git" / "MERGE_HEAD").exists()
    assert set(bodies(store)) == {"memory/one.md", "memory/two.md"}


@pytest.mark.parametrize(
    "left", [b"---\nschema: [\n---\n\ntext\n", b"text\n", b"\xff\xfe\n"]
)
def test_what_was_forgotten_is_gone_though_the_other_side_left_nothing_that_tells_its_id(
    store, other, note, left
):
    there, exchange = other
    path = store.save(note("Secret"))
    exchange()
    store.forget(new_id("Secret"), "studio", "2026-03-01T10:00:00Z")
    (there.root / path).write_bytes(left)
    exchange()
    assert not (store.root / path).exists() and not (there.root / path).exists()


def test_of_two_versions_the_one_that_can_be_read_keeps_the_place(note):
    path, sound = "memory/gotchas/plan.md", serialise(note("Plan")).encode()
    for n in range(4):  # whichever hash is the larger
        broken = f"---\ntitle: Pläne {n}\n---\n".encode("latin-1")
        for sides in ((sound, broken), (broken, sound)):
            data, beside = merge_versions(path, None, *sides)
            assert (data, [*beside.values()]) == (sound, [broken])
    assert merge_versions(path, sound, sound + b"more\n", b"\n") == (
        sound + b"more\n",
        {},
    )


@pytest.mark.parametrize("path", ["memory/gotchas/plan.md", "logo.png"])
def test_of_two_versions_that_nobody_can_read_both_stay_on_every_machine(path):
    first, second = b"\xff\xfe one", b"\xff\xfe two"
    data, beside = merge_versions(path, None, first, second)
    assert merge_versions(path, None, second, first) == (data, beside)
    [(place, kept)] = beside.items()
    assert {data, kept} == {first, second}
    stem, _, extension = path.rpartition(".")
    assert place.startswith(stem) and place.endswith(f".{extension}") and place != path
    assert merge_versions(path, None, first, first) == (first, {})


def test_a_memory_with_a_zero_byte_is_merged_like_every_other(store, other, note):
    there, exchange = other
    path = store.save(note("Plan", body="start\n\nend\n"))
    exchange()
    (store.root / path).write_text((store.root / path).read_text() + "\0\n")
    there.save(note("Plan", body="first\n\nend\n"))
    exchange()
    assert bodies(there) == {path: "first\n\nend\n\0\n"}


def test_edits_reach_a_memory_that_took_the_place_of_one_the_other_side_emptied(
    store, other, note
):
    there, exchange = other
    one, two = (
        store.save(note(title, body=f"{title}\n\nend\n")) for title in ("One", "Two")
    )
    exchange()
    for old, new in ((one, "aside"), (two, one), ("aside", two)):
        (store.root / old).rename(store.root / new)
    there.save(note("Two", body="Two\n\nedited\n"))
    (there.root / one).write_text("")
    exchange()
    assert bodies(store) == {one: "Two\n\nedited\n", two: "One\n\nend\n"}


def test_a_memory_that_came_to_a_place_which_the_other_side_gave_to_another_stays(
    store, other, note
):
    there, exchange = other
    path = store.save(note("Plan"))
    exchange()
    (store.root / path).rename(store.root / "memory" / "zz.md")
    (there.root / path).rename(there.root / "memory" / "aa.md")
    later = note("Added", body="added\n", updated_at="2027-01-01T00:00:00Z")
    (there.root / "memory" / "zz.md").write_text(serialise(later))
    exchange()
    assert set(bodies(store).values()) == {"added\n", "# Plan\n\nIt is so.\n"}


def test_links_of_the_person_come_along_and_two_stand_beside_each_other(
    store, other, git
):
    there, exchange = other

    def link(here, target):
        (here.root / "plan").unlink(missing_ok=True)
        (here.root / "plan").symlink_to(target)
        git("add", "plan", cwd=here.root)
        git("commit", "-qm", "Link", cwd=here.root)

    link(store, "README.md")
    exchange()
    assert (there.root / "plan").readlink().name == "README.md"
    link(store, "one")
    link(there, "two")
    exchange()
    assert {place.readlink().name for place in store.root.glob("plan*")} == {
        "one",
        "two",
    }
    (store.root / "plan").unlink()
    (store.root / "plan").write_text("text\n")
    git("commit", "-qam", "Write", cwd=store.root)
    link(there, "three")
    exchange()
    assert (there.root / "plan").read_text() == "text\n"
    assert {place.readlink().name for place in there.root.glob("plan.*")} >= {"three"}


def test_a_link_that_leads_out_of_the_workspace_is_left_to_the_persons_git(
    store, other, git
):
    there, exchange = other
    (store.root / "out").symlink_to("../elsewhere")
    git("add", "out", cwd=store.root)
    git("commit", "-qm", "Link", cwd=store.root)
    said = (
        "the other side changed out, which git alone should write. Run `git merge` in the "
        "workspace and resolve it there; Keeplore goes on afterwards"
    )
    with refused(RepositoryError, said):
        exchange()
    git("pull", "-q", cwd=there.root)
    exchange()
