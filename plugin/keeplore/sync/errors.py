"""What can go wrong with a remote, told by what git printed."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from keeplore.errors import RemoteError
from keeplore.store import without_credentials
from keeplore.text.folding import shortened

SAID = 300  # characters of git's words in a message
# who speaks, and of a push which refs it was about
_SPEAKER = re.compile(r"^((fatal|error|remote|ssh): *)+|!\s+\S+:\S+\s+")
# what git says around the reason
_AROUND = re.compile(
    r"Cloning into '.*'|Could not read from remote repository|hint: .*|To \S+|Done"
    r"|Please make sure you have the correct access rights|and the repository exists"
    r"|failed to push some refs to .*"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|\x1b\[[0-9;]*[A-Za-z]")


_RACE = re.compile(r"cannot lock ref|failed to update ref|incorrect old value")


class FailureKind(StrEnum):
    """What callers tell apart; ``failures.toml`` has more of them."""

    OFFLINE = "offline"
    MOVED = "moved"  # another machine pushed first
    REFUSED = "refused"
    FOREIGN = "foreign"
    BLOCKED = "blocked"
    LEAK = "secret"  # found in what would be pushed
    NO_REMOTE = "no remote"
    OTHER = "other"


class SyncError(RemoteError):
    """``kind`` names the case."""

    def __init__(self, kind: str, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.kind = kind


def failure(printed: str) -> SyncError:
    """The error for what a failed git command printed; a later "remote rejected" is a race when it
    is about a lock.
    """
    low = printed.lower()
    kind = next(
        (kind for kind, case in _load_cases().items() if _matches_output(case, low)),
        FailureKind.OTHER,
    )
    if kind == FailureKind.REFUSED and _RACE.search(low):
        kind = FailureKind.MOVED
    return of_kind(kind, printed)


def of_kind(kind: str, printed: str = "") -> SyncError:
    """The error of a kind, with git's own words."""
    case = _load_cases()[kind]
    message = shown("; ".join(_reasons(printed)))
    return SyncError(
        kind, f"{case.what}: {message}" if message else case.what, case.remedy
    )


def _reasons(printed: str) -> list[str]:
    """The lines of git that say why, each once."""
    lines = [
        _SPEAKER.sub("", line.strip()).rstrip(".") for line in printed.splitlines()
    ]
    return [
        *dict.fromkeys(line for line in lines if line and not _AROUND.fullmatch(line))
    ]


@dataclass(frozen=True, slots=True)
class FailureCase:
    what: str
    remedy: str
    patterns: tuple[str, ...] = ()


@functools.cache
def _load_cases() -> dict[str, FailureCase]:
    """The kinds of failure in the order in which they are tried."""
    text = Path(__file__).with_name("failures.toml").read_text(encoding="utf-8")
    return {kind: FailureCase(**case) for kind, case in tomllib.loads(text).items()}


def _matches_output(case: FailureCase, printed: str) -> bool:
    """Whether git printed what tells of this case."""
    return any(re.search(pattern, printed) for pattern in case.patterns)


def shown(text: str) -> str:
    """Another machine's words, safe to print: no control characters, no credentials, not
    endless.
    """
    words = " ".join(_CONTROL.sub(" ", without_credentials(text)).split())
    return shortened(words, SAID)
