"""An exchange with the SDK's server in a loop of its own, which ends in time."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from keeplore import __version__
from keeplore.mcp_server.sdk import exchange, new_server

HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
BEGUN = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def called(tool: str) -> dict[str, Any]:
    params = {"name": tool, "arguments": {}}
    return {"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params}


def exchanged(*messages: dict[str, Any], timeout_s: float = 60.0) -> dict[str, Any]:
    """In a thread, since the test's own may have a loop already."""
    server = new_server("a server", "Ask it.")

    @server.tool()
    async def answer() -> str:
        return "ünïcode"

    @server.tool()
    async def hang() -> None:
        await asyncio.sleep(60)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(exchange, server, messages, timeout_s).result()


def test_the_reply_to_the_last_message_is_given() -> None:
    hello = exchanged(HELLO)
    assert hello["id"] == "hello"
    assert hello["result"]["serverInfo"] == {
        "name": "a server",
        "version": __version__,
    }
    assert hello["result"]["instructions"] == "Ask it."
    told = exchanged(HELLO, BEGUN, called("answer"))
    assert told["id"] == "answer"
    assert "ünïcode" in told["result"]["content"][0]["text"]


def test_a_tool_that_hangs_is_given_up() -> None:
    with pytest.raises(TimeoutError):
        exchanged(HELLO, BEGUN, called("hang"), timeout_s=0.2)
