"""Two machines with one memory of many conversations: push, clone, pull, merge, and the index after
each.

    python benchmarks/two_clones.py [CONVERSATIONS [EMBEDDED]]     (default: 10000 300)

Conversations as in scale.py. The rebuild with vectors is measured on a workspace of EMBEDDED ones,
beside the model alone on the same texts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scale import Folder, Recorder, Words, embed_alone, write

from keeplore.index import Index, embedder_for
from keeplore.store import Store, create
from keeplore.sync import clone, synchronise

CHANGED = 10
TEMPLATE = Path(__file__).resolve().parents[1] / "workspace_template"


def timed(label: str, act: Callable[[], object]) -> None:
    """Wall clock, and the processor's time, that of git included."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    act()
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    print(f"  {label:55} {wall:8.2f} s wall {cpu:8.2f} s cpu", flush=True)


def exchange(top: Path, count: int, models: Path) -> None:
    remote = top / "remote.git"
    subprocess.run(
        ["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True
    )
    one = create(top / "one", TEMPLATE)
    subprocess.run(
        ["git", "-C", str(one.root), "remote", "add", "origin", str(remote)], check=True
    )
    words = Words(1)
    for number in range(count):
        write(Folder(one.root), words, number)
    print(f"{count} conversations")
    timed("commit of all", one.commit)
    timed("push of all", lambda: synchronise(one))
    timed("sync with nothing new", lambda: synchronise(one))
    timed("clone", lambda: clone(str(remote), top / "two"))
    two = Store(top / "two", branch="main")
    index = Index(top / "index", two, embedder_for("packaged", models))
    timed("index of text from zero", index.refresh)
    timed("first sync of the clone", lambda: synchronise(two))
    for number in range(CHANGED):
        write(Folder(one.root), words, number)
    timed(f"commit and push of {CHANGED} changed files", lambda: synchronise(one))
    timed(f"fetch and fast-forward of {CHANGED}", lambda: synchronise(two))
    timed(f"index of the {CHANGED}: text", index.refresh)
    for store, first in ((one, 0), (two, CHANGED // 2)):
        for number in range(first, first + CHANGED):
            write(Folder(store.root), words, number)
    synchronise(one)
    timed(
        f"merge where both changed {CHANGED}, {CHANGED // 2} of them the same",
        lambda: synchronise(two),
    )
    timed("index after the merge: text", index.refresh)
    for number in range(count, count + count // 2):
        write(Folder(one.root), words, number)
    synchronise(one)
    for number in range(CHANGED):
        write(Folder(two.root), words, number)
    timed(f"merge with {count // 2} new files", lambda: synchronise(two))
    timed(f"index of {count // 2} new files: text", index.refresh)
    index.close()


def rebuild(top: Path, count: int, models: Path) -> None:
    folder, words = Folder(top / "small"), Words(2)
    for number in range(count):
        write(folder, words, number)
    recorder = Recorder(embedder_for("packaged", models))
    recorder.embed(["loaded before anything is measured"])
    index = Index(top / "small index", folder, recorder)
    print(f"{count} conversations, with vectors")

    def everything() -> None:
        index.refresh()
        while index.embed_pending():
            pass

    timed("index of text and vectors from zero", everything)
    texts = recorder.texts[1:]
    timed(
        f"the model alone, the same {len(texts)} texts",
        lambda: embed_alone(recorder, texts),
    )
    index.close()


def main() -> None:
    given = [int(argument) for argument in sys.argv[1:]]
    count, embedded = [*given, *(10_000, 300)[len(given) :]]
    with tempfile.TemporaryDirectory() as top:
        models = Path(top) / "models"
        exchange(Path(top), count, models)
        rebuild(Path(top), embedded, models)


if __name__ == "__main__":
    main()
