"""What we use of the official SDK: its versions 1 and 2 have the same things under different
names.
"""

from __future__ import annotations

from typing import Any

from mcp.types import ToolAnnotations

try:
    from mcp.server.mcpserver import MCPServer as Server
    from mcp.server.mcpserver.exceptions import ResourceError, ToolError
except ModuleNotFoundError:  # version 1
    # one of both is there
    from mcp.server.fastmcp import FastMCP as Server  # type: ignore[attr-defined,no-redef]

    # as above
    from mcp.server.fastmcp.exceptions import (  # type: ignore[import-not-found,no-redef]
        ResourceError,
        ToolError,
    )

__all__ = ["ResourceError", "Server", "ToolError", "annotated"]


def annotated(**hints: bool) -> ToolAnnotations:
    """Hints for the host, named as the protocol names them: Python's names differ between the
    versions.
    """
    fields: dict[str, Any] = dict(hints)
    return ToolAnnotations.model_validate(fields)
