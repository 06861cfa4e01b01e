"""What tidying changes where people talk about everything: LoCoMo's conversations, each a
workspace, asked before and after ``keeplore tidy``.

    KEEPLORE_DATA=... python benchmarks/tidied_talks.py [CASES]

Every session is a file with the head that capture gives it. Prints, of all questions and of those
that ask for a list or are broad, the share of the evidence shown among five and ten hits, and the
tokens of answers. Evidence counts as shown where its session is a hit, or the source of a line
that a digest shows.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from retrieval_cases import Case, Query, cases

from keeplore.capture.distill.distiller import distill
from keeplore.config.places import Places
from keeplore.memory import Conversation, Memory
from keeplore.memory.digest import KIND, lines_of
from keeplore.recall.question import parse_question
from keeplore.recall.request import RecallHit, RecallRequest
from keeplore.text.query_terms import token_count
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.tidying.tidy_plan import tidy
from keeplore.workspace.workspace import Workspace

DEPTHS = (5, 10)


def main(most: int) -> None:
    before, after, steps = Counter[str](), Counter[str](), Counter[str]()
    try:
        chosen = cases("locomo", most)
    except FileNotFoundError as e:
        print(f"skipped: there is no {e.filename}; set KEEPLORE_DATA")
        return
    for case in chosen:
        with tempfile.TemporaryDirectory() as directory:
            places = Places(Path(directory) / "state", Path(directory) / "cache")
            made = initialise(places, Path(directory) / "memory")
            with Registry(places) as registry:
                workspace = registry.named(made.name)
                fill(workspace, case)
                before += asked(registry, workspace, case)
                steps += Counter(step.deed for step in tidy(workspace))
                workspace.index.embed_pending()
                after += asked(registry, workspace, case)
    print(dict(steps))
    for kind in ("all", "several", "broad"):
        count = before[f"{kind} questions"]
        print(f"{kind}: {count} questions")
        for name in [*(f"R@{depth}" for depth in DEPTHS), "tokens"]:
            shares = (
                found[f"{kind} {name}"] / (count or 1) for found in (before, after)
            )
            print(f"  {name:8}" + "".join(f"{share:10.3f}" for share in shares))


def fill(workspace: Workspace, case: Case) -> None:
    """Write the sessions as capture does, and index them."""
    for memory in case.memories:
        talk = Conversation.from_markdown(memory.body)
        parts = distill(talk.exchanges, workspace.capture_embedder.embed)
        whole = replace(talk, **parts)
        source = {"machine": workspace.machine, "session": memory.id}
        workspace.store.save(
            Memory({**memory.meta, "source": source}, whole.to_markdown())
        )
    workspace.commit()
    workspace.index.refresh()
    workspace.index.embed_pending()


def asked(registry: Registry, workspace: Workspace, case: Case) -> Counter[str]:
    """Sums over the questions, by kind."""
    found: Counter[str] = Counter()
    for query in case.queries:
        request = RecallRequest(query.text, workspace.root, limit=DEPTHS[-1], wide=True)
        hits = registry.recall(request).hits
        question = parse_question(query.text)
        kinds = [
            "all",
            *["several"] * question.is_of_several,
            *["broad"] * question.is_broad,
        ]
        for kind in kinds:
            found[f"{kind} questions"] += 1
            found[f"{kind} tokens"] += sum(
                round(token_count(f"{hit.title}\n{hit.passage}")) for hit in hits
            )
            for depth in DEPTHS:
                found[f"{kind} R@{depth}"] += share(workspace, hits[:depth], query)
    return found


def share(workspace: Workspace, hits: Sequence[RecallHit], query: Query) -> float:
    """Of the sessions that hold the evidence."""
    shown = set(chain.from_iterable(sources(workspace, hit) for hit in hits))
    return len(shown & query.gold_sessions) / (len(query.gold_sessions) or 1)


def sources(workspace: Workspace, hit: RecallHit) -> set[str]:
    """The memories whose words a hit shows."""
    if hit.kind != KIND:
        return {hit.memory_id}
    told = hit.passage.split("\n")
    lines = lines_of(workspace.store.load(hit.path))
    return {line.memory_id for line in lines if line.told in told}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
