"""Keeping what a remote had before somebody rewrote it."""

from __future__ import annotations

import time
from pathlib import Path

from keeplore.store.git.git_command import output, run

PREFIX = "keeplore-rescue"  # branches, so that a person sees them and a purge reaches them


def is_ancestor(root: Path, old: str, new: str) -> bool:
    return run(root, "merge-base", "--is-ancestor", old, new).code == 0


def rescue(root: Path, commit: str) -> str:
    """The branch that holds a commit; it gets one where none does. Raises RepositoryError."""
    held = output(
        root,
        "for-each-ref",
        "--count=1",
        "--format=%(refname:short)",
        f"--contains={commit}",
        "refs/heads",
    )
    if held.text:
        return held.text
    branch = f"{PREFIX}/{time.strftime('%Y-%m-%d', time.gmtime())}-{commit[:8]}"
    output(root, "branch", "--no-track", branch, commit)
    return branch
