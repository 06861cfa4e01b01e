"""``python3 -I -S mcp.py [resources]``: Keeplore's MCP server as hosts start it, a pipe to the
worker; with the word it tells of resources.

What it does is in ``mcp_pipe``, which Python keeps compiled, as it does not keep programs.
"""
# pathlib takes longer to import than all of this takes to start:
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
if not os.path.isdir(os.path.join(os.path.dirname(HERE), "spool")):
    sys.dont_write_bytecode = True  # the folder of a plugin is the host's
    __import__("state_folder").keep_compiled()
__import__("mcp_pipe").main()
