"""Making a directory a workspace: a repository, the template's files, a first commit."""

from __future__ import annotations

import re
from pathlib import Path

from keeplore.store import files
from keeplore.store.commit import reconcile
from keeplore.store.git.git_command import output, run
from keeplore.store.repository_state import check_branch, check_idle, directories
from keeplore.store.shared_rights import shared_file_rights
from keeplore.store.store import Store

MESSAGE = "Create a Keeplore workspace"
SETTINGS = "keeplore.yaml"
_BRANCH = re.compile(rb"^branch: *\S+", re.MULTILINE)


def create(root: Path, template: Path, branch: str = "main") -> Store:
    """Make a workspace of a directory: ``git init`` where needed, the template's files that are
    missing, one commit.

    An existing repository keeps its branch, which the new settings then name, and everything in it.
    Raises RepositoryBusy where that repository is in the middle of something; nothing is written
    then.
    """
    root.mkdir(parents=True, exist_ok=True)
    if (root / ".git").exists():
        check_idle(root, directories(root))
        ref = run(root, "symbolic-ref -q HEAD").text
        branch = check_branch(root, ref, "").removeprefix("refs/heads/")
    else:
        with shared_file_rights(root):
            output(root, "init --quiet", f"--initial-branch={branch}")
    laid_down = [
        path
        for path in _template_files(template)
        if _lay_down(root, template, path, branch)
    ]
    store = Store(root, branch=branch)
    reconcile(root, branch, store.cache, MESSAGE, laid_down)
    return store


def _template_files(template: Path) -> list[str]:
    """The paths of a template, in order."""
    return sorted(
        path.relative_to(template).as_posix()
        for path in template.rglob("*")
        if path.is_file()
    )


def _lay_down(root: Path, template: Path, path: str, branch: str) -> bool:
    """Write a file of the template, unless a person has one of their own there; returns whether
    what stands there is the template's, and so to be committed.
    """
    data = (template / path).read_bytes()
    if path == SETTINGS:
        data = _BRANCH.sub(f"branch: {branch}".encode(), data)
    target = root / path
    if target.is_symlink() or target.exists():
        return (
            target.is_file() and not target.is_symlink() and target.read_bytes() == data
        )
    files.write(root, path, data, 0o644)
    return True
