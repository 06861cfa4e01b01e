"""What can go wrong with a remote, told by what git printed."""

from __future__ import annotations

import re

from keeplore.errors import RemoteError
from keeplore.store import without_credentials

SAID = 300  # characters of git's words in a message
_PROGRESS = re.compile(r"(?m)^Cloning into '.*'\.\.\.$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|\x1b\[[0-9;]*[A-Za-z]")


class SyncError(RemoteError):
    """``kind`` names the case; ``is_lasting`` says that trying again helps only after the person
    did something.
    """

    def __init__(self, kind: str, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.kind = kind

    @property
    def is_lasting(self) -> bool:
        return self.kind not in ("offline", "moved", "other")


# first match wins: what is said last in git's own text ("could not read from remote repository")
# fits several cases
_CASES = {
    "full": r"no space left on device|disk quota exceeded|file too large",
    "untrusted": r"host key verification failed|host identification has changed|certificate|ssl "
    r"peer",
    "auth": r"authentication failed|permission denied|could not read (username|password)|terminal "
    r"prompts disabled"
    r"|returned error: 40[13]|invalid (username|credentials)|access denied|not "
    r"authorized|permission to .* denied",
    "refused": r"remote rejected|pre-receive hook declined|protected branch|gh0\d\d|pre-push|not "
    r"allow(ed)? to push"
    r"|denying non-fast-forward|push declined|shallow update not allowed",
    "moved": r"fetch first|non-fast-forward|\[rejected\]|stale info|cannot lock ref|failed to "
    r"update ref",
    "blocked": r"transport '.*' not allowed|strange hostname|unable to find remote helper",
    "missing": r"repository .*not found|does not appear to be a git repository|returned error: "
    r"404|does not exist"
    r"|no such file or directory|not a git repository|project you were looking for",
    "offline": r"could not resolve|name or service not known|connection (refused|timed "
    r"out|reset|closed)|unreachable"
    r"|no route to host|failed to connect|couldn't connect|operation timed out|returned error: "
    r"(5\d\d|429)"
    r"|early eof|hung up unexpectedly|unable to connect|timeout|gnutls|rpc failed",
}
_ADVICE = {
    "untrusted": (
        "the remote's identity is not trusted",
        "Run `git fetch` once in the workspace and check its key",
    ),
    "auth": (
        "the remote refuses the credentials",
        "Run `git push` once in the workspace and sign in",
    ),
    "refused": (
        "the remote does not take the push",
        "See what it says; memory stays committed here",
    ),
    "moved": ("another machine was faster each time", "Nothing is lost; it is tried again soon"),
    "blocked": (
        "git does not follow this address",
        "Use https, ssh or a path: `git remote set-url origin URL`",
    ),
    "missing": (
        "there is no repository at the remote",
        "Check the address, or create the repository",
    ),
    "full": ("a disk is full", "Make room here or at the remote; memory stays as it is until then"),
    "foreign": (
        "the remote holds no Keeplore workspace",
        "Name another one: `git remote set-url origin URL`",
    ),
    "offline": (
        "the remote cannot be reached",
        "Nothing is lost; try again when the network is back",
    ),
    "other": ("git failed", "Run `git fetch` and `git push` in the workspace to see more"),
}


def failure(printed: str) -> SyncError:
    """The error for what a failed git command printed; a later "remote rejected" is a race when it
    is about a lock.
    """
    low = printed.lower()
    kind = next((kind for kind, pattern in _CASES.items() if re.search(pattern, low)), "other")
    if kind == "refused" and re.search(
        r"cannot lock ref|failed to update ref|incorrect old value", low
    ):
        kind = "moved"
    return of_kind(kind, printed)


def of_kind(kind: str, printed: str = "") -> SyncError:
    what, remedy = _ADVICE[kind]
    said = shown(_PROGRESS.sub("", printed)).rstrip(".")
    return SyncError(kind, f"{what}: {said}" if said else what, remedy)


def shown(text: str) -> str:
    """Another machine's words, safe to print: no control characters, no credentials, not
    endless.
    """
    words = " ".join(_CONTROL.sub(" ", without_credentials(text)).split())
    return words if len(words) <= SAID else f"{words[: SAID - 1]}…"
