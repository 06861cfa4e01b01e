"""Whose words the notes of a code repository are: of whoever committed them last.

A team's members write by hand, with any machine, so a file's own word for its machine counts only
until it is committed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from keeplore.config.project_file import NAME
from keeplore.recall.unasked.origin import MemorySource
from keeplore.store.code_store import FOLDER, CodeStore
from keeplore.store.git import signature
from keeplore.store.git.git_command import run
from keeplore.store.git.signature import CommitAuthor
from keeplore.store.repository_state import directories, is_shallow
from keeplore.workspace.machine_trust import CommitHistory, MachineTrust, TrustKnowledge

UNKNOWN = "?"  # the author of what lies before the end of a shallow clone
NOBODY = CommitAuthor(UNKNOWN, "")


class AuthorTrust(MachineTrust):
    """How far the authors of notes in one work tree are believed; ``accept`` takes e-mail addresses
    in place of machines.
    """

    def __init__(
        self,
        store: CodeStore,
        path_of: Callable[[str], str | None],
        own: Iterable[str],
        *,
        cache: Path,
        state: Path,
    ) -> None:
        super().__init__(store.top, store.head, path_of, own, cache=cache, state=state)

    def authors(self) -> Counter[str]:
        """Address → how many of the notes it committed last."""
        touched = self._current_knowledge().history.touched
        return Counter(email for email, _ in touched.values())

    def source_of_author(self, email: str) -> MemorySource:
        """How far what was committed under an address is believed."""
        said = self._current_knowledge().answers
        if email in said.refused:
            return MemorySource.REFUSED
        if email in said.addresses:
            return MemorySource.OWN
        is_accepted = email in said.accepted
        return MemorySource.ACCEPTED if is_accepted else MemorySource.WAITING

    def _source(
        self, machine: str, path: Callable[[], str], known: TrustKnowledge
    ) -> MemorySource:
        by = known.history.touched.get(path())
        if by is not None:
            return self.source_of_author(by.email)
        is_own = known.is_read and machine in self._own
        return MemorySource.OWN if is_own else MemorySource.WAITING

    def _has_nobody_else(self, *_: object) -> bool:
        return False

    def _read_history(self, head: str, _addresses: frozenset[str]) -> CommitHistory:
        """The history of the commits that changed notes, on this branch alone."""
        known = self._history or CommitHistory.load(self._cache)
        if not head:
            return CommitHistory()
        is_clone_shallow = is_shallow(directories(self._root))
        was_deepened = not is_clone_shallow and NOBODY in known.touched.values()
        if was_deepened:
            known = CommitHistory()
        if head != known.head:
            known = self._read_on(known, head, is_clone_shallow=is_clone_shallow)
            self._save(known)
        self._history = known
        return known

    def _read_on(
        self, known: CommitHistory, head: str, *, is_clone_shallow: bool
    ) -> CommitHistory:
        if known.head and self._is_before(known.head, head):
            newer = self._last_authors(head, known.head)
            return CommitHistory(head, touched={**known.touched, **newer})
        touched = self._last_authors(head)
        if is_clone_shallow:  # its first commit seems to have written everything
            touched = dict.fromkeys(touched, NOBODY)
        return CommitHistory(head, touched=touched)

    def _is_before(self, old: str, new: str) -> bool:
        return run(self._root, "merge-base --is-ancestor", old, new).code == 0

    def _last_authors(self, head: str, old: str = "") -> dict[str, CommitAuthor]:
        """Path → who changed it last."""
        commits = signature.authored_commits(self._root, head, old, f"{NAME}/{FOLDER}")
        touched = signature.summary(commits).touched
        return {path.removeprefix(f"{NAME}/"): by for path, by in touched.items()}
