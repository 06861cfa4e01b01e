"""Files that a patch in the form of the tool apply_patch touches."""

from __future__ import annotations

import re

from keeplore_hooks.hosts.jsonl import clean

BEGINS = "*** Begin Patch"
_FILE = re.compile(
    r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n\"`\\]{1,1000})"
)


def files_in(patch: str) -> tuple[str, ...]:
    """The files that a patch, or a script that holds one as a literal, touches."""
    return tuple(
        dict.fromkeys(clean(match[1]).strip() for match in _FILE.finditer(patch))
    )


def absolute(path: str, cwd: str) -> str:
    """A path as it stands in the file system, where the agent named it from its directory."""
    is_absolute = path.startswith(("/", "\\", "~")) or path[1:2] == ":"
    return (
        path
        if is_absolute or not cwd
        else f"{cwd.rstrip('/')}/{path.removeprefix('./')}"
    )
