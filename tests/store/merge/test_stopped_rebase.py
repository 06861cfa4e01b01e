"""A person's rebase that files of ours have stopped goes on, and what was written meanwhile is
there.
"""

from __future__ import annotations

import os
import subprocess

import pytest

from keeplore.store import Store


def talk(note, *lines):
    return note("Talk", body="\n\n".join(("# Talk", *lines)) + "\n")


@pytest.fixture
def machine(store, note, git, tmp_path):
    """A clone with two commits of its own, and a remote that has another one."""
    git("clone", "-q", str(store.root), str(tmp_path / "clone"), cwd=tmp_path)
    machine = Store(tmp_path / "clone", branch="main", machine="studio")
    store.save(note("Of another machine"))
    store.commit()
    machine.save(talk(note, "one"))
    machine.commit()
    machine.save(talk(note, "one", "two"))
    machine.commit()
    return machine


@pytest.fixture
def pull(machine):
    """``pull(hook, script)``: `git pull --rebase` while git runs a script at a certain moment."""

    def run(hook: str, script: str) -> None:
        place = machine.root / ".git" / "hooks" / hook
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n{script}\n")
        place.chmod(0o755)
        done = subprocess.run(
            ["git", "pull", "-q", "--rebase"], cwd=machine.root, check=False
        )
        assert done.returncode and is_rebasing(machine)
        place.unlink()

    return run


def is_rebasing(machine):
    return (machine.root / ".git" / "rebase-merge").exists()


def written(machine, note, *lines):
    """The file of the talk, and the script that writes it with such lines."""
    path = machine.save(talk(note, *lines))
    place = machine.root / path
    place.rename(machine.root.parent / "later.md")
    subprocess.run(["git", "checkout", "-q", "--", path], cwd=machine.root, check=True)
    return path, f"mkdir -p {place.parent}; cp {machine.root.parent}/later.md {place}"


def expect_all(machine, git, body):
    assert not is_rebasing(machine)
    machine.commit()
    texts = {machine.load(file.path).title: file.path for file in machine.scan()}
    assert set(texts) == {"Talk", "Of another machine"}
    assert machine.load(texts["Talk"]).body == body
    assert git("status", "--porcelain", cwd=machine.root) == ""
    assert git("symbolic-ref", "HEAD", cwd=machine.root) == "refs/heads/main"
    assert git("for-each-ref", "refs/keeplore", cwd=machine.root) == ""
    assert not (machine.root / ".git" / "aside.keeplore").exists()
    assert git("log", "--format=%s", "HEAD..origin/main", cwd=machine.root) == ""


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        # as the first commit that git puts on again has it: nobody took a line out
        (("one",), "# Talk\n\none\n\ntwo\n"),
        (("one", "two"), "# Talk\n\none\n\ntwo\n"),
        (("one", "two", "three"), "# Talk\n\none\n\ntwo\n\nthree\n"),
    ],
)
def test_a_file_that_came_back_before_git_had_put_its_commit_on_again(
    machine, note, git, pull, lines, body
):
    _, script = written(machine, note, *lines)
    pull("post-checkout", script)
    machine.conclude()
    expect_all(machine, git, body)


def test_a_file_that_was_written_again_between_two_commits(machine, note, git, pull):
    _, script = written(machine, note, "one", "two", "three")
    pull("post-commit", f"test -f .git/once && exit; touch .git/once; {script}")
    machine.conclude()
    expect_all(machine, git, "# Talk\n\none\n\ntwo\n\nthree\n")


def test_a_commit_that_came_after_git_had_noted_the_branch(machine, note, git, pull):
    path, script = written(machine, note, "one", "two", "three")
    commit = f"""
        {script}; export GIT_INDEX_FILE=.git/other; git read-tree main
        git add {path}
        made=$(git commit-tree -p main -m Later -m 'Keeplore-Machine: studio' $(git write-tree))
        git update-ref refs/heads/main $made; rm {path}"""
    pull("post-checkout", commit)
    machine.conclude()
    expect_all(machine, git, "# Talk\n\none\n\ntwo\n\nthree\n")


def test_a_merge_of_ours_that_came_after_git_had_noted_the_branch(
    machine, store, note, git, pull
):
    git("fetch", "-q", "origin", cwd=machine.root)
    made = """$(git commit-tree -p main -p origin/main -m 'Merge memory of other machines' \\
        -m 'Keeplore-Machine: studio' origin/main^{tree})"""
    pull("post-checkout", f"git update-ref refs/heads/main {made}")
    machine.conclude()
    expect_all(machine, git, "# Talk\n\none\n\ntwo\n")


def test_a_persons_commit_on_the_branch_is_not_taken_off_it(machine, note, git, pull):
    _, script = written(machine, note, "one", "two", "three")
    made = "$(git commit-tree -p main -m Mine main^{tree})"
    pull("post-checkout", f"git update-ref refs/heads/main {made}")
    assert script
    moved = git("rev-parse", "main", cwd=machine.root)
    machine.conclude()
    assert is_rebasing(machine)
    assert git("rev-parse", "main", cwd=machine.root) == moved


def test_a_rebase_that_somebody_steers_is_left_to_them(machine, note, git, pull):
    _, script = written(machine, note, "one", "two", "three")
    pull("post-checkout", script)
    todo = machine.root / ".git" / "rebase-merge" / "git-rebase-todo"
    todo.write_text(todo.read_text().replace("pick", "edit"))
    machine.conclude()
    assert is_rebasing(machine)
    assert machine.load(next(machine.scan()).path).body


def test_a_conflict_of_the_persons_own_is_theirs(machine, store, note, git):
    for root, text in ((store.root, "theirs\n"), (machine.root, "mine\n")):
        (root / "app.py").write_text(text)
        git("add", "app.py", cwd=root)
        git("commit", "-qm", "App", cwd=root)
    done = subprocess.run(
        ["git", "pull", "-q", "--rebase"], cwd=machine.root, check=False
    )
    assert done.returncode and is_rebasing(machine)
    machine.save(talk(note, "one", "two", "three"))
    machine.conclude()
    assert is_rebasing(machine)
    (machine.root / "app.py").write_text("both\n")
    git("add", "app.py", cwd=machine.root)
    git("-c", "core.editor=true", "rebase", "--continue", cwd=machine.root)
    expect_all(machine, git, "# Talk\n\none\n\ntwo\n\nthree\n")


def test_a_commit_that_met_another_programs_lock(machine, git, pull):
    lock = ".git/index.lock"
    pull("post-index-change", f"test -e .git/rebase-merge/done && touch {lock}")
    (machine.root / lock).unlink()
    assert git("status", "--porcelain", cwd=machine.root).startswith("A  memory")
    machine.conclude()
    expect_all(machine, git, "# Talk\n\none\n\ntwo\n")


def test_one_that_moved_a_moment_ago_is_waited_for(machine, note, pull):
    _, script = written(machine, note, "one", "two", "three")
    pull("post-checkout", script)
    assert machine.conclude(quiet_s=60.0) == () and is_rebasing(machine)
    os.utime(machine.root / ".git" / "rebase-merge", (0, 0))
    os.utime(machine.root / ".git" / "index", (0, 0))
    machine.conclude(quiet_s=60.0)
    assert not is_rebasing(machine)


def test_after_an_abort_what_was_set_aside_comes_back(machine, store, note, git, pull):
    for root, text in ((store.root, "theirs\n"), (machine.root, "mine\n")):
        (root / "app.py").write_text(text)
        git("add", "app.py", cwd=root)
        git("commit", "-qm", "App", cwd=root)
    path, script = written(machine, note, "one", "two", "three")
    pull("post-checkout", script)
    machine.conclude()
    assert git("diff", "--name-only", "--diff-filter=U", cwd=machine.root) == "app.py"
    git("rebase", "--abort", cwd=machine.root)
    machine.commit()
    assert machine.load(path).body == "# Talk\n\none\n\ntwo\n\nthree\n"
