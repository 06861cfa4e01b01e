"""``keeplore mcp``."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from pathlib import Path

import click

import keeplore.client
from keeplore.config import installation
from keeplore.config.install_method import install_hint
from keeplore.config.places import Places
from keeplore.errors import ConfigError


@click.command(short_help="Serve memory to a host over the Model Context Protocol.")
@click.pass_obj
def mcp_command(places: Places) -> None:
    """Serve memory to a host over standard input and output, until the host closes them.

    A host starts this by itself: the plugins and `keeplore connect` enter it. By hand, for a client
    without a plugin:

    \b
    {"mcpServers": {"keeplore": {"command": "keeplore", "args": ["mcp"]}}}
    """
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError(
            "the MCP server needs a package that is not installed", install_hint("mcp")
        )
    with contextlib.suppress(OSError):
        installation.register(places.state)
    pipe = Path(keeplore.client.__file__).with_name("mcp.py")
    # a host may kill what it started: so that nothing of this process is left
    command = [sys.executable, "-I", "-S", str(pipe), "resources"]
    os.execv(sys.executable, command)  # noqa: S606  # our own
