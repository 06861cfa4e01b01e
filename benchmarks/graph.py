"""What the graph costs at a size: building it, one memory more, and what a question's names lead
to.

    python benchmarks/graph.py [MEMORIES] [ENTITIES]     (default: 10000 5000; published: 100000
    50000)

Every memory is a note of some thirty words that mentions three of the entities, few of them often
and most seldom (Zipf); every second one also states how two of them are related. A third of the
entities are packages of manifests and are looked for in all texts, a third are files, a third are
named by the relations alone. The second figure of a refresh is that of the same texts without a
graph.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from unittest.mock import patch

from scale import PROJECTS, File, Folder, Words, put

from keeplore.index import Index, ScopeFilter, file_rows
from keeplore.index.database import IndexDatabase
from keeplore.index.graph import graph_rows
from keeplore.memory import Memory, new_id, new_meta

QUESTIONS = 500
CHANGED = 200
PACKAGES_A_FILE = 1500
LIMIT_S = 1.0  # of a question: no deadline is to cut what is measured


class Town:
    """The memories of a workspace, and what they are about."""

    def __init__(self, entities: int) -> None:
        self.words = Words(1)
        self.names = [self._name(n) for n in range(entities)]
        self.weights = list(itertools.accumulate(1 / (n + 10) for n in range(entities)))

    def _name(self, n: int) -> str:
        return (f"lib{n:x}pkg", f"src/part{n % 97}/mod{n:x}.py", f"service {n:x}x")[
            n % 3
        ]

    def some(self, draw: random.Random, count: int) -> list[str]:
        return draw.choices(self.names, cum_weights=self.weights, k=count)

    def memory(self, number: int, version: int = 0) -> Memory:
        draw = random.Random(f"{number} {version}")
        self.words.random = draw
        one, two, three = self.some(draw, 3)
        text = (
            f"{self.words.text(10)} {one} {self.words.text(10)} {two} {self.words.text(10)} "
            f"{three}."
        )
        meta = new_meta(
            id=new_id(str(number)),
            kind="note",
            title=self.words.text(5),
            created_at="2026-02-09T14:00:00Z",
        )
        meta |= {
            "scope": "project",
            "project": f"project-{number % PROJECTS}",
            "category": "facts",
        }
        if number % 2 and one != two:
            meta["entities"] = [
                {
                    "source": one,
                    "relationship": "uses",
                    "target": two,
                    "confidence": draw.random(),
                }
            ]
        return Memory(meta, text + "\n")

    def write_manifests(self, root: Path) -> None:
        packages = self.names[::3]
        for start in range(0, len(packages), PACKAGES_A_FILE):
            number = start // PACKAGES_A_FILE
            file = (
                root
                / f"projects/project-{number % PROJECTS}/manifests/machine-{number}.json"
            )
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(
                json.dumps({"packages": packages[start : start + PACKAGES_A_FILE]})
            )


class Everything(Folder):
    def indexed(self) -> Iterator[File]:
        yield from super().indexed()
        for file in self.root.rglob("*.json"):
            at = file.stat()
            yield File(
                file.relative_to(self.root).as_posix(),
                at.st_mtime_ns,
                at.st_size,
                at.st_ino,
            )


def cpu_s(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("memories", nargs="?", type=int, default=10_000)
    parser.add_argument("entities", nargs="?", type=int, default=5_000)
    wanted = parser.parse_args()
    town = Town(wanted.entities)
    with tempfile.TemporaryDirectory() as place:
        folder = Everything(Path(place) / "memory")
        for number in range(wanted.memories):
            put(folder.root, town.memory(number))
        with (
            patch.object(graph_rows, "put"),
            closing(Index(Path(place) / "plain", folder, None)) as plain,
        ):
            without_s = cpu_s(plain.refresh)
            without_bytes = plain.size_bytes()
        town.write_manifests(folder.root)
        with closing(Index(Path(place) / "index", folder, None)) as index:
            build_s = cpu_s(index.refresh) + cpu_s(index.graph.link)
            size = index.size_bytes() - without_bytes
            print(f"{wanted.memories:,} memories, {wanted.entities:,} names")
            print(
                f"build: {build_s:.1f} s of processor, without a graph {without_s:.1f}; "
                f"{size / 1e6:.0f} MB more"
            )
            report("one memory more", update(index, town, folder))
            report("a question", ask(index, town))


def update(index: Index, town: Town, folder: Folder) -> list[float]:
    """Seconds for each of some memories that change: its rows and where names stand in it, and in
    others for it.
    """
    taken = []
    database = IndexDatabase(index.directory)
    for number in range(CHANGED):
        put(folder.root, town.memory(number, 1))
    files = {file.path: file for file in folder.indexed()}
    changed = [
        file
        for file in files.values()
        if file.mtime_ns > time.time_ns() - 60_000_000_000
    ][-CHANGED:]
    for file in changed:
        item = file_rows.parse(folder, file, time.time_ns())
        assert item
        act = partial(file_rows.put, item=item)
        with patch.object(graph_rows, "put"):
            plain_s = cpu_s(partial(database.write, act))
            database.write(partial(file_rows.drop, path=file.path))
        whole_s = cpu_s(partial(database.write, act)) + cpu_s(index.graph.link)
        taken.append(whole_s - plain_s)
    return taken


def ask(index: Index, town: Town) -> list[float]:
    draw = random.Random(3)
    taken = []
    for number in range(QUESTIONS):
        text = (
            f"why does {' or '.join(town.some(draw, 1 + number % 3))} fail when the server "
            f"starts?"
        )
        allowed = ScopeFilter(
            (
                ("project", f"project-{number % PROJECTS}"),
                ("workspace", ""),
                ("user", ""),
            )
        )
        taken.append(
            cpu_s(
                partial(index.graph.boosted, text, allowed, time.monotonic() + LIMIT_S)
            )
        )
    return taken


def report(name: str, seconds: list[float]) -> None:
    low, high = (
        statistics.median(seconds) * 1000,
        statistics.quantiles(seconds, n=20)[-1] * 1000,
    )
    print(f"{name}: {low:.2f} ms, p95 {high:.2f} ms of processor")


if __name__ == "__main__":
    main()
