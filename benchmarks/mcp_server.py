"""What the MCP server costs: a session that calls no tool, a session's memory, the first call where
no worker runs, later calls, and the tokens of the list of tools.

Usage: python benchmarks/mcp_server.py [CALLS]. The demo's session is played first. Everything
happens in a temporary directory. Ratios are to the start of bare Python in the same run, turn and
turn about. Version 1 of the SDK is measured as well where `make setup` has laid it down.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo.machine import CLIENT
from demo.run import Demo

CALLS = 100
STARTS = 20
VERSION_1 = Path(sys.prefix) / "mcp-1"
# not what a version manager puts before it
PYTHON = os.path.realpath(sys.executable)
PIPE = (PYTHON, "-I", "-S", str(CLIENT / "mcp.py"))
BARE = (PYTHON, "-I", "-S", "-c", "pass")
# what a server of its own for each session has to do at least
IMPORT = (sys.executable, "-P", "-c", "import keeplore.mcp_server.tools")
WHO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


def asked(number: int, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


# what hosts ask before the first turn
BEGINNING = b"".join(
    (
        asked(0, "initialize", **WHO),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
        asked(1, "tools/list"),
        asked(2, "prompts/list"),
        asked(3, "resources/list"),
    )
)


class Session:
    """The pipe as a process, spoken to in lines of JSON."""

    def __init__(self, environment: dict[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            PIPE,
            env=environment,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 3
        self._send(BEGINNING)
        self.tools = self._read(1)["tools"]
        self._read(3)

    def call(self, tool: str, **arguments: Any) -> float:
        """Milliseconds."""
        begun = time.perf_counter()
        self._number += 1
        self._send(asked(self._number, "tools/call", name=tool, arguments=arguments))
        told = self._read(self._number)
        assert not told.get("isError"), told
        return (time.perf_counter() - begun) * 1000

    @property
    def memory_mb(self) -> float:
        return memory_mb(self._process.pid)

    def close(self) -> None:
        self._process.communicate()

    def _send(self, messages: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(messages)
        self._process.stdin.flush()

    def _read(self, number: int) -> dict[str, Any]:
        """The result with this number, which comes after those before."""
        assert self._process.stdout
        while (reply := json.loads(self._process.stdout.readline()))["id"] != number:
            pass
        result: dict[str, Any] = reply["result"]
        return result


def main(calls: int) -> None:
    with tempfile.TemporaryDirectory(prefix="keeplore-mcp-") as directory:
        demo = Demo(Path(directory))
        with contextlib.redirect_stdout(io.StringIO()):
            demo.set_up()
            demo.play_session()
        demo.laptop.wait_until(
            lambda: not demo.laptop.status()["is_behind"],
            "the worker has nothing left to do",
        )
        session_without_a_call(demo.laptop.environment)
        for name, path in (("2", ""), ("1", str(VERSION_1))):
            if not path or VERSION_1.is_dir():
                environment = {**demo.laptop.environment, "PYTHONPATH": path}
                measure(demo, calls, f"SDK {name}", environment)
        stop(demo)


def session_without_a_call(environment: dict[str, str]) -> None:
    """Turn and turn about, so that all have the same load."""
    commands = {"bare Python": BARE, "pipe": PIPE, "import of the SDK": IMPORT}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            spent[name].append(run(command, environment))
    bare = [statistics.median(side) for side in zip(*spent["bare Python"], strict=True)]
    for name, runs in spent.items():
        clock, cpu = (statistics.median(side) for side in zip(*runs, strict=True))
        print(
            f"{name + ', start to end':<40}{clock * 1000:>8.1f} ms, {clock / bare[0]:.2f} times; "
            f"processor {cpu * 1000:.1f} ms, {cpu / bare[1]:.2f} times"
        )


def run(command: tuple[str, ...], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of the clock, and of the processor."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        command, env=environment, input=BEGINNING, capture_output=True, check=True
    )
    clock = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(demo: Demo, calls: int, name: str, environment: dict[str, str]) -> None:
    stop(demo)
    session = Session(environment, demo.project)
    first = session.call("timeline")
    worker = demo.laptop.status()["pid"]
    print(f"{name + ', first call, no worker':<40}{first:>8.0f} ms")
    begun = memory_mb(worker)
    searches = [
        session.call("search", query=f"how often is job {number} retried")
        for number in range(calls)
    ]
    lists = [session.call("timeline") for _ in range(calls)]
    tools = len(json.dumps(session.tools, separators=(",", ":"), ensure_ascii=False))
    for what, times in (("search", searches), ("timeline", lists)):
        middle = statistics.median(times)
        print(f"{f'{name}, {what}':<40}{middle:>8.1f} ms median of {calls}")
    print(
        f"{name + ', memory':<40}{session.memory_mb:>8.1f} MB a session; the worker "
        f"{begun:.0f} MB after a call, {memory_mb(worker):.0f} MB after {2 * calls} more"
    )
    print(f"{name + ', list of tools':<40}{tools:>8} characters")
    session.close()


def stop(demo: Demo) -> None:
    """End the worker, and let the next one be started at once."""
    demo.laptop.keeplore("worker", "stop", check=False)
    demo.laptop.wait_until(
        lambda: not (demo.laptop.state / "worker.pid").exists(), "the worker has left"
    )
    for file in demo.laptop.state.glob("worker.start-*"):
        file.unlink()


def memory_mb(pid: int) -> float:
    """What of a process is in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)
