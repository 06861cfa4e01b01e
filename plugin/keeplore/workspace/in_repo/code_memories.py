"""Which work trees have memory that may be read and written here, each opened when first needed."""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from keeplore.config.code_consent import CodeConsents
from keeplore.config.places import Places
from keeplore.config.project_file import NAME, says_in_repo
from keeplore.errors import KeeploreError
from keeplore.store.git.checkout_info import checkout_info
from keeplore.store.git.work_trees import WorkTree, work_tree_of, work_trees
from keeplore.workspace.in_repo.code_workspace import PREFIX, CodeWorkspace, name_of
from keeplore.workspace.workspace import Workspace

LOG = logging.getLogger(__name__)
TOP = "work-tree"  # in the folder of an index: whose it is
FIRST_LOOK_S = 0.3  # a host may wait


class CodeMemories:
    """The memories in code repositories that this machine reads; safe for several threads. A person
    has said yes to each repository, and its branch says that memory is kept there.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._consents = CodeConsents(places.state)
        self._opened: dict[Path, CodeWorkspace] = {}
        # of repositories: top of the main work tree → whether it is the one that was meant
        self._is_meant: dict[tuple[Path, str], bool] = {}
        self._lock = threading.RLock()

    def at(self, directory: Path, host: Workspace) -> CodeWorkspace | None:
        """The memory of the work tree around a directory, whose project a workspace of the person
        has; None where there is none, or nobody has said yes.
        """
        if not self._consents.file.exists():
            return None
        tree = work_tree_of(directory)
        if tree is None or not self._may_open(tree):
            return None
        project = host.identities.project_of(str(directory))
        with self._lock:
            known = self._opened.get(tree.top)
            if known is None or known.host is not host or known.project != project:
                known = self._open(tree, host, project) if project else None
            return known

    def of_project(
        self, host: Workspace, project: str, branch: str
    ) -> CodeWorkspace | None:
        """The memory of a project's work tree on this branch, else of its main one."""
        for consent in self._consents.all():
            main = Path(consent.main)
            if host.identities.project_of(str(main)) == project:
                trees = list(work_trees(main))
                named = [tree for tree in trees if branch and tree.branch == branch]
                for tree in (named or trees)[:1]:
                    return self.at(tree.top, host)
        return None

    def opened(self) -> list[CodeWorkspace]:
        """The memories in use whose work tree still exists."""
        with self._lock:
            gone = [
                workspace
                for workspace in self._opened.values()
                if not self._may_open(workspace.tree)
            ]
            for workspace in gone:
                self._close(workspace)
            return list(self._opened.values())

    def is_offered(self, directory: Path) -> bool:
        """Whether the code around a directory says that it brings notes, and nobody has said
        yes.
        """
        tree = work_tree_of(directory)
        if tree is None or not says_in_repo(tree.top):
            return False
        return self._consents.of(tree.main) is None

    def consented(self) -> Iterator[Path]:
        """The main work trees of the repositories to which the person has said yes."""
        return (Path(consent.main) for consent in self._consents.all())

    def close(self) -> None:
        with self._lock:
            for workspace in list(self._opened.values()):
                self._close(workspace)

    def _may_open(self, tree: WorkTree) -> bool:
        if not says_in_repo(tree.top) or (tree.top / NAME).is_symlink():
            return False
        consent = self._consents.of(tree.main)
        if consent is None or not (tree.top / ".git").exists():
            return False
        key = (tree.main, consent.first_commit)
        if key not in self._is_meant:
            self._is_meant[key] = _is_meant(tree, consent.first_commit)
        return self._is_meant[key]

    def _open(
        self, tree: WorkTree, host: Workspace, project: str
    ) -> CodeWorkspace | None:
        if before := self._opened.get(tree.top):
            self._close(before)
        try:
            opened = CodeWorkspace(host, tree, project)
            self._note_place(opened)
            with contextlib.suppress(KeeploreError):
                opened.index.refresh(within_s=FIRST_LOOK_S)
        except (KeeploreError, OSError) as e:
            LOG.warning("%s: %s", tree.top, e)
            return None
        self._opened[tree.top] = opened
        return opened

    def _close(self, workspace: CodeWorkspace) -> None:
        del self._opened[workspace.tree.top]
        workspace.close()

    def _note_place(self, opened: CodeWorkspace) -> None:
        """Write down whose index it is, and remove those of work trees that are gone: agents make
        and remove many.
        """
        note = opened.index.directory / TOP
        if note.exists():
            return
        note.write_text(str(opened.tree.top), encoding="utf-8")
        for folder in (self._places.cache / "index").glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError, ValueError):
                top = Path((folder / TOP).read_text(encoding="utf-8"))
                if not (top / ".git").exists():
                    shutil.rmtree(folder)


def _is_meant(tree: WorkTree, first_commit: str) -> bool:
    """Whether the repository at that place is the one to which the person said yes."""
    checkout = checkout_info(tree.top)
    known = checkout.root_commit if checkout else ""
    return not (first_commit and known) or first_commit == known


def drop_index(places: Places, top: Path) -> None:
    """Remove what this machine has made of a work tree's memory."""
    shutil.rmtree(places.cache / "index" / name_of(top), ignore_errors=True)
