"""``python3 -I -S mcp.py``: become Keeplore's MCP server, in the Python in which Keeplore is
installed.

A host knows this file and any Python; where Keeplore's own is, its state directory says.
"""
# subprocess alone takes longer to import than all of this takes to run:
# ruff: noqa: PTH100, PTH120, S606

import os
import sys
from importlib import import_module

MISSING = (
    "keeplore: the MCP server needs Keeplore's Python. Run: pipx install 'keeplore[mcp]' && "
    "keeplore init"
)


def main() -> None:
    # this folder belongs to a host, which may compare it with its source
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    client = import_module("client")
    state = client.state_directory()
    try:
        python = client.keeplore_python(state)
    except OSError:
        sys.exit(MISSING)
    # not what the project's folder calls keeplore
    command = [
        python,
        "-P",
        "-m",
        "keeplore.mcp_server",
    ]
    os.environ["KEEPLORE_STATE_DIR"] = state
    if os.name == "nt":  # there exec leaves the host with a process that has ended
        sys.exit(os.spawnv(os.P_WAIT, python, [f'"{python}"', *command[1:]]))
    os.execv(python, command)


if __name__ == "__main__":
    main()
