"""Does a session that starts get its brief, and how long does the host wait for it, where no worker
runs: one that left in order, one that left a moment ago, and one that was killed.

Usage: python benchmarks/first_brief.py [ROUNDS [LOAD]], LOAD processes that keep the cores busy
meanwhile. The demo's session is played first. Each way to have no worker is gone once, and what the
worker left is put back before each start. Everything happens in a temporary directory. Ratios are
to the start of bare Python in the same run, turn and turn about.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from demo.run import Demo
from host_lab.session import end_processes

from keeplore.connect.client_copy import FOLDER, write_clients

ROUNDS = 20
# not what a version manager puts before it
PYTHON = os.path.realpath(sys.executable)
BARE = (PYTHON, "-I", "-S", "-c", "pass")
BUSY = (PYTHON, "-I", "-S", "-c", "while True: pass")
Left = dict[Path, bytes]


def main(rounds: int, load: int) -> None:
    with tempfile.TemporaryDirectory(prefix="keeplore-first-") as directory:
        demo = Demo(Path(directory))
        with contextlib.redirect_stdout(io.StringIO()):
            demo.set_up()
            demo.play_session()
        machine = FirstBriefs(demo)
        told: dict[str, list[tuple[bool, float]]] = {}
        left: dict[str, Left] = {}
        for way, prepare in {
            "it left, long ago": machine.leave_long_ago,
            "it left a moment ago": machine.leave,
            "it was killed": machine.kill,
        }.items():
            machine.start()
            prepare()
            left[way], told[way] = machine.left(), []
        bare: list[float] = []
        with busy(load):
            for _ in range(rounds):
                bare.append(took(lambda: subprocess.run(BARE, check=True)))
                for way, files in left.items():
                    machine.put_back(files)
                    told[way].append(machine.begin())
        machine.put_back({})
        report(bare, told)


class FirstBriefs:
    """The demo's laptop, on which sessions start."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo
        self._number = 0
        # which hosts run
        write_clients(demo.laptop.state)

    def start(self) -> None:
        """A worker runs that has nothing left to do."""
        self.put_back({})
        self.begin()
        self._demo.laptop.wait_until(self._is_idle, "the worker is idle", 120)

    def leave(self) -> None:
        self._demo.laptop.keeplore("worker", "stop", check=False)
        pid = self._demo.laptop.state / "worker.pid"
        self._demo.laptop.wait_until(lambda: not pid.exists(), "it has left", 60)

    def leave_long_ago(self) -> None:
        self.leave()
        # in place of waiting ten seconds, after which a client may start one again
        for file in self._demo.laptop.state.glob("worker.start-*"):
            file.unlink()

    def kill(self) -> None:
        pid = int((self._demo.laptop.state / "worker.pid").read_text())
        os.kill(pid, signal.SIGKILL)

    def left(self) -> Left:
        """What the worker left that says whether one runs or may be started."""
        files = self._demo.laptop.state.glob("worker.*")
        return {file: file.read_bytes() for file in files if file.is_file()}

    def put_back(self, files: Left) -> None:
        """End the worker that the last start has brought, and be as it was then."""
        end_processes(self._demo.laptop.home, but=lambda _: False)
        for file in self._demo.laptop.state.glob("worker.*"):
            file.unlink()
        for file, content in files.items():
            file.write_bytes(content)

    def begin(self) -> tuple[bool, float]:
        """Whether a new session is given a brief, and seconds that its host waits."""
        self._number += 1
        payload = {
            "session_id": f"first-{self._number}",
            "transcript_path": str(self._demo.laptop.home / "none.jsonl"),
            "cwd": str(self._demo.project),
            "hook_event_name": "SessionStart",
            "source": "startup",
        }
        client = self._demo.laptop.state / FOLDER / "client.py"
        command = (PYTHON, "-I", "-S", str(client))
        begun = time.perf_counter()
        done = subprocess.run(
            (*command, "claude-code", "SessionStart"),
            input=json.dumps(payload).encode(),
            env=self._demo.laptop.environment,
            cwd=self._demo.project,
            capture_output=True,
            check=True,
        )
        return b"keeplore-recall" in done.stdout, time.perf_counter() - begun

    def _is_idle(self) -> bool:
        try:
            status = self._demo.laptop.status()
        except RuntimeError:
            return False
        return not status["is_behind"] and self._demo.laptop.waiting() == 0


@contextlib.contextmanager
def busy(load: int) -> Iterator[None]:
    """Processes that do nothing but work."""
    others = [subprocess.Popen(BUSY) for _ in range(load)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def took(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def report(bare: list[float], told: dict[str, list[tuple[bool, float]]]) -> None:
    middle = statistics.median(bare)
    print(f"{'bare Python':<24}{middle * 1000:>8.1f} ms; load {os.getloadavg()[0]:.0f}")
    for way, starts in told.items():
        times = sorted(seconds for _, seconds in starts)
        given = sum(is_told for is_told, _ in starts)
        p95 = times[int(len(times) * 0.95) - 1]
        print(
            f"{way:<24}{statistics.median(times) * 1000:>8.1f} ms, p95 {p95 * 1000:.0f}; "
            f"{statistics.median(times) / middle:.2f} times; told {given} of {len(starts)}"
        )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS,
        int(sys.argv[2]) if len(sys.argv) > 2 else 0,
    )
