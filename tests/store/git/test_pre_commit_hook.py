"""The check before a commit: written where nothing of the person's stands, and it never stops work
by being broken.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import refused

from keeplore.errors import AlreadyExists, NotFound, RepositoryError
from keeplore.store import Store
from keeplore.store.git.pre_commit_hook import install, uninstall

Git = Callable[..., str]
OWN = "#!/bin/sh\necho mine\n"
BROKEN = "---\nid: [\n---\n"
SCRIPT = """\
#!/bin/sh
# Written by `keeplore lint --install`; `keeplore lint --uninstall` removes it.
for keeplore in '/it'"'"'s here/keeplore' keeplore; do
  if "$keeplore" --version >/dev/null 2>&1; then
    "$keeplore" lint --staged
    status=$?
    [ "$status" -eq 1 ] && exit 1
    [ "$status" -eq 0 ] || echo "keeplore: the check itself failed, so this commit was not checked" >&2
    exit 0
  fi
done
echo "keeplore: not found, so this commit was not checked" >&2
exit 0
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """keeplore as a command, below a directory whose name a shell would take apart."""
    path = tmp_path / "it's a bin" / "keeplore"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m keeplore.cli "$@"\n')
    path.chmod(0o755)
    return path


def commit(
    root: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = ("git", "commit", "-m", "x", *arguments)
    # a PATH on which no keeplore of this machine lies
    surroundings = {**os.environ, "PATH": "/usr/bin:/bin", **environment}
    return subprocess.run(
        command, cwd=root, env=surroundings, capture_output=True, text=True
    )


def stage(root: Path, git: Git, text: str, path: str = "memory/a.md") -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text)
    git("add", path, cwd=root)


def test_what_is_written_is_a_script_that_says_whose_it_is(store: Store) -> None:
    place = install(store.root, "/it's here/keeplore")
    assert place == store.root / ".git" / "hooks" / "pre-commit"
    assert place.stat().st_mode & 0o777 == 0o755
    assert place.read_text() == SCRIPT


def test_a_commit_of_a_broken_file_is_stopped_and_says_why(
    store: Store, program: Path, git: Git
) -> None:
    install(store.root, str(program))
    stage(store.root, git, BROKEN)
    done = commit(store.root)
    assert done.returncode == 1
    assert "memory/a.md:3: error:" in done.stdout + done.stderr
    assert commit(store.root, "--no-verify").returncode == 0


def test_a_sound_commit_goes_through_in_silence(
    store: Store, program: Path, git: Git
) -> None:
    install(store.root, str(program))
    stage(store.root, git, "# Mine\n\nWords.\n")
    (store.root / "memory" / "a.md").write_text(
        BROKEN
    )  # what is not staged is not asked about
    done = commit(store.root)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr


def test_a_commit_of_some_paths_is_checked_by_what_it_holds(
    store: Store, program: Path, git: Git
) -> None:
    install(store.root, str(program))
    stage(store.root, git, BROKEN)
    stage(store.root, git, "# Sound\n", "memory/b.md")
    assert commit(store.root, "memory/b.md").returncode == 0
    assert commit(store.root, "memory/a.md").returncode == 1


def test_keeplores_own_commits_are_not_asked(store: Store, program: Path) -> None:
    install(store.root, str(program))
    (store.root / "memory").mkdir()
    (store.root / "memory" / "a.md").write_text(BROKEN)
    assert store.commit().commit


@pytest.mark.parametrize(
    "script", [None, "#!/bin/sh\nexit 1\n", "#!/bin/sh\n[ $1 = --version ] || exit 3\n"]
)
def test_a_commit_goes_through_where_keeplore_is_gone_or_broken(
    script: str | None, store: Store, program: Path, git: Git
) -> None:
    install(store.root, str(program))
    program.unlink()
    if script:
        program.write_text(script)
        program.chmod(0o755)
    stage(store.root, git, BROKEN)
    done = commit(store.root)
    assert done.returncode == 0
    assert "keeplore" in done.stderr and "not checked" in done.stderr


def test_it_works_in_a_linked_worktree(
    store: Store, program: Path, git: Git, tmp_path: Path
) -> None:
    other = tmp_path / "linked"
    git("worktree", "add", "-q", "-b", "other", other, cwd=store.root)
    assert install(other, str(program)) == store.root / ".git" / "hooks" / "pre-commit"
    stage(other, git, BROKEN)
    assert commit(other).returncode == 1
    uninstall(other)
    assert commit(other).returncode == 0


def test_a_hooks_path_inside_the_repository_is_respected(
    store: Store, program: Path, git: Git
) -> None:
    git("config", "core.hooksPath", ".checks", cwd=store.root)
    assert install(store.root, str(program)) == store.root / ".checks" / "pre-commit"
    stage(store.root, git, BROKEN)
    assert commit(store.root).returncode == 1


def test_a_hooks_path_of_all_repositories_is_left_alone(
    store: Store, program: Path, git: Git, home: Path
) -> None:
    git("config", "--global", "core.hooksPath", "~/checks", cwd=store.root)
    said = (
        f"`core.hooksPath` is {home}/checks, which other repositories use too. "
        "Add this line to the pre-commit there: keeplore lint --staged || exit 1"
    )
    with refused(RepositoryError, said):
        install(store.root, str(program))
    assert not (home / "checks").exists()


def test_a_check_of_the_persons_own_is_never_touched(
    store: Store, program: Path
) -> None:
    place = store.root / ".git" / "hooks" / "pre-commit"
    place.parent.mkdir(exist_ok=True)
    place.write_text(OWN)
    place.chmod(0o700)
    expect_left_alone(store, program, place)
    assert (place.read_text(), place.stat().st_mode & 0o777) == (OWN, 0o700)


@pytest.mark.parametrize("kind", ["link", "broken link", "bytes", "directory"])
def test_whatever_else_stands_there_is_not_touched(
    kind: str, store: Store, program: Path, tmp_path: Path
) -> None:
    place = store.root / ".git" / "hooks" / "pre-commit"
    place.parent.mkdir(exist_ok=True)
    if kind == "directory":
        place.mkdir()
    elif kind == "bytes":
        place.write_bytes(b"\xff\xfe")
    else:
        target = tmp_path / "target"
        place.symlink_to(target)
        if kind == "link":
            target.write_text(OWN)
    before = _identity(place)
    expect_left_alone(store, program, place)
    assert _identity(place) == before


def expect_left_alone(store: Store, program: Path, place: Path) -> None:
    """What stands there is not ours: neither replaced nor removed."""
    said = f"{place} is there already and not Keeplore's. Add this line to it: keeplore lint --staged || exit 1"
    with refused(AlreadyExists, said):
        install(store.root, str(program))
    said = (
        f"{place} is not Keeplore's. "
        f"Take out what runs keeplore by hand, if it does: keeplore lint --staged || exit 1"
    )
    with refused(NotFound, said):
        uninstall(store.root)


def _identity(place: Path) -> tuple[int, ...]:
    """Not the time of its last reading."""
    found = place.lstat()
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


def test_it_can_be_installed_twice_and_is_taken_out_whole(
    store: Store, program: Path
) -> None:
    folder = store.root / ".git" / "hooks"
    before = (
        {path.name: path.read_bytes() for path in folder.iterdir()}
        if folder.is_dir()
        else {}
    )
    install(store.root, "/elsewhere/keeplore")
    place = install(store.root, str(program))
    assert place.stat().st_mode & 0o111
    assert uninstall(store.root) == place
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with refused(NotFound, f"there is no {place}. Nothing is to be done"):
        uninstall(store.root)


def test_our_check_that_somebody_changed_is_theirs(store: Store, program: Path) -> None:
    place = install(store.root, str(program))
    place.write_text(place.read_text() + "echo mine\n")
    before = place.read_text()
    expect_left_alone(store, program, place)
    assert place.read_text() == before
