"""The settings of the home workspace, which hold for what a machine has once: worker and queue."""

from __future__ import annotations

import contextlib

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.setting_layers import settings_here
from keeplore.config.settings import Settings
from keeplore.errors import KeeploreError


def home_settings(places: Places) -> Settings:
    """The settings of the home workspace as they hold here; the built-in ones where they cannot be
    read, which doctor reports.
    """
    with contextlib.suppress(KeeploreError):
        machine = Machine.load(places)
        return settings_here(machine.workspaces.get(machine.home), places.state)
    return Settings()
