"""``keeplore mcp``."""

from __future__ import annotations

import runpy

import click


@click.command(short_help="Serve memory to a host over the Model Context Protocol.")
def mcp_command() -> None:
    """Serve memory to a host over standard input and output, until the host closes them.

    A host starts this by itself: the plugins and `keeplore connect` enter it. By hand, for a client
    without a plugin:

    \b
    {"mcpServers": {"keeplore": {"command": "keeplore", "args": ["mcp"]}}}
    """
    # a surface of its own beside this one, in this process: a host may kill what it started
    runpy.run_module("keeplore.mcp_server", run_name="__main__", alter_sys=True)
