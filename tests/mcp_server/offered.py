"""Prints what the SDK's server offers, in the form of ``mcp_offer.json``:
``python tests/mcp_server/offered.py > plugin/keeplore/client/mcp_offer.json`` writes it anew.

It is a process of its own, so that a test can choose the version of the SDK by its PYTHONPATH.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from keeplore.mcp_server.sdk import exchange
from keeplore.mcp_server.tools import build

# oldest first
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
UNKNOWN = "2999-12-31"
LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
SERVER = build()


def asked(method: str, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": method, "method": method}
    return {**message, "params": params} if params else message


def initialize(version: str) -> dict[str, Any]:
    who = {"name": "a test", "version": "1"}
    return asked("initialize", protocolVersion=version, capabilities={}, clientInfo=who)


def reply(*messages: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = exchange(SERVER, messages, 60)["result"]
    return told


def main() -> None:
    begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    first = initialize(VERSIONS[-1])
    hello = reply(first)
    # an empty one says nothing, and version 2 leaves it out
    hello["capabilities"].pop("experimental", None)
    for version in (*VERSIONS, UNKNOWN):
        expected = version if version in VERSIONS else VERSIONS[-1]
        assert reply(initialize(version))["protocolVersion"] == expected
    offer = {
        "versions": VERSIONS,
        "capabilities": hello["capabilities"],
        "instructions": hello["instructions"],
        "lists": {method: reply(first, begun, asked(method)) for method in LISTS},
    }
    json.dump(offer, sys.stdout, indent=1, ensure_ascii=False, sort_keys=True)
    sys.stdout.write("\n")


main()
