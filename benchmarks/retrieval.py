"""Retrieval quality through the product's own path: memory files → index → recall.

    python benchmarks/retrieval.py [--set locomo] [--cases 5] [--model packaged] [--work DIR]
    [--ablations]

Recall is asked with its defaults, so that a right answer below its thresholds counts as not found.

Each case of a corpus becomes a workspace of conversation files (``retrieval_cases``). Asked are
``recall`` for exchanges and for whole memories, and beside it, over the same exchanges: shared
words as grep counts them, SQLite's BM25, the vectors alone, and reciprocal rank fusion of the last
two. Reported are recall@1, 5, 10 and 20, the share of questions with any right answer among ten,
nDCG@10 and MRR, over all questions and as the mean of the categories; how often what holds now
comes before what it replaced; and how often a question put to another case's workspace is answered
with silence. Without the data the script says so and ends.
"""

from __future__ import annotations

import argparse
import math
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from retrieval_cases import Case, Query, cases, opened

from keeplore.config.settings import ContextSettings
from keeplore.index import Embedder, Index, ScopeFilter, embedder_for
from keeplore.memory import Conversation
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.prompt_context import for_prompt
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.recall.weights import PROMPT_HITS, WEIGHTS, Weights
from keeplore.store import Store
from keeplore.text.query_terms import query_terms

DEPTH = 20
SETS = ("locomo", "beam100k", "memorycode")
ABLATIONS = {
    "without its length": {"telling": 0.0},
    "without its question mark": {"asking": 0.0},
    "without its speaker": {"speaker": 0.0},
    "without its memory": {"memory": 0.0},
    "without the rest of its exchange": {"turn": 0.0},
    "without what holds now": {"current_among": 0},
}
Opened = tuple[Case, Index, Store]
Ranking = Callable[[Case, Index, Store, Query], Sequence[str]]


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Measure retrieval through the product's own path."
    )
    parser.add_argument("--set", choices=SETS, action="append", dest="sets")
    parser.add_argument("--cases", type=int)
    parser.add_argument("--model", default="packaged")
    parser.add_argument(
        "--work", type=Path, help="keep workspaces and indexes there for the next run"
    )
    parser.add_argument(
        "--ablations",
        action="store_true",
        help="leave out one step of recall after the other",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        embedder = embedder_for(options.model, work / "models")
        for name in options.sets or SETS:
            try:
                read = cases(name, options.cases)
            except FileNotFoundError as e:
                print(
                    f"skipped: there is no {e.filename}; set KEEPLORE_DATA to the folder that "
                    f"holds retrieval/"
                )
                continue
            report(
                name,
                [
                    (case, *opened(case, work / name / case.name, embedder))
                    for case in read
                ],
                embedder,
                options,
            )
    return 0


def report(
    name: str, held: Sequence[Opened], embedder: Embedder, options: argparse.Namespace
) -> None:
    count = sum(len(case.queries) for case, *_ in held)
    print(f"\n{name}: {len(held)} cases, {count} questions, {embedder.model}")
    head = (
        f"{'R@1':>6}{'R@5':>6}{'R@10':>6}{'R@20':>6}{'hit@10':>8}{'nDCG':>6}{'MRR':>6}"
    )
    print(f"{'':34}{head}  mean of categories R@10, nDCG")
    if any(query.gold for case, *_ in held for query in case.queries):
        for label, ranking in baselines(held, embedder).items():
            show(label, measure(held, ranking, lambda query: query.gold))
        show(
            "recall",
            measure(held, asking(embedder, by_exchange=True), lambda query: query.gold),
        )
        for label, changed in ABLATIONS.items() if options.ablations else ():
            w = replace(WEIGHTS, **changed)  # type: ignore[arg-type]  # numbers, each under the name of a weight
            show(
                f"  {label}",
                measure(
                    held,
                    asking(embedder, by_exchange=True, w=w),
                    lambda query: query.gold,
                ),
            )
        if options.ablations:
            lifted = asking(embedder, by_exchange=True, graph=True)
            show("  with the graph", measure(held, lifted, lambda query: query.gold))
    whole = asking(embedder, by_exchange=False)
    show(
        "recall, whole memories",
        measure(held, whole, lambda query: query.gold_sessions),
    )
    if options.ablations:
        plain = asking(embedder, by_exchange=False, w=replace(WEIGHTS, current_among=0))
        show(
            "  without what holds now",
            measure(held, plain, lambda query: query.gold_sessions),
        )
        lifted = asking(embedder, by_exchange=False, graph=True)
        show(
            "  with the graph", measure(held, lifted, lambda query: query.gold_sessions)
        )
    print_current(held, embedder)
    print_unasked(held, embedder)
    print_time_and_silence(held, embedder)
    for _, index, _ in held:
        index.close()


def asking(
    embedder: Embedder,
    *,
    by_exchange: bool,
    w: Weights = WEIGHTS,
    graph: bool = False,
) -> Ranking:
    def ranked(case: Case, index: Index, store: Store, query: Query) -> Sequence[str]:
        answer = recall(
            RecallDeps(index, store, embedder=embedder, weights=w, graph=graph),
            RecallRequest(
                query.text, limit=DEPTH, by_exchange=by_exchange, at_once=True
            ),
            SearchScope(),
            now=query.at or case.last,
        )
        return [hit.turn if by_exchange else hit.memory_id for hit in answer.hits]

    return ranked


def baselines(held: Sequence[Opened], embedder: Embedder) -> dict[str, Ranking]:
    texts = {id(case): dict(turn_texts(case)) for case, *_ in held}
    tables = {id(case): full_text(texts[id(case)]) for case, *_ in held}

    def grep(case: Case, _index: Index, _store: Store, query: Query) -> Sequence[str]:
        asked = set(words(query.text))
        counts = {
            turn: len(asked & set(words(text)))
            for turn, text in texts[id(case)].items()
        }
        return by_score(counts)

    def bm25(case: Case, _index: Index, _store: Store, query: Query) -> Sequence[str]:
        terms = [
            spelling.replace('"', "")
            for spellings in query_terms(query.text)
            for spelling in spellings[:1]
        ]
        expression = " OR ".join(f'"{term}"' for term in terms)
        rows = tables[id(case)].execute(
            "SELECT turn FROM t WHERE t MATCH ? ORDER BY rank LIMIT 200", (expression,)
        )
        return [turn for (turn,) in rows]

    def dense(_case: Case, index: Index, _store: Store, query: Query) -> Sequence[str]:
        vector = embedder.embed([query.text])[0]
        matches = index.vector_search(vector, ScopeFilter(), 400)
        return distinct(
            row.turn for row in index.passages([match.passage for match in matches])
        )

    def fused(case: Case, index: Index, store: Store, query: Query) -> Sequence[str]:
        scores: dict[str, float] = {}
        for order in (
            bm25(case, index, store, query),
            dense(case, index, store, query),
        ):
            for place, turn in enumerate(order, start=1):
                scores[turn] = scores.get(turn, 0.0) + 1 / (60 + place)
        return by_score(scores)

    return {
        "shared words (grep)": grep,
        "SQLite BM25": bm25,
        "vectors alone": dense,
        "reciprocal ranks, k = 60": fused,
    }


def turn_texts(case: Case) -> Iterable[tuple[str, str]]:
    for memory in case.memories:
        for exchange in Conversation.from_markdown(memory.body).exchanges:
            yield (
                exchange.id,
                "\n".join(
                    (
                        exchange.user,
                        *(
                            reply
                            for reply in exchange.replies
                            if isinstance(reply, str)
                        ),
                    )
                ),
            )


def full_text(texts: Mapping[str, str]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5(turn UNINDEXED, text, tokenize='porter unicode61')"
    )
    connection.executemany("INSERT INTO t VALUES (?, ?)", texts.items())
    return connection


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def by_score(scores: Mapping[str, float]) -> list[str]:
    return sorted(
        (turn for turn in scores if scores[turn] > 0),
        key=lambda turn: (-scores[turn], turn),
    )


def distinct(turns: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(turn for turn in turns if turn))


def measure(
    held: Sequence[Opened], ranking: Ranking, wanted: Callable[[Query], frozenset[str]]
) -> dict[str, list[tuple[float, ...]]]:
    """For each category the figures of its questions."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for case, index, store in held:
        for query in case.queries:
            if gold := wanted(query):
                order = distinct(ranking(case, index, store, query))
                found.setdefault(query.category, []).append(figures(order, gold))
    return found


def figures(order: Sequence[str], gold: frozenset[str]) -> tuple[float, ...]:
    recalls = [len(gold & set(order[:depth])) / len(gold) for depth in (1, 5, 10, 20)]
    gains = sum(
        1 / math.log2(place + 2)
        for place, turn in enumerate(order[:10])
        if turn in gold
    )
    best = sum(1 / math.log2(place + 2) for place in range(min(10, len(gold))))
    first = next(
        (place for place, turn in enumerate(order, start=1) if turn in gold), 0
    )
    return (
        *recalls,
        float(bool(gold & set(order[:10]))),
        gains / best,
        1 / first if first else 0.0,
    )


def show(label: str, found: Mapping[str, Sequence[tuple[float, ...]]]) -> None:
    rows = [row for category in found.values() for row in category]
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    macro = [
        statistics.mean(
            statistics.mean(row[place] for row in rows) for rows in found.values()
        )
        for place in (2, 5)
    ]
    values = "".join(
        f"{value:{width}.3f}"
        for value, width in zip(means, (6, 6, 6, 6, 8, 6, 6), strict=True)
    )
    print(f"{label:34}{values}  {macro[0]:.3f} {macro[1]:.3f}", flush=True)


def print_current(held: Sequence[Opened], embedder: Embedder) -> None:
    """How often the first right answer comes before everything that it replaced."""
    first: list[bool] = []
    for case, index, store in held:
        for query in case.queries:
            if not query.stale:
                continue
            by_exchange = not query.stale & query.gold_sessions and bool(query.gold)
            order = asking(embedder, by_exchange=by_exchange)(case, index, store, query)
            places = {name: place for place, name in enumerate(distinct(order))}
            right = query.gold if by_exchange else query.gold_sessions
            first.append(least(places, right) < least(places, query.stale))
    if first:
        print(
            f"{'what holds now comes first':34}{statistics.mean(first):6.3f}  of {len(first)}"
        )


def print_unasked(held: Sequence[Opened], embedder: Embedder) -> None:
    """Beside how many questions as prompts the memory that holds is told, and one that it replaced
    with it.
    """
    asked = right = both = 0
    unasked = for_prompt(ContextSettings().threshold, already=())
    for case, index, store in held:
        for query in case.queries:
            if not query.stale <= {memory.id for memory in case.memories}:
                continue
            answer = recall(
                RecallDeps(index, store, embedder=embedder),
                RecallRequest(query.text, limit=PROMPT_HITS, filter=unasked),
                SearchScope(),
                now=query.at or case.last,
            )
            told = {hit.memory_id for hit in answer.hits}
            replaced = told & query.stale - query.gold_sessions
            asked += bool(query.stale)
            right += bool(query.stale and told & query.gold_sessions)
            both += bool(replaced and told & query.gold_sessions)
    if asked:
        print(f"told unasked: {right} of {asked}, with what it replaced: {both}")


def least(places: Mapping[str, int], names: Iterable[str]) -> int:
    return min((places.get(name, DEPTH) for name in names), default=DEPTH)


def print_time_and_silence(held: Sequence[Opened], embedder: Embedder) -> None:
    spent, silent = [], []
    for number, (case, index, store) in enumerate(held):
        foreign = held[(number + 1) % len(held)][0].queries if len(held) > 1 else ()
        for query in foreign:
            began = time.perf_counter()
            answer = recall(
                RecallDeps(index, store, embedder=embedder),
                RecallRequest(query.text, limit=10, at_once=True),
                SearchScope(),
                now=case.last,
            )
            spent.append(time.perf_counter() - began)
            silent.append(answer.status == "nothing")
    if silent:
        print(f"{'one recall, median':34}{statistics.median(spent) * 1000:6.1f} ms")
        print(
            f"{'silence for another case':34}{statistics.mean(silent):6.3f}  of {len(silent)}"
        )


if __name__ == "__main__":
    sys.exit(main())
