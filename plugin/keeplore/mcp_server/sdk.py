"""What we use of the official SDK: its versions 1 and 2 have the same things under different
names.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

from mcp.server.stdio import stdio_server
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from keeplore import __version__
from keeplore.text.fences import without_surrogates
from keeplore.text.input_flaws import described_flaws

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

    # as above
    from mcp.server.fastmcp.server import Settings  # type: ignore[import-not-found]

    # it would read a file .env where the process stands, and variables that are none of ours
    Settings.model_config.update(env_file=None, env_prefix="\0")

SHOWN_FLAWS = 5  # of arguments, in one reply

__all__ = [
    "ResourceError",
    "Server",
    "ToolAnnotations",
    "ToolError",
    "exchange",
    "new_server",
    "tool_hints",
]


class ArgumentCheckingServer(Server):
    """A server that says of wrong arguments, in a line, which one is wrong and why."""

    async def call_tool(self, name: str, *given: Any, **named: Any) -> Any:
        try:
            return await super().call_tool(name, *given, **named)
        except ToolError as e:
            if not isinstance(e.__cause__, ValidationError):
                raise
            flaws = described_flaws(e.__cause__, "the arguments", SHOWN_FLAWS)
            raise ToolError(f"{name} was not called: {flaws}") from e


def new_server(name: str, instructions: str) -> Server:
    """A server that offers nothing yet."""
    # it notes every tool that refuses something
    logging.getLogger("mcp").setLevel(logging.WARNING)
    server = ArgumentCheckingServer(
        name, instructions=instructions, log_level="WARNING"
    )
    _core(server).version = __version__
    return server


def tool_hints(**hints: bool) -> ToolAnnotations:
    """Hints for the host, named as the protocol names them: Python's names differ between the
    versions.
    """
    fields: dict[str, Any] = dict(hints)
    return ToolAnnotations.model_validate(fields)


def exchange(
    server: Server, messages: Sequence[dict[str, Any]], timeout_s: float
) -> dict[str, Any]:
    """What the server replies to the last of these messages, in a loop of its own: so several
    threads may ask at once. Raises TimeoutError.
    """
    return asyncio.run(_exchange(server, messages, timeout_s))


async def _exchange(
    server: Server, messages: Sequence[dict[str, Any]], timeout_s: float
) -> dict[str, Any]:
    wire = _Wire(messages)
    files: Any = wire
    async with asyncio.timeout(timeout_s), stdio_server(files, files) as streams:
        core = _core(server)
        await core.run(*streams, core.create_initialization_options())
    return wire.reply


def _core(server: Server) -> Any:
    """The part that runs on two streams, which both versions keep to themselves."""
    name = "_mcp_server" if hasattr(server, "_mcp_server") else "_lowlevel_server"
    return getattr(server, name)


class _Wire:
    """A host's input and output, as the SDK's transport reads and writes files: messages that end
    once the last is replied to.
    """

    def __init__(self, messages: Sequence[dict[str, Any]]) -> None:
        self.reply: dict[str, Any] = {}
        self._messages = messages
        self._is_replied = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        for message in self._messages:
            # the SDK answers nothing to half a character
            yield without_surrogates(json.dumps(message, ensure_ascii=False))
        await self._is_replied.wait()

    async def write(self, text: str) -> None:
        message = json.loads(text)
        if message.get("id") == self._messages[-1]["id"]:
            self.reply = message
            self._is_replied.set()

    async def flush(self) -> None:
        pass
