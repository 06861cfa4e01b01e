"""How well topics are cut, online: each turn is judged when it comes, with its own answer in view
and nothing later.

    python benchmarks/segmentation.py [--dialogues 60] [--skip 0] [--prompt-only] [--ablation]

The delay: a turn is judged with its answer, so one utterance after the message that may open a
topic; with ``--prompt-only``, at once. As exchanges (a person's utterance and what follows) a
boundary before an agent's utterance cannot be found; where people talk to people, each utterance is
also taken as a turn of its own, without any delay (``/u``). "even" knows the number of boundaries,
"tiling" and "depth" see the whole dialogue. The packaged weights were fitted on these corpora
(tiage_dev excepted): ``train_topics.py`` gives the figures on dialogues not fitted on. Reported are
Pk and WindowDiff (window: half the mean segment, lower is better), boundary F1, density (found ÷
true boundaries), exchanges in a segment, and milliseconds a turn. The data is not part of the
repository (KEEPLORE_DATA, or ../shared/data); without it the script says so and ends.
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

import numpy as np

from keeplore.capture import text_tiling
from keeplore.capture.segmenter import Segmenter, TopicShift
from keeplore.index import Embedder, embedder_for
from keeplore.text.terms import cosine, weighted
from keeplore_hooks.events import Origin, Turn, Work

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = (
    Path(os.environ.get("KEEPLORE_DATA") or REPOSITORY.parent / "shared" / "data")
    / "segmentation"
)
CORPORA = ("beam_splice", "dialseg711", "superseg_dev", "tiage_dev")
OF_PEOPLE = CORPORA[1:]  # nobody talks to an assistant in utterances
HERE = Origin("benchmark", "")


@dataclass(frozen=True, slots=True)
class Dialogue:
    utterances: Sequence[str]
    roles: Sequence[str]
    boundaries: frozenset[
        int
    ]  # numbers of the utterances that open a segment, the first left out

    def alone(self) -> Dialogue:
        """Each utterance a turn of its own, without an answer."""
        return Dialogue(
            self.utterances, ["user"] * len(self.utterances), self.boundaries
        )

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


def load(name: str, limit: int, skip: int = 0) -> list[Dialogue]:
    lines = (
        (DATA / f"{name}.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()[skip : skip + limit]
    )
    return [_dialogue(json.loads(line)) for line in lines]


def _dialogue(data: Mapping[str, Any]) -> Dialogue:
    starts = [sum(data["segments"][: n + 1]) for n in range(len(data["segments"]) - 1)]
    return Dialogue(data["utterances"], data["roles"], frozenset(starts))


def ours(cutter: Segmenter, *, prompt_only: bool, seconds: list[float]) -> Cutter:
    """The product's own plugin, told of each exchange as capture tells it."""

    def cut(dialogue: Dialogue) -> set[int]:
        found: set[int] = set()
        open_: list[dict[str, str]] = []
        for first, user, answer in dialogue.exchanges():
            turn = Turn(
                str(first),
                HERE,
                "",
                user,
                (answer,) if answer and not prompt_only else (),
            )
            # the embeddings are there when the clock starts
            cutter.shift_of(open_, turn, turn.work)
            start = time.perf_counter()
            reason = cutter.keeplore_segment(open_, turn, turn.work)
            seconds.append(time.perf_counter() - start)
            if open_ and reason:
                found.add(first)
                open_ = []
            open_.append(
                {"id": str(first), "at": "", "user": user, "assistant": answer}
            )
        return found

    return cut


class Words(Segmenter):
    """The product's segmenter as if every subject were as near as the one before; ``soft``: or no
    longer near.
    """

    def __init__(self, *, soft: bool) -> None:
        super().__init__(None)
        self._size = 1.0 if soft else 0.0

    def shift_of(
        self, _exchanges: Sequence[Mapping[str, Any]], _turn: Turn, _work: Work
    ) -> TopicShift:
        return TopicShift(self._size, need=2.0, need_maybe=1.0)


class Subject(Segmenter):
    """The shift of subject alone. ``lexical``: share of words against vectors where there is a
    model, None: learned.
    """

    def __init__(self, embedder: Embedder | None, lexical: float | None) -> None:
        super().__init__(
            embedder if lexical is None or embedder is None else Unfitted(embedder)
        )
        self._lexical = text_tiling.LEXICAL if lexical is None else lexical

    def keeplore_segment(
        self, exchanges: Sequence[Mapping[str, Any]], turn: Turn, work: Work
    ) -> str | None:
        usual, text_tiling.LEXICAL = text_tiling.LEXICAL, self._lexical
        shift = self.shift_of(exchanges, turn, work)
        text_tiling.LEXICAL = usual
        return "shift" if exchanges and shift.size >= shift.need else ""


class Unfitted:
    """The same vectors under a name that no weights were fitted for: the segmenter goes by its
    rule.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.fingerprint = embedder.model, "unfitted"
        self.dim, self.floor, self.embed = embedder.dim, embedder.floor, embedder.embed


def none(_dialogue: Dialogue) -> set[int]:
    return set()


def even(dialogue: Dialogue) -> set[int]:
    """As many boundaries as there are, at equal distances: it knows the number and nothing else."""
    step = max(1, round(len(dialogue.utterances) / (len(dialogue.boundaries) + 1)))
    return set(range(step, len(dialogue.utterances), step))


def tiling(dialogue: Dialogue) -> set[int]:
    """TextTiling with the whole dialogue in view: valleys of word similarity that are deeper than
    most.
    """
    texts, size = dialogue.utterances, 2
    bags = weighted(texts)
    alike = []
    for n in range(1, len(texts)):
        left, right = bags[max(0, n - size) : n], bags[n : n + size]
        alike.append(cosine(_sum(left), _sum(right)))
    return _valleys(alike)


def _valleys(alike: Sequence[float]) -> set[int]:
    depth = [
        max(alike[: n + 1]) + max(alike[n:]) - 2 * value
        for n, value in enumerate(alike)
    ]
    if len(depth) < 2:
        return set()
    least = statistics.mean(depth) + statistics.stdev(depth) / 2
    return {n + 1 for n, value in enumerate(depth) if value >= least}


def depth_of(embedder: Embedder) -> Cutter:
    """The same valleys, of the cosine of embeddings of two utterances on each side."""

    def cut(dialogue: Dialogue) -> set[int]:
        vectors = embedder.embed(
            [text_tiling.compact(text, "") for text in dialogue.utterances]
        )
        pairs = (
            (vectors[max(0, n - 2) : n].sum(axis=0), vectors[n : n + 2].sum(axis=0))
            for n in range(1, len(vectors))
        )
        return _valleys(
            [float(a @ b) / float((a @ a) * (b @ b)) ** 0.5 for a, b in pairs]
        )

    return cut


def _sum(bags: Sequence[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for bag in bags:
        for term, value in bag.items():
            total[term] = total.get(term, 0.0) + value
    return total


def errors(true: frozenset[int], found: set[int], length: int) -> tuple[float, float]:
    """(Pk, WindowDiff) with a window of half the mean segment (Beeferman et al. 1999; Pevzner and
    Hearst 2002).
    """
    window = max(2, round(length / (len(true) + 1) / 2))
    if length <= window:
        return 0.0, 0.0
    counts = [
        (
            sum(i < n <= i + window for n in true),
            sum(i < n <= i + window for n in found),
        )
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
    exchanges = sum(len(d.exchanges()) for d in dialogues) / (
        all_found + len(dialogues)
    )
    pk, wd = (statistics.mean(column) for column in zip(*rates, strict=True))
    f1 = 2 * hits / max(true + all_found, 1)
    print(
        f"{name:14}{label:16}{pk:7.3f}{wd:7.3f}{f1:7.3f}"
        f"{all_found / max(true, 1):9.2f}{exchanges:11.1f}"
    )


def ablation(embedder: Embedder) -> dict[str, Segmenter]:
    """Each reason alone. Pauses are not among them: these corpora have no times."""
    return {
        "hard words": Words(soft=False),
        "and soft words": Words(soft=True),
        "shift: words": Subject(None, 1.0),
        "shift: vectors": Subject(embedder, 0.0),
        "shift: both": Subject(embedder, text_tiling.LEXICAL),
        "shift: learned": Subject(embedder, None),
        "all by rule": Segmenter(Unfitted(embedder)),
    }


class Kept:
    """An embedder that makes each text's vector once: every method asks for the same ones."""

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.fingerprint, self.dim, self.floor = (
            embedder.model,
            embedder.fingerprint,
            embedder.dim,
            embedder.floor,
        )
        self._embedder = embedder
        self._known: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self._embedder.embed(missing), strict=True))
        return np.stack([self._known[text] for text in texts])


def measure(
    name: str,
    dialogues: Sequence[Dialogue],
    embedder: Embedder,
    options: argparse.Namespace,
) -> list[float]:
    """Print a line for each method; seconds of each turn by the product's own."""
    for label, cutter in (
        ("none", none),
        ("even", even),
        ("tiling", tiling),
        ("depth", depth_of(embedder)),
    ):
        report(name, label, dialogues, cutter)
    seconds: list[float] = []
    segmenters = {
        **(ablation(embedder) if options.ablation else {}),
        "ours, no model": Segmenter(None),
    }
    for label, cutter in segmenters.items():
        report(
            name,
            label,
            dialogues,
            ours(cutter, prompt_only=options.prompt_only, seconds=[]),
        )
    cutter = Segmenter(embedder)
    report(
        name,
        "ours",
        dialogues,
        ours(cutter, prompt_only=options.prompt_only, seconds=seconds),
    )
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how topics are cut, online.")
    parser.add_argument("--dialogues", type=int, default=60, help="of each corpus")
    parser.add_argument(
        "--skip", type=int, default=0, help="dialogues at the beginning of each corpus"
    )
    parser.add_argument("--model", default="packaged")
    parser.add_argument(
        "--prompt-only", action="store_true", help="judge a turn before it is answered"
    )
    parser.add_argument(
        "--ablation", action="store_true", help="also each reason for a boundary alone"
    )
    options = parser.parse_args()
    if not DATA.is_dir():
        print(
            f"skipped: there is no {DATA}; set KEEPLORE_DATA to the folder that holds segmentation/"
        )
        return 0
    seconds: list[float] = []
    print(
        f"{'corpus':14}{'method':16}{'Pk':>7}{'WD':>7}{'F1':>7}{'density':>9}{'exchanges':>11}"
    )
    with tempfile.TemporaryDirectory() as cache:
        embedder = Kept(embedder_for(options.model, Path(cache)))
        for name in CORPORA:
            dialogues = load(name, options.dialogues, options.skip)
            if dialogues:
                seconds += measure(name, dialogues, embedder, options)
            if dialogues and name in OF_PEOPLE:
                seconds += measure(
                    f"{name}/u", [d.alone() for d in dialogues], embedder, options
                )
    milliseconds = sorted(s * 1000 for s in seconds)
    print(
        f"a turn, embeddings there: median {statistics.median(milliseconds):.1f} ms, 95 % below ",
        end="",
    )
    print(f"{milliseconds[int(0.95 * len(milliseconds))]:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
