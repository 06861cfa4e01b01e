"""Opens everything: a directory's workspace with its store, index, plugins and capture.

``open_workspace`` is the door for Python programs.
"""

from __future__ import annotations

import os
from pathlib import Path

from keeplore.config.places import Places
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

__all__ = ["Registry", "Workspace", "open_workspace"]


def open_workspace(cwd: str | Path | None = None) -> Workspace:
    """The workspace of a directory (the present one if not given), for a program that emits its own
    events.

    Raises NoWorkspace where none is set up on this machine.
    """
    # the one place below the command line that reads the environment: a program has no outer layer
    # of ours
    registry = Registry(Places.from_environment(os.environ))
    return registry.for_directory(Path(cwd or Path.cwd()))
