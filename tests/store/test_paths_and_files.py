"""What may be written and read: names, links, things that are no files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from refusals import refused

from keeplore.errors import Corrupt, NotFound, UnsafePath
from keeplore.memory import Memory
from keeplore.store import Store
from keeplore.store.paths import (
    check_read,
    check_written,
    is_memory,
    is_ours,
    is_portable,
    is_safe,
)

HOSTILE = (
    "../outside.md",
    "/etc/passwd",
    "memory/../../outside.md",
    "memory//twice.md",
    "memory/./here.md",
    ".git/config",
    "memory/.git/config",
    "memory/a\0b.md",
    "",
    "..",
)
UNPORTABLE = (
    "memory/CON.md",
    "memory/aux",
    "memory/lpt1.tar.md",
    "memory/dot.",
    "memory/space ",
    "memory/a\\b.md",
    "memory/a:b.md",
    "memory/line\nbreak.md",
    "memory/esc\x1b[31m.md",
    "memory/zero\u200bwidth.md",
    "memory/" + "x" * 300 + ".md",
    "memory/\udcff.md",
    "memory/" + "a/" * 40 + "deep.md",
)


@pytest.mark.parametrize("path", HOSTILE)
def test_a_path_out_of_the_workspace_is_neither_read_nor_written(path, store):
    said = (
        f"{path!r} is not a path inside the workspace. "
        "Give the id of a memory, or a path below the workspace"
    )
    with refused(UnsafePath, said):
        store.load(path)
    with refused(UnsafePath, not_written(path)):
        store.write_text(path, "x")


def not_written(path):
    """What is said of a path that is not one of ours."""
    return (
        f"{path!r} is not a path that Keeplore writes. "
        "Rename the project or report this as a bug"
    )


@pytest.mark.parametrize("path", UNPORTABLE)
def test_a_name_that_some_system_cannot_hold_is_never_written(path):
    assert not is_portable(path)
    with refused(UnsafePath, not_written(path)):
        check_written(path)


@pytest.mark.parametrize(
    "path",
    ["README.md", "keeplore.yaml", "projects/x/src/a.py", "memory", "src/memory/a.md"],
)
def test_what_is_not_ours_is_never_written(path):
    assert not is_ours(path)
    with refused(UnsafePath, not_written(path)):
        check_written(path)


def test_names_that_a_person_gives_may_be_read_and_committed():
    for path in (
        "memory/Größe & Maß.md",
        "memory/日本語.md",
        "memory/two words.md",
        "memory/-rf.md",
    ):
        check_read(path)
        assert is_portable(path) and is_ours(path) and is_memory(path)


@pytest.mark.parametrize(
    "path",
    [".git/hooks/post-merge", "a/.GIT/config", "git~1/config", "..", "a\\..\\b", "CON"],
)
def test_a_path_that_reaches_into_git_is_not_safe_to_check_out(path):
    assert not is_safe(path)
    assert (
        is_safe(".gitignore")
        and is_safe(".github/workflows/ci.yml")
        and is_safe("src/app.py")
    )


@pytest.mark.parametrize(
    "title",
    [
        "../../../etc/passwd",
        "..",
        "/",
        "con",
        "a\0b",
        "-rf",
        "\u202etxt.md",
        "x" * 5000,
    ],
)
def test_a_hostile_title_cannot_choose_the_place(title, store, note):
    path = store.save(note("Plain").with_meta(title=title))
    assert path.startswith("memory/gotchas/2026-02-09-")
    assert [file.path for file in store.scan()] == [path]
    assert not (store.root.parent / "etc").exists()


def test_a_file_and_its_folders_are_for_their_owner_alone(store, note):
    path = store.root / store.save(note("Private"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_links_and_pipes_are_never_read_entered_or_committed(store, note, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = outside / "secret.md"
    secret.write_text("---\nid: x\n---\n")
    memory = store.root / "memory"
    memory.mkdir()
    (memory / "link.md").symlink_to(secret)
    (memory / "folder").symlink_to(outside)
    os.mkfifo(memory / "pipe.md")
    (store.root / "user").symlink_to(outside)
    whole = "is a symbolic link. Put the files themselves into the workspace"
    for path, said in (
        (
            "memory/link.md",
            "memory/link.md is a symbolic link. Put the file itself into the workspace",
        ),
        ("memory/folder/secret.md", f"memory/folder {whole}"),
        (
            "memory/pipe.md",
            "memory/pipe.md is not a regular file. Move it out of the memory folders",
        ),
        ("user/secret.md", f"user {whole}"),
    ):
        with refused(UnsafePath, said):
            store.load(path)
    with refused(UnsafePath, f"user {whole}"):
        store.save(note("Elsewhere", scope="user"))
    good = store.save(note("Good"))
    committed = store.commit()
    assert [file.path for file in store.scan()] == [good]
    assert committed.paths == (good,)
    assert set(committed.skipped) == {
        "memory/link.md",
        "memory/folder",
        "memory/pipe.md",
        "user",
    }
    assert list(outside.iterdir()) == [secret]


def test_saving_over_a_link_replaces_the_link_and_not_its_target(store, note, tmp_path):
    target = tmp_path / "target.md"
    target.write_text("theirs")
    path = store.save(note("Here"))
    (store.root / path).unlink()
    (store.root / path).symlink_to(target)
    store.save(note("Here"))
    assert target.read_text() == "theirs"
    assert (store.root / path).is_file() and not (store.root / path).is_symlink()


def test_what_is_missing_corrupt_or_too_large_is_told_apart(store):
    memory = store.root / "memory"
    memory.mkdir()
    (memory / "latin.md").write_bytes(b"---\nid: x\n---\n\xff\xfe")
    (memory / "empty.md").write_text("\n")
    with (memory / "huge.md").open("wb") as file:
        file.truncate(33 * 1024 * 1024)
    for path in ("memory/none.md", "memory/empty.md/below.md"):
        said = f"there is no {path}. Run `keeplore doctor` if a search named it"
        with refused(NotFound, said):
            store.load(path)
    for path, said in (
        (
            "memory/latin.md",
            (
                "memory/latin.md is not UTF-8 text. "
                "Convert it, or move it out of the memory folders"
            ),
        ),
        (
            "memory/huge.md",
            (
                f"memory/huge.md is larger than {32 * 1024 * 1024} bytes. "
                "Split it or move it out of the memory folders"
            ),
        ),
    ):
        with refused(Corrupt, said):
            store.load(path)
    with pytest.raises(Corrupt):
        store.load("memory/empty.md")
    assert store.commit().skipped == ("memory/huge.md",)


def test_a_half_written_file_is_swept_when_its_writer_is_long_gone(store, note):
    folder = (store.root / store.save(note("One"))).parent
    old, young = (
        folder / ".one.md.123-0a1b2c3d.tmp",
        folder / ".two.md.124-0a1b2c3d.tmp",
    )
    hidden = folder / ".notes.tmp"
    for path in (old, young, hidden):
        path.write_text("half")
    stuck = folder / ".three.md.125-0a1b2c3d.tmp"  # nobody's: it stops nothing
    stuck.mkdir()
    for path in (old, hidden, stuck):
        os.utime(path, (1, 1))
    store.commit()
    assert stuck.is_dir()
    assert (old.exists(), young.exists(), hidden.exists()) == (False, True, True)


def test_a_better_title_moves_the_file_and_keeps_one_of_it(store, note):
    first = store.save(note("Draft").with_meta(title="Untitled"))
    second = store.save(note("Draft").with_meta(title="Why Redis went"))
    assert first != second
    assert [file.path for file in store.scan()] == [second]
    assert store.find(note("Draft").id) == second


def test_two_files_of_one_id_after_a_crash_become_one_with_the_next_save(store, note):
    first = store.save(note("Draft").with_meta(title="Untitled"))
    text = (store.root / first).read_bytes()
    second = store.save(
        note("Draft").with_meta(title="Better", updated_at="2026-02-10T00:00:00Z")
    )
    (store.root / first).write_bytes(text)
    assert store.find(note("Draft").id) == second
    store.save(store.load(second))
    assert [file.path for file in store.scan()] == [second]


def test_a_neighbour_with_the_same_short_id_is_not_taken_for_the_same_memory(
    store, note
):
    memory = note("First")
    twin_id = memory.id[:-1] + ("0" if memory.id[-1] != "0" else "1")
    first = store.save(memory)
    second = store.save(memory.with_meta(id=twin_id, title="Second"))
    assert {file.path for file in store.scan()} == {first, second}
    assert (store.find(memory.id), store.find(twin_id)) == (first, second)
    assert store.find("mem_no") is None


def test_names_that_differ_in_case_alone_are_two_files(store, git):
    folder = store.root / "memory"
    folder.mkdir()
    for name in ("Twin.md", "twin.md"):
        (folder / name).write_text(name)
    if (folder / "Twin.md").read_text() == "twin.md":
        pytest.skip("this file system folds case")
    assert store.commit().paths == ("memory/Twin.md", "memory/twin.md")
    (folder / "Twin.md").unlink()
    assert store.commit().paths == ("memory/Twin.md",)
    assert (
        git("ls-tree", "--name-only", "HEAD", "memory/", cwd=store.root)
        == "memory/twin.md"
    )


def test_the_scan_sees_memories_in_every_scope_and_nothing_else(store, note):
    expected = {
        store.save(note("A")),
        store.save(note("B", scope="project", project="kasha")),
        store.save(note("C", scope="user")),
    }
    for path in (
        "memory/archive/decisions/old.md",
        "memory/mem_0f5f6a1b-0000-4000-8000-000000000000.md",
    ):
        (store.root / path).parent.mkdir(parents=True, exist_ok=True)
        (store.root / path).write_text("x")
        expected.add(path)
    for path in (
        "memory/picture.png",
        "memory/.hidden.md",
        "projects/kasha/README.md",
        "audit/studio/x.md",
        "note.md",
    ):
        (store.root / path).parent.mkdir(parents=True, exist_ok=True)
        (store.root / path).write_text("x")
    store.write_text("projects/kasha/project.json", "{}\n")
    assert {file.path for file in store.scan()} == expected


def test_before_write_has_the_last_word(workspace_dir: Path, note):
    def upper(memory: Memory) -> Memory:
        return Memory(memory.meta, memory.body.upper())

    store = Store(workspace_dir, before_write=upper)
    assert store.load(store.save(note("Loud"))).body == "# LOUD\n\nIT IS SO.\n"


def test_a_step_before_writing_that_fails_leaves_the_old_file(
    workspace_dir: Path, note
):
    path = Store(workspace_dir).save(note("Kept"))

    def refuse(memory: Memory) -> Memory:
        raise ValueError("not redacted")

    with pytest.raises(ValueError, match="not redacted"):
        Store(workspace_dir, before_write=refuse).save(note("Kept", body="secret\n"))
    assert Store(workspace_dir).load(path).body == "# Kept\n\nIt is so.\n"


def test_a_file_keeps_the_name_that_a_person_gave_it_when_it_is_moved(store):
    (store.root / "memory").mkdir()
    (store.root / "memory" / "the ledger, größe.md").write_text("# Mine\n")
    store.move("memory/the ledger, größe.md", "memory/archive/the ledger, größe.md")
    assert [file.path for file in store.scan()] == [
        "memory/archive/the ledger, größe.md"
    ]
    for unsafe in ("elsewhere/a.md", "memory/CON.md", "memory/../a.md", "memory/.a.md"):
        said = f"{unsafe!r} is a name that not every system can hold. Rename the file first"
        with refused(UnsafePath, said):
            store.move("memory/archive/the ledger, größe.md", unsafe)
