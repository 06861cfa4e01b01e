"""Prints what the SDK's server offers, in the form of ``mcp_offer.json``, without what tells an
agent nothing and costs it tokens with each request:
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
UNSAID = ("title", "minLength", "maxLength")
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


def brief(schema: Any) -> Any:
    """A schema without titles, which repeat names, without limits of length, which the server holds
    in any case, and without defaults that are empty.
    """
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: value
        for key, value in schema.items()
        if not (key in UNSAID and isinstance(value, str | int))
        and (key, value) not in (("default", ""), ("default", None))
    }
    return {key: brief(value) for key, value in kept.items()}


def main() -> None:
    begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    first = initialize(VERSIONS[-1])
    hello = reply(first)
    # an empty one says nothing, and version 2 leaves it out
    hello["capabilities"].pop("experimental", None)
    for version in (*VERSIONS, UNKNOWN):
        expected = version if version in VERSIONS else VERSIONS[-1]
        assert reply(initialize(version))["protocolVersion"] == expected
    lists = {method: reply(first, begun, asked(method)) for method in LISTS}
    for tool in lists["tools/list"]["tools"]:
        tool["inputSchema"] = brief(tool["inputSchema"])
    offer = {
        "versions": VERSIONS,
        "capabilities": hello["capabilities"],
        "instructions": hello["instructions"],
        "lists": lists,
    }
    json.dump(offer, sys.stdout, indent=1, ensure_ascii=False, sort_keys=True)
    sys.stdout.write("\n")


main()
