"""The user's git over the network: with the person's own credentials and settings, and never with a
prompt.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from keeplore.errors import RepositoryError
from keeplore.store import GitResult, Store, run, without_credentials
from keeplore.store.git.git_command import git_in
from keeplore.sync.errors import FailureKind, SyncError, failure, of_kind

TIMEOUT_S = 300.0
CLONE_TIMEOUT_S = 3600.0
_SSH_OPTIONS = "-oBatchMode=yes -oConnectTimeout=10"
# these do not know OpenSSH's options
_OTHER_SSH = ("plink", "tortoiseplink", "putty", "simple")
# a transfer slower than 1 kB/s for 30 s has stopped
_OPTIONS = (
    "-c",
    "core.fsync=all",
    "-c",
    "http.lowSpeedLimit=1000",
    "-c",
    "http.lowSpeedTime=30",
)


def attempt(
    directory: Path,
    protocols: str,
    command: str,
    *arguments: str,
    timeout_s: float = TIMEOUT_S,
    on_progress: Callable[[str], None] | None = None,
) -> GitResult:
    """Run a git command that conversations to a remote; ``on_progress`` hears how far it is, the
    exit code is left to the caller. Raises SyncError where git took too long.
    """
    environment = {"GIT_ALLOW_PROTOCOL": protocols, "GIT_PROTOCOL_FROM_USER": "1"}
    if "ssh" in protocols and (ssh := _ssh(directory)):
        environment["GIT_SSH_COMMAND"] = ssh
    try:
        return run(
            directory,
            command,
            *arguments,
            options=_OPTIONS,
            environment=environment,
            timeout_s=timeout_s,
            on_progress=on_progress,
        )
    except RepositoryError as e:
        raise of_kind("offline", e.message) from e


def check(result: GitResult) -> None:
    """Raise SyncError where git failed."""
    if result.code:
        raise failure(f"{result.error}\n{result.text}")


def _ssh(directory: Path) -> str:
    """The person's ssh command with our options after it, "" where it takes none."""
    variant = run(directory, "config ssh.variant").text or os.environ.get(
        "GIT_SSH_VARIANT", ""
    )
    # passed on with an addition, not interpreted: git itself gives these variables the same
    # precedence
    own = (
        os.environ.get("GIT_SSH_COMMAND")
        or run(directory, "config core.sshCommand").text
    )
    if not own and (program := os.environ.get("GIT_SSH", "")):
        own = shlex.quote(program)
    command = own or "ssh"
    first = Path(shlex.split(command)[0]).stem.lower() if own else "ssh"
    return (
        ""
        if first in _OTHER_SSH or variant in _OTHER_SSH
        else f"{command} {_SSH_OPTIONS}"
    )


# anyone on the way can read and change what they carry
_ON_LOOPBACK = {"git": "git", "http": "http"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SCP = re.compile(
    r"(?:[A-Za-z0-9_][^@/:\s]*@)?(?:[A-Za-z0-9][^@/:\s]*|\[[0-9a-fA-F:]+\]):(?!:)[^\s]"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
REMEDY = "Use an https or ssh address, or the path of a repository"


def checked_url(url: str, *, is_path_allowed: bool) -> tuple[str, str]:
    """The address and the protocols that git may use for it, as ``GIT_ALLOW_PROTOCOL`` takes them.

    ``is_path_allowed``: a person typed it, or it stands in their own git configuration. Raises
    SyncError.
    """
    if not url.strip() or url.startswith("-") or _CONTROL.search(url):
        raise _refused_address(url, "is not an address")
    if "::" in url.split("/")[0] and not url.startswith("["):
        raise _refused_address(url, "names a program to run")
    if "://" in url:
        return url, _protocols(url, is_path_allowed=is_path_allowed)
    if _SCP.match(url) and not Path(url).exists():
        return url, "https:ssh"
    if not is_path_allowed:
        raise _refused_address(url, "is a path")
    return url, "file"


def _protocols(url: str, *, is_path_allowed: bool) -> str:
    """What git may use for a URL. Raises SyncError."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise _refused_address(url, "is not an address") from None
    scheme = parts.scheme.lower()
    if host.startswith("-") or (parts.username or "").startswith("-"):
        raise _refused_address(url, "names an option instead of a host")
    if scheme in ("https", "ssh") and host:
        return "https:ssh"
    if scheme in _ON_LOOPBACK and host in _LOOPBACK:
        return _ON_LOOPBACK[scheme]
    if scheme == "file" and is_path_allowed:
        return "file"
    raise _refused_address(url, f"uses {scheme or 'no scheme'}, which is not followed")


def _refused_address(url: str, why: str) -> SyncError:
    """The error for an address that is not followed."""
    shown = without_credentials(url).encode("unicode_escape").decode()[:200]
    return SyncError(FailureKind.BLOCKED, f"{shown!r} {why}", REMEDY)


REACH_TIMEOUT_S = 30.0


def check_reachable(store: Store) -> None:
    """Ask the remote what it has; nothing is fetched. Raises SyncError, or RepositoryError without
    a remote.
    """
    remote = store.remote_in_full()
    if remote is None:
        raise RepositoryError(
            "this workspace has no remote",
            f"`{git_in(store.root)} remote add origin URL`",
        )
    _, protocols = checked_url(remote.url, is_path_allowed=True)
    arguments = ("ls-remote --quiet --heads --", remote.name)
    check(attempt(store.root, protocols, *arguments, timeout_s=REACH_TIMEOUT_S))
