"""What a person waits for in the window over very many memories.

    python benchmarks/window.py [DIRECTORY [CONVERSATIONS [NOTES]]]     (default: 1000 3000)

DIRECTORY keeps the machines that are made the first time: CONVERSATIONS as ``prompt_at_scale.py``
makes them, for the first page and for search, and NOTES as ``many_notes.py`` does, for the
timeline. ``keeplore open`` runs in a process of its own and is asked as a browser asks it; its
processor time stands beside the clock. Questions are those of ``prompt_at_scale.py``, and what a
person has typed on the way to them.
"""

from __future__ import annotations

import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo.machine import Machine
from many_notes import fill
from prompt_at_scale import PROMPTS, build

from keeplore.config.places import Places
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

CONVERSATIONS, NOTES = 1000, 3000
QUESTIONS, ROUNDS, STARTS = 30, 10, 5
DEEP = 50  # the page of the timeline that is asked for by its cursor
WARM_S = 10  # for the model, which is loaded beside the first pages
FILTERS = {
    "one project and category": "project=shop&category=infrastructure",
    "of others' machines": "trust=foreign",
    "with open questions": "open=1",
}
TICKS = os.sysconf("SC_CLK_TCK")
CURSOR = re.compile(r"[?&](?:amp;)?after=([^\"&]+)")


class Server:
    """A running ``keeplore open``, and the session that its address opens."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self._cookie = ""
        where = urlsplit(address)
        self._host = where.netloc
        headers, _ = self._ask(f"{where.path}?{where.query}", 303)
        self._cookie = headers.get_all("set-cookie", [""])[0].partition(";")[0]

    def get(self, path: str) -> str:
        return self._ask(path, 200)[1]

    def timed(self, path: str) -> tuple[float, float]:
        """Milliseconds by the clock, and of the server's processor."""
        begun, used = time.perf_counter(), self.used_s()
        self.get(path)
        spent = time.perf_counter() - begun
        return spent * 1000, (self.used_s() - used) * 1000

    def used_s(self) -> float:
        stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def _ask(self, path: str, expected: int) -> tuple[http.client.HTTPMessage, str]:
        connection = http.client.HTTPConnection(self._host, timeout=600)
        connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != expected:
            raise RuntimeError(f"{path} gave {answer.status}: {text[:500]}")
        return answer.headers, text


@contextmanager
def opened(machine: Machine, cwd: Path) -> Iterator[Server]:
    command = (sys.executable, "-m", "keeplore.cli", "open", "--no-browser")
    with subprocess.Popen(
        command,
        cwd=cwd,
        env={**machine.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            yield Server(process, process.stdout.readline().strip())
        finally:
            process.terminate()


def conversations(directory: Path, count: int) -> None:
    machine = Machine(directory / str(count))
    if not (machine.home / "built").exists():
        build(machine, count)
    cwd = machine.home / "code" / "project-3"
    starts = [start(machine, cwd) for _ in range(STARTS)]
    show(f"first page, {count} conversations", starts)
    with opened(machine, cwd) as server:
        server.get("/")
        time.sleep(WARM_S)
        server.get("/search?q=warm")
        pages = {"home again": "/", "what waits": "/waiting", "review": "/review"}
        for name, path in pages.items():
            show(name, [server.timed(path) for _ in range(ROUNDS)])
        asked = [f"/search?q={quote(text)}" for text in typed()]
        show("search as typed", [server.timed(path) for path in asked])


def start(machine: Machine, cwd: Path) -> tuple[float, float]:
    """From the command to the whole first page."""
    begun = time.perf_counter()
    with opened(machine, cwd) as server:
        server.get("/")
        return (time.perf_counter() - begun) * 1000, server.used_s() * 1000


def typed() -> list[str]:
    """Questions, whole and after every nine characters."""
    found = []
    for question in PROMPTS:
        ends = range(8, len(question), 9)
        found += [question[:end] for end in ends] + [question]
    return found[:: max(1, len(found) // QUESTIONS)][:QUESTIONS]


def notes(directory: Path, count: int) -> None:
    machine = Machine(directory / f"notes-{count}")
    root = machine.home / "memory"
    if not (machine.home / "built").exists():
        places = Places(machine.state, machine.home / "cache")
        name = initialise(places, root).name
        fill(root, count)
        with Registry(places) as registry:
            workspace = registry.named(name)
            workspace.commit("Many notes")
            workspace.index.refresh()
        (machine.home / "built").touch()
    with opened(machine, root) as server:
        server.get("/timeline")
        show(
            f"timeline, {count} notes",
            [server.timed("/timeline") for _ in range(ROUNDS)],
        )
        path = deep(server)
        show(f"its page {DEEP}", [server.timed(path) for _ in range(ROUNDS)])
        for name, chosen in FILTERS.items():
            path = f"/timeline?{chosen}"
            show(name, [server.timed(path) for _ in range(ROUNDS)])


def deep(server: Server) -> str:
    path = "/timeline"
    for _ in range(DEEP - 1):
        found = CURSOR.search(server.get(path))
        assert found, path
        path = f"/timeline?after={found[1]}"
    return path


def show(name: str, times: list[tuple[float, float]]) -> None:
    clock, used = zip(*times, strict=True)
    p95 = statistics.quantiles(clock, n=20, method="inclusive")[-1]
    print(
        f"{name:<40}{statistics.median(clock):>8.0f} ms, p95 {p95:>6.0f}, "
        f"processor {statistics.mean(used):>6.0f}",
        flush=True,
    )


def main(directory: Path, talks: int = CONVERSATIONS, written: int = NOTES) -> None:
    conversations(directory, talks)
    notes(directory, written)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(sys.argv[1] if len(sys.argv) > 1 else scratch).resolve()
        main(place, *map(int, sys.argv[2:]))
