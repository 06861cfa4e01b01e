"""What is committed, what is not, and what that costs."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from refusals import refused

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store import Store, commit, create, creation
from keeplore.store.git import libgit_backend
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.libgit_backend import LibgitBackend
from keeplore.store.repository_state import directories


def paths_in(git, root, revision="HEAD"):
    return set(git("ls-tree", "-r", "--name-only", revision, cwd=root).split("\n"))


def test_nothing_new_makes_no_commit(store):
    head = store.head()
    assert store.commit().commit is None
    assert store.head() == head


def test_a_persons_edits_renames_and_removals_are_committed_too(store, note, git):
    kept, edited, removed = (
        store.save(note(title)) for title in ("Kept", "Edited", "Removed")
    )
    store.commit()
    (store.root / edited).write_text("---\nid: x\n---\nby hand\n")
    (store.root / removed).unlink()
    (store.root / kept).rename(store.root / "memory" / "My own name.md")
    committed = store.commit()
    assert committed.paths == tuple(
        sorted([edited, removed, kept, "memory/My own name.md"])
    )
    assert {
        path for path in paths_in(git, store.root) if path.startswith("memory/")
    } == {
        edited,
        "memory/My own name.md",
    }
    assert (
        git("log", "-1", "--format=%s", cwd=store.root)
        == "Write 2 memory files and remove 2 memory files"
    )
    assert git("status", "--porcelain", cwd=store.root) == ""


@pytest.mark.parametrize("backend", [LibgitBackend, GitBackend])
def test_what_a_person_staged_before_it_was_renamed_does_not_stay_staged(
    store, note, git, monkeypatch, backend
):
    monkeypatch.setattr(libgit_backend, "LibgitBackend", backend)
    old, gone = store.save(note("Old name")), store.save(note("Gone"))
    (store.root / "mine.txt").write_text("mine")
    git("add", "memory", "mine.txt", cwd=store.root)
    (store.root / old).rename(store.root / "memory" / "New name.md")
    (store.root / gone).unlink()
    assert store.commit().paths == ("memory/New name.md",)
    assert git("status", "--porcelain", cwd=store.root) == "A  mine.txt"


def test_the_last_file_of_a_folder_takes_the_folder_along(store, note, git):
    path = store.save(note("Alone"))
    store.commit("Say so")
    assert git("log", "-1", "--format=%s", cwd=store.root) == "Say so"
    (store.root / path).unlink()
    assert store.commit().paths == (path,)
    assert not any(found.startswith("memory/") for found in paths_in(git, store.root))


def test_a_file_that_becomes_a_folder_and_back(store, git):
    place = store.root / "memory" / "topic"
    place.parent.mkdir()
    place.write_text("file")
    store.commit()
    place.unlink()
    place.mkdir()
    (place / "one.md").write_text("folder")
    assert store.commit().paths == ("memory/topic", "memory/topic/one.md")
    assert git("ls-files", "memory", cwd=store.root) == "memory/topic/one.md"
    (place / "one.md").unlink()
    place.rmdir()
    place.write_text("file")
    store.commit()
    assert git("ls-files", "memory", cwd=store.root) == "memory/topic"
    assert git("status", "--porcelain", cwd=store.root) == ""


def test_an_edit_of_the_same_size_at_the_same_time_is_noticed(store, note):
    path = store.root / store.save(note("Same", body="aaaa\n"))
    store.commit()
    data, before = path.read_bytes(), path.stat()
    with path.open("r+b") as file:
        file.write(data.replace(b"aaaa", b"bbbb"))
    os.utime(
        path, ns=(before.st_atime_ns, before.st_mtime_ns)
    )  # the clock of the file system is as coarse as that
    assert len(store.commit().paths) == 1


def test_unchanged_files_are_not_read_again(store, note, monkeypatch):
    monkeypatch.setattr(commit, "RACY_NS", 0)
    store.save(note("Once"))
    store.commit()
    store.commit()
    read = []
    hashes = LibgitBackend.hashes
    monkeypatch.setattr(
        LibgitBackend,
        "hashes",
        lambda self, paths: read.extend(paths) or hashes(self, paths),
    )
    store.commit()
    assert read == []


def test_line_ends_are_normalised_as_git_would(store, note, git):
    path = store.save(note("Windows"))
    store.commit()
    text = (store.root / path).read_bytes()
    (store.root / path).write_bytes(text.replace(b"\n", b"\r\n"))
    assert store.commit().commit is None
    (store.root / path).write_bytes(text.replace(b"\n", b"\r\n") + b"more\r\n")
    assert store.commit().paths == (path,)
    assert git("status", "--porcelain", cwd=store.root) == ""


@pytest.mark.parametrize("backend", [LibgitBackend, GitBackend])
def test_what_is_staged_is_read_in_the_index_that_is_named(
    store, note, git, tmp_path, backend
):
    path = store.save(note("Old name"))
    head = store.commit().commit
    index = tmp_path / "index"
    shutil.copy(store.root / ".git" / "index", index)
    git("rm", "-q", "--cached", path, cwd=store.root)
    own = backend(store.root, directories(store.root), store.cache)
    assert own.staged(head, index) == {}
    removed = own.staged(head, store.root / ".git" / "index")
    assert {name: change.after for name, change in removed.items()} == {path: None}


@pytest.mark.parametrize("backend", [LibgitBackend, GitBackend])
def test_what_git_ignores_stays_out_and_is_reported(
    store, note, git, monkeypatch, backend
):
    monkeypatch.setattr(libgit_backend, "LibgitBackend", backend)
    (store.root / ".git" / "info" / "exclude").write_text("memory/private/\n*.orig\n")
    for name in ("private/diary.md", "left.orig", "note.md~"):
        path = store.root / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    good = store.save(note("Good"))
    committed = store.commit()
    assert committed.paths == (good,)
    assert set(committed.skipped) == {
        "memory/private/diary.md",
        "memory/left.orig",
        "memory/note.md~",
    }
    git("add", "-f", "memory/private/diary.md", cwd=store.root)
    git("commit", "-qm", "On purpose", cwd=store.root)
    (store.root / "memory/private/diary.md").write_text("tracked now")
    assert store.commit().paths == ("memory/private/diary.md",)


def test_names_that_not_every_system_holds_are_reported_and_never_removed(store, git):
    folder = store.root / "memory"
    folder.mkdir()
    (folder / "CON.md").write_text("x")
    (folder / "a\nb.md").write_text("x")
    assert set(store.commit().skipped) == {"memory/CON.md", "memory/a\nb.md"}
    git("add", "-f", "memory", cwd=store.root)
    git("commit", "-qm", "By hand", cwd=store.root)
    (folder / "CON.md").unlink()
    assert store.commit().commit is None


def test_a_tracked_file_behind_a_link_or_a_nested_repository_is_left_alone(
    store, note, git, tmp_path
):
    path = store.save(note("Tracked", scope="project", project="kasha"))
    store.commit()
    (store.root / "projects").rename(tmp_path / "projects")
    (store.root / "projects").symlink_to(tmp_path / "projects")
    assert store.commit().commit is None
    (store.root / "projects").unlink()
    (tmp_path / "projects").rename(store.root / "projects")
    git("init", "-q", str(store.root / "projects" / "kasha" / "memory"), cwd=store.root)
    (store.root / path).unlink()
    assert store.commit().commit is None


def test_a_mode_that_a_person_set_is_kept(store, note, git):
    path = store.save(note("Script"))
    (store.root / path).chmod(0o755)
    git("add", path, cwd=store.root)
    git("commit", "-qm", "Executable", cwd=store.root)
    store.save(note("Script", body="changed\n"))
    assert store.commit().paths == (path,)
    assert git("ls-tree", "HEAD", path, cwd=store.root).startswith("100755")


def test_a_memory_that_a_persons_commit_dropped_comes_back(store, note, git):
    path = store.save(note("Dropped"))
    store.commit()
    git("rm", "-q", "--cached", path, cwd=store.root)
    git("commit", "-qm", "Oops", cwd=store.root)
    assert store.commit().paths == (path,)
    assert git("status", "--porcelain", cwd=store.root) == ""


def test_the_author_is_the_one_that_git_would_take(store, note, git, tmp_path):
    (tmp_path / "work").write_text(
        "[user]\n\tname = At Work <x>\n\temail = work@example.invalid\n"
    )
    git("config", "include.path", str(tmp_path / "work"), cwd=store.root)
    store.save(note("Mine"))
    store.commit()
    assert (
        git("log", "-1", "--format=%an %ae %cn", cwd=store.root)
        == "At Work x work@example.invalid At Work x"
    )


def test_a_commit_outside_of_us_during_ours_is_never_undone(
    store, note, git, monkeypatch
):
    """The person moves the branch between plan and act: the plan is made again on what they did."""
    path = store.save(note("Ours"))
    plan, others = commit._plan, []

    def planned(*arguments):
        made = plan(*arguments)
        if not others:
            (store.root / "theirs.txt").write_text("theirs\n")
            git("add", "theirs.txt", cwd=store.root)
            git("commit", "-qm", "Theirs", cwd=store.root)
            others.append(git("rev-parse", "HEAD", cwd=store.root))
        return made

    monkeypatch.setattr(commit, "_plan", planned)
    assert store.commit().paths == (path,)
    assert git("rev-parse", "HEAD~1", cwd=store.root) == others[0]
    assert "theirs.txt" in paths_in(git, store.root)


def test_a_repository_that_never_rests_is_reported_as_busy(store, note, monkeypatch):
    path = store.root / store.save(note("Restless"))
    plan = commit._plan

    def planned(*arguments):
        made = plan(*arguments)
        path.write_text(path.read_text() + "more\n")
        return made

    monkeypatch.setattr(commit, "_plan", planned)
    said = f"{store.root} changes all the time. Nothing is lost; it is tried again soon"
    with refused(RepositoryBusy, said):
        store.commit()


def test_several_processes_and_threads_take_turns(store, note, git):
    def write(number):
        Store(store.root, branch="main").save(note(f"Number {number}"))
        Store(store.root, branch="main").commit()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(18)))
    assert len(list(store.scan())) == 18
    assert store.commit().commit is None
    assert (
        len([path for path in paths_in(git, store.root) if path.startswith("memory/")])
        == 18
    )
    assert git("status", "--porcelain", cwd=store.root) == ""


def test_beside_a_person_who_commits_all_the_time_nothing_of_either_is_lost(
    store, note, git
):
    """Both use the same branch and index; what a person's commit drops the next cycle brings
    back.
    """
    done, theirs = threading.Event(), []

    def person():
        number = 0
        while not done.is_set():
            number += 1
            name = f"theirs-{number}.txt"
            (store.root / name).write_text(name)
            added = subprocess.run(
                ["git", "add", name], cwd=store.root, capture_output=True
            ).returncode
            if (
                added == 0
                and subprocess.run(
                    ["git", "commit", "-qm", name], cwd=store.root, capture_output=True
                ).returncode
                == 0
            ):
                theirs.append(name)

    thread = threading.Thread(target=person)
    thread.start()
    saved = set()
    try:
        for number in range(25):
            saved.add(store.save(note(f"Ours {number}")))
            try:
                store.commit()
            except RepositoryBusy:
                continue  # as the worker does: the next cycle takes it
    finally:
        done.set()
        thread.join()
    store.commit()
    tracked = paths_in(git, store.root)
    assert saved <= tracked
    assert theirs and set(theirs) <= tracked
    for revision in git(
        "log", "--format=%H", "--grep=memory file", cwd=store.root
    ).split():
        changed = git(
            "diff-tree", "-r", "--name-only", "--no-commit-id", revision, cwd=store.root
        ).split("\n")
        assert all(path.startswith("memory/") for path in changed)


def test_a_new_workspace_keeps_what_was_there(tmp_path, template, git):
    git("init", "-q", "-b", "trunk", str(tmp_path), cwd=tmp_path)
    (tmp_path / "README.md").write_text("mine\n")
    (tmp_path / "app.py").write_text("code\n")
    git("add", "app.py", cwd=tmp_path)
    store = create(tmp_path, template)
    assert store.branch == "trunk"
    assert (tmp_path / "README.md").read_text() == "mine\n"
    assert "branch: trunk" in (tmp_path / "keeplore.yaml").read_text()
    assert git("status", "--porcelain", cwd=tmp_path) == "A  app.py\n?? README.md"
    names = {path.name for path in template.iterdir()} - {"README.md"}
    assert paths_in(git, tmp_path) == names
    create(tmp_path, template)
    assert git("rev-list", "--count", "HEAD", cwd=tmp_path) == "1"


def test_a_workspace_whose_creation_was_interrupted_is_completed(
    tmp_path, template, git
):
    for name in (".gitignore", "AGENTS.md"):
        (tmp_path / name).write_bytes((template / name).read_bytes())
    create(tmp_path, template)
    assert paths_in(git, tmp_path) == {path.name for path in template.iterdir()}
    assert git("status", "--porcelain", cwd=tmp_path) == ""


def test_git_is_not_asked_for_the_branch_that_it_was_just_told(
    tmp_path, template, git, monkeypatch
):
    monkeypatch.delattr(creation, "run")
    assert create(tmp_path, template, "trunk").current_branch() == "trunk"
    assert git("rev-list", "--count", "trunk", cwd=tmp_path) == "1"


def test_a_repository_in_the_middle_of_something_is_not_made_a_workspace(
    tmp_path, template, git
):
    git("init", "-q", "-b", "main", str(tmp_path), cwd=tmp_path)
    (tmp_path / ".git" / "MERGE_HEAD").write_text("0" * 40)
    said = (
        f"a merge is under way in {tmp_path}. "
        "Finish it; what was written since is on disk and is committed afterwards"
    )
    with refused(RepositoryBusy, said):
        create(tmp_path, template)
    assert [path.name for path in tmp_path.iterdir()] == [".git"]


@pytest.mark.parametrize("folder", ["objects", "refs/heads", "logs"])
@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_what_git_may_not_write_is_said_and_not_taken_for_a_busy_repository(
    workspace_dir, template, note, git, kind, folder
):
    """As where git was run with sudo; of SHA-256 the user's git writes it."""
    options = [f"--object-format={kind}"]
    git("init", "-qb", "main", *options, str(workspace_dir), cwd=workspace_dir.parent)
    create(workspace_dir, template)
    store = Store(workspace_dir, branch="main", machine="studio")
    place = str(workspace_dir / ".git" / folder)
    store.save(note("Kept"))
    if subprocess.run(["mount", "--bind", place, place], check=False).returncode:
        pytest.skip("a file system can only be mounted by root")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        with pytest.raises(RepositoryError, match="git may not write into") as raised:
            store.commit()
        assert "Give yourself the rights" in raised.value.remedy
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
    assert store.commit().paths
    assert git("status", "--porcelain", cwd=workspace_dir) == ""
