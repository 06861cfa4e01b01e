"""Settings that all machines of a workspace share: written down, and committed by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from keeplore.config.setting_layers import set_shared
from keeplore.config.settings import FILE
from keeplore.errors import KeeploreError
from keeplore.store.git.inspection import is_as_committed
from keeplore.workspace.workspace import Workspace

COMMITTED = f"{FILE} is committed, so that a sync brings it to your other machines"
_BY_HAND = "commit it where your other machines should have it too"
_OTHER_EDITS = "HEAD lacked other edits of it already"


def set_for_all(
    root: Path, state: Path, values: Mapping[str, Any], opened: Callable[[], Workspace]
) -> str:
    """Write keys of ``keeplore.yaml`` and commit that file; returns what to tell of it. A person's
    own edits that are not committed stay so.

    ``opened`` gives the workspace as its new settings have it. Raises as ``set_shared`` does.
    """
    was_committed = is_as_committed(root, FILE)
    for key, value in values.items():
        set_shared(root, state, key, value)
    why = _OTHER_EDITS
    if was_committed:
        why = _commit_or_reason(opened, f"Set {' and '.join(values)} in {FILE}")
    if is_as_committed(root, FILE):
        return COMMITTED
    return f"{FILE} is not committed: {why}; {_BY_HAND}"


def commit_settings(workspace: Workspace, message: str) -> str:
    """Commit ``keeplore.yaml`` as it is on disk, with the memory that waits; returns why git did
    not get it, "" where it did. Raises RepositoryError.
    """
    if workspace.settings.frozen:
        return "the workspace is frozen"
    with workspace.committing():
        done = workspace.store.commit(message, [FILE])
    held_back = [place for place in done.held_back if place.startswith(f"{FILE}:")]
    return f"{held_back[0]} looks like a secret" if held_back else ""


def _commit_or_reason(opened: Callable[[], Workspace], message: str) -> str:
    """Why it was not possible, "" where it was."""
    try:
        return commit_settings(opened(), message)
    except KeeploreError as e:  # the setting holds all the same
        return e.message
