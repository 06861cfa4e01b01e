"""Whether a workspace that somebody has open is frozen now."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from keeplore.config.places import stamp
from keeplore.config.setting_layers import MACHINE_FILE, is_frozen
from keeplore.config.settings import FILE


@dataclass(slots=True)
class FrozenWatch:
    """Reads the settings again only where a file of them has changed; one that was frozen when it
    was opened stays so until it is opened anew.
    """

    root: Path
    state: Path
    was_frozen: bool
    _thawed_at: list[tuple[int, int] | None] = field(default_factory=list)

    def __call__(self) -> bool:
        seen = [stamp(self.root / FILE), stamp(self.state / MACHINE_FILE)]
        if not self.was_frozen and seen != self._thawed_at:
            if is_frozen(self.root, self.state):
                return True
            self._thawed_at = seen
        return self.was_frozen
