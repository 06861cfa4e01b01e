"""The server as the MCP Inspector's command line sees it: a client that is none of the SDK for
Python.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

INSPECTOR = ("npx", "--offline", "--yes", "@modelcontextprotocol/inspector", "--cli")


@pytest.fixture(scope="module")
def inspect(office: Any) -> Any:
    if shutil.which("npx") is None:
        pytest.skip("npx is not installed: the Inspector is a program of Node.js")
    cache = os.environ.get("npm_config_cache")  # noqa: SIM112  # npm's own spelling
    if not cache:
        pytest.skip(
            "npm_config_cache names no cache that holds the Inspector, and no test fetches it"
        )
    environment = {
        **office.environment,
        "npm_config_cache": cache,
        "npm_config_logs_max": "0",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = (*INSPECTOR, *office.pipe, *arguments)
        return subprocess.run(
            command,
            env=environment,
            cwd=office.project,
            capture_output=True,
            text=True,
            timeout=240,
        )

    first = run("--method", "tools/list")
    if "npm error" in first.stderr:
        pytest.skip(
            "the Inspector is not in npm's cache: `npx @modelcontextprotocol/inspector --help` "
            "fetches it"
        )

    def inspect(*arguments: str) -> Any:
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return inspect


def test_the_inspector_lists_and_calls_everything(inspect: Any, office: Any) -> None:
    note = office.note("Redis was dropped because the queue fits into SQLite")
    tools = inspect("--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [
        "search",
        "read",
        "timeline",
        "remember",
        "forget",
    ]
    found = inspect(
        "--method",
        "tools/call",
        "--tool-name",
        "search",
        "--tool-arg",
        "query=why was redis dropped",
    )
    assert note.id in found["content"][0]["text"] and not found.get("isError")
    wrong = inspect(
        "--method", "tools/call", "--tool-name", "forget", "--tool-arg", "id=mem_1"
    )
    assert wrong["isError"] and "no whole id" in wrong["content"][0]["text"]
    assert [r["uri"] for r in inspect("--method", "resources/list")["resources"]] == [
        "keeplore://recent"
    ]
    read = inspect(
        "--method", "resources/read", "--uri", f"keeplore://memory/{note.id}"
    )
    assert "Redis" in read["contents"][0]["text"]
    prompt = inspect(
        "--method",
        "prompts/get",
        "--prompt-name",
        "recall",
        "--prompt-args",
        "topic=redis",
    )
    assert note.id in prompt["messages"][0]["content"]["text"]
