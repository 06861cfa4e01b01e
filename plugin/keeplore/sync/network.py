"""The user's git over the network: with the person's own credentials and settings, and never with a
prompt.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store import Done, run
from keeplore.sync.errors import failure, of_kind

TIMEOUT_S = 300.0
CLONE_TIMEOUT_S = 3600.0
_SSH_OPTIONS = "-oBatchMode=yes -oConnectTimeout=10"
_OTHER_SSH = ("plink", "tortoiseplink", "putty", "simple")  # these do not know OpenSSH's options
# a transfer slower than 1 kB/s for 30 s has stopped
_OPTIONS = ("-c", "core.fsync=all", "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30")


def call(
    directory: Path,
    protocols: str,
    *arguments: str,
    timeout_s: float = TIMEOUT_S,
    followed: Callable[[str], None] | None = None,
) -> Done:
    """Run a git command that talks to a remote; ``followed`` hears its progress. Raises
    SyncError.
    """
    done = attempt(directory, protocols, *arguments, timeout_s=timeout_s, followed=followed)
    if done.code:
        raise failure(f"{done.error}\n{done.text}")
    return done


def attempt(
    directory: Path,
    protocols: str,
    *arguments: str,
    timeout_s: float = TIMEOUT_S,
    followed: Callable[[str], None] | None = None,
) -> Done:
    """The same, with the exit code left to the caller. Raises SyncError where git took too long."""
    environment = {"GIT_ALLOW_PROTOCOL": protocols, "GIT_PROTOCOL_FROM_USER": "1"}
    if "ssh" in protocols and (ssh := _ssh(directory)):
        environment["GIT_SSH_COMMAND"] = ssh
    try:
        return run(
            directory,
            *arguments,
            options=_OPTIONS,
            environment=environment,
            timeout_s=timeout_s,
            followed=followed,
        )
    except RepositoryError as e:
        raise of_kind("offline", e.message) from e


def _ssh(directory: Path) -> str:
    """The person's ssh command with our options after it, "" where it takes none."""
    variant = run(directory, "config", "ssh.variant").text or os.environ.get("GIT_SSH_VARIANT", "")
    # passed on with an addition, not interpreted: git itself gives these variables the same
    # precedence
    own = os.environ.get("GIT_SSH_COMMAND") or run(directory, "config", "core.sshCommand").text
    if not own and (program := os.environ.get("GIT_SSH", "")):
        own = shlex.quote(program)
    command = own or "ssh"
    first = Path(shlex.split(command)[0]).stem.lower() if own else "ssh"
    return "" if first in _OTHER_SSH or variant in _OTHER_SSH else f"{command} {_SSH_OPTIONS}"
