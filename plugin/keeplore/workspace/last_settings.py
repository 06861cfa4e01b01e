"""Settings of a workspace whose ``keeplore.yaml`` is broken, as they last were."""

from __future__ import annotations

from pathlib import Path

from keeplore.config.setting_layers import settings_over
from keeplore.config.settings import FILE, Settings, filled_settings
from keeplore.errors import ConfigError
from keeplore.store import run

VERSIONS = 20  # of the file that are looked at


def last_settings(root: Path, state: Path) -> Settings | None:
    """The settings by the newest valid version of keeplore.yaml among the last commits, with this
    machine's own over it; None where there is none.
    """
    path = root / FILE
    for commit in run(root, f"rev-list -n {VERSIONS} HEAD --", FILE).text.split():
        text = run(root, "cat-file blob", f"{commit}:{FILE}")
        try:
            shared = filled_settings(Settings(), text.out, path)
        except ConfigError:
            continue
        return settings_over(shared, state) if text.code == 0 else None
    return None
