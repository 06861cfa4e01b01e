"""Which parameters the graph has and from when on it serves: recall@10 against exact search, and
what each costs.

    python benchmarks/hnsw.py [COUNT ...] [--vectors FILE]     (default: 10000)

FILE holds vectors of the packaged model, as ``performance.py --keep`` leaves them in ``real.npy``;
without one 600 texts are embedded. First half of them is compared with as many that are resampled
from the other half (see scale.py): where both have the same curve, the curves of larger numbers,
which are resampled, can be believed. Times are of one thread's processor.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from scale import Resampled, Talk, Vectors

from keeplore.index import embedder_for
from keeplore.index.passages import passages_of
from keeplore.index.vectors import hnsw as product
from keeplore.index.vectors.block_files import VectorBlock, files
from keeplore.index.vectors.quantization import quantize, width
from keeplore.index.vectors.vector_search import VectorIndex as Search

QUERIES = 200
LIMIT = 10
EFS = (20, 50, 100, 200)
BUILDS = ((8, 100), (16, 100), (16, 200), (24, 200))  # M, EF_BUILD
VALIDATED = ((16, 200),)
LARGE = 50_000  # from here on, those alone that are good enough


class Fake:
    """What Resampled asks of a model."""

    fingerprint, floor = "resampled", 0.0

    def __init__(self, dim: int) -> None:
        self.dim = dim


def resampled(real: Vectors, count: int, seed: int) -> Vectors:
    made = Resampled(real, Fake(real.shape[1]))  # type: ignore[arg-type]  # it embeds nothing
    seeds = np.random.default_rng(seed).integers(0, 2**63, count, np.uint64)
    return np.concatenate(
        [made.draw(seeds[start : start + 20_000]) for start in range(0, count, 20_000)]
    )


def timed(act: Callable[[Any], object], over: Vectors) -> float:
    """Median milliseconds."""
    times = []
    for query in over:
        begun = time.thread_time()
        act(query)
        times.append(time.thread_time() - begun)
    return statistics.median(times) * 1000


def truth(vectors: Vectors, queries: Vectors) -> list[set[int]]:
    return [set(np.argsort(-(vectors @ query))[:LIMIT].tolist()) for query in queries]


def exact_ms(vectors: Vectors, queries: Vectors) -> float:
    """Going over a block file, as the product does."""
    with tempfile.TemporaryDirectory() as folder:
        block = VectorBlock(1, "block", width(vectors.shape[1]), len(vectors), 0)
        with files(Path(folder), block.name)[0].open("wb") as opened:
            for start in range(0, len(vectors), 20_000):
                opened.write(b"".join(quantize(vectors[start : start + 20_000])))
        search = Search(Path(folder), "model", vectors.shape[1])
        exact = search._search_exactly  # noqa: SLF001  # searching would need a database
        return timed(lambda query: exact(block, query, LIMIT), queries[:50])


def curve(
    label: str, vectors: Vectors, queries: Vectors, builds: tuple[tuple[int, int], ...]
) -> None:
    nearest = truth(vectors, queries)
    print(
        f"{label}: {len(vectors)} vectors, exact {exact_ms(vectors, queries):.2f} ms",
        flush=True,
    )
    for product.M, product.EF_BUILD in builds:
        begun = time.thread_time()
        made = product.HnswGraph(vectors.shape[1], len(vectors))
        for start in range(0, len(vectors), 1000):
            made.add(vectors[start : start + 1000])
        built = time.thread_time() - begun
        index = made._index  # noqa: SLF001  # EF is a constant for everybody else
        parts = []
        for ef in EFS:
            index.set_ef(ef)
            found = [set(made.nearest(query, LIMIT)[0].tolist()) for query in queries]
            recall = sum(len(a & b) for a, b in zip(found, nearest, strict=True)) / (
                LIMIT * len(queries)
            )
            parts.append(
                f"{ef}: {recall:.3f} {timed(partial(made.nearest, limit=LIMIT), queries):.2f}"
            )
        size = index.index_file_size() / len(vectors)
        print(
            f"  M {product.M:2} built with {product.EF_BUILD:3}: {built:6.1f} s, {size:.0f} bytes "
            f"a vector",
            end="",
        )
        print("; recall@10 and ms at EF " + ", ".join(parts), flush=True)


def real_vectors(file: Path | None) -> Vectors:
    if file:
        return np.asarray(np.load(file), np.float32)
    talk = Talk()
    texts = [
        passage.embedded
        for number in range(200)
        for passage in passages_of(talk.conversation(number))
    ]
    with tempfile.TemporaryDirectory() as folder:
        return embedder_for("packaged", Path(folder)).embed(texts[:600])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("counts", type=int, nargs="*", default=[10_000])
    parser.add_argument(
        "--vectors", type=Path, help="vectors of the packaged model, (n, dim)"
    )
    asked = parser.parse_args()
    real = real_vectors(asked.vectors)
    real = real[np.random.default_rng(1).permutation(len(real))]
    half = (len(real) - QUERIES) // 2
    queries, one, other = (
        real[:QUERIES],
        real[QUERIES : QUERIES + half],
        real[QUERIES + half :],
    )
    curve("real", one, queries, VALIDATED)
    curve(
        "resampled", resampled(other, half, 2), resampled(other, QUERIES, 3), VALIDATED
    )
    for count in asked.counts:
        builds = BUILDS if count < LARGE else BUILDS[2:]
        curve(
            "resampled", resampled(real, count, 4), resampled(real, QUERIES, 5), builds
        )


if __name__ == "__main__":
    main()
