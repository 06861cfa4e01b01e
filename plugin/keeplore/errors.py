"""Every error that Keeplore raises on purpose, one class for each thing that a caller can do
differently.

KeeploreError                the operation failed for a reason the person can mend: exit code 1
├── ConfigError              a setting is wrong or a workspace is not set up
│   ├── NoWorkspace          no workspace is registered for this place
│   └── WorkspaceFrozen      nothing is written there until its setting changes
├── StoreError
│   ├── NotFound             no memory with that id or path
│   ├── AlreadyExists        a memory with that id is there already
│   ├── Forgotten            that memory was forgotten and must not come back
│   ├── Corrupt              the file is no memory: skipped, listed, never changed
│   └── UnsafePath           the name would leave the workspace or is not allowed
├── RepositoryError          git refused
│   ├── RepositoryBusy       a merge, rebase, lock or another branch: wait, nothing is lost
│   └── RemoteError          fetch, push or clone failed
├── IndexUnavailable         the index cannot be read or built now
│   └── EngineUnavailable    the shared engine does not answer: this machine's full text does
├── ModelUnavailable         the embedding model cannot be loaded
├── SourceRefused            a file or page will never be taken as it is
├── SourceUnavailable        a page cannot be fetched now: try again later
├── LlmUnavailable           no language model answers now: the work waits
│   └── BudgetSpent          what may be spent on it is spent: the work waits until then
├── LlmRefused               this request will never get an answer that can be used
└── TranscriptError          a host's record cannot be read
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


class KeeploreError(Exception):
    """``message`` says what is wrong; ``remedy`` is the next step: a command, a setting, a file."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}" if self.remedy else self.message


class ConfigError(KeeploreError):
    pass


class NoWorkspace(ConfigError):
    pass


class WorkspaceFrozen(ConfigError):
    def __init__(self, root: Path) -> None:
        super().__init__(
            f"{root} is frozen: nothing is written into it",
            "`keeplore config set frozen false` ends that, with --machine where this machine alone "
            "is set so",
        )


class StoreError(KeeploreError):
    pass


class NotFound(StoreError):
    pass


class AlreadyExists(StoreError):
    pass


class Forgotten(StoreError):
    pass


class Corrupt(StoreError):
    """``line`` is where the file is wrong, counted from 1."""

    def __init__(self, message: str, remedy: str = "", line: int = 1) -> None:
        super().__init__(message, remedy)
        self.line = line


class UnsafePath(StoreError):
    pass


class RepositoryError(KeeploreError):
    pass


class RepositoryBusy(RepositoryError):
    pass


class RemoteError(RepositoryError):
    pass


class IndexUnavailable(KeeploreError):
    pass


class EngineUnavailable(IndexUnavailable):
    pass


class ModelUnavailable(KeeploreError):
    pass


class SourceRefused(KeeploreError):
    pass


class SourceUnavailable(KeeploreError):
    pass


class LlmUnavailable(KeeploreError):
    pass


class BudgetSpent(LlmUnavailable):
    """``until`` is when there is something to spend again."""

    def __init__(self, message: str, remedy: str, until: datetime) -> None:
        super().__init__(message, remedy)
        self.until = until


class LlmRefused(KeeploreError):
    pass


class TranscriptError(KeeploreError):
    pass


def disk_message(error: OSError) -> str:
    """What the disk refused, and why."""
    return f"{error.filename or 'the disk'}: {error.strerror or error}"


def problem_message(error: Exception) -> str:
    """What is wrong, in words, where it may be the disk that refused."""
    return disk_message(error) if isinstance(error, OSError) else str(error)


def reason_of(error: Exception) -> str:
    """Why something failed, where the path is named beside it."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def is_in_the_way(error: OSError) -> bool:
    """Whether something of another kind stands where a file or folder is to be; elsewhere the disk
    may be well.
    """
    return error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
