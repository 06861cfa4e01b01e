"""Cloning a project of a workspace: the address comes from other machines, so nothing of it is
believed or run.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from keeplore.sync.network import CLONE_TIMEOUT_S, call


def clone_project(url: str, protocols: str, place: Path, followed: Callable[[str], None]) -> None:
    """Clone a repository without submodules and without git hooks; ``place`` appears when it is
    complete.

    ``protocols`` are those that git may use, as ``urls.checked`` gives them; ``followed`` is called
    with git's own words on how far it is. Raises SyncError or OSError.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f".{place.name}-{secrets.token_hex(4)}.tmp")
    try:
        options = (
            "--progress",
            "--no-recurse-submodules",
            "--no-local",
            "--template=",
            "--origin",
            "origin",
        )
        arguments = ("clone", *options, "--", url, str(aside))
        call(place.parent, protocols, *arguments, timeout_s=CLONE_TIMEOUT_S, followed=followed)
        if place.is_dir():
            place.rmdir()  # it was empty
        aside.replace(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
