"""A folder into which nothing can be written, for root as well."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Take away the rights to write into a folder; root has them all, so that for root it becomes a
    disk that is mounted read-only.
    """
    if os.geteuid():
        mode = folder.stat().st_mode
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(mode)
        return
    bind = ["mount", "--bind", str(folder), str(folder)]
    if subprocess.run(bind, check=False, capture_output=True).returncode:
        pytest.skip("root may not mount a file system here")
    try:
        again = ["mount", "-o", "remount,ro,bind", str(folder)]
        subprocess.run(again, check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
