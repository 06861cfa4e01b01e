"""What the MCP server costs: processor time to start, memory, time for a call, and the tokens of
its list of tools.

Usage: python benchmarks/mcp_server.py [CALLS]. The demo's session is played first. Everything
happens in a temporary directory. Version 1 of the SDK is measured as well where `make setup` has
laid it down.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo.run import Demo

CALLS = 100
STARTS = 5
VERSION_1 = Path(sys.prefix) / "mcp-1"
SERVER = (sys.executable, "-m", "keeplore.mcp_server")
BARE = ("python3", "-I", "-S", "-c", "pass")
WHO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": WHO}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Server:
    """The server as a process, spoken to in lines of JSON."""

    def __init__(self, environment: dict[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            SERVER,
            env=environment,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0
        self._send(INITIALIZE)
        self._read()
        self._send(INITIALIZED)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._send(
            {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        )
        while (reply := self._read()).get("id") != self._number:
            pass
        result: dict[str, Any] = reply["result"]
        assert not result.get("isError"), result
        return result

    def call(self, tool: str, **arguments: Any) -> float:
        """Milliseconds."""
        begun = time.perf_counter()
        self.ask("tools/call", name=tool, arguments=arguments)
        return (time.perf_counter() - begun) * 1000

    @property
    def memory_mb(self) -> int:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return (
            int(
                next(
                    line.split()[1]
                    for line in status.splitlines()
                    if line.startswith("VmRSS")
                )
            )
            // 1024
        )

    def close(self) -> None:
        self._process.communicate()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        read: dict[str, Any] = json.loads(self._process.stdout.readline())
        return read


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
        bare = min(cpu_s(BARE, demo.laptop.environment) for _ in range(STARTS))
        print(f"{'python3 -I -S -c pass':<40}{bare * 1000:>8.0f} ms of processor time")
        for name, path in (("2", ""), ("1", str(VERSION_1))):
            if not path or VERSION_1.is_dir():
                measure(
                    demo,
                    calls,
                    f"SDK {name}",
                    {**demo.laptop.environment, "PYTHONPATH": path},
                    bare,
                )
        demo.laptop.keeplore("worker", "stop")


def measure(
    demo: Demo, calls: int, name: str, environment: dict[str, str], bare: float
) -> None:
    start = min(cpu_s(SERVER, environment) for _ in range(STARTS))
    print(
        f"{name + ', start to first answer':<40}{start * 1000:>8.0f} ms of processor time, "
        f"{start / bare:.0f} times"
    )
    server = Server(environment, demo.project)
    tools = len(
        json.dumps(
            server.ask("tools/list")["tools"], separators=(",", ":"), ensure_ascii=False
        )
    )
    begun = server.memory_mb
    searches = [
        server.call("search", query=f"how often is job {number} retried")
        for number in range(calls)
    ]
    lists = [server.call("timeline") for _ in range(calls)]
    print(
        f"{name + ', search':<40}{statistics.median(searches):>8.1f} ms median of {calls}"
    )
    print(
        f"{name + ', timeline':<40}{statistics.median(lists):>8.1f} ms median of {calls}"
    )
    print(
        f"{name + ', memory':<40}{begun:>8} MB at the start, {server.memory_mb} MB after "
        f"{2 * calls} calls"
    )
    print(f"{name + ', list of tools':<40}{tools:>8} characters")
    server.close()


def cpu_s(command: tuple[str, ...], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        env=environment,
        input=json.dumps(INITIALIZE).encode() + b"\n",
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)
