"""Retrieval quality through the product's own path: memory files → index → recall.

    python benchmarks/retrieval.py [--cases 3] [--set locomo] [--model packaged] [--work DIR]

Each case becomes a workspace: one conversation for each session, one exchange for each item. Reported are recall@10 and
nDCG@10 of turns for the full-text search alone, the vectors alone and both as recall joins them; recall@10 of sessions
as ``recall`` answers; and how often a question put to another case's workspace is answered with silence. The data is
not part of the repository (KEEPLORE_DATA, or ../shared/data); without it the script says so and ends.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keeplore.index import Allowed, Embedder, Index, embedder_for
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta
from keeplore.recall import Here, recall
from keeplore.recall.engine import search, sight_of
from keeplore.recall.query import question_of
from keeplore.recall.rank import Evidence, odds
from keeplore.recall.weights import WEIGHTS
from keeplore.store import Store

TOP = 10
REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("KEEPLORE_DATA") or REPOSITORY.parent / "shared" / "data") / "retrieval"
EVERYTHING = replace(WEIGHTS, nothing_below=0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure retrieval through the product's own path.")
    parser.add_argument("--set", default="locomo")
    parser.add_argument("--cases", type=int, default=3)
    parser.add_argument("--model", default="packaged")
    parser.add_argument("--work", type=Path, help="keep workspaces and indexes there for the next run")
    options = parser.parse_args()
    file = DATA / f"{options.set}.jsonl"
    if not file.is_file():
        print(f"skipped: there is no {file}; set KEEPLORE_DATA to the folder that holds retrieval/")
        return 0
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[: options.cases]]
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        embedder = embedder_for(options.model, work / "models")
        opened = [(case, *prepare(case, work / options.set / case["case"], embedder)) for case in cases]
        report(opened, embedder)
    return 0


def prepare(case: Mapping[str, Any], work: Path, embedder: Embedder) -> tuple[Index, Store]:
    """The case as a workspace with its index; what is there from an earlier run is used again."""
    root = work / "workspace"
    root.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    store = Store(root)
    if not (root / "memory").exists():
        for memory in memories_of(case):
            store.save(memory)
    index = Index(work / "index", store, embedder)
    index.refresh()
    index.embed_pending()
    return index, store


def memories_of(case: Mapping[str, Any]) -> Iterable[Memory]:
    sessions: dict[str, list[Mapping[str, Any]]] = {}
    for item in case["items"]:
        sessions.setdefault(item["session"], []).append(item)
    for session, items in sessions.items():
        exchanges = tuple(Exchange(turn_of(item["id"]), f"{item['ts'][:19]}Z", item["text"]) for item in items)
        title = f"Session {session}"
        meta = new_meta(
            id=session_id(case, session),
            kind="conversation",
            title=title,
            created_at=exchanges[0].at,
            updated_at=exchanges[-1].at,
            scope="workspace",
            trust="user",
        )
        yield Memory(meta, Conversation(title, exchanges).to_markdown())


def turn_of(item_id: str) -> str:
    return item_id.replace(" ", "_")


def session_id(case: Mapping[str, Any], session: str) -> str:
    return new_id("benchmark", case["case"], session)


def report(opened: Sequence[tuple[Mapping[str, Any], Index, Store]], embedder: Embedder) -> None:
    figures: dict[str, list[tuple[float, float]]] = {}
    sessions: list[float] = []
    spent: list[float] = []
    silent: list[bool] = []
    for number, (case, index, store) in enumerate(opened):
        foreign = opened[(number + 1) % len(opened)][0]["queries"] if len(opened) > 1 else []
        now = datetime.fromisoformat(max(item["ts"] for item in case["items"])[:19]).replace(tzinfo=UTC)
        for query in case["queries"]:
            gold = {turn_of(item) for item in query["gold"]}
            for name, turns in ranked_turns(index, query["text"], embedder).items():
                figures.setdefault(name, []).append((recall_at(turns, gold), ndcg_at(turns, gold)))
            began = time.perf_counter()
            answer = recall(
                index, store, query["text"], Here(), embedder=embedder, limit=TOP, now=now, weights=EVERYTHING
            )
            spent.append(time.perf_counter() - began)
            wanted = {session_id(case, session) for session in query["gold_sessions"]}
            sessions.append(recall_at([hit.memory_id for hit in answer.hits], wanted))
        for query in foreign:
            answer = recall(index, store, query["text"], Here(), embedder=embedder, limit=1, now=now)
            silent.append(answer.status == "nothing")
        index.close()
    print(f"{'turns':24} recall@{TOP}  nDCG@{TOP}   ({len(sessions)} questions, {len(opened)} cases, {embedder.model})")
    for name, pairs in figures.items():
        print(f"{name:24} {statistics.mean(r for r, _ in pairs):9.3f} {statistics.mean(n for _, n in pairs):8.3f}")
    print(f"{'sessions, by recall':24} {statistics.mean(sessions):9.3f}")
    print(f"{'time of one recall':24} {statistics.median(spent) * 1000:6.0f} ms, median")
    if silent:
        print(f"{'silence where foreign':24} {statistics.mean(silent):9.3f}   (the next case's questions)")


def ranked_turns(index: Index, text: str, embedder: Embedder) -> dict[str, list[str]]:
    """The turns in the order of each search alone and of both as recall joins them."""
    sight = sight_of(question_of(text), embedder)
    found = search(index, sight, Allowed())
    both = odds(found.evidence, sight.floor)
    text = sorted_by(found.evidence, {e.passage: e.text for e in found.evidence})
    vectors = sorted_by(found.evidence, {e.passage: e.cosine for e in found.evidence})
    orders = {
        "full text alone": text,
        "vectors alone": vectors,
        "ranks, k = 60, 1 : 1": by_ranks(text, vectors, k=60, weight=1.0),
        "ranks, k = 10, 2 : 1": by_ranks(text, vectors, k=10, weight=2.0),
        "both": sorted_by(found.evidence, both),
    }
    return {
        name: list(dict.fromkeys(turn for passage in order if (turn := found.passages[passage].turn)))
        for name, order in orders.items()
    }


def by_ranks(text: Sequence[int], vectors: Sequence[int], *, k: int, weight: float) -> list[int]:
    """Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009), to compare with; the text's ranks times ``weight``."""
    scores: dict[int, float] = {}
    for order, factor in ((text, weight), (vectors, 1.0)):
        for place, passage in enumerate(order, start=1):
            scores[passage] = scores.get(passage, 0.0) + factor / (k + place)
    return sorted(scores, key=lambda passage: (-scores[passage], passage))


def sorted_by(evidence: Sequence[Evidence], scores: Mapping[int, float | None]) -> list[int]:
    known = {e.passage: score for e in evidence if (score := scores[e.passage]) is not None}
    return sorted(known, key=lambda passage: (-known[passage], passage))


def recall_at(found: Sequence[str], gold: set[str]) -> float:
    return len(gold & set(found[:TOP])) / len(gold) if gold else 1.0


def ndcg_at(found: Sequence[str], gold: set[str]) -> float:
    gains = sum(1 / math.log2(place + 2) for place, item in enumerate(found[:TOP]) if item in gold)
    best = sum(1 / math.log2(place + 2) for place in range(min(TOP, len(gold))))
    return gains / best if best else 1.0


if __name__ == "__main__":
    sys.exit(main())
