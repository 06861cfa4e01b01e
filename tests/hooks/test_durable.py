"""Folders of this user alone."""

from __future__ import annotations

import os
from pathlib import Path

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
