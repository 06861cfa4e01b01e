"""Folders of this user alone, and locks that processes wait for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from keeplore_hooks import durable


def test_a_private_folder_and_those_above_that_were_missing_are_closed_to_others(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(0o022)
    try:
        durable.make_private(tmp_path / "state" / "spool" / "new")
        durable.make_private(tmp_path / "state" / "spool")
    finally:
        os.umask(before)
    made = [path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")]
    assert (tmp_path.stat().st_mode & 0o777, made) == (0o755, [0o700] * 3)


def test_what_the_disk_refuses_is_told_of_the_file_that_was_to_be_written(
    tmp_path: Path,
) -> None:
    gone, folder = tmp_path / "gone" / "file", tmp_path / "folder"
    folder.mkdir()
    for path in (gone, folder):
        with pytest.raises(OSError, match=r"file|folder") as refused:
            durable.write(path, b"text")
        assert (refused.value.filename, refused.value.filename2) == (str(path), None)
    assert [*tmp_path.rglob("*")] == [folder]


_HOLDER = """
import sys
from pathlib import Path
from keeplore_hooks import durable

with durable.locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_waited_for_until_the_process_that_holds_it_ends(
    tmp_path: Path,
) -> None:
    lock = tmp_path / "lock"
    is_mine = threading.Event()

    def wait_for_it() -> None:
        with durable.locked(lock):
            is_mine.set()

    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        was_mine_at_once = is_mine.wait(0.2)
        holder.communicate()
        waiting.join()
    assert (was_mine_at_once, is_mine.is_set(), lock.exists()) == (False, True, True)
