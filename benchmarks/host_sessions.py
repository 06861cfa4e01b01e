"""What Keeplore adds to a run of one turn in real hosts, which ``make hosts`` installs: without it,
with hooks alone, and with the MCP server as well; and what the same entries cost where the programs
behind them do nothing at all ("empty"), which is the least that any plugin of this shape can cost.

Usage: python benchmarks/host_sessions.py [ROUNDS [HOST …]]. The model is played on loopback; all
ways take turns, so that they have the same load. Processor time is that of the host and of all
that it waited for; a worker runs all the time and is not counted.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from host_lab import HOSTS, HostLab
from model_server import model_server

ROUNDS = 7
ASKED = "Which queue should hold the jobs of the billing service?"
ANSWER = "A table in Postgres."
WAYS = ("without", "empty", "hooks", "all")
EMPTY = {
    "client.sh": "#!/bin/sh\nexit 0\n",
    "client.py": "",
    # a server without tools
    "mcp.py": """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        params = asked.get("params") or {}
        result = {"tools": []} if asked["method"] == "tools/list" else {
            "protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}},
            "serverInfo": {"name": "empty", "version": "1"},
        }
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
""",
}
# connects as on a machine without the SDK
WITHOUT_SDK = """
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "mcp" else find_spec(name, *more)
from keeplore.cli.main import main
main()
"""


def main(rounds: int, hosts: tuple[str, ...]) -> None:
    for host in hosts:
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hosts-"))
            server = stack.enter_context(model_server())
            server.script.answer(ASKED, ANSWER)
            labs = {way: HostLab(host, Path(folder) / way, server) for way in WAYS}
            if not labs[WAYS[0]].is_installed():
                sys.exit("no host is installed: make hosts")
            for way, lab in labs.items():
                stack.enter_context(lab)
                connect(lab, way)
                run(lab)  # what happens once
            spent: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
            for number in range(rounds):
                for way in WAYS if number % 2 else reversed(WAYS):
                    spent[way].append(run(labs[way]))
            report(host, spent)
            is_empty = labs["empty"].machine.state / "client" / "mcp.py"
            if is_empty.read_text() != EMPTY["mcp.py"]:
                sys.exit("the empty programs were replaced meanwhile")


def connect(lab: HostLab, way: str) -> None:
    if way == "hooks":
        lab.machine.keeplore("init", "memory")
        command = (sys.executable, "-c", WITHOUT_SDK, "connect", lab.host.name, "--yes")
        lab.machine.run(*command)
    elif way != "without":
        lab.connect()
    if way == "empty":
        lab.machine.keeplore("worker", "stop", check=False)
        for name, text in EMPTY.items():
            (lab.machine.state / "client" / name).write_text(text)


def run(lab: HostLab) -> tuple[float, float]:
    """Seconds of the clock, and of the processor."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    lab.ask(ASKED)
    clock = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(host: str, spent: dict[str, list[tuple[float, float]]]) -> None:
    """Medians, and that of what each round took more than without Keeplore."""
    print(f"{host}, load {os.getloadavg()[0]:.0f}")
    for way, runs in spent.items():
        clock, cpu = (statistics.median(side) for side in zip(*runs, strict=True))
        pairs = list(zip(runs, spent["without"], strict=True))
        more = [statistics.median(a[n] - b[n] for a, b in pairs) for n in (0, 1)]
        print(
            f"{way:<10}{clock:>7.2f} s {cpu:>7.2f} s of processor; "
            f"{more[0]:+.2f} s, {more[1]:+.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS,
        tuple(sys.argv[2:]) or HOSTS,
    )
