"""What it costs to commit one changed memory among many, beside ``git add`` and ``git commit`` of
the same.

``python benchmarks/commit.py [FILES …]`` prints a markdown table; times are wall and CPU
milliseconds, children included, the median of the rounds. "idle" is a cycle that finds nothing to
commit; "first" is the first cycle of a new process, which has to hash every file once. git is told
to sync what it writes, as our commits do.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from keeplore.memory import Memory, new_id, new_meta
from keeplore.store import Store, create

ROUNDS = 15
TEMPLATE = Path(__file__).resolve().parents[1] / "workspace_template"
BODY = (
    "Vectors are derived data and the text is the truth, so a rebuild must never need anything "
    "else.\n" * 20
)


def memory(number: int, words: str = "") -> Memory:
    meta = new_meta(
        id=new_id(str(number)),
        kind="conversation",
        title=f"Talk number {number}",
        created_at=f"20{number % 20 + 10}-{number % 12 + 1:02}-09T14:03:11Z",
        scope="workspace",
    )
    return Memory(meta, f"{BODY}{words}\n")


def main(*sizes: str) -> None:
    os.environ.update({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"})
    print(
        "| files | first ms | idle ms | commit of 1 ms (CPU) | git add + commit ms (CPU) | ratio "
        "wall (CPU) |"
    )
    print("|---|---|---|---|---|---|")
    for size in sizes or ("1000", "10000"):
        with tempfile.TemporaryDirectory() as folder:
            print(row(Path(folder), int(size)), flush=True)


def row(folder: Path, size: int) -> str:
    root = folder / "workspace"
    create(root, TEMPLATE)
    store = Store(root)
    fill(store, size)
    git(root, "add", "memory")
    git(root, "commit", "-qm", "Fill")
    git(root, "gc", "-q")
    time.sleep(2.1)  # files younger than this are hashed in every cycle
    first, _ = median(lambda: Store(root).commit(), 3)
    store.commit()
    idle, _ = median(store.commit, ROUNDS)
    ours = [], []
    theirs = [], []
    for number in range(ROUNDS):
        path = store.save(memory(number, f"ours {number}"))
        note(ours, timed(store.commit))
        (root / path).write_text((root / path).read_text() + f"theirs {number}\n")
        note(
            theirs,
            timed(
                lambda path=path: (
                    git(root, "add", path),
                    git(root, "commit", "-qm", "One"),
                )
            ),
        )
        store.commit()
    (our_wall, our_cpu), (their_wall, their_cpu) = (
        tuple(map(statistics.median, both)) for both in (ours, theirs)
    )
    return (
        f"| {size} | {first:.0f} | {idle:.0f} | {our_wall:.0f} ({our_cpu:.0f}) | {their_wall:.0f} "
        f"({their_cpu:.0f}) "
        f"| {our_wall / their_wall:.2f} ({our_cpu / their_cpu:.2f}) |"
    )


def fill(store: Store, size: int) -> None:
    """Write as the store does, but without waiting for the disk."""
    fsync, os.fsync = os.fsync, lambda _: None
    for number in range(size):
        store.write_text(
            f"memory/conversations/{number // 100}/{new_id(str(number))}.md",
            memory(number).body,
        )
    os.fsync = fsync


def git(root: Path, *arguments: str) -> None:
    identity = (
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.invalid",
        "-c",
        "core.fsync=all",
    )
    subprocess.run(
        ["git", *identity, *arguments], cwd=root, check=True, stdin=subprocess.DEVNULL
    )


def median(act: Callable[[], object], rounds: int) -> tuple[float, float]:
    both = [], []
    for _ in range(rounds):
        note(both, timed(act))
    return statistics.median(both[0]), statistics.median(both[1])


def note(both: tuple[list[float], list[float]], times: tuple[float, float]) -> None:
    for values, value in zip(both, times, strict=True):
        values.append(value)


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU milliseconds."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    act()
    return (time.perf_counter() - wall) * 1000, (sum(os.times()[:4]) - cpu) * 1000


if __name__ == "__main__":
    main(*sys.argv[1:])
