"""What merges by others leave behind is taken apart and merged as every other two versions."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from keeplore.errors import Corrupt, RepositoryError
from keeplore.memory import serialise
from keeplore.memory.merge.conflict_marks import versions
from keeplore.store import Store
from keeplore.store.merge import merge_driver, repair


@pytest.fixture
def there(store, note, git, tmp_path):
    """A second clone; both have the memory "Argued", and each has edited it."""
    store.save(note("Argued", body="# Argued\n\nline\n\nend\n"))
    store.commit()
    root = tmp_path / "other machine"
    git("clone", "-q", str(store.root), str(root), cwd=tmp_path)
    other = Store(root, branch="main")
    other.save(
        note(
            "Argued",
            body="# Argued\n\ntheirs\n\nend\n",
            updated_at="2026-03-01T00:00:00Z",
        )
    )
    other.commit()
    store.save(
        note(
            "Argued",
            body="# Argued\n\nours\n\nend\n",
            updated_at="2026-02-20T00:00:00Z",
        )
    )
    store.commit()
    return other


def pull(store, other, *options):
    """As a person does it; git ends with an error where there is a conflict."""
    command = ["git", "pull", "-q", "--no-edit", *options, str(other.root), "main"]
    subprocess.run(command, cwd=store.root, check=False, capture_output=True)


def bodies(store):
    return sorted(store.load(file.path).body.split("\n")[2] for file in store.scan())


def problems(store, path):
    """What reading the file complains of."""
    try:
        return store.load(path).problems
    except Corrupt as e:
        return (str(e),)


def test_a_pull_that_stopped_at_a_memory_is_concluded(store, there, git):
    pull(store, there, "--no-rebase")
    assert (store.root / ".git" / "MERGE_HEAD").exists()
    assert store.conclude()
    assert not (store.root / ".git" / "MERGE_HEAD").exists()
    assert git("status", "--porcelain", cwd=store.root) == ""
    assert bodies(store) == ["ours", "theirs"]
    assert len(git("log", "-1", "--format=%P", cwd=store.root).split()) == 2


def test_a_merge_that_waits_for_the_persons_own_file_stays_theirs(store, there, git):
    for place, text in ((store.root, "a\n"), (there.root, "b\n")):
        (place / "app.py").write_text(text)
        git("add", "app.py", cwd=place)
        git("commit", "-qm", "Code", cwd=place)
    pull(store, there, "--no-rebase")
    assert store.conclude()
    assert (store.root / ".git" / "MERGE_HEAD").exists()
    assert git("diff", "--name-only", "--diff-filter=U", cwd=store.root) == "app.py"
    assert bodies(store) == ["ours", "theirs"]


def test_a_rebase_that_stopped_at_a_memory_is_finished_though_sessions_write_on(
    store, there, note, git
):
    for title in ("Going on", "Put aside"):
        there.save(note(title))
    there.commit()
    pull(store, there, "--rebase")
    (store.root / store.save(note("Put aside"))).unlink()
    store.save(note("Going on", body="# Going on\n\nlater\n"))
    assert store.conclude()
    assert not (store.root / ".git" / "rebase-merge").exists()
    store.commit()
    assert bodies(store) == ["later", "ours", "theirs"]
    assert git("status", "--porcelain", cwd=store.root) == ""


def resolved_paths(store, copy):
    """Where the memories are written of a conflict, that of its path first."""
    shutil.copytree(store.root, copy)
    other = Store(copy, branch="main")
    [path] = other.conclude()
    [beside] = {file.path for file in other.scan()} - {path}
    return path, beside


@pytest.mark.parametrize("number", [0, 1])
def test_a_folder_where_a_conflict_is_resolved_stays_as_it_is(
    store, there, git, tmp_path, number
):
    pull(store, there, "--no-rebase")
    folder = resolved_paths(store, tmp_path / "copy")[number]
    (store.root / folder).unlink(missing_ok=True)
    (store.root / folder).mkdir()
    (store.root / folder / "draft.txt").write_text("mine\n")
    store.conclude()
    store.commit()
    assert bodies(store) == ["ours", "theirs"]
    assert git("status", "--porcelain", cwd=store.root) == ""
    assert (store.root / folder / "draft.txt").read_text() == "mine\n"


def test_what_the_person_resolved_by_hand_stays(store, there, note, git):
    pull(store, there, "--no-rebase")
    [path] = [file.path for file in store.scan()]
    mine = serialise(note("Argued", body="# Argued\n\nby hand\n\nend\n"))
    (store.root / path).write_text(mine)
    store.conclude()
    assert (store.root / path).read_text() == mine
    assert bodies(store) == ["by hand"]


def test_a_merge_that_somebody_works_on_is_left_alone(store, there):
    pull(store, there, "--no-rebase")
    assert store.conclude(quiet_s=60.0) == ()
    assert (store.root / ".git" / "MERGE_HEAD").exists()


# git makes them longer where a file was renamed, and of merges in merges
@pytest.mark.parametrize(
    ("style", "length"), [("merge", 7), ("diff3", 7), ("zdiff3", 7), ("diff3", 9)]
)
def test_marks_that_were_committed_become_two_memories(
    store, there, git, style, length
):
    git("config", "merge.conflictStyle", style, cwd=store.root)
    (store.root / ".git" / "info" / "attributes").write_text(
        f"*.md conflict-marker-size={length}\n"
    )
    pull(store, there, "--no-rebase")
    git("commit", "-qam", "Whatever", cwd=store.root)
    [path] = [file.path for file in store.scan()]
    assert f"\n{'<' * length} " in (store.root / path).read_text()
    assert "conflict markers" in " ".join(problems(store, path))
    assert store.repair_merges([path])
    assert bodies(store) == ["ours", "theirs"]
    store.commit()
    assert store.repair_merges([path]) == ()


def test_marks_that_somebody_wrote_as_an_example_are_no_conflict(store, note):
    example = (
        "# How conflicts look\n\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main\n"
    )
    path = store.save(note("Example", body=example))
    store.commit()
    assert store.repair_merges([path]) == ()
    assert store.load(path).body == example


def test_keys_that_a_union_of_lines_left_twice_stand_once(store, note):
    path = store.save(note("Union", body="# Union\n"))
    store.commit()
    text = (store.root / path).read_text()
    (store.root / path).write_text(
        text.replace("scope:", "updated_at: '2026-03-01T00:00:00Z'\nscope:", 1).replace(
            "category:", "updated_at: '2026-04-01T00:00:00Z'\ncategory:", 1
        )
    )
    assert store.repair_merges([path])
    assert store.load(path).updated_at == "2026-04-01T00:00:00Z"


def test_two_files_of_one_memory_become_one(store, note):
    path = store.save(note("Moved", body="# Moved\n\nedited\n"))
    archived = path.replace("memory/", "memory/archive/", 1)
    (store.root / archived).parent.mkdir(parents=True)
    (store.root / archived).write_text(
        serialise(note("Moved", body="# Moved\n\nedited\n"))
    )
    store.commit()
    assert store.repair_merges([])
    assert [file.path for file in store.scan()] == [archived]


def hand_named(store, *texts):
    """Files of the memory "Plan" whose names a person chose, in the order of their names."""
    paths = [
        f"memory/{name}.md" for name in ("a plan", "b plan", "c plan")[: len(texts)]
    ]
    (store.root / "memory").mkdir(exist_ok=True)
    for path, memory in zip(paths, texts, strict=True):
        (store.root / path).write_text(serialise(memory))
    return paths


def test_two_files_with_names_of_a_person_that_say_the_same_become_one(store, note):
    paths = hand_named(
        store, note("Plan", body="a\n\nb\n"), note("Plan", body="a\n\nb\n")
    )
    assert store.repair_merges(paths)
    assert [file.path for file in store.scan()] == [paths[1]]
    path = store.save(note("Plan", body="a\n\nb\n\nmore\n"))
    assert store.repair_merges(paths)
    assert [(file.path, store.load(file.path).body) for file in store.scan()] == [
        (path, "a\n\nb\n\nmore\n")
    ]


def test_a_file_that_was_copied_to_write_another_one_becomes_a_memory_of_its_own(
    store, note
):
    path = store.save(note("Plan", body="# Plan\n\nWe sail.\n"))
    before = (store.root / path).read_bytes()
    copies = hand_named(store, *(note("Plan", body=f"# Plan\n\nWe "
                                                   f"{how}.\n", updated_at="2027-01-01T00:00:00Z")
                                 for how in ("fly", "walk")))  # fmt: skip
    assert set(store.repair_merges(copies)) == set(copies)
    assert (store.root / path).read_bytes() == before
    memories = [store.load(copy) for copy in copies]
    assert [memory.body.split("\n")[2] for memory in memories] == [
        "We fly.",
        "We walk.",
    ]
    assert [memory.links for memory in memories] == [
        (("contradicts", note("Plan").id),)
    ] * 2
    assert len({memory.id for memory in memories} | {note("Plan").id}) == 3
    assert store.repair_merges(copies) == ()


def test_files_of_other_programs_with_one_id_are_left_alone(store, note):
    texts = [f"---\nid: {note('Plan').id}\n---\n\n{word}\n" for word in ("one", "two")]
    paths = hand_named(store, note("Plan"), note("Plan"))
    for path, text in zip(paths, texts, strict=True):
        (store.root / path).write_text(text)
    store.repair_merges(paths)
    assert [(store.root / path).read_text() for path in paths] == texts


def test_a_text_about_conflicts_is_looked_at_once(store, note):
    path = store.save(
        note(
            "Example",
            body="# How\n\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main\n",
        )
    )
    store.commit()
    store.repair_merges([path])
    (store.root / ".git").rename(
        store.root / ".elsewhere"
    )  # a second look would need git
    assert repair.repair_file(store.root, store.cache, path) == ()


def test_a_merge_without_conflicts_is_committed_by_the_person_unless_we_resolved_them_and_were_killed(
    store, there, git
):
    pull(store, there, "--no-rebase")
    merging = store.root / ".git" / "MERGE_HEAD"
    [path] = [file.path for file in store.scan()]
    git("checkout", "--ours", path, cwd=store.root)
    git("add", path, cwd=store.root)
    assert store.conclude() == () and merging.exists()
    (store.root / ".git" / repair.CONCLUDING).write_bytes(merging.read_bytes())
    store.conclude()
    assert (
        not merging.exists() and not (store.root / ".git" / repair.CONCLUDING).exists()
    )
    assert git("status", "--porcelain", cwd=store.root) == ""


def test_a_merge_that_git_left_open_for_no_file_is_concluded(
    store, note, git, tmp_path
):
    """Where the files of one folder went to several, git cannot guess where a new one belongs, and
    stops.
    """
    paths = [store.save(note(f"Note {n}", body=f"line {n}\n" * 9)) for n in range(2)]
    store.commit()
    git("clone", "-q", str(store.root), str(tmp_path / "other"), cwd=tmp_path)
    other = Store(tmp_path / "other", branch="main")
    other.save(note("Added"))
    other.commit()
    for path, folder in zip(paths, ("one", "two"), strict=True):
        (store.root / "memory" / folder).mkdir()
        (store.root / path).rename(store.root / "memory" / folder / "note.md")
    store.commit()
    pull(store, other, "--no-rebase")
    assert (store.root / ".git" / "MERGE_HEAD").exists() and not git(
        "ls-files", "--unmerged", cwd=store.root
    )
    store.conclude()
    assert not (store.root / ".git" / "MERGE_HEAD").exists()
    assert len([*store.scan()]) == 3


def test_a_memory_whose_renaming_was_cut_short_has_its_new_name_and_text_alone(
    store, note
):
    path = store.save(note("Draft", body="# Draft\n\nold\n"))
    store.commit()
    older = (store.root / path).read_bytes()
    better = store.save(
        note("Draft", body="# Better\n\nnew\n").with_meta(title="Better")
    )
    (store.root / path).write_bytes(older)
    assert store.repair_merges([]) == (better,)
    assert [file.path for file in store.scan()] == [better]
    assert store.load(better).body == "# Better\n\nnew\n"


def test_a_text_with_half_a_conflict_is_whole():
    assert versions("<<<<<<< HEAD\nours\n=======\ntheirs\n") is None
    assert versions("=======\n>>>>>>> x\n") is None
    assert versions("a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> x\nb\n") == (
        "a\nours\nb\n",
        "a\ntheirs\nb\n",
    )


def test_with_our_driver_a_persons_pull_does_not_stop(store, there, git):
    merge_driver.install(store.root)
    pull(store, there, "--no-rebase")
    assert not (store.root / ".git" / "MERGE_HEAD").exists()
    assert bodies(store) == ["ours", "theirs"]
    store.commit()
    assert git("status", "--porcelain", cwd=store.root) == ""


def test_git_is_told_of_the_driver_beside_what_a_person_told_it(store, git):
    git("config", "--local", "merge.theirs.driver", "true %A", cwd=store.root)
    git("config", "--local", "merge.keeplore.driver", "an older one", cwd=store.root)
    merge_driver.install(store.root)
    command = f"{shlex.quote(sys.executable)} -P -m keeplore.store.merge.merge_driver"
    told = git("config", "--local", "--get-regexp", "^merge", cwd=store.root)
    assert sorted(told.splitlines()) == [
        f"merge.keeplore-base.driver {command} --base %O %A %B %P",
        "merge.keeplore-base.name memory of Keeplore, for a merge base",
        f"merge.keeplore.driver {command} %O %A %B %P",
        "merge.keeplore.name memory of Keeplore",
        "merge.keeplore.recursive keeplore-base",
        "merge.theirs.driver true %A",
    ]
    before = (store.root / ".git" / "config").stat()
    merge_driver.install(store.root)  # writes nothing that stands there
    assert (store.root / ".git" / "config").stat() == before


def test_in_a_linked_worktree_the_driver_is_told_to_the_repository(store, git):
    linked = store.root.parent / "linked"
    git("worktree", "add", "-q", str(linked), "HEAD", cwd=store.root)
    merge_driver.install(linked)
    told = git("config", "--local", "merge.keeplore.recursive", cwd=store.root)
    assert told == "keeplore-base"


def test_a_configuration_that_somebody_else_writes_is_said_to_be_busy(store):
    config = store.root / ".git" / "config"
    before = config.read_bytes()
    (store.root / ".git" / "config.lock").touch()
    with pytest.raises(RepositoryError, match="config cannot be changed: ") as caught:
        merge_driver.install(store.root)
    assert caught.value.remedy == f"Run `git -C '{config.parent}' config -l`"
    assert config.read_bytes() == before


def test_a_driver_that_is_gone_leaves_a_conflict_that_is_healed(store, there, git):
    git("config", "merge.keeplore.driver", "no-such-program %A", cwd=store.root)
    pull(store, there, "--no-rebase")
    assert store.conclude()
    assert bodies(store) == ["ours", "theirs"]
    assert merge_driver.uninstall(store.root) and not merge_driver.uninstall(store.root)


@pytest.mark.parametrize(
    "path", ["../outside.md", "memory/../../x.md", "memory/a:b.md", "/etc/x.md", ""]
)
def test_the_driver_writes_only_to_places_of_ours(tmp_path, path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("base", "ours", "theirs"):
        (tmp_path / name).write_text(name)
    assert merge_driver.main(["base", "ours", "theirs", path]) == merge_driver.CONFLICT
    assert sorted(p.name for p in tmp_path.iterdir()) == ["base", "ours", "theirs"]


def test_the_driver_joins_what_each_side_changed_of_what_both_were_made_of(
    tmp_path, note, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    texts = ("one\n\ntwo\n\nthree", "one\n\ntwo\n\nTHREE", "ONE\n\ntwo\n\nthree")
    memory, sides = note("Argued"), ("base", "ours", "theirs")
    for name, text in zip(sides, texts, strict=True):
        body = f"# Argued\n\n{text}\n"
        (tmp_path / name).write_text(serialise(replace(memory, body=body)))
    path = f"memory/gotchas/2026-02-09-argued-{memory.id[4:12]}.md"
    for place in (path, f".keeplore/{path}"):
        ours = (tmp_path / "ours").read_text()
        assert merge_driver.main([*sides, place]) == 0
        merged = (tmp_path / "ours").read_text()
        assert merged.endswith("# Argued\n\nONE\n\ntwo\n\nTHREE\n")
        (tmp_path / "ours").write_text(ours)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["base", "ours", "theirs"]
    # where both sides added it, git gives an empty base: both texts stay
    (tmp_path / "base").write_text("")
    assert merge_driver.main([*sides, f".keeplore/{path}"]) == 0
    written = set(tmp_path.rglob("*.md"))
    assert {p.relative_to(tmp_path).parts[:3] for p in written} == {
        (".keeplore", "memory", "gotchas")
    }
    both = "".join(p.read_text() for p in (tmp_path / "ours", *written))
    assert all(word in both for word in ("ONE", "THREE", "one", "three"))


def test_a_merge_runs_no_code_of_the_workspace(store, there):
    (store.root / "keeplore").mkdir()
    (store.root / "keeplore" / "__init__.py").write_text("open('ran', 'w')\n")
    merge_driver.install(store.root)
    pull(store, there, "--no-rebase")
    assert not (store.root / "ran").exists()
    assert bodies(store) == ["ours", "theirs"]
