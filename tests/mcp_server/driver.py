"""A program that talks to our server with the SDK's own client: lines of JSON requests in, lines of
JSON replies out.

It is a process of its own, so that a test can choose the version of the SDK by its PYTHONPATH, for
client and server.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def answer(session: ClientSession, request: dict[str, Any]) -> Any:
    match request:
        case {"call": name, "with": arguments}:
            result = await session.call_tool(name, arguments)
            told = result.model_dump(by_alias=True, mode="json")
            assert told.get("structuredContent") is None, (
                "the answer would cost twice its tokens"
            )
            return {
                "text": "".join(part["text"] for part in told["content"]),
                "is_error": bool(told["isError"]),
            }
        case {"list": what}:
            listed = await getattr(session, f"list_{what}")()
            return listed.model_dump(by_alias=True, mode="json", exclude_none=True)
        case {"read": uri}:
            found = (await session.read_resource(uri)).model_dump(
                by_alias=True, mode="json"
            )
            return found["contents"][0]["text"]
        case {"prompt": name, "with": arguments}:
            found = (await session.get_prompt(name, arguments)).model_dump(
                by_alias=True, mode="json"
            )
            return found["messages"][0]["content"]["text"]
    raise ValueError(request)


async def safely(session: ClientSession, request: dict[str, Any]) -> Any:
    try:
        return await answer(session, request)
    except Exception as e:  # noqa: BLE001  # whatever the SDK raises for a refusal, its versions differ in it
        return {"refused": str(e)}


def reply(data: Any) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


async def main() -> None:
    path = os.environ.get("PYTHONPATH", "")
    server = StdioServerParameters(
        command=sys.executable,
        args=sys.argv[1:],
        env={**os.environ, "PYTHONPATH": os.environ.get("SERVER_PYTHONPATH", path)},
        cwd=os.environ["SERVER_CWD"],
    )
    async with (
        stdio_client(server) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        started = await session.initialize()
        reply({"instructions": started.instructions})
        while line := await asyncio.to_thread(sys.stdin.readline):
            replies = await asyncio.gather(
                *(safely(session, request) for request in json.loads(line))
            )
            reply(replies)


asyncio.run(main())
