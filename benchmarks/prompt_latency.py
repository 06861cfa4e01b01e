"""What a person waits for: events through the real clients and a warm worker, beside starting bare
Python.

Usage: python benchmarks/prompt_latency.py [ROUNDS]. The demo's session is played first, so that
there is memory to answer from. Everything happens in a temporary directory. Rounds are interleaved,
so that the ratios hold on a busy machine.
"""

from __future__ import annotations

import contextlib
import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo.run import Demo

ROUNDS = 30
BARE = "python3 -I -S -c pass"
PAUSE_S = (
    0.4  # people do not type faster, and what one event leads to must not slow the next
)
PROMPTS = (
    "how often is a job retried by the worker",
    "where do we round VAT and why",
    "what did we say about SQS and the outbox",
    "please look at the colours of the login page",
)


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="keeplore-latency-") as directory:
        demo = Demo(Path(directory))
        with contextlib.redirect_stdout(io.StringIO()):
            demo.set_up()
            demo.play_session()
        demo.laptop.wait_until(
            lambda: not demo.laptop.status()["is_behind"],
            "the worker has nothing left to do",
        )
        acts: dict[str, Callable[[int], object]] = {
            BARE: lambda _: demo.time_bare_python(),
            "Stop, spooled": lambda n: send(demo, "Stop", n),
            "UserPromptSubmit, answered": lambda n: send(demo, "UserPromptSubmit", n),
        }
        rows: dict[str, list[float]] = {label: [] for label in acts}
        for number in range(rounds + 1):
            for label, act in acts.items():
                begun = time.perf_counter()
                act(number)
                if number:  # the first round warms up
                    rows[label].append(time.perf_counter() - begun)
                time.sleep(PAUSE_S)
        demo.laptop.stop_worker()
    show(rows)


def send(demo: Demo, event: str, number: int) -> None:
    fields = (
        {"prompt": PROMPTS[number % len(PROMPTS)]}
        if event == "UserPromptSubmit"
        else {}
    )
    payload = {
        "session_id": f"s{number}",
        "cwd": str(demo.project),
        "hook_event_name": event,
        **fields,
    }
    demo.laptop.send(event, json.dumps(payload).encode(), demo.project)


def show(rows: dict[str, list[float]]) -> None:
    bare = statistics.median(rows[BARE])
    print(f"{'':<30}{'median':>10}{'p95':>10}{'ratio':>8}")
    for label, times in rows.items():
        p95 = statistics.quantiles(times, n=20)[-1]
        median = statistics.median(times)
        print(
            f"{label:<30}{median * 1000:>7.1f} ms{p95 * 1000:>7.1f} ms{median / bare:>8.2f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
