"""Keeplore beside other programs that hold notes: one table from one run.

    make peers                                        installs them, each by itself, and runs this
    python benchmarks/peers/compare_peers.py [NAME ...] [--notes 1000] [--cases 1]

Every program runs in its own environment (.venv/peers/NAME), has the packaged model from one server
on loopback, reaches no other network and gets the same texts, a note each: made-up talk of a team,
then the lines of LoCoMo's development cases (KEEPLORE_DATA; left out without it), each case by
itself. Seconds are of the processor, the model's included, so that a busy machine counts little. A
cold question is the first one of a process, its start included; the model is warm for all. Wrong
are answers in which the note with the old value comes first, or none comes, of ten facts each:
edited in place, and said anew in another note.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hook_cost import keeplore_hook_s, mempalace_hook_s
from peer_notes import (
    FACTS,
    Notes,
    edited,
    fact_notes,
    filler,
    is_wrong,
    numbered,
    said_anew,
)
from peer_process import PeerProcess, environment_of
from retrieval import figures
from retrieval_cases import Case, cases
from served_model import serving

from keeplore.index import embedder_for
from keeplore.memory import Conversation

PEERS = ("keeplore", "chroma", "mempalace", "memsearch", "mem0", "basic-memory")
TOP, WARM = 10, 20
NO_ADAPTER = {"basic-memory": "not run: it needs Python 3.12, and this is {python}"}
HOOKS = {"keeplore": keeplore_hook_s, "mempalace": mempalace_hook_s}
HEAD = (
    "program", "index", "10 changed", "cold", "warm", "edited", "anew", "R@10", "nDCG@10", "event",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of processor, and of ten facts how many were answered wrong."""

    index_s: float
    changed_s: float
    cold_s: float
    warm_s: float
    wrong_edited: int
    wrong_anew: int


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare programs that hold notes.")
    parser.add_argument("names", nargs="*", default=PEERS)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=1)
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        embedder = embedder_for("packaged", work / "models")
        embedder.embed(["loaded before anything is measured"])
        rows = [HEAD]
        with serving(embedder) as url:
            for name in asked.names:
                rows.append(row_of(name, work, url, asked))
                print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print("\n".join(table(rows)))
    return 0


def row_of(
    name: str, work: Path, url: str, asked: argparse.Namespace
) -> tuple[str, ...]:
    """The cells of a program; where it does not run, why, in words."""
    if name in NO_ADAPTER:
        return name, NO_ADAPTER[name].format(python=sys.version.split()[0])
    if not environment_of(name).exists():
        return name, "not installed: run `make peers`"
    try:
        costs = costs_of(name, work / name, url, asked.notes)
        quality = quality_of(name, work / f"{name}-cases", url, asked.cases)
        hook = HOOKS[name](work / f"{name}-hook") if name in HOOKS else None
    except Exception as e:  # noqa: BLE001  # one that fails says so in its row, and the others go on
        traceback.print_exc()
        return name, f"not run: {e}"
    return cells(name, costs, quality, hook)


def costs_of(name: str, home: Path, url: str, count: int) -> Costs:
    """What indexing, changing and asking cost, and what is answered after a change."""
    folder = home / "notes"
    half = filler(count - 2 * len(FACTS))
    notes = half | fact_notes("edited") | fact_notes("anew")
    with PeerProcess(name, home, url) as peer:
        index_s = peer.put(folder, notes)
        changed_s = peer.put(folder, edited("edited"))
        peer.put(folder, said_anew("later"))
        asked = [peer.ask(fact.question, TOP) for fact in FACTS]
        warm_s = statistics.median(
            peer.ask(FACTS[n % len(FACTS)].question, TOP)[1] for n in range(WARM)
        )
    with PeerProcess(name, home, url) as fresh:
        _, cold_s = fresh.ask(FACTS[0].question, TOP)
    wrong = [
        sum(
            is_wrong(fact, [f"{prefix}{number}" for prefix in prefixes], hits)
            for number, (fact, (hits, _)) in enumerate(zip(FACTS, asked, strict=True))
        )
        for prefixes in (("edited",), ("anew", "later"))
    ]
    return Costs(index_s, changed_s, cold_s, warm_s, *wrong)


def quality_of(
    name: str, home: Path, url: str, count: int
) -> tuple[float, float, int] | None:
    """Mean recall and nDCG at ten over the lines of LoCoMo's cases, and of how many questions;
    None without the data.
    """
    try:
        read = cases("locomo", count)
    except FileNotFoundError:
        return None
    found: list[tuple[float, ...]] = []
    for case in read:
        notes, names = lines_of(case)
        with PeerProcess(name, home / case.name, url) as peer:
            peer.put(home / case.name / "notes", notes)
            for query in case.queries:
                gold = frozenset(names[turn] for turn in query.gold)
                if gold:
                    hits, _ = peer.ask(query.text, TOP)
                    order = list(dict.fromkeys(name for name, _ in hits))
                    found.append(figures(order, gold))
    recalls, gains = ([row[place] for row in found] for place in (2, 5))
    return statistics.mean(recalls), statistics.mean(gains), len(found)


def lines_of(case: Case) -> tuple[Notes, dict[str, str]]:
    """The lines of a case as notes, and the note of each turn."""
    texts = {}
    for memory in case.memories:
        for exchange in Conversation.from_markdown(memory.body).exchanges:
            texts[exchange.id] = f"{exchange.at[:10]}: {exchange.user}"
    return numbered(texts)


def cells(
    name: str,
    costs: Costs,
    quality: tuple[float, float, int] | None,
    hook_s: float | None,
) -> tuple[str, ...]:
    recalled, gained, count = quality or (0.0, 0.0, 0)
    return (
        name,
        f"{costs.index_s:.1f} s",
        f"{costs.changed_s:.2f} s",
        f"{costs.cold_s:.2f} s",
        f"{costs.warm_s * 1000:.0f} ms",
        f"{costs.wrong_edited} of {len(FACTS)}",
        f"{costs.wrong_anew} of {len(FACTS)}",
        f"{recalled:.3f} of {count}" if quality else "no data",
        f"{gained:.3f}" if quality else "no data",
        f"{hook_s * 1000:.0f} ms" if hook_s is not None else "none",
    )


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Markdown; a row that says why there are no figures says it in its second cell."""
    head, *rest = rows
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rest:
        cells = [*row, *[""] * (len(head) - len(row))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
