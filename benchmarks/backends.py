"""Engines compared: what each finds, how fast, and what it takes.

    python benchmarks/backends.py [--cases 2] [--points 50000] [--workspaces 10] [--only postgres]

The first table is the product's own path on LoCoMo: memory files → index → search, with the same
vectors for every engine. The second puts made-up points (words drawn as often as in talk, vectors
in clusters) straight into a server, as workspaces of one size. Servers are started for it; Qdrant
where `make engines` has fetched it. Without the data, or without a server, that part is left out
and it is said so.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg
from engine_servers import HOST, MISSING, QDRANT, Cluster, postgres
from numpy.typing import NDArray
from retrieval_cases import DATA, cases, opened

from keeplore.index import Index, ScopeFilter, embedder_for
from keeplore.index.backends.postgres import Postgres
from keeplore.index.backends.qdrant import Qdrant
from keeplore.index.builtin_plugins import EMBEDDED, BuiltinEngines
from keeplore.recall.prepare import embed_query
from keeplore.recall.question import parse_question
from keeplore.recall.ranking.fuse import odds
from keeplore.recall.search import search
from keeplore_hooks.contracts import EngineServer, Point

TOP = 10
DIM = 384
AT_ONCE = 256
QUERIES = 200
WORDS = 90  # different ones in a passage
VOCABULARY = 60_000


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the engines.")
    parser.add_argument("--cases", type=int, default=2)
    parser.add_argument("--points", type=int, default=50_000)
    parser.add_argument("--workspaces", type=int, default=10)
    parser.add_argument("--only", choices=["postgres", "qdrant"])
    options = parser.parse_args()
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = HOST
    wanted = [options.only] if options.only else ["postgres", "qdrant"]
    with tempfile.TemporaryDirectory() as scratch:
        for backend in wanted:
            if backend == "qdrant" and not QDRANT.is_file():
                print(f"qdrant left out: {MISSING}")
                continue
            with running(backend, Path(scratch)) as (url, files, pids):
                quality(backend, url, options.cases, Path(scratch))
                growth(backend, url, files, pids, options.points, options.workspaces)
    return 0


@contextmanager
def running(backend: str, scratch: Path) -> Iterator[tuple[str, Path, list[int]]]:
    """Address, files and processes of a server; Qdrant as a cluster of three, each point in two of
    them.
    """
    if backend == "postgres":
        with postgres() as (url, files):
            yield url, files, [int((files / "postmaster.pid").read_text().split()[0])]
        return
    cluster = Cluster(scratch / "qdrant", 3)
    try:
        yield ",".join(cluster.urls), scratch / "qdrant", cluster.pids
    finally:
        cluster.stop()


def quality(backend: str, url: str, count: int, scratch: Path) -> None:
    if not count or not (DATA / "locomo.jsonl").is_file():
        print(
            "quality left out: no case was asked for, or there is no locomo.jsonl; set "
            "KEEPLORE_DATA"
        )
        return
    embedder = embedder_for("packaged", scratch / "models")
    figures: dict[str, dict[str, list[float]]] = {EMBEDDED: {}, backend: {}}
    for number, case in enumerate(cases("locomo", count)):
        own, store = opened(case, scratch / "locomo" / str(number), embedder)
        maker = BuiltinEngines().keeplore_engine(backend, url, f"case_{number}")
        assert maker is not None
        shared = Index(
            own.directory, store, embedder, engine=maker
        )  # beside the other one: it has the vectors
        shared.refresh()
        shared.embed_pending()
        for query in case.queries:
            sight = replace(
                embed_query(parse_question(query.text), embedder), is_patient=True
            )
            for name, index in ((EMBEDDED, own), (backend, shared)):
                for leg, turns in ranked(index, sight, figures[name]).items():
                    hit = len(set(turns[:TOP]) & set(query.gold)) / len(set(query.gold))
                    figures[name].setdefault(leg, []).append(hit)
        own.close()
        shared.close()
    for name, legs in figures.items():
        told = [
            f"{leg} {statistics.mean(hits):.3f}"
            for leg, hits in legs.items()
            if "ms" not in leg
        ]
        told += [
            f"{leg} {statistics.median(times):.1f}"
            for leg, times in legs.items()
            if "ms" in leg
        ]
        print(f"{name:10} recall@{TOP}: " + ", ".join(told))


def ranked(
    index: Index, sight: Any, times: dict[str, list[float]]
) -> dict[str, list[str]]:
    """The turns in the order of each search, and of both as recall joins them."""
    began = time.perf_counter()
    text = [
        m.passage
        for m in index.text_search(
            sight.question.text, ScopeFilter(), 200, is_patient=True
        )
    ]
    after = time.perf_counter()
    vectors = [
        m.passage
        for m in index.vector_search(sight.vector, ScopeFilter(), 200, is_patient=True)
    ]
    times.setdefault("words ms", []).append(1000 * (after - began))
    times.setdefault("vectors ms", []).append(1000 * (time.perf_counter() - after))
    found = search(index, sight, ScopeFilter())
    scores = odds(found.evidence, sight.floor)
    both = sorted(scores, key=lambda passage: (-scores[passage], passage))
    assert not index.note, index.note
    return {
        leg: turns_of(index, ids)
        for leg, ids in (("words", text), ("vectors", vectors), ("both", both))
    }


def turns_of(index: Index, ids: Sequence[int]) -> list[str]:
    return list(dict.fromkeys(row.turn for row in index.passages(ids) if row.turn))


def growth(
    backend: str, url: str, files: Path, pids: Sequence[int], total: int, tenants: int
) -> None:
    def connected(tenant: int) -> EngineServer:
        name = f"tenant_{tenant}"
        if backend == "postgres":
            return Postgres(url, name, "benchmark", DIM)
        return Qdrant(url.split(","), "", name, "benchmark", DIM)

    random = np.random.default_rng(1)
    centres = random.normal(size=(300, DIM))
    servers = [connected(tenant) for tenant in range(tenants)]
    before, own, spent, each = (
        size_of(backend, url, files),
        0.0,
        cpu_s(pids),
        total // tenants,
    )
    for tenant, server in enumerate(servers):
        for start in range(0, each, AT_ONCE):
            numbers = range(
                tenant * each + start, tenant * each + min(start + AT_ONCE, each)
            )
            made = [point(number, random, centres) for number in numbers]
            began = time.process_time()
            server.put(made)
            own += time.process_time() - began
    if backend == "qdrant":
        time.sleep(30)  # its graphs are made in the background
    there = 1000 * (cpu_s(pids) - spent) / total
    size = (size_of(backend, url, files) - before) / total
    copies = ", all copies" * (backend == "qdrant")
    print(
        f"{backend:10} {total:,} points in {tenants} workspaces, for each: {there:.2f} ms of the "
        f"server's processors"
    )
    print(
        f"{'':10} {1000 * own / total:.2f} ms of our own, {size:,.0f} bytes on its disk{copies}"
    )
    asked = [servers[number % tenants] for number in range(QUERIES)]
    told(
        "words",
        asked,
        lambda server: server.matching(question(random), None, 200),
        pids,
    )
    told(
        "vectors",
        asked,
        lambda server: server.nearest(vector(random, centres), None, 200),
        pids,
    )
    exact(servers[0], random, centres)
    began = time.perf_counter()
    print(
        f"{'':10} listing {len(dict(servers[0].all_held())):,} points: "
        f"{time.perf_counter() - began:.2f} s"
    )
    print(
        f"{'':10} memory of its processes: "
        f"{sum(p.memory_info().rss for p in processes(pids)) >> 20} MB"
    )
    for server in servers:
        server.close()


def exact(server: EngineServer, random: Any, centres: Any) -> None:
    """How many of the true nearest are found: the points of a tenant are made again and gone
    over.
    """
    again = np.random.default_rng(1)
    again.normal(size=(300, DIM))
    count = len(dict(server.all_held()))
    points = [point(number, again, centres) for number in range(count)]
    held = np.array([p.vector for p in points])
    shares = []
    for _ in range(50):
        asked = vector(random, centres)
        best = {points[int(i)].id for i in np.argsort(-(held @ np.array(asked)))[:TOP]}
        shares.append(
            len(best & {id_ for id_, _ in server.nearest(asked, None, TOP)}) / TOP
        )
    print(f"{'':10} vectors found of the nearest {TOP}: {statistics.mean(shares):.3f}")


def point(number: int, random: Any, centres: NDArray[Any]) -> Point:
    drawn = np.unique(random.zipf(1.1, WORDS) % VOCABULARY + 1)
    words = dict(
        zip(drawn.tolist(), random.uniform(0.3, 2.2, len(drawn)).tolist(), strict=True)
    )
    return Point(number.to_bytes(16), "scope", words, vector(random, centres))


def vector(random: Any, centres: NDArray[Any]) -> list[float]:
    drawn = centres[random.integers(len(centres))] + 0.7 * random.normal(size=DIM)
    found: list[float] = (drawn / np.linalg.norm(drawn)).tolist()
    return found


def question(random: Any) -> dict[int, float]:
    """Eight words of which one passage in 60 to one in 1,600 has each, as those of questions
    are.
    """
    return dict.fromkeys(random.integers(300, 6_000, 8).tolist(), 3.0)


def told(
    leg: str,
    servers: Sequence[EngineServer],
    ask: Callable[[EngineServer], object],
    pids: Sequence[int],
) -> None:
    times, spent = [], cpu_s(pids)
    for server in servers:
        began = time.perf_counter()
        ask(server)
        times.append(1000 * (time.perf_counter() - began))
    there = 1000 * (cpu_s(pids) - spent) / len(servers)
    quick, middle, slow = (
        sorted(times)[int(share * len(times))] for share in (0.1, 0.5, 0.95)
    )
    print(
        f"{'':10} {leg}: p10 {quick:.1f}, p50 {middle:.1f}, p95 {slow:.1f} ms; {there:.1f} ms of "
        f"its processors"
    )


def size_of(backend: str, url: str, files: Path) -> int:
    """Bytes on the disk without the logs, which are of one size."""
    if backend == "postgres":
        size = (
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON "
            "n.oid = c.relnamespace"
        )
        mine = "WHERE n.nspname LIKE 'keeplore_tenant%' AND c.relkind = 'r'"
        with psycopg.connect(url) as connection:
            return int((connection.execute(f"{size} {mine}").fetchone() or [0])[0])
    segments = [
        str(path) for path in files.glob("*/storage/collections/*benchmark/*/segments")
    ]
    said = subprocess.run(
        ["du", "-sc", "--block-size=1", *segments],
        check=False,
        capture_output=True,
        text=True,
    ).stdout
    return int(said.splitlines()[-1].split()[0]) if segments else 0


def processes(pids: Sequence[int]) -> list[psutil.Process]:
    first = [psutil.Process(pid) for pid in pids]
    return [
        *first,
        *(child for process in first for child in process.children(recursive=True)),
    ]


def cpu_s(pids: Sequence[int]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes(pids))


if __name__ == "__main__":
    sys.exit(main())
