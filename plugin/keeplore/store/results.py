"""What came of a commit, a merge and a purge: plain values, so that naming them loads nothing of
git.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommitResult:
    """``commit`` is None where nothing differed; ``skipped`` are paths on disk that git does not
    get.

    A path is skipped for being a link or no regular file, too large, ignored by git, or named as
    not every system can.
    """

    commit: str | None
    paths: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeResult:
    """``commit`` is HEAD now; ``paths`` are the files that it changed."""

    commit: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PurgePlan:
    """What a purge would do; no text of the memory is in it, though ``paths`` are made of titles.

    ``refs`` are (full name, number of commits that get another id) of branches and tags;
    ``remote_refs`` are branches of the remote, as last fetched, that hold the text; ``signed`` are
    commits and tags that lose their signature.
    """

    ids: tuple[str, ...]
    paths: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    commits: int = 0
    refs: tuple[tuple[str, int], ...] = ()
    remote_refs: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()

    @property
    def is_pushed(self) -> bool:
        return bool(self.remote_refs)


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """``commits`` is how many got another id; ``blobs`` are the ids of what is gone."""

    ids: tuple[str, ...] = ()
    commits: int = 0
    blobs: tuple[str, ...] = ()
