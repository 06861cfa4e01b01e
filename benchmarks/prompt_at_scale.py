"""What a person waits for with very many memories: a prompt and a session start, with a warm worker
and without one.

    python benchmarks/prompt_at_scale.py [DIRECTORY [MEMORIES [ROUNDS]]]     (default: 1000 8)

DIRECTORY keeps the machine that is made the first time: MEMORIES conversations of three exchanges
in ten projects, in words drawn by their frequency, with resampled vectors, and among them notes
that answer the prompts, with real ones. Every event goes through the real client in a process of
its own. Rounds are interleaved with the start of bare Python.
"""

from __future__ import annotations

import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo.machine import Machine
from scale import Folder, Resampled, Words, write

from keeplore.config.places import Places
from keeplore.index import Index
from keeplore.memory.note import NoteDraft
from keeplore.worker.stop import without_worker
from keeplore.workspace.identity import Project
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

MEMORIES, ROUNDS = 1000, 8
PROJECTS = 10
REAL = 200  # texts that the model embeds; the other vectors are resampled from theirs
PAUSE_S = (
    0.4  # people do not type faster, and what one event leads to must not slow the next
)
BARE = "python3 -I -S -c pass"
NOTES = {
    "how often is a failed job retried by the worker": "A failed job is retried five times by the "
    "worker, then parked.",
    "where do we round VAT and why": "VAT is rounded once for each invoice line, because the tax "
    "office checks lines.",
    "what did we say about SQS and the outbox": "We dropped SQS for the outbox table: one "
    "transaction for both writes.",
    "which port does the staging gateway listen on": "The staging gateway listens on port 8443, "
    "never on 443.",
    "why are ledger entries append-only": "Ledger entries are append-only: auditors ask for every "
    "earlier state.",
}
OTHERS = (
    "please look at the colours of the login page",
    "run the tests again and fix what is red",
)
PROMPTS = (*NOTES, *OTHERS)


def build(machine: Machine, count: int) -> None:
    """Once: the files, the text of the index, resampled vectors for them, then the notes with real
    ones.
    """
    places = Places(machine.state, machine.home / "cache")
    made = initialise(places, machine.home / "memory")
    # what is asked here must not become memory for the next run
    settings = made.root / "keeplore.yaml"
    settings.write_text(
        re.sub(
            r"(?m)^  enabled: true", "  enabled: false", settings.read_text(), count=1
        )
    )
    for number in range(PROJECTS):
        name = f"project-{number}"
        (machine.home / "code" / name).mkdir(parents=True)
        folder = made.root / "projects" / name
        folder.mkdir(parents=True)
        (folder / "project.json").write_text(
            Project(name, path=f"~/code/{name}").to_json()
        )
    words = Words(1)
    for number in range(count):
        write(Folder(made.root), words, number)
    with Registry(places) as registry:
        workspace = registry.named(made.name)
        workspace.commit("Many memories")
        workspace.index.refresh()
        real = workspace.embedder.embed([words.text(60) for _ in range(REAL)])
        Index(
            workspace.index.directory,
            workspace.store,
            Resampled(real, workspace.embedder),
        ).embed_pending()
        for text in NOTES.values():
            workspace.notes.write(
                NoteDraft(
                    text,
                    scope="project",
                    project="project-3",
                    category="architectural-decisions",
                )
            )
        workspace.commit("Notes that answer")
        workspace.index.refresh()
        workspace.index.embed_pending()
    (machine.home / "built").touch()


class Bench:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.project = machine.home / "code" / "project-3"
        self.session = 0
        self.answered: dict[str, int] = {}

    def event(self, label: str, event: str, **fields: str) -> None:
        self.session += 1
        payload = {
            "session_id": f"s{os.getpid()}-{self.session}",
            "cwd": str(self.project),
            "hook_event_name": event,
        }
        reply = self.machine.send(
            event, json.dumps({**payload, **fields}).encode(), self.project
        )
        self.answered[label] = self.answered.get(label, 0) + bool(reply)

    def prompt(self, label: str, number: int) -> None:
        self.event(label, "UserPromptSubmit", prompt=PROMPTS[number % len(PROMPTS)])

    def session_start(self, label: str, _: int) -> None:
        self.event(label, "SessionStart", source="startup")

    def bare(self, _: int) -> None:
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)

    def is_quiet(self) -> bool:
        status = self.machine.keeplore("worker", "status", "--json", check=False).stdout
        told = json.loads(status) or {"is_behind": True}
        return not told["is_behind"] and not told["spool"]["new"]

    def warm(self) -> None:
        if self.machine.keeplore("worker", "status", check=False).returncode:
            self.forget_starts()
            self.machine.worker()
        self.machine.wait_until(self.is_quiet, "the worker has nothing left to do", 600)

    def cold(self) -> None:
        self.warm()  # one that was just started could not be told to leave
        with without_worker(self.machine.state):
            self.forget_starts()

    def forget_starts(self) -> None:
        for turn in self.machine.state.glob("worker.start*"):
            turn.unlink()

    def rss_mb(self) -> float:
        pid = json.loads(self.machine.keeplore("worker", "status", "--json").stdout)[
            "pid"
        ]
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) / 1000 if found else 0.0


def main(directory: Path, count: int = MEMORIES, rounds: int = ROUNDS) -> None:
    machine = Machine(directory / str(count))
    if not (machine.home / "built").exists():
        begun = time.monotonic()
        build(machine, count)
        print(f"{count} memories made in {time.monotonic() - begun:.0f} s")
    bench = Bench(machine)
    acts: dict[str, tuple[Callable[[], None], Callable[[int], None]]] = {
        BARE: (bench.warm, bench.bare)
    }
    for state, prepare in (("warm worker", bench.warm), ("no worker", bench.cold)):
        for event, ask in (
            ("prompt", bench.prompt),
            ("session start", bench.session_start),
        ):
            label = f"{event}, {state}"
            acts[label] = (prepare, functools.partial(ask, label))
    rows: dict[str, list[float]] = {label: [] for label in acts}
    for number in range(rounds + 1):
        for label, (prepare, act) in acts.items():
            prepare()
            time.sleep(PAUSE_S)
            begun = time.perf_counter()
            act(number)
            if number:  # the first round warms up
                rows[label].append(time.perf_counter() - begun)
    bench.warm()
    show(rows, bench, rounds + 1)
    bench.cold()


def show(rows: dict[str, list[float]], bench: Bench, rounds: int) -> None:
    bare = statistics.median(rows[BARE])
    print(f"{'':<28}{'median':>10}{'p95':>10}{'ratio':>8}  answered")
    for label, times in rows.items():
        p95 = statistics.quantiles(times, n=20)[-1]
        median = statistics.median(times)
        answered = (
            f"{bench.answered[label]} of {rounds}" if label in bench.answered else ""
        )
        print(
            f"{label:<28}{median * 1000:>7.1f} ms{p95 * 1000:>7.1f} ms{median / bare:>8.2f}  "
            f"{answered}"
        )
    print(f"the worker's memory: {bench.rss_mb():.0f} MB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(sys.argv[1] if len(sys.argv) > 1 else scratch).resolve()
        main(place, *map(int, sys.argv[2:]))
