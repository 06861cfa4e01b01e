"""Which addresses are followed."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from keeplore.store import displayed
from keeplore.sync.errors import SyncError

_ON_LOOPBACK = {
    "git": "git",
    "http": "http",
}  # anyone on the way can read and change what they carry
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SCP = re.compile(
    r"(?:[A-Za-z0-9_][^@/:\s]*@)?(?:[A-Za-z0-9][^@/:\s]*|\[[0-9a-fA-F:]+\]):(?!:)[^\s]"
)
REMEDY = "Use an https or ssh address, or the path of a repository"


def checked(url: str, *, is_path_allowed: bool) -> tuple[str, str]:
    """The address and the protocols that git may use for it, as ``GIT_ALLOW_PROTOCOL`` takes them.

    ``is_path_allowed``: a person typed it, or it stands in their own git configuration. Raises
    SyncError.
    """
    if (
        not url.strip()
        or url.startswith("-")
        or any(ord(char) < 32 or ord(char) == 127 for char in url)
    ):
        raise _refused(url, "is not an address")
    if "::" in url.split("/")[0] and not url.startswith("["):
        raise _refused(url, "names a program to run")
    if "://" in url:
        return url, _protocols(url, is_path_allowed=is_path_allowed)
    if _SCP.match(url) and not Path(url).exists():
        return url, "https:ssh"
    if not is_path_allowed:
        raise _refused(url, "is a path")
    return url, "file"


def _protocols(url: str, *, is_path_allowed: bool) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise _refused(url, "is not an address") from None
    scheme = parts.scheme.lower()
    if host.startswith("-") or (parts.username or "").startswith("-"):
        raise _refused(url, "names an option instead of a host")
    if scheme in ("https", "ssh") and host:
        return "https:ssh"
    if scheme in _ON_LOOPBACK and host in _LOOPBACK:
        return _ON_LOOPBACK[scheme]
    if scheme == "file" and is_path_allowed:
        return "file"
    raise _refused(url, f"uses {scheme or 'no scheme'}, which is not followed")


def _refused(url: str, why: str) -> SyncError:
    shown = displayed(url).encode("unicode_escape").decode()[:200]
    return SyncError("blocked", f"{shown!r} {why}", REMEDY)
