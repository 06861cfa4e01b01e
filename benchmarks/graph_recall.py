"""What the graph adds to recall over recorded coding sessions: the same questions with it and
without it.

    python benchmarks/graph_recall.py [--work DIR]

All sessions are captured into one workspace, as hosts would have reported them, and every question
of ``graph_questions.tsv`` is asked in all projects: most of them name a file, a tool, a command or
an identifier. A hit is right where it is one of the conversations named there (eight digits of an
id), or a note made of one. The data is not part of the repository (KEEPLORE_DATA, or
../shared/data).
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import captured
import talks

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.recall.weights import WEIGHTS, Weights
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.workspace import Workspace

QUESTIONS = Path(__file__).with_name("graph_questions.tsv")
NOW = datetime(2026, 7, 1, tzinfo=UTC)  # so that ages do not change with the calendar
EVERYTHING = replace(WEIGHTS, nothing_below=0.0)
VARIANTS = {
    "without the graph": None,
    "with it, as it is set": EVERYTHING,
    "half as strong": replace(EVERYTHING, graph=WEIGHTS.graph / 2),
    "twice as strong": replace(EVERYTHING, graph=WEIGHTS.graph * 2),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Measure what the graph adds to recall."
    )
    parser.add_argument(
        "--work", type=Path, help="keep workspace and index there for the next run"
    )
    options = parser.parse_args()
    files = sorted(
        p
        for p in talks.DATA.rglob("*")
        if p.suffix in {".jsonl", ".json", ".md"} and p.name != "index.json"
    )
    if not files:
        print(
            f"skipped: there is nothing in {talks.DATA}; set KEEPLORE_DATA to the folder that "
            f"holds transcripts/"
        )
        return 0
    with (
        tempfile.TemporaryDirectory() as scratch,
        opened(options.work or Path(scratch), files) as workspace,
    ):
        rows = list(csv.reader(QUESTIONS.open(encoding="utf-8"), delimiter="\t"))
        for is_text in (False, True):
            print("text alone" if is_text else "text and vectors")
            for label, weights in VARIANTS.items():
                places = [
                    place(workspace, ask, gold.split(), weights, is_text=is_text)
                    for ask, gold in rows
                ]
                print(f"  {label:24} {figures(places)}", flush=True)
    return 0


def opened(work: Path, files: Sequence[Path]) -> Workspace:
    places = Places(work / "state", work / "cache")
    is_new = not (work / "memory").exists()
    made = initialise(places, work / "memory")
    workspace = Workspace(made.name, made.root, places, Machine.load(places))
    for file in files if is_new else ():
        captured.take(workspace, [*captured.events(file)])
    workspace.index.refresh()
    workspace.index.graph.link()
    workspace.index.embed_pending()
    return workspace


def place(
    workspace: Workspace,
    ask: str,
    gold: Sequence[str],
    weights: Weights | None,
    *,
    is_text: bool,
) -> int:
    """Of the first right hit, from 1; 0 for none among twenty."""
    answer = recall(
        RecallDeps(
            workspace.index,
            workspace.store,
            embedder=workspace.embedder,
            weights=weights or EVERYTHING,
            graph=weights is not None,
        ),
        RecallRequest(ask, limit=20, wide=True, at_once=True, text_only=is_text),
        SearchScope(),
        now=NOW,
    )
    for at, hit in enumerate(answer.hits, 1):
        source = str(workspace.store.load(hit.path).source.get("from", ""))
        if hit.memory_id[4:12] in gold or source[4:12] in gold:
            return at
    return 0


def figures(places: Sequence[int]) -> str:
    count = len(places)
    mrr = sum(1 / at for at in places if at) / count
    first, five = (
        sum(at == 1 for at in places) / count,
        sum(0 < at <= 5 for at in places) / count,
    )
    return f"MRR {mrr:.3f}, first {first:.3f}, among five {five:.3f} of {count}"


if __name__ == "__main__":
    sys.exit(main())
