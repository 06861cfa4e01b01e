"""What the commands that keep memory cost on a workspace of many notes: python
benchmarks/keeping.py 20000

Every command runs in a process of its own, three times, and the median counts: seconds, and seconds
of CPU, which other programs on the machine do not change. The notes have no vectors: making them is
measured by performance.py.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from keeplore.memory import (
    CATEGORIES,
    Memory,
    new_id,
    new_meta,
    relative_path,
    serialise,
)

WORDS = [
    "ledger",
    "timeout",
    "retry",
    "cache",
    "vector",
    "index",
    "commit",
    "merge",
    "branch",
    "queue",
    "worker",
    "spool",
    "deploy",
    "token",
    "schema",
    "migration",
    "redis",
    "postgres",
    "kafka",
    "helm",
    "audit",
    "invoice",
    "cents",
    "float",
    "rounding",
    "auth",
    "session",
    "cookie",
    "header",
    "proxy",
]
COMMANDS = (
    ("doctor",),
    ("doctor", "--deep"),
    ("stats", "--json"),
    ("archive", "--older-than", "1d", "--json"),
    ("export", "--output", "out.md"),
    ("export", "--format", "jsonl", "--output", "out.jsonl"),
)
RUNS = 3


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ.update(
            HOME=folder,
            KEEPLORE_STATE_DIR=f"{folder}/state",
            KEEPLORE_CACHE_DIR=f"{folder}/cache",
        )
        (home / ".gitconfig").write_text(
            "[user]\nname = B\nemail = b@example.invalid\n[init]\ndefaultBranch = main\n"
        )
        keeplore(home, "init", "memory")
        fill(home / "memory", count)
        print(
            f"{count} notes; first doctor, which builds the index: {timed(home, 'doctor')[0]:.1f} s"
        )
        for command in COMMANDS:
            runs = [timed(home, *command) for _ in range(RUNS)]
            wall, cpu = (statistics.median(run[at] for run in runs) for at in range(2))
            print(
                f"keeplore {' '.join(command):45} {wall:6.2f} s {cpu:6.2f} s CPU "
                f"{max(r[2] for r in runs):5.0f} MB"
            )


def fill(root: Path, count: int) -> None:
    random.seed(1)
    for number in range(count):
        title = f"{' '.join(random.choices(WORDS, k=6))} {number}"
        at = f"2025-{1 + number // 28 % 12:02d}-{1 + number % 28:02d}T10:00:00Z"
        meta = new_meta(
            id=new_id("keeping", str(number)),
            kind="note",
            title=title,
            created_at=at,
            updated_at=at,
            scope="project",
            project=f"p{number % 20}",
            category=CATEGORIES[number % len(CATEGORIES)],
            trust="user",
        )
        memory = Memory(meta, f"# {title}\n\n{' '.join(random.choices(WORDS, k=60))}\n")
        path = root / relative_path(memory)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(serialise(memory), encoding="utf-8")
    subprocess.run(("git", "add", "-A"), cwd=root, check=True)
    subprocess.run(("git", "commit", "-qm", "Notes"), cwd=root, check=True)


def timed(home: Path, *arguments: str) -> tuple[float, float, float]:
    """Seconds, seconds of CPU, and the largest memory of any command so far in MB."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    keeplore(home, *arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu, after.ru_maxrss / 1024


def keeplore(home: Path, *arguments: str) -> None:
    command = (sys.executable, "-m", "keeplore.cli", *arguments)
    done = subprocess.run(
        command, cwd=home, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
