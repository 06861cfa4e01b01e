"""What all pages work on: the workspace of the directory that they were opened in, and what changes
in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keeplore.web.links import PageLinks, ServedLinks
from keeplore.web.live_changes import ChangeFeed
from keeplore.web.notices import Notices
from keeplore.web.templating import render
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True)
class Desk:
    """``csrf`` stands in every form; without one nothing can be changed."""

    registry: Registry
    cwd: Path
    csrf: str = ""
    changes: ChangeFeed | None = None
    links: PageLinks = field(default_factory=ServedLinks)
    notices: Notices = field(default_factory=Notices)

    @property
    def workspace(self) -> Workspace:
        return self.registry.for_directory(self.cwd)

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
            "csrf": self.csrf,
            "may_write": self.may_write,
            "link": self.links,
        }
