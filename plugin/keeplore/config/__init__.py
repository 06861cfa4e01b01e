"""Where things are on this machine, which workspaces it knows, and what a workspace is set to."""

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.settings import Settings, load_settings

__all__ = ["Machine", "Places", "Settings", "load_settings"]
