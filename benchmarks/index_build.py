"""What the index costs: build from text, an incremental change, queries, and the model alone.

    python benchmarks/index_build.py [CONVERSATIONS ...]     (default: 1000)

Synthetic conversations of three exchanges; their words come from a vocabulary with a natural distribution.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import keeplore.index
from keeplore.index import Allowed, Embedder, Index, embedder_for
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta, parse, relative_path, serialise

VOCABULARY = 8000
EXCHANGES = 3
EMBEDDED = 256  # texts for the throughput of the index's embedding and of the model alone
CHANGED = 10
QUERIES = 100


@dataclass(frozen=True)
class File:
    path: str
    mtime_ns: int
    size: int
    inode: int


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = root

    def scan(self) -> Iterator[File]:
        for file in self.root.rglob("*.md"):
            at = file.stat()
            yield File(file.relative_to(self.root).as_posix(), at.st_mtime_ns, at.st_size, at.st_ino)

    def load(self, path: str) -> Memory:
        return parse((self.root / path).read_text(encoding="utf-8"))

    def head(self) -> str:
        return "head"


class Words:
    """Text in which few words are common and most are rare (Zipf)."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        vocabulary = json.loads((Path(keeplore.index.__file__).parent / "model/tokenizer.json").read_text())
        words = [word for word in vocabulary["model"]["vocab"] if word.isascii() and word.isalpha() and len(word) > 2]
        self.words = self.random.sample(words, VOCABULARY)
        self.weights = [1 / (n + 10) for n in range(VOCABULARY)]

    def text(self, count: int) -> str:
        return " ".join(self.random.choices(self.words, self.weights, k=count)) + "."


def write(folder: Folder, words: Words, number: int) -> None:
    exchanges = tuple(
        Exchange(f"turn-{number}-{n}", "2026-02-09T14:00:00Z", words.text(20), (words.text(80),))
        for n in range(EXCHANGES)
    )
    title = words.text(6)
    meta = new_meta(id=new_id(str(number)), kind="conversation", title=title, created_at="2026-02-09T14:00:00Z")
    meta |= {"scope": "project", "project": f"project-{number % 10}"}
    memory = Memory(meta, Conversation(title, exchanges).to_markdown())
    target = folder.root / relative_path(memory)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(serialise(memory), encoding="utf-8")


def timed(label: str, act: Callable[[], object], unit: str = "", count: int = 0) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rate = f"   {count / cpu:8.1f} {unit} a core-second" if count else ""
    print(f"  {label:44} {wall:8.2f} s wall {cpu:8.2f} s cpu{rate}", flush=True)


def p50_ms(act: Callable[[], object]) -> float:
    times = []
    for _ in range(QUERIES):
        start = time.perf_counter()
        act()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def measure(count: int, directory: Path, models: Path) -> None:
    print(f"{count} conversations")
    folder, words = Folder(directory / "workspace"), Words(1)
    for number in range(count):
        write(folder, words, number)
    embedder = Recorder(embedder_for("packaged", models))
    embedder.embed(["loaded before anything is measured"])
    index = Index(directory / "index", folder, embedder)
    timed("build from text", index.refresh, "files", count)
    timed("the same again, nothing changed", index.refresh)
    timed(f"embed {EMBEDDED} passages", lambda: index.embed_pending(limit=EMBEDDED), "texts", EMBEDDED)
    texts = embedder.texts[1:]
    timed(f"the model alone, the same {EMBEDDED}", lambda: embed_alone(embedder, texts), "texts", EMBEDDED)
    rest = Pretender(embedder.dim, embedder.fingerprint)
    quick = Index(directory / "index", folder, rest)
    timed("store the other vectors, without the model", quick.embed_pending)
    for number in range(CHANGED):
        write(folder, words, number)
    timed(f"{CHANGED} changed files: text", index.refresh)
    timed(f"{CHANGED} changed files: vectors", index.embed_pending)
    ask(index, words, embedder)
    size = sum(file.stat().st_size for file in (directory / "index").iterdir())
    print(f"  {index.stamp().passages} passages, index {size / 1e6:.0f} MB, peak memory {peak_mb():.0f} MB\n")


def ask(index: Index, words: Words, embedder: Embedder) -> None:
    scope, everything = Allowed((("project", "project-3"),)), Allowed()
    vector = embedder.embed(["why did we drop it"])[0]
    start = time.perf_counter()
    index.vector_search(vector, everything, 20)
    print(f"  first vector query of a process {(time.perf_counter() - start) * 1000:.1f} ms")
    asked = {
        "text, 5 words": lambda: index.text_search(words.text(5), everything, 20),
        "text, 5 words, one project": lambda: index.text_search(words.text(5), scope, 20),
        "vectors": lambda: index.vector_search(vector, everything, 20),
        "vectors, one project": lambda: index.vector_search(vector, scope, 20),
        "embedding a query": lambda: embedder.embed([words.text(8)]),
        "stamp": index.stamp,
        "lag": index.lag,
    }
    print("  " + ", ".join(f"{name} {p50_ms(act):.2f} ms" for name, act in asked.items()) + " (p50)")


class Recorder:
    """The packaged model, and what it was asked to embed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model, self.fingerprint = embedder.model, embedder.fingerprint
        self.dim, self.floor = embedder.dim, embedder.floor
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return self._embedder.embed(texts)


class Pretender:
    """Vectors at no cost, to fill an index whose size is measured."""

    model, floor = "pretended", 0.0

    def __init__(self, dim: int, fingerprint: str) -> None:
        self.dim, self.fingerprint = dim, fingerprint
        self._random = np.random.default_rng(1)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._random.normal(size=(len(texts), self.dim))
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def embed_alone(embedder: Embedder, texts: list[str]) -> None:
    texts.sort(key=len)
    for start in range(0, len(texts), 8):
        embedder.embed(texts[start : start + 8])


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cold_start(models: Path) -> None:
    """A fresh process up to its first vector: what `keeplore recall` pays where no worker runs."""
    program = (
        "from pathlib import Path; from keeplore.index import embedder_for\n"
        f"embedder_for('packaged', Path({str(models)!r})).embed(['why did we drop Redis'])"
    )
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        times.append(time.perf_counter() - start)
    print(f"fresh process to first vector: {min(times):.2f} s best, {statistics.median(times):.2f} s median of 5")


def main() -> None:
    sizes = [int(argument) for argument in sys.argv[1:]] or [1000]
    with tempfile.TemporaryDirectory() as top:
        models = Path(top) / "models"
        for count in sizes:
            measure(count, Path(top) / str(count), models)
        cold_start(models)


if __name__ == "__main__":
    main()
