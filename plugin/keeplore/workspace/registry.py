"""The workspaces of this machine: which one a directory belongs to, opened when first needed."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.errors import ConfigError, NoWorkspace
from keeplore.workspace.workspace import Workspace


class Registry:
    """All registered workspaces, safe for several threads; a context manager that closes those it opened."""

    def __init__(self, places: Places) -> None:
        places.create()
        self.places = places
        self.machine = Machine.load(places)
        self._opened: dict[str, Workspace] = {}
        self._lock = threading.RLock()

    def __enter__(self) -> Registry:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def named(self, name: str) -> Workspace:
        """Raises NoWorkspace for a name that is not registered, ConfigError where its directory is no workspace."""
        with self._lock:
            if name not in self._opened:
                root = self.machine.workspaces.get(name)
                if root is None:
                    raise NoWorkspace(f"no workspace named {name!r} on this machine", "Run `keeplore init DIR`")
                self._opened[name] = Workspace(name, root, self.places, self.machine)
            return self._opened[name]

    def for_directory(self, directory: Path) -> Workspace:
        """The workspace that a directory lies in, else the one that knows its project, else the home workspace.

        Raises NoWorkspace where none is registered.
        """
        if not self.machine.workspaces:  # one may have been set up since
            self.machine = Machine.load(self.places)
        if not self.machine.workspaces:
            raise NoWorkspace(
                "no workspace is set up on this machine", "Run `keeplore init DIR` or `keeplore clone URL DIR`"
            )
        for name, root in self.machine.workspaces.items():
            if directory.is_relative_to(root):
                return self.named(name)
        home = self.machine.home
        # the home workspace is asked first, so that most lookups open one workspace
        for name in sorted(self.machine.workspaces, key=lambda known: (known != home, known)):
            with contextlib.suppress(ConfigError):  # a workspace that is gone must not hide the others
                workspace = self.named(name)
                if workspace.identity(directory).is_known:
                    return workspace
        return self.named(home)

    def opened(self) -> list[Workspace]:
        with self._lock:
            return list(self._opened.values())

    def register(self, name: str, directory: Path) -> None:
        self.machine = self.machine.with_workspace(name, directory)
        self.machine.save(self.places)

    def close(self) -> None:
        for workspace in self.opened():
            workspace.close()
        self._opened.clear()
