"""What a person and an agent's shell are told where a disk refuses."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from unwritable import unwritable

from keeplore.cli.disk_errors import disk_remedy
from keeplore.config.places import Places


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("number", "at_terminal", "piped"),
    [
        (errno.ENOSPC, "Make room there and run it again; `keeplore doctor`", "Make"),
        (errno.EROFS, "That disk is mounted read-only: make it writable", "Make that"),
        (errno.EACCES, "Give yourself the rights to it (`ls -ld` shows", "Make that"),
        (errno.ENOTDIR, "Something is in the way of that path: move it away", "Some"),
        (errno.EIO, "Check that path, its rights, and the free", "Check"),
    ],
)
def test_the_next_step_fits_what_the_disk_said(
    monkeypatch: pytest.MonkeyPatch, number: int, at_terminal: str, piped: str
) -> None:
    error = OSError(number, os.strerror(number))
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert disk_remedy(error).startswith(at_terminal)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert disk_remedy(error).startswith(piped)


@pytest.fixture
def read_only(memory: Path) -> Iterator[Path]:
    """The home workspace on a disk that is mounted read-only."""
    bind = ["mount", "--bind", str(memory), str(memory)]
    if subprocess.run(bind, check=False, capture_output=True).returncode:
        pytest.skip("a file system can only be mounted by root")
    subprocess.run(["mount", "-o", "remount,ro,bind", str(memory)], check=True)
    yield memory
    subprocess.run(["umount", "--lazy", str(memory)], check=True)


def test_a_workspace_on_a_read_only_disk_is_read_and_said_to_be_one(
    read_only: Path,
    shop: Path,
    run: Callable[..., Any],
    at_terminal: Callable[..., Any],
) -> None:
    status, seen = at_terminal("remember", "Tea is served", cwd=shop)
    assert status == 1
    assert " ".join(seen.split()) == (
        f"keeplore: {read_only}/projects: Read-only file system "
        "→ That disk is mounted read-only: make it writable, and run it again"
    )
    assert run("list", cwd=shop).returncode == 0
    doctor = run("doctor", cwd=shop).stdout
    told = "→ Its disk is mounted read-only: mount it so that it can be written"
    assert (doctor.count(told), "chmod u+rwx" in doctor) == (2, False)


def test_what_is_forgotten_though_its_file_stays_is_told_and_finished_by_doing_it_again(
    shop: Path, memory: Path, run: Callable[..., Any]
) -> None:
    told = run("remember", "--json", "Tea is served at four", cwd=shop).stdout
    digits = json.loads(told)["id"][4:12]
    (path,) = memory.rglob(f"*{digits}.md")
    with unwritable(path.parent):
        done = run("forget", "--yes", digits, cwd=shop)
        assert done.returncode == 1 and "Forgotten." not in done.stdout
        assert done.stderr.startswith(
            f"keeplore: it is forgotten, but its text is still there: {path}: "
        )
        assert done.stderr.endswith(
            f"  → Make that folder writable, and run `keeplore forget {digits}` again\n"
        )
        for command in (("list",), ("recall", "tea"), ("show", digits)):
            assert "served" not in run(*command, cwd=shop).stdout
        other = run("remember", "--scope", "workspace", "Milk is white", cwd=shop)
        assert (other.returncode, other.stderr) == (0, "")
        doctor = run("doctor", cwd=shop)
        assert doctor.returncode == 1
        assert f"{path.name} is forgotten and could not be removed" in doctor.stdout
        assert f"→ Make {path.parent} writable; the next" in doctor.stdout
    done = run("forget", "--yes", digits, cwd=shop)
    assert (done.returncode, path.exists()) == (0, False)
    assert "is forgotten already" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        *("list", "list --project shop", "show {}", "history {}", "brief", "stats"),
        *("export", "review", "graph", "archive", "tidy --dry-run"),
        *("embedding", "engine"),
    ],
)
def test_who_only_reads_is_answered_from_an_index_that_cannot_be_written(
    memory: Path, shop: Path, run: Callable[..., Any], command: str
) -> None:
    run("remember", "The ledger is append-only", cwd=shop)
    (path,) = memory.rglob("*ledger*.md")
    assert run("list", cwd=shop).stderr == ""
    path.write_text(path.read_text() + "\nAlways.\n")
    cache = Places.from_environment(os.environ).cache / "index" / "memory"
    (cache / "writing").mkdir()  # what a writer makes first
    done = run(*command.format(path.stem[-8:]).split(), cwd=shop)
    told = f"note: the index is 1 file behind the text: the search index in {cache} cannot be used"
    assert (done.returncode, told in done.stderr) == (0, True)
    (cache / "writing").rmdir()
    assert run("list", cwd=shop).stderr == ""


def test_what_is_forgotten_is_so_where_the_index_cannot_be_written(
    memory: Path, shop: Path, run: Callable[..., Any], git: Callable[..., str]
) -> None:
    told = run("remember", "--json", "Tea is served at four", cwd=shop).stdout
    digits = json.loads(told)["id"][4:12]
    run("list", cwd=shop)
    cache = Places.from_environment(os.environ).cache / "index" / "memory"
    (cache / "writing").mkdir()  # what a writer makes first
    done = run("forget", "--yes", digits, cwd=shop)
    assert (done.returncode, "Forgotten." in done.stdout) == (0, True)
    assert f"behind the text: the search index in {cache} cannot be" in done.stderr
    assert not [*memory.rglob(f"*{digits}.md")]
    assert git("log", "-1", "--format=%s", cwd=memory) == "Forget a memory"
    (cache / "writing").rmdir()
    assert run("restore", digits, cwd=shop).returncode == 0


def test_text_is_exchanged_where_the_index_cannot_be_written(
    memory: Path, shop: Path, run: Callable[..., Any], git: Callable[..., str]
) -> None:
    git("init", "-q", "--bare", "remote.git", cwd=memory.parent)
    git("remote", "add", "origin", str(memory.parent / "remote.git"), cwd=memory)
    run("remember", "The ledger is append-only", cwd=shop)
    cache = Places.from_environment(os.environ).cache
    shutil.rmtree(cache / "index")
    (cache / "index").write_text("in the way")
    done = run("sync", cwd=shop)
    assert (done.returncode, done.stdout) == (
        0,
        "memory: 0 commits fetched, 0 files changed, 2 commits pushed\n",
    )
    assert done.stderr == (
        "note: the text is exchanged, but what is new in it is not found yet: the search index in "
        f"{cache}/index/memory cannot be used: {cache}/index is no folder. Move it away\n"
    )
    pushed = git("ls-tree", "-r", "--name-only", "origin/main", cwd=memory)
    assert "ledger" in pushed
    (cache / "index").unlink()
    again = run("sync", cwd=shop)
    assert (again.stdout, again.stderr) == ("memory: nothing new\n", "")
    assert "append-only" in run("recall", "ledger", cwd=shop).stdout
