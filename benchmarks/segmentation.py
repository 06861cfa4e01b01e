"""How well topics are cut, online: each turn is judged when it comes, with its own answer in view and nothing later.

    python benchmarks/segmentation.py [--dialogues 60] [--model packaged] [--prompt-only]

Utterances of a dialogue become exchanges (a person's and what follows), so a boundary before an agent's utterance
cannot be found. Reported are Pk and WindowDiff (window: half the mean segment, lower is better), boundary F1, density
(found ÷ true boundaries), exchanges in a segment, and milliseconds a turn. The data is not part of the repository
(KEEPLORE_DATA, or ../shared/data); without it the script says so and ends.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keeplore.capture.segment import Segmenter
from keeplore.capture.terms import cosine, weighted
from keeplore.index import embedder_for
from keeplore_hooks.events import Origin, Turn

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("KEEPLORE_DATA") or REPOSITORY.parent / "shared" / "data") / "segmentation"
CORPORA = ("beam_splice", "dialseg711", "superseg_dev", "tiage_dev")
HERE = Origin("benchmark", "")


@dataclass(frozen=True, slots=True)
class Dialogue:
    utterances: Sequence[str]
    roles: Sequence[str]
    boundaries: frozenset[int]  # numbers of the utterances that open a segment, the first left out

    def exchanges(self) -> list[tuple[int, str, str]]:
        """(number of the person's utterance, its text, the answer)."""
        found: list[tuple[int, str, str]] = []
        for n, (text, role) in enumerate(zip(self.utterances, self.roles, strict=True)):
            if role == "user" or not found:
                found.append((n, text, ""))
            else:
                first, user, answer = found[-1]
                found[-1] = (first, user, f"{answer}\n\n{text}".strip())
        return found


Cutter = Callable[[Dialogue], set[int]]


def load(name: str, limit: int) -> list[Dialogue]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:limit]
    return [_dialogue(json.loads(line)) for line in lines]


def _dialogue(data: Mapping[str, Any]) -> Dialogue:
    starts = [sum(data["segments"][: n + 1]) for n in range(len(data["segments"]) - 1)]
    return Dialogue(data["utterances"], data["roles"], frozenset(starts))


def ours(segmenter: Segmenter, *, prompt_only: bool, seconds: list[float]) -> Cutter:
    """The product's own plugin, told of each exchange as capture tells it."""

    def cut(dialogue: Dialogue) -> set[int]:
        found: set[int] = set()
        open_: list[dict[str, str]] = []
        for first, user, answer in dialogue.exchanges():
            turn = Turn(str(first), HERE, "", user, (answer,) if answer and not prompt_only else ())
            segmenter.shift_of(open_, turn)  # the embeddings are there when the clock starts
            start = time.perf_counter()
            reason = segmenter.keeplore_segment(open_, turn)
            seconds.append(time.perf_counter() - start)
            if open_ and reason:
                found.add(first)
                open_ = []
            open_.append({"id": str(first), "at": "", "user": user, "assistant": answer})
        return found

    return cut


def none(_dialogue: Dialogue) -> set[int]:
    return set()


def even(dialogue: Dialogue) -> set[int]:
    """As many boundaries as there are, at equal distances: it knows the number and nothing else."""
    step = max(1, round(len(dialogue.utterances) / (len(dialogue.boundaries) + 1)))
    return set(range(step, len(dialogue.utterances), step))


def tiling(dialogue: Dialogue) -> set[int]:
    """TextTiling with the whole dialogue in view: valleys of word similarity that are deeper than most."""
    texts, size = dialogue.utterances, 2
    bags = weighted(texts)
    alike = []
    for n in range(1, len(texts)):
        left, right = bags[max(0, n - size) : n], bags[n : n + size]
        alike.append(cosine(_sum(left), _sum(right)))
    depth = [max(alike[: n + 1]) + max(alike[n:]) - 2 * value for n, value in enumerate(alike)]
    if len(depth) < 2:
        return set()
    least = statistics.mean(depth) + statistics.stdev(depth) / 2
    return {n + 1 for n, value in enumerate(depth) if value >= least}


def _sum(bags: Sequence[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for bag in bags:
        for term, value in bag.items():
            total[term] = total.get(term, 0.0) + value
    return total


def errors(true: frozenset[int], found: set[int], length: int) -> tuple[float, float]:
    """(Pk, WindowDiff) with a window of half the mean segment (Beeferman et al. 1999; Pevzner and Hearst 2002)."""
    window = max(2, round(length / (len(true) + 1) / 2))
    if length <= window:
        return 0.0, 0.0
    counts = [
        (sum(i < n <= i + window for n in true), sum(i < n <= i + window for n in found))
        for i in range(length - window)
    ]
    pk = statistics.mean((a > 0) != (b > 0) for a, b in counts)
    return pk, statistics.mean(a != b for a, b in counts)


def report(name: str, label: str, dialogues: Sequence[Dialogue], cut: Cutter) -> None:
    found = [cut(dialogue) for dialogue in dialogues]
    pairs = list(zip(dialogues, found, strict=True))
    rates = [errors(d.boundaries, cuts, len(d.utterances)) for d, cuts in pairs]
    hits = sum(len(d.boundaries & cuts) for d, cuts in pairs)
    true, all_found = sum(len(d.boundaries) for d in dialogues), sum(map(len, found))
    exchanges = sum(len(d.exchanges()) for d in dialogues) / (all_found + len(dialogues))
    pk, wd = (statistics.mean(column) for column in zip(*rates, strict=True))
    f1 = 2 * hits / max(true + all_found, 1)
    print(f"{name:14}{label:16}{pk:7.3f}{wd:7.3f}{f1:7.3f}{all_found / max(true, 1):9.2f}{exchanges:11.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how topics are cut, online.")
    parser.add_argument("--dialogues", type=int, default=60, help="of each corpus")
    parser.add_argument("--model", default="packaged")
    parser.add_argument("--prompt-only", action="store_true", help="judge a turn before it is answered")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"skipped: there is no {DATA}; set KEEPLORE_DATA to the folder that holds segmentation/")
        return 0
    seconds: list[float] = []
    print(f"{'corpus':14}{'method':16}{'Pk':>7}{'WD':>7}{'F1':>7}{'density':>9}{'exchanges':>11}")
    with tempfile.TemporaryDirectory() as cache:
        with_model = Segmenter(embedder_for(options.model, Path(cache)))
        for name in CORPORA:
            dialogues = load(name, options.dialogues)
            report(name, "none", dialogues, none)
            report(name, "even", dialogues, even)
            report(name, "tiling", dialogues, tiling)
            report(name, "words alone", dialogues, ours(Segmenter(None), prompt_only=options.prompt_only, seconds=[]))
            report(name, "ours", dialogues, ours(with_model, prompt_only=options.prompt_only, seconds=seconds))
    milliseconds = sorted(s * 1000 for s in seconds)
    print(f"a turn, embeddings there: median {statistics.median(milliseconds):.1f} ms, 95 % below ", end="")
    print(f"{milliseconds[int(0.95 * len(milliseconds))]:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
