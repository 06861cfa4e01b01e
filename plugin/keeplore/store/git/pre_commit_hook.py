"""Our git pre-commit check: written into a repository where nothing stands in its place, and taken
out again.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from keeplore.errors import AlreadyExists, NotFound, RepositoryError
from keeplore.store.git.git_command import run
from keeplore.store.repository_state import directories
from keeplore_hooks import durable

NAME = "pre-commit"
LINE = "keeplore lint --staged || exit 1"  # for whoever has a check of their own
_MARK = (
    "# Written by `keeplore lint --install`; `keeplore lint --uninstall` removes it."
)
# A commit is never stopped because Keeplore is gone or broken: only status 1, which means findings,
# stops it.
_WARN = 'echo "keeplore: the check itself failed, so this commit was not checked" >&2'
_SCRIPT = f"""\
#!/bin/sh
{_MARK}
for keeplore in %s keeplore; do
  if "$keeplore" --version >/dev/null 2>&1; then
    "$keeplore" lint --staged
    status=$?
    [ "$status" -eq 1 ] && exit 1
    [ "$status" -eq 0 ] || {_WARN}
    exit 0
  fi
done
echo "keeplore: not found, so this commit was not checked" >&2
exit 0
"""


def install(root: Path, program: str) -> Path:
    """Write the check for a repository and return its path; that it is there already is no error.

    ``program`` is the path of the keeplore command. Raises AlreadyExists where somebody else's
    check stands there, and RepositoryError where git takes git hooks from outside of the
    repository.
    """
    place = _hook_path(root)
    text = _current_text(place)
    if text is not None and not _is_ours(text):
        raise AlreadyExists(
            f"{place} is there already and not Keeplore's",
            f"Add this line to it: {LINE}",
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    durable.write(place, (_SCRIPT % shlex.quote(program)).encode(), 0o755)
    return place


def installed(root: Path) -> Path | None:
    """The path of our check; None where it is not installed. Raises RepositoryError."""
    place = _hook_path(root)
    text = _current_text(place)
    return place if text is not None and _is_ours(text) else None


def uninstall(root: Path) -> Path:
    """Remove the check. Raises NotFound where there is none of ours; somebody else's is left as it
    is.
    """
    place = _hook_path(root)
    text = _current_text(place)
    if text is None:
        raise NotFound(f"there is no {place}", "Nothing is to be done")
    if not _is_ours(text):
        raise NotFound(
            f"{place} is not Keeplore's",
            f"Take out what runs keeplore by hand, if it does: {LINE}",
        )
    place.unlink()
    durable.sync_directory(place.parent)
    return place


def _hook_path(root: Path) -> Path:
    """The path where git looks for the check. Raises RepositoryError."""
    places = directories(root)
    # without our usual options, which tell git that there are none
    done = run(root, "rev-parse", "--git-path", "hooks", options=())
    if done.code:
        raise RepositoryError(
            f"git does not say where git hooks lie: {done.error.strip()}",
            "Run `git status` there",
        )
    folder = Path(os.path.abspath(root / done.text))  # noqa: PTH100  # a link stays what it is
    if not any(
        folder.is_relative_to(inside) for inside in (root, places.common, places.own)
    ):
        raise RepositoryError(
            f"`core.hooksPath` is {folder}, which other repositories use too",
            f"Add this line to the {NAME} there: {LINE}",
        )
    return folder / NAME


def _current_text(place: Path) -> str | None:
    """The text of the check that is there; "" for a file that is not text, None for no file."""
    if not os.path.lexists(place):
        return None
    try:
        return (
            place.read_text(encoding="utf-8")
            if place.is_file() and not place.is_symlink()
            else ""
        )
    except (OSError, UnicodeDecodeError):
        return ""


def _is_ours(text: str) -> bool:
    """Whether it is the script as we wrote it, whatever the program's path; not one that somebody
    changed since.
    """
    head, tail = _SCRIPT.split("%s")
    return (
        text.startswith(head)
        and text.endswith(tail)
        and "\n" not in text[len(head) : -len(tail)]
    )
