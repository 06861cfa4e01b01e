"""``python3 -I -S mcp.py [resources]``: Keeplore's MCP server as hosts start it, a pipe to the
worker; with the word it tells of resources.

What it does is in ``mcp_pipe``, which Python keeps compiled, as it does not keep programs.
"""
# pathlib takes longer to import than all of this takes to start:
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# a host may compare the folder of a plugin with its source; the copy beside the spool is ours
sys.dont_write_bytecode = not os.path.isdir(
    os.path.join(os.path.dirname(HERE), "spool")
)
sys.path.insert(0, HERE)
__import__("mcp_pipe").main()
