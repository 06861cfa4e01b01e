"""What it costs to take one memory out of a long history.

``python benchmarks/purge.py [COMMITS FILES]`` (5,000 and 2,000 if not given) makes a workspace with
that history, in which an early memory has two versions, and prints a markdown table of wall-clock
seconds.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from keeplore.memory import (
    CATEGORIES,
    Memory,
    new_id,
    new_meta,
    relative_path,
    serialise,
)
from keeplore.store import create

TEMPLATE = Path(__file__).resolve().parents[1] / "workspace_template"
PURGED = 50  # the memory that goes, written in this commit and once more soon after
AGAIN = 100
LINE = (
    "Vectors are derived data and the text is the truth, so a rebuild must never need anything "
    "else.\n"
)


def main(commits: str = "5000", files: str = "2000") -> None:
    os.environ.update({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"})
    with tempfile.TemporaryDirectory() as folder:
        store = create(Path(folder) / "workspace", TEMPLATE)
        stream = b"".join(history(store.head(), int(commits), int(files)))
        for command, text in (
            (["fast-import", "--quiet"], stream),
            (["reset", "-q", "--hard"], b""),
            (["gc", "-q"], b""),
        ):
            subprocess.run(["git", *command], cwd=store.root, input=text, check=True)
        wanted = [new_id(str(PURGED))]
        steps: dict[str, Callable[[], object]] = {
            "plan": lambda: store.purge_plan(wanted),
            "purge, with `git gc`": lambda: store.purge(
                wanted, "bench", "2026-03-01T10:00:00Z"
            ),
            "first look that history is clean": store.follow_purges,
            "every later one": store.follow_purges,
        }
        print(f"| {commits} commits, {files} files | s |\n|---|---|")
        for name, step in steps.items():
            began = time.perf_counter()
            step()
            print(f"| {name} | {time.perf_counter() - began:.3f} |", flush=True)


def history(parent: str, commits: int, files: int) -> Iterator[bytes]:
    """The stream of ``git fast-import``: one file a commit, first all new ones, then edits."""
    chance = random.Random(7)
    for number in range(commits):
        which = (
            PURGED
            if number == AGAIN
            else number
            if number < files
            else chance.randrange(files)
        )
        memory = note(which, f"{LINE * 8}{chance.random()}\n")
        message, text = f"Commit {number}".encode(), serialise(memory).encode()
        yield b"commit refs/heads/main\ncommitter B <b@example.invalid> %d +0000\n" % (
            1_770_000_000 + number
        )
        yield b"data %d\n%s\n" % (len(message), message)
        if number == 0:
            yield b"from %s\n" % parent.encode()
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (
            relative_path(memory).encode(),
            len(text),
            text,
        )


def note(number: int, body: str) -> Memory:
    meta = new_meta(
        id=new_id(str(number)),
        kind="note",
        title=f"Note number {number}",
        created_at="2026-02-09T14:03:11Z",
        scope="project",
        project=f"project-{number % 7}",
        category=list(CATEGORIES)[number % len(CATEGORIES)],
    )
    return Memory(meta, body)


if __name__ == "__main__":
    main(*sys.argv[1:])
