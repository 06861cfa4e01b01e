"""What the index costs at every size: build from text, changes, questions warm and cold, memory,
disk.

    python benchmarks/performance.py [CONVERSATIONS ...] [--real 250] [--keep DIRECTORY]
    (default: 1000)

DIRECTORY keeps what is made for the next time. First a workspace of ``--real`` conversations is
built with the packaged model, beside the model alone on the same texts and beside a naive build (a
file, a text, a commit at a time, nothing kept). The others get vectors resampled from those (see
scale.py), because the packaged model would take an hour for 100,000 conversations; what is measured
there is everything but the model. Each size is built and asked in processes of their own. "Cold" is
a fresh process, with the files of the index and of the workspace put out of the system's cache.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest

sys.path.insert(0, str(Path(__file__).parent))

from scale import PROJECTS, Folder, Recorder, Resampled, Talk, embed_alone, put

from keeplore.config.places import Places
from keeplore.index import Embedder, Index, ScopeFilter, embedder_for
from keeplore.index.passages import passages_of
from keeplore.recall.answer import recall
from keeplore.recall.request import SearchScope
from keeplore.store import Store
from keeplore.text.query_terms import STOP_WORDS
from keeplore.workspace.lifecycle.setup import initialise

CHANGED = (1, 10, 1000)
QUESTIONS = 100
LIMIT = 100  # passages that recall asks each search for
Row = tuple[str, float, float]  # what, seconds of wall clock, seconds of processor
HERE = SearchScope("project-3")


class Bench:
    """One workspace of a size, and its index with resampled vectors."""

    def __init__(self, top: Path, count: int) -> None:
        self.count = count
        self.home = top / str(count)
        self.index_directory = self.home / "index"
        self.root = self.home / "memory"
        self.talk = Talk()
        self.embedder: Embedder = Resampled(np.load(top / "real.npy"), model(top))
        if not self.root.exists():
            initialise(Places(self.home / "state", self.home / "cache"), self.root)
            for number in range(count):
                put(self.root, self.talk.conversation(number))
        self.store = Store(self.root)
        self.index = Index(self.index_directory, self.store, self.embedder)

    def text_bytes(self) -> int:
        return sum(file.size for file in self.store.scan())


def model(top: Path) -> Embedder:
    return embedder_for("packaged", top / "models")


def timed(act: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - wall, time.process_time() - cpu


def build(top: Path, count: int) -> None:
    """Everything from the text, in a process of its own."""
    bench = Bench(top, count)
    rows: list[Row] = []
    if not bench.index.state().passages:
        rows.append(("build: text", *timed(bench.index.refresh)))
        rows.append(
            ("build: vectors, without the model", *timed(bench.index.embed_pending))
        )
        bench.index.close()
        disk(bench)
    rows.append(("nothing changed", *timed(bench.index.refresh)))
    for version, changed in enumerate((n for n in CHANGED if n <= count), 1):
        for number in range(changed):
            put(bench.root, bench.talk.conversation(number, version))
        rows.append((f"{changed} changed: text", *timed(bench.index.refresh)))
        rows.append((f"{changed} changed: vectors", *timed(bench.index.embed_pending)))
    show(f"{count} conversations, {bench.index.state().passages} passages", rows)
    print(f"  peak memory of this process {peak_mb():.0f} MB", flush=True)
    bench.index.close()
    disk(bench)


def disk(bench: Bench) -> None:
    sizes: dict[str, int] = {}
    for file in bench.index_directory.iterdir():
        kind = "sqlite" if "sqlite" in file.name else file.suffix.lstrip(".")
        sizes[kind] = sizes.get(kind, 0) + file.stat().st_size
    text, vectors = (
        bench.text_bytes(),
        bench.index.state().vectors * bench.embedder.dim * 4,
    )
    total = sum(sizes.values())
    parts = ", ".join(
        f"{kind} {size / 1e6:.1f}" for kind, size in sorted(sizes.items()) if size > 1e5
    )
    print(
        f"  text {text / 1e6:.1f} MB, vectors as floats {vectors / 1e6:.1f} MB, index "
        f"{total / 1e6:.1f} MB ({parts})"
    )
    print(
        f"  index without one copy of the vectors: {(total - vectors) / text:.2f} × the text",
        flush=True,
    )


def bm25(top: Path, count: int) -> Path:
    """SQLite's full text alone over the same passages, a row each."""
    file = top / str(count) / "bm25.sqlite3"
    if not file.exists():
        bench = Bench(top, count)
        begun = time.process_time()
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(
                "CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')"
            )
            for number in range(count):
                texts = (
                    (p.embedded,) for p in passages_of(bench.talk.conversation(number))
                )
                connection.executemany("INSERT INTO t VALUES (?)", texts)
        print(
            f"  SQLite BM25 alone: built in {time.process_time() - begun:.1f} s of processor",
            flush=True,
        )
    return file


def bm25_asks(connection: sqlite3.Connection, question: str) -> None:
    words = [
        word for word in re.findall(r"\w+", question.lower()) if word not in STOP_WORDS
    ]
    asked = " OR ".join(f'"{word}"' for word in words)
    if asked:
        connection.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (asked,)
        ).fetchall()


def ask(top: Path, count: int) -> None:
    """Questions, the first of them cold, in a process of its own."""
    bench = Bench(top, count)
    questions = [
        bench.talk.question(number * 7919 % count) for number in range(QUESTIONS)
    ]
    vectors = bench.embedder.embed(questions)
    own, everything = ScopeFilter(HERE.scopes), ScopeFilter()
    index = bench.index

    def answer(
        n: int, *, at_once: bool = True, wide: bool = False, text_only: bool = False
    ) -> None:
        recall(
            RecallDeps(index, bench.store, embedder=bench.embedder),
            RecallRequest(
                questions[n], at_once=at_once, wide=wide, text_only=text_only
            ),
            HERE,
        )

    evict(bench.home)
    wall, cpu = timed(lambda: answer(0))
    print(
        f"  first recall of a process, cold: {wall * 1e3:.0f} ms wall, {cpu * 1e3:.0f} ms "
        f"processor",
        flush=True,
    )
    index.warm_up()
    acts: dict[str, Callable[[int], object]] = {
        "recall, one project": answer,
        "recall, everything": lambda n: answer(n, wide=True),
        "recall, one project, text alone": lambda n: answer(n, text_only=True),
        "words, one project": lambda n: index.text_search(questions[n], own, LIMIT),
        "words, everything": lambda n: index.text_search(
            questions[n], everything, LIMIT
        ),
        "vectors, one project": lambda n: index.vector_search(vectors[n], own, LIMIT),
        "vectors, everything": lambda n: index.vector_search(
            vectors[n], everything, LIMIT
        ),
    }
    with closing(sqlite3.connect(bm25(top, count))) as connection:
        acts["SQLite BM25 alone"] = lambda n: bm25_asks(connection, questions[n])
        for label, act in acts.items():
            spread(label, act, QUESTIONS)
    spread("recall after a look at all files", lambda n: answer(n, at_once=False), 5)
    print(
        f"  memory of this process {rss_mb():.0f} MB, of which {rss_mb() - BARE_MB:.0f} since its "
        f"imports",
        flush=True,
    )
    index.close()


def evict(folder: Path) -> None:
    """Put a folder's files out of the system's cache."""
    os.sync()
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def spread(label: str, act: Callable[[int], object], count: int) -> None:
    act(0)
    both = [timed(partial(act, n)) for n in range(count)]
    parts = []
    for name, times in (
        ("wall", [wall for wall, _ in both]),
        ("processor", [cpu for _, cpu in both]),
    ):
        p95 = sorted(times)[int(0.95 * (count - 1))]
        parts.append(f"{name} {statistics.median(times) * 1e3:8.2f} {p95 * 1e3:8.2f}")
    print(f"  {label:36} p50 p95 ms: {', '.join(parts)}", flush=True)


def real(top: Path, count: int) -> None:
    """The packaged model: through the index, alone, and in a naive build; its vectors are kept for
    the rest.
    """
    folder, talk = Folder(top / "real"), Talk()
    for number in range(count):
        put(folder.root, talk.conversation(number))
    embedder = Recorder(model(top))
    embedder.embed(["loaded before anything is measured"])
    with closing(Index(top / "real-index", folder, embedder)) as index:
        rows: list[Row] = [
            ("text of all files", *timed(index.refresh)),
            ("vectors", *timed(index.embed_pending)),
        ]
        texts = embedder.texts[1:]
        rows.append(
            (
                "the model alone, the same texts",
                *timed(lambda: embed_alone(embedder, [*texts])),
            )
        )
        rows.append(
            (
                "naive: all",
                *timed(lambda: naive(top / "naive.sqlite3", folder, embedder)),
            )
        )
        for number in range(10):
            put(folder.root, talk.conversation(number, 1))
        rows.append(
            (
                "10 changed files",
                *timed(lambda: (index.refresh(), index.embed_pending())),
            )
        )
        rows.append(
            (
                "embedding 20 questions",
                *timed(lambda: [embedder.embed([talk.question(n)]) for n in range(20)]),
            )
        )
    show(f"{count} conversations with the packaged model, {len(texts)} texts", rows)
    alone, ours, changed = rows[2][2], rows[0][2] + rows[1][2], rows[4][2]
    print(
        f"  {len(texts) / alone:.1f} texts a core-second alone; ours, with text, takes "
        f"{ours / alone - 1:+.1%}"
    )
    print(
        f"  naive: {rows[3][2] / ours:.2f} × ours, and {rows[3][2] / changed:.0f} × where ten "
        f"files changed"
    )
    np.save(top / "real.npy", np.concatenate(embedder.vectors[1:]))


def naive(file: Path, folder: Folder, embedder: Embedder) -> None:
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
        connection.execute("CREATE TABLE v (id INTEGER PRIMARY KEY, vector BLOB)")
        for found in folder.indexed():
            for passage in passages_of(folder.load(found.path)):
                with connection:
                    connection.execute("INSERT INTO t VALUES (?)", (passage.embedded,))
                    vector = embedder.embed([passage.embedded])[0]
                    connection.execute(
                        "INSERT INTO v VALUES (NULL, ?)", (vector.tobytes(),)
                    )


def show(title: str, rows: list[Row]) -> None:
    print(
        f"{title}\n"
        + "\n".join(
            f"  {label:36} {wall:9.2f} s wall {cpu:9.2f} s processor"
            for label, wall, cpu in rows
        )
    )


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def rss_mb() -> float:
    return (
        int(Path("/proc/self/statm").read_text().split()[1])
        * os.sysconf("SC_PAGE_SIZE")
        / 1e6
    )


BARE_MB = rss_mb()


def apart(act: Callable[[Path, int], object], top: Path, count: int) -> None:
    process = get_context("spawn").Process(target=act, args=(top, count))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(process.exitcode)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", type=int, nargs="*", default=[1000])
    parser.add_argument(
        "--real", type=int, default=250, help="conversations for the packaged model"
    )
    parser.add_argument("--keep", type=Path, help="a directory for what is made")
    asked = parser.parse_args()
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {PROJECTS} projects",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as passing:
        top = (asked.keep or Path(passing)).resolve()
        top.mkdir(parents=True, exist_ok=True)
        if not (top / "real.npy").exists():
            real(top, asked.real)
        for count in asked.sizes:
            apart(build, top, count)
            apart(ask, top, count)


if __name__ == "__main__":
    main()
