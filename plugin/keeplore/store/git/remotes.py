"""The remote of a workspace, and how an address is shown."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from keeplore.store.git.git_command import output, run
from keeplore.store.git.git_settings import settings

_ASKED = r"^(remote\..*\.url|branch\..*\.remote)$"
# over http a name alone can be a token; over ssh it is "git"
_USERINFO = re.compile(
    r"(?i)\b((?:https?|git|ftps?)://)[^/@\s'\"]*@|\b(ssh://[^/@:\s'\"]*):[^/@\s'\"]*(?=@)"
)
_QUERY = re.compile(r"(://[^\s?#'\"]*)[?#][^\s'\"]*")


@dataclass(frozen=True, slots=True)
class Remote:
    name: str
    url: str
    is_upstream: bool  # the branch is set to follow it


def remote_of(root: Path, branch: str) -> Remote | None:
    """The remote that the branch follows, else ``origin``, else the only one."""
    urls: dict[str, str] = {}
    followed = ""
    for key, value in settings(root, _ASKED):
        section, _, name = key.rpartition(".")[0].partition(".")
        if section == "remote":
            urls.setdefault(name, value)
        elif name == branch:
            followed = value
    only = urls if len(urls) == 1 else ()
    for name in (followed, "origin", *only):
        if name in urls:
            return Remote(name, urls[name], name == followed)
    return None


def without_credentials(text: str) -> str:
    """The text with credentials taken out of every URL in it."""
    return _QUERY.sub(r"\1", _USERINFO.sub(lambda match: match[1] or match[2], text))


PREFIX = (
    "keeplore-rescue"  # branches, so that a person sees them and a purge reaches them
)


def is_ancestor(root: Path, old: str, new: str) -> bool:
    return run(root, "merge-base --is-ancestor", old, new).code == 0


def back_up(root: Path, commit: str) -> str:
    """The branch that holds a commit; it gets one where none does. Raises RepositoryError."""
    held = output(
        root,
        "for-each-ref --count=1 --format=%(refname:short)",
        f"--contains={commit}",
        "refs/heads",
    )
    if held.text:
        return held.text
    branch = f"{PREFIX}/{time.strftime('%Y-%m-%d', time.gmtime())}-{commit[:8]}"
    output(root, "branch --no-track", branch, commit)
    return branch
