"""What all pages work on: one workspace, by its name or that of the directory that they were opened
in, and what changes in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keeplore.web.doctor_findings import Health
from keeplore.web.links import OTHERS, PageLinks, ServedLinks
from keeplore.web.live_changes import ChangeFeed
from keeplore.web.notices import Notices
from keeplore.web.templating import render
from keeplore.workspace.lifecycle.known_workspaces import registered_workspaces
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True)
class PageContext:
    """``directory`` is where the pages were opened, ``name`` that of another workspace; ``csrf``
    stands in every form, and without one nothing can be changed.
    """

    registry: Registry
    directory: Path
    health: Health
    csrf: str = ""
    name: str = ""
    changes: ChangeFeed | None = None
    links: PageLinks = field(default_factory=ServedLinks)
    notices: Notices = field(default_factory=Notices)

    @property
    def workspace(self) -> Workspace:
        """The workspace that the pages show. Raises NoWorkspace, ConfigError."""
        if self.name:
            return self.registry.named(self.name)
        return self.registry.for_directory(self.directory)

    @property
    def cwd(self) -> Path:
        """The directory from which memory is asked; another workspace does not know it."""
        return self.workspace.root if self.name else self.directory

    @property
    def is_followed(self) -> bool:
        """Whether the index is kept in step, so that nobody has to wait for that."""
        return self.changes is not None and self.changes.is_following

    @property
    def may_write(self) -> bool:
        return bool(self.csrf)

    def page(self, template: str, here: str, **values: Any) -> str:
        """A whole page; ``here`` is the entry of the navigation that it belongs to."""
        return render(template, {**self._common(), "here": here, **values})

    def piece(self, template: str, **values: Any) -> str:
        """A part of a page, for one that is open already."""
        return render(template, {**self._common(), **values})

    def _common(self) -> Mapping[str, Any]:
        return {
            "workspace": self.workspace.name,
            "elsewhere": self._other_workspaces(),
            "csrf": self.csrf,
            "may_write": self.may_write,
            "link": self.links,
        }

    def _other_workspaces(self) -> list[tuple[str, str]]:
        """Name and address of the other workspaces of this machine."""
        if self.links.is_static:
            return []
        own = self.registry.for_directory(self.directory).name
        known = [
            workspace.name
            for workspace in registered_workspaces(self.registry.places)
            if workspace.is_there
        ]
        addresses = {name: f"{OTHERS}{name}/" for name in known} | {own: "/"}
        addresses.pop(self.workspace.name, None)
        return [*addresses.items()]
