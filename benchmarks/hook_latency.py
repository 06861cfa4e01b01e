"""What a host pays for an event: both clients beside ``python3 -I -S -c pass`` in the same run.

``python benchmarks/hook_latency.py [ROUNDS]`` runs the rows in turn, so that a busy moment falls on
all of them, and prints medians. Exit code 1 where a client costs more than it may: a captured event
1 × the start of Python, an answered one 3 ×. Hosts run the copy that ``keeplore connect`` writes.
The worker that answers is played by a thread with a reply of 4 kB; the state directory is on the
disk of the temporary directory (TMPDIR), and every payload is synced to it.
"""

from __future__ import annotations

import contextlib
import os
import socketserver
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.connect.client_copy import FOLDER, write_clients

PYTHON = str(
    Path(sys.executable).resolve()
)  # neither a venv's nor a version manager's start-up cost
ROUNDS = 60
CONTEXT = b'{"hookSpecificOutput": {"additionalContext": "' + b"x" * 4000 + b'"}}'


@dataclass(frozen=True)
class Row:
    name: str
    command: tuple[str, ...]
    payload: bytes = b""
    limit: float = 0.0  # times the baseline; 0: none
    reply: bytes = b""


def rows(client: Path) -> tuple[Row, ...]:
    """With the clients of a folder; the first is what they are compared with."""
    python = (PYTHON, "-I", "-S")
    asked = (*python, str(client / "client.py"), "bench", "UserPromptSubmit")
    told = ("sh", str(client / "client.sh"), "bench", "Stop")
    small, large = b"p" * 2_000, b"p" * 200_000
    return (
        Row("python3 -I -S -c pass", (*python, "-c", "pass")),
        Row("client.sh, 2 kB", told, small, 1.0),
        Row("client.sh, 200 kB", told, large, 1.0),
        Row("client.py, answered, 2 kB", asked, small, 3.0, CONTEXT),
        Row("client.py, answered, 200 kB", asked, large, 3.0, CONTEXT),
    )


class Answer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.rfile.read()
        self.wfile.write(b"%d\n" % len(CONTEXT) + CONTEXT)


@contextlib.contextmanager
def warm_worker(state: Path) -> Iterator[None]:
    """All that the clients see of a worker: a process with its name, and a socket that answers."""
    command = [PYTHON, "-c", "input()", "keeplore.worker"]
    with (
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process,
        socketserver.ThreadingUnixStreamServer(str(state / "socket"), Answer) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (state / "worker.pid").write_text(str(process.pid))
        (state / "worker.addr").write_text(str(state / "socket"))
        yield
        server.shutdown()
        process.kill()


def run(row: Row) -> float:
    """One event, in milliseconds of wall time from the start of the process to its end."""
    start = time.perf_counter()
    with subprocess.Popen(
        row.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        out, _ = process.communicate(row.payload or None)
    took_ms = (time.perf_counter() - start) * 1e3
    if process.returncode or out != row.reply:
        raise SystemExit(
            f"{row.name}: exit {process.returncode}, {len(out)} bytes on stdout; expected "
            f"{len(row.reply)}"
        )
    return took_ms


def main(count: int) -> int:
    with tempfile.TemporaryDirectory() as directory:
        state = Path(directory)
        os.environ["KEEPLORE_STATE_DIR"] = directory
        os.environ.pop("KEEPLORE_OFF", None)
        write_clients(state)
        compared = rows(state / FOLDER)
        with warm_worker(state):
            times: dict[str, list[float]] = {row.name: [] for row in compared}
            for _ in range(count):
                for row in compared:
                    times[row.name].append(run(row))
        spooled = len(list((state / "spool" / "new").iterdir()))
    baseline = statistics.median(times[compared[0].name])
    print(
        f"{count} rounds, {spooled} events spooled, Python {sys.version.split()[0]}, "
        f"{os.cpu_count()} cores\n"
    )
    print(f"{'':28} {'median ms':>9} {'p90 ms':>8} {'ratio':>6} {'limit':>6}")
    is_over = False
    for row in compared:
        taken = sorted(times[row.name])
        median = statistics.median(taken)
        limit = f"{row.limit:6.1f}" if row.limit else ""
        print(
            f"{row.name:28} {median:9.2f} {taken[count * 9 // 10]:8.2f} {median / baseline:6.2f} "
            f"{limit}"
        )
        is_over = is_over or bool(row.limit and median / baseline > row.limit)
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
