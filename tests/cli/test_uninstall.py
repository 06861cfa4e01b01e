"""Leaving a machine: afterwards it is as it was before, but for the workspaces, and no event is
lost unasked.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ready import keeplore

from keeplore.config.places import Places
from keeplore.jobs.queue import LOCKS
from keeplore.memory.note import NoteDraft
from keeplore.web import live_changes
from keeplore.worker.usage import view_log
from keeplore.workspace import activity
from keeplore.workspace.registry import Registry
from keeplore_hooks.spool import Spool


@pytest.fixture
def surroundings(home: Path) -> dict[str, str]:
    """Directories as on a person's machine: those of Keeplore do not exist before."""
    for name in ("KEEPLORE_STATE_DIR", "KEEPLORE_CACHE_DIR"):
        Path(os.environ[name]).rmdir()
    return dict(os.environ)


def tree(root: Path, without: Path) -> dict[str, bytes]:
    """Every path below a directory with its bytes, a workspace left out."""
    paths = [path for path in root.rglob("*") if without not in (path, *path.parents)]
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in paths}


def used(home: Path) -> Path:
    """A machine on which a worker has run, with a workspace, its index and a check for git."""
    root = home / "memory"
    assert keeplore("init", "memory").returncode == 0
    places = Places.from_environment(os.environ)
    with Registry(places) as registry:
        workspace = registry.named("memory")
        workspace.notes.write(NoteDraft("Use pnpm"))
        workspace.index.refresh()
        workspace.index.embed_pending()
        workspace.commit()
    assert keeplore("lint", "--install", cwd=root).returncode == 0
    assert keeplore("worker", "run").returncode == 0
    (places.state / "edits").mkdir()
    (places.state / "crash.log").write_text("x")
    # what sessions are told, and whose machines the workspace knows
    assert [*(places.state / "briefs").glob("*.json")]
    assert [*(places.state / "machines").iterdir()]
    return root


def test_afterwards_the_home_is_as_it_was(
    surroundings: dict[str, str], home: Path, git
) -> None:
    root = home / "memory"
    before = tree(home, root)
    used(home)
    config = root / ".git" / "config"
    assert "keeplore" in config.read_text()
    text = {path: path.read_bytes() for path in root.rglob("*.md")}
    head = git("rev-parse", "HEAD", cwd=root)
    assert (root / ".git" / "hooks" / "pre-commit").exists() and tree(
        home, root
    ) != before
    done = keeplore("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    for words in (
        "These go:",
        "These stay",
        str(root),
        "claude plugin uninstall",
        "pip uninstall keeplore",
    ):
        assert words in done.stdout
    assert tree(home, root) == before
    # nor does git call a program that is gone
    assert "keeplore" not in config.read_text()
    assert not (root / ".git" / "hooks" / "pre-commit").exists()
    assert {path: path.read_bytes() for path in root.rglob("*.md")} == text
    assert (
        git("rev-parse", "HEAD", cwd=root) == head
        and git("status", "--porcelain", cwd=root) == ""
    )
    assert "nothing to remove" in keeplore("uninstall").stdout
    assert keeplore("init", "memory").returncode == 0
    assert "Use pnpm" in keeplore("recall", "--text", "pnpm").stdout


def test_what_waits_in_the_inbox_is_not_thrown_away_unasked(home: Path) -> None:
    root = used(home)
    places = Places.from_environment(os.environ)
    spool = Spool(places.spool)
    spool.add("claude-code", "Stop", b"{}")
    one = keeplore("uninstall", "--yes")
    assert one.stderr.startswith("keeplore: 1 host event is in no workspace yet\n")
    spool.add("claude-code", "Stop", b"{}")
    spool.quarantine(spool.claim(spool.pending()[0]), "no reason")
    before = tree(home, root)
    done = keeplore("uninstall", "--yes")
    assert (
        done.returncode == 1
        and "2 host events are in no workspace yet (1 of them could not be read)"
        in done.stderr
    )
    assert "keeplore worker run" in done.stderr and "--discard-events" in done.stderr
    assert tree(home, root) == before
    assert keeplore("uninstall", "--yes", "--keep-state").returncode == 0
    assert (
        spool.counts() == {"new": 1, "claimed": 0, "dead": 1}
        and not places.cache.exists()
    )
    assert keeplore("uninstall", "--yes", "--discard-events").returncode == 0
    assert not places.state.exists()


def test_what_was_typed_and_is_not_saved_stays(home: Path) -> None:
    used(home)
    places = Places.from_environment(os.environ)
    text = places.state / "edits" / "1f0c9a2e-86db6310.md"
    text.write_text("typed")
    done = keeplore("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    goes, _, stays = done.stdout.partition("These stay")
    assert str(text.parent) not in goes
    assert f"These stay, since they were typed and not saved:\n  {text}\n" in stays
    left = [path for path in places.state.rglob("*") if path.is_file()]
    assert left == [text]
    text.unlink()
    assert keeplore("uninstall", "--yes").returncode == 0
    assert not places.state.exists()


def test_nobody_to_ask_means_no(home: Path) -> None:
    root = used(home)
    before = tree(home, root)
    done = keeplore("uninstall")
    assert (
        done.returncode == 1 and "--yes" in done.stderr and tree(home, root) == before
    )


def test_what_the_worker_the_window_and_a_pause_leave_goes_too(home: Path) -> None:
    assert keeplore("init", "memory").returncode == 0
    assert keeplore("pause").returncode == 0
    state = home / "state"
    folders = (activity.FOLDER, live_changes.FOLDER, view_log.FOLDER, LOCKS, "tidied")
    for folder in folders:
        (state / folder).mkdir()
        (state / folder / "file").touch()
    assert keeplore("uninstall", "--yes").returncode == 0
    assert not state.exists()


def test_a_directory_of_the_persons_that_is_used_as_the_inbox_keeps_the_rest(
    home: Path,
) -> None:
    (home / "mine").mkdir()
    (home / "mine" / "thesis.tex").write_text("my life's work")
    environment = {
        "KEEPLORE_STATE_DIR": str(home / "mine"),
        "KEEPLORE_CACHE_DIR": str(home / "mine"),
    }
    assert keeplore("init", "memory", **environment).returncode == 0
    done = keeplore("uninstall", "--yes", **environment)
    assert done.returncode == 0 and str(home / "mine" / "thesis.tex") in done.stdout
    assert [path.name for path in (home / "mine").iterdir()] == ["thesis.tex"]


def test_a_check_of_the_persons_own_stays(home: Path) -> None:
    root = used(home)
    check = root / ".git" / "hooks" / "pre-commit"
    check.write_text("#!/bin/sh\nmake lint\n")
    assert keeplore("uninstall", "--yes").returncode == 0
    assert check.read_text() == "#!/bin/sh\nmake lint\n"


def test_a_running_worker_leaves_first(home: Path) -> None:
    used(home)
    places = Places.from_environment(os.environ)
    worker = subprocess.Popen((sys.executable, "-m", "keeplore.worker"), env=os.environ)
    try:
        while not (places.state / "worker.addr").exists():
            assert worker.poll() is None
        assert keeplore("uninstall", "--yes").returncode == 0
        assert worker.wait(30) == 0 and not places.state.exists()
    finally:
        worker.kill()
        worker.wait()
