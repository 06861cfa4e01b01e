"""Where this machine keeps Keeplore's state, and there what Python has compiled of the clients; any
Python from 3.8 will do.
"""
# pathlib takes longer to import than all of this takes to run:
# ruff: noqa: PTH100, PTH111, PTH112, PTH118, PTH120

import os
import sys


def state_directory() -> str:
    """The one that this file is kept in, else as platformdirs finds it."""
    state = os.environ.get("KEEPLORE_STATE_DIR")
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not state and os.path.isdir(os.path.join(own, "spool")):
        # a host that a desktop started may not have the environment that a shell would give it
        return own
    return os.path.abspath(state or os.path.join(usual_base(), "keeplore"))


def usual_base() -> str:
    """The folder in which programs keep their state."""
    if os.name == "nt":
        return os.environ["LOCALAPPDATA"]
    if os.environ.get("XDG_STATE_HOME", "").startswith("/"):
        return os.environ["XDG_STATE_HOME"]
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support")
    return os.path.expanduser("~/.local/state")


def keep_compiled() -> None:
    """Let Python keep in the state directory, once there is one, what it compiles from now on: a
    host may compare the folder of a plugin with what was installed.
    """
    state = state_directory()
    if os.path.isdir(os.path.join(state, "spool")):
        sys.pycache_prefix = os.path.join(state, "compiled")
        sys.dont_write_bytecode = False
