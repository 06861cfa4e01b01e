"""What came of a commit, a merge and a purge: plain values, so that naming them loads nothing of
git.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

# what a text holds that must not be published: where it begins in bytes, and its kind with a
# fingerprint
Scan = Callable[[bytes], Iterable[tuple[int, str]]]


def no_secret(_data: bytes) -> Iterable[tuple[int, str]]:
    """The scan where none is asked for."""
    return ()


@dataclass(frozen=True, slots=True)
class CommitResult:
    """``commit`` is None where nothing differed; ``skipped`` are paths on disk that git does not
    get.

    A path is skipped for being a link or no regular file, too large, ignored by git, or named as
    not every system can. ``held_back`` says of files with what looks like a secret where it stands
    and of which kind it is; HEAD has them as they were before.
    """

    commit: str | None
    paths: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()


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
    commits and tags that lose their signature. ``mentions`` are tombstones and files of the
    audit that tell of them; ``stays`` are files of HEAD that say the same, ``messages`` how many
    commits do so in their message. ``kept`` are commits of a code repository that have it and stay.
    """

    ids: tuple[str, ...]
    paths: tuple[str, ...]
    blobs: tuple[str, ...]
    commits: int
    refs: tuple[tuple[str, int], ...]
    remote_refs: tuple[str, ...]
    signed: tuple[str, ...]
    mentions: tuple[str, ...]
    stays: tuple[str, ...] = ()
    messages: int = 0
    kept: int = 0

    @property
    def is_pushed(self) -> bool:
        return bool(self.remote_refs)


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """``commits`` is how many got another id; ``blobs`` are the ids of what is gone; ``holding``
    are files of this machine and objects of git that have words of it all the same.
    """

    ids: tuple[str, ...] = ()
    commits: int = 0
    blobs: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()
