"""Taking in another machine's commits: what reaches the disk, what stops it, what stays
untouched.
"""

from __future__ import annotations

import pytest
from refusals import refused

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store import Store
from keeplore.store.merge import merge


@pytest.fixture
def other(store, git, tmp_path):
    """The same workspace on another machine; ``arrive`` brings its commits here, without merging
    them.
    """
    root = tmp_path / "other machine"
    git("clone", "-q", str(store.root), str(root), cwd=tmp_path)
    there = Store(root, branch="main")

    def arrive() -> str:
        there.commit()
        git("fetch", "-q", str(root), "main", cwd=store.root)
        return there.head()

    return there, arrive


def is_in_step(store, git):
    """Disk, index and HEAD say the same."""
    return (
        git("status", "--porcelain", cwd=store.root) == ""
        and store.commit().commit is None
    )


def test_a_fast_forward_writes_changes_and_removes(store, other, note, git):
    there, arrive = other
    kept, gone = store.save(note("Changed")), store.save(note("Gone"))
    store.commit()
    git("pull", "-q", cwd=there.root)
    there.save(note("Changed", body="new words\n"))
    (there.root / gone).unlink()
    added = there.save(note("Added"))
    theirs = arrive()
    merged = store.merge(theirs)
    assert merged.commit == store.head() == theirs
    assert set(merged.paths) == {kept, gone, added}
    assert store.load(kept).body == "new words\n"
    assert not (store.root / gone).exists() and (store.root / added).exists()
    assert is_in_step(store, git)


def test_two_sides_become_a_merge_commit_with_both(store, other, note, git):
    there, arrive = other
    ours, theirs = store.save(note("Ours")), there.save(note("Theirs"))
    before = store.commit().commit
    other_commit = arrive()
    merged = store.merge(other_commit)
    assert git("log", "-1", "--format=%P", cwd=store.root) == f"{before} {other_commit}"
    assert merged.paths == (theirs,)
    assert (store.root / ours).exists() and (store.root / theirs).exists()
    assert is_in_step(store, git)
    assert store.merge(other_commit).paths == ()
    assert store.head() == merged.commit


def test_the_same_memory_written_on_both_sides_is_no_conflict(store, other, note, git):
    there, arrive = other
    store.save(note("Twice"))
    there.save(note("Twice"))
    store.commit()
    store.merge(arrive())
    assert is_in_step(store, git)


def test_what_a_merge_cannot_join_stands_beside_and_names_the_other(
    store, other, note, git
):
    there, arrive = other
    path = store.save(note("Argued", body="ours\n"))
    there.save(note("Argued", body="theirs\n"))
    added = there.save(note("Added"))
    store.commit()
    merged = store.merge(arrive())
    assert added in merged.paths
    texts = {file.path: store.load(file.path) for file in store.scan()}
    [beside] = set(texts) - {path, added}
    assert {texts[path].body, texts[beside].body} == {"ours\n", "theirs\n"}
    assert ("contradicts", texts[path].id) in texts[beside].links
    assert is_in_step(store, git)


def test_an_edit_follows_a_memory_that_the_other_side_archived(store, other, note, git):
    there, arrive = other
    path = store.save(note("Moved"))
    store.commit()
    git("pull", "-q", cwd=there.root)
    archived = path.replace("memory/", "memory/archive/", 1)
    there.move(path, archived)
    store.save(note("Moved", body="edited here\n"))
    store.commit()
    store.merge(arrive())
    assert [file.path for file in store.scan()] == [archived]
    assert store.load(archived).body == "edited here\n"
    assert is_in_step(store, git)


def test_an_edit_beats_a_removal_that_left_no_tombstone(store, other, note, git):
    there, arrive = other
    path = store.save(note("Removed there"))
    store.commit()
    git("pull", "-q", cwd=there.root)
    (there.root / path).unlink()
    store.save(note("Removed there", body="edited here\n"))
    store.commit()
    store.merge(arrive())
    assert store.load(path).body == "edited here\n"


def test_a_memory_that_two_sides_moved_to_two_places_is_one_file(
    store, other, note, git
):
    there, arrive = other
    path = store.save(note("Moved"))
    store.commit()
    git("pull", "-q", cwd=there.root)
    archived, elsewhere = (
        path.replace("memory/", "memory/archive/", 1),
        path.replace("gotchas", "facts"),
    )
    there.move(path, elsewhere)
    store.move(path, archived)
    store.commit()
    store.merge(arrive())
    assert [file.path for file in store.scan()] == [archived]


def test_the_persons_own_files_never_stop_a_merge(store, other, git):
    there, arrive = other
    (store.root / "README.md").write_text("ours\n")
    (there.root / "README.md").write_text("theirs\n")
    for place in (store.root, there.root):
        git("add", "README.md", cwd=place)
        git("commit", "-qm", "Say what this is", cwd=place)
    store.merge(arrive())
    texts = {file.name: file.read_text() for file in store.root.glob("README*.md")}
    assert sorted(texts.values()) == ["ours\n", "theirs\n"] and "README.md" in texts
    assert is_in_step(store, git)


def test_names_that_differ_in_case_alone_are_set_apart(store, other, git):
    there, arrive = other
    for root, name in ((store.root, "Notes.md"), (there.root, "notes.md")):
        (root / "memory").mkdir(exist_ok=True)
        (root / "memory" / name).write_text(f"# {name}\n")
    store.commit()
    store.merge(arrive())
    names = [file.path for file in store.scan()]
    assert len(names) == 2 and len({name.lower() for name in names}) == 2
    assert is_in_step(store, git)


def test_histories_that_were_merged_crosswise_are_joined_again(store, other, note, git):
    there, arrive = other
    path = store.save(note("Crossed", body="a\nb\nc\n"))
    store.commit()
    git("pull", "-q", cwd=there.root)
    store.save(note("Crossed", body="A\nb\nc\n"))
    there.save(note("Crossed", body="a\nb\nC\n"))
    ours, theirs = store.commit().commit, arrive()
    git("fetch", "-q", str(store.root), "main", cwd=there.root)
    store.merge(theirs)
    there.merge(ours)
    store.save(note("Crossed", body="A\nbb\nC\n"))
    store.commit()
    there.save(note("Added there"))
    merged = store.merge(arrive())
    assert store.load(path).body == "A\nbb\nC\n"
    assert not [name for name in merged.paths if name == path]


def test_a_file_that_is_being_edited_here_stops_the_merge(store, other, note, git):
    there, arrive = other
    path = store.save(note("Edited"))
    store.commit()
    git("pull", "-q", cwd=there.root)
    there.save(note("Edited", body="theirs\n"))
    store.save(note("Edited", body="ours\n"))
    head = store.head()
    with refused(RepositoryBusy, edited_here(path)):
        store.merge(arrive())
    assert store.head() == head and store.load(path).body == "ours\n"


def edited_here(path):
    return (
        f"{path} changed on another machine and on disk here. "
        "Commit your edits of these files; nothing is lost, and it is tried again then"
    )


def test_an_edit_in_the_last_moment_is_not_overwritten(
    store, other, note, git, monkeypatch
):
    there, arrive = other
    first, second = store.save(note("First")), store.save(note("Second"))
    store.commit()
    git("pull", "-q", cwd=there.root)
    for title in ("First", "Second"):
        there.save(note(title, body="theirs\n"))
    put, head = merge._put_file, store.head()

    def put_late(backend, path, change):
        if path == max(first, second):
            (store.root / path).write_text("by hand\n")
        put(backend, path, change)

    monkeypatch.setattr(merge, "_put_file", put_late)
    with refused(RepositoryBusy, edited_here(max(first, second))):
        store.merge(arrive())
    assert store.head() == head
    assert (store.root / max(first, second)).read_text() == "by hand\n"
    # what was written of the other side's is taken back, and merged again
    assert store.commit().paths == (max(first, second),)
    assert store.load(min(first, second)).body != "theirs\n"
    store.merge(there.head())
    bodies = [store.load(file.path).body for file in store.scan()]
    assert sorted(bodies) == ["by hand\n", "theirs\n", "theirs\n"]


def test_the_persons_files_follow_where_they_are_untouched(store, other, git):
    there, arrive = other
    (there.root / "README.md").write_text("a better text\n")
    (there.root / "src").mkdir()
    (there.root / "src" / "tool.sh").write_text("#!/bin/sh\n")
    (there.root / "src" / "tool.sh").chmod(0o755)
    git("add", ".", cwd=there.root)
    git("commit", "-qm", "By hand", cwd=there.root)
    store.merge(arrive())
    assert (store.root / "README.md").read_text() == "a better text\n"
    assert (store.root / "src" / "tool.sh").stat().st_mode & 0o111
    assert is_in_step(store, git)


@pytest.mark.parametrize(
    "how", ["edited", "staged", "in the way", "staged and put back"]
)
def test_the_persons_files_stop_the_merge_where_they_are_touched(
    store, other, note, git, how
):
    there, arrive = other
    name = "new.txt" if how == "in the way" else "README.md"
    (there.root / name).write_text("theirs\n")
    git("add", name, cwd=there.root)
    git("commit", "-qm", "By hand", cwd=there.root)
    added = there.save(note("Added"))
    original = (store.root / name).read_text() if name == "README.md" else ""
    (store.root / name).write_text("mine\n")
    if how.startswith("staged"):
        git("add", name, cwd=store.root)
    if how == "staged and put back":
        (store.root / name).write_text(original)
    before, head = git("status", "--porcelain", cwd=store.root), store.head()
    with refused(RepositoryBusy, edited_here(name)):
        store.merge(arrive())
    assert git("status", "--porcelain", cwd=store.root) == before
    assert store.head() == head and not (store.root / added).exists()


def test_staged_and_unstaged_work_stays_as_it_was(store, other, person, note, git):
    there, arrive = other
    there.save(note("Added"))
    before = person()
    store.merge(arrive())
    assert person() == before


def test_links_and_unportable_names_of_another_machine_never_reach_the_disk(
    store, other, note, git, tmp_path
):
    there, arrive = other
    folder = there.root / "memory"
    folder.mkdir()
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "CON.md").write_text("x")
    git("add", "memory", cwd=there.root)
    git("commit", "-qm", "Hostile", cwd=there.root)
    good = there.save(note("Good"))
    store.merge(arrive())
    assert [path.name for path in (store.root / "memory").iterdir()] == ["gotchas"]
    assert (store.root / good).exists()
    assert store.commit().commit is None
    assert "memory/CON.md" in git(
        "ls-tree", "-r", "--name-only", "HEAD", cwd=store.root
    )


def test_a_side_that_was_wiped_is_refused(store, other, note, git):
    there, arrive = other
    paths = [store.save(note(f"Number {number}")) for number in range(12)]
    store.commit()
    git("pull", "-q", cwd=there.root)
    for path in paths:
        (there.root / path).unlink()
    said = (
        "the other side removes 12 of 12 files of memory. If that is meant: Run `git merge` in the "
        "workspace and resolve it there; Keeplore goes on afterwards"
    )
    with refused(RepositoryError, said):
        store.merge(arrive())
    assert all((store.root / path).exists() for path in paths)


def test_a_history_without_a_common_start_is_refused(store, git, tmp_path, template):
    git("init", "-q", "-b", "main", "foreign", cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "Other", cwd=tmp_path / "foreign")
    git("fetch", "-q", str(tmp_path / "foreign"), "main", cwd=store.root)
    head = store.head()
    said = (
        "the remote holds another workspace, with no history in common with this one. If both are "
        "yours, `keeplore sync --join` brings them together; else give this one a remote of its own"
    )
    with refused(RepositoryError, said):
        store.merge(git("rev-parse", "FETCH_HEAD", cwd=store.root))
    assert store.head() == head


@pytest.mark.parametrize("kind", ["filter", "sparse", "split"])
def test_where_libgit2_cannot_the_users_git_merges(store, other, note, git, kind):
    there, arrive = other
    if kind == "filter":
        for root in (store.root, there.root):
            git("config", "filter.turn.clean", "tr a-z n-za-m", cwd=root)
            git("config", "filter.turn.smudge", "tr a-z n-za-m", cwd=root)
            (root / ".git" / "info" / "attributes").write_text(
                "memory/** filter=turn\n"
            )
    elif kind == "sparse":
        git("sparse-checkout", "set", "--no-cone", "/*", "!/left-out/", cwd=store.root)
    else:
        git("update-index", "--split-index", cwd=store.root)
    theirs = there.save(note("Theirs"))
    path = store.save(
        note("Argued", body="start\n\nours\n", updated_at="2026-02-20T00:00:00Z")
    )
    there.save(
        note("Argued", body="start\n\ntheirs\n", updated_at="2026-03-01T00:00:00Z")
    )
    store.commit()
    (store.root / "mine.txt").write_text("staged\n")
    git("add", "mine.txt", cwd=store.root)
    beside = set(store.merge(arrive()).paths) - {theirs, path}
    assert (
        store.load(theirs).title == "Theirs"
        and store.load(path).body == "start\n\ntheirs\n"
    )
    assert [store.load(other).body for other in beside] == ["start\n\nours\n"]
    assert (
        git("log", "-1", "--format=%s", cwd=store.root)
        == "Merge memory of other machines"
    )
    assert git("status", "--porcelain", cwd=store.root) == "A  mine.txt"
    assert store.commit().commit is None
