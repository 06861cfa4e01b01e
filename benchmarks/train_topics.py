"""Fit the weights by which capture cuts topics, and say how good they are on dialogues they were
not fitted on.

    python benchmarks/train_topics.py [--cache FOLDER] [--write] [--folds 3]

Logistic regression with a ridge penalty: iteratively reweighted least squares, each step by
conjugate gradients. It is learned from the corpora of benchmarks/segmentation.py, each as exchanges
and as single utterances, and from assistant chats that are cut into pieces and spliced. Each corpus
counts the same whatever its size, the spliced chats twice. Two pieces that follow each other are
never of the same chat: far apart in one chat is no sure boundary. Chats that also occur in the
spliced corpus are left out, so that no text is on both sides. Recorded sessions of coding agents
are not learned from: pieces of two projects are told apart by more than the subjects of one session
are, and weights that were fitted on them too found fewer of the subjects (docs/benchmarks.md).

``--cache`` keeps embeddings between runs (half an hour of one core for all of them). Without
``--write`` only the cross-validated figures are printed. The data is not part of the repository
(KEEPLORE_DATA, or ../shared/data).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import segmentation
from segmentation import DATA, HERE, Dialogue

from keeplore.capture import segmenter, text_tiling, topic_model
from keeplore.capture.topic_model import EmbeddedExchange
from keeplore.index import embedder_for
from keeplore_hooks.events import Turn

CORPORA = ("beam_splice", "dialseg711", "superseg_dev", "tiage_dev", "tiage_train")
ONLY_TRAINED = (
    "tiage_train",
)  # tiage has a part for fitting and a part for looking: they are kept apart
ONLY_TESTED = ("tiage_dev",)
DIALOGUES = 300  # of each corpus
# of the squared weights of standardised features, where each corpus counts as EACH rows
PENALTY = 10.0
EACH = 1000
SCALE = 4.0  # of the coordinates of vectors against standardised features: they are many and small
SEED = 7
Split = tuple[list[int], list[int]]


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialogue as the model sees it."""

    units: Sequence[EmbeddedExchange]
    ids: Sequence[int]  # numbers of the utterances with which the units begin
    true: frozenset[int]
    length: int  # utterances
    known: dict[tuple[int, int], Any] = field(default_factory=dict)

    def features(self, start: int, at: int) -> Any:
        if (start, at) not in self.known:
            self.known[start, at] = topic_model.features(self.units[start : at + 1])
        return self.known[start, at]


class Vectors:
    """Vectors by text; those that were made are kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self._embedder = embedder_for("packaged", folder)
        if self._embedder.fingerprint != topic_model.FITTED_FOR:
            raise SystemExit(
                f"topics.FITTED_FOR is not the packaged model: {self._embedder.fingerprint}"
            )
        self._file = folder / "vectors.npz"
        self._known: dict[str, Any] = {}
        if self._file.exists():
            with np.load(self._file) as kept:
                self._known = dict(
                    zip(kept["keys"].tolist(), kept["vectors"], strict=True)
                )

    def units(self, pairs: Sequence[tuple[str, str]]) -> list[EmbeddedExchange]:
        texts = {
            key_of(text): text
            for text in (text_tiling.compact(*pair) for pair in pairs)
        }
        missing = sorted(
            (key for key in texts if key not in self._known),
            key=lambda key: len(texts[key]),
        )
        for start in range(0, len(missing), 8):
            part = missing[start : start + 8]
            self._known.update(
                zip(
                    part,
                    self._embedder.embed([texts[key] for key in part]),
                    strict=True,
                )
            )
        return [
            EmbeddedExchange(*pair, self._known[key_of(text_tiling.compact(*pair))])
            for pair in pairs
        ]

    def save(self) -> None:
        np.savez(
            self._file,
            keys=np.array([*self._known]),
            vectors=np.stack([*self._known.values()]),
        )


def key_of(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]


def corpora(vectors: Vectors) -> dict[str, list[Talk]]:
    """All dialogues, ``NAME`` as exchanges and ``NAME/u`` as utterances without an answer."""
    found = {}
    for name in CORPORA:
        dialogues = segmentation.load(name, DIALOGUES)
        found[name] = talks_of(dialogues, vectors)
        if name != "beam_splice":  # nobody talks to an assistant in utterances
            found[f"{name}/u"] = talks_of(
                [dialogue.alone() for dialogue in dialogues], vectors
            )
    return found


def talks_of(dialogues: Sequence[Dialogue], vectors: Vectors) -> list[Talk]:
    split = [dialogue.exchanges() for dialogue in dialogues]
    units = iter(
        vectors.units(
            [(user, answer) for exchanges in split for _, user, answer in exchanges]
        )
    )
    return [
        Talk(
            [next(units) for _ in exchanges],
            [n for n, *_ in exchanges],
            d.boundaries,
            len(d.utterances),
        )
        for d, exchanges in zip(dialogues, split, strict=True)
    ]


def spliced(
    pieces: Sequence[tuple[Hashable, Sequence[EmbeddedExchange]]],
    count: int,
    lengths: Sequence[int],
) -> list[Talk]:
    """Dialogues of three to six pieces; neighbours come from different chats (the first of each
    pair).
    """
    chance = random.Random(SEED)
    made = []
    for _ in range(count):
        units: list[EmbeddedExchange] = []
        starts: list[int] = []
        before: Hashable = None
        for _ in range(chance.randint(3, 6)):
            origin, piece = chance.choice(pieces)
            while origin == before:
                origin, piece = chance.choice(pieces)
            before, length = origin, min(chance.choice(lengths), len(piece))
            first = chance.randrange(len(piece) - length + 1)
            starts.append(len(units))
            units += piece[first : first + length]
        made.append(Talk(units, range(len(units)), frozenset(starts[1:]), len(units)))
    return made


def chats(
    vectors: Vectors, left_out: frozenset[str]
) -> list[tuple[Hashable, list[EmbeddedExchange]]]:
    """Runs of exchanges with an assistant of which none is in ``left_out``."""
    found: list[tuple[Hashable, list[EmbeddedExchange]]] = []
    lines = (
        (DATA.parent / "retrieval" / "beam100k.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    for n, line in enumerate(lines):
        items = json.loads(line)["items"]
        dialogue = Dialogue(
            [i["text"] for i in items], [i["role"] for i in items], frozenset()
        )
        runs: list[list[tuple[str, str]]] = [[]]
        for _, user, answer in dialogue.exchanges():
            if user in left_out:
                runs.append([])
            else:
                runs[-1].append((user, answer))
        found += [(n, vectors.units(run)) for run in runs if len(run) >= 6]
    return found


def rows(talks_: Sequence[Talk]) -> tuple[Any, Any]:
    """(features, is a boundary) of each unit but the first, the conversation beginning at the true
    boundary before.
    """
    inputs, answers = [], []
    for talk in talks_:
        start = 0
        for at in range(1, len(talk.units)):
            inputs.append(talk.features(start, at))
            answers.append(talk.ids[at] in talk.true)
            start = at if answers[-1] else start
    return np.array(inputs), np.array(answers, dtype=np.float32)


def fit(parts: Sequence[tuple[Any, Any, float]]) -> Any:
    """Weights and, last, the intercept, for features as they come. ``parts``: features, answers,
    weight of all rows.
    """
    inputs = np.concatenate([part[0] for part in parts])
    answers = np.concatenate([part[1] for part in parts])
    counts = np.concatenate(
        [
            np.full(len(part[1]), part[2] * EACH / len(part[1]), np.float32)
            for part in parts
        ]
    )
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    coordinates = slice(2 * topic_model.SCALARS + 1, None)
    mean[coordinates], spread[coordinates] = 0.0, 1 / SCALE
    x = np.concatenate(
        [(inputs - mean) / spread, np.ones((len(inputs), 1))], axis=1
    ).astype(np.float32)
    penalty = np.full(x.shape[1], PENALTY, np.float32)
    penalty[-1] = 1e-6  # the intercept is free
    weights = np.zeros(x.shape[1], np.float32)
    for _ in range(20):
        p = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (counts * (answers - p)) - penalty * weights
        step = solved(x, counts * p * (1 - p), penalty, slope)
        weights += step
        if np.abs(step).max() < 1e-3:
            break
    plain = weights[:-1] / spread
    return np.append(plain, weights[-1] - plain @ mean).astype(np.float32)


def solved(x: Any, curvature: Any, penalty: Any, slope: Any) -> Any:
    """The step s with (xᵀ·diag(curvature)·x + diag(penalty))·s = slope, by preconditioned conjugate
    gradients.
    """
    scale = 1 / ((x * x).T @ curvature + penalty)
    step, rest = np.zeros_like(slope), slope.copy()
    direction = scale * rest
    error = rest @ direction
    for _ in range(100):
        image = x.T @ (curvature * (x @ direction)) + penalty * direction
        length = error / (direction @ image)
        step += length * direction
        rest -= length * image
        if np.linalg.norm(rest) < 0.01 * np.linalg.norm(slope):
            break
        smaller = rest @ (scale * rest)
        direction = scale * rest + smaller / error * direction
        error = smaller
    return step


def cut(talk: Talk, weights: Any) -> set[int]:
    """Boundaries as the product finds them with these weights, cue words and all."""
    found, start = set(), 0
    model = topic_model.TopicModel(weights)
    said = [
        {"at": "", "user": unit.user, "assistant": unit.assistant}
        for unit in talk.units
    ]
    for at in range(1, len(talk.units)):
        shift = segmenter.learned_shift(
            model.chance_of(talk.features(start, at)), talk.units[start : at + 1]
        )
        if segmenter.boundary(
            said[start:at], Turn("", HERE, "", talk.units[at].user), shift
        ):
            found.add(talk.ids[at])
            start = at
    return found


def is_fitted(name: str) -> bool:
    return name.removesuffix("/u") not in ONLY_TESTED


def splits(name: str, count: int, folds: int) -> list[Split]:
    """(to fit on, to test on) in each fold."""
    everything = [*range(count)]
    name = name.removesuffix(
        "/u"
    )  # the same dialogue is on the same side in either form
    if name in ONLY_TRAINED:
        return [(everything, [])] * folds
    if name in ONLY_TESTED:
        return [([], everything)] * folds
    order = np.random.RandomState(SEED).permutation(count).tolist()
    return [
        (sorted(set(order) - set(order[k::folds])), sorted(order[k::folds]))
        for k in range(folds)
    ]


def cross_validated(
    found: Mapping[str, Sequence[Talk]],
    extra: Sequence[tuple[Any, Any, float]],
    folds: int,
) -> None:
    by_name = {name: splits(name, len(talks_), folds) for name, talks_ in found.items()}
    rates: dict[str, list[tuple[float, float]]] = {}
    for k in range(folds):
        fitted = {
            name: [found[name][n] for n in split[k][0]]
            for name, split in by_name.items()
        }
        weights = fit(
            [(*rows(talks_), 1.0) for talks_ in fitted.values() if talks_] + [*extra]
        )
        for name, split in by_name.items():
            for talk in (found[name][n] for n in split[k][1]):
                rates.setdefault(name, []).append(
                    segmentation.errors(talk.true, cut(talk, weights), talk.length)
                )
    print(f"{'not fitted on':18}{'Pk':>7}{'WD':>7}")
    for name, all_rates in rates.items():
        pk, wd = np.mean(all_rates, axis=0)
        print(f"{name:18}{pk:7.3f}{wd:7.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Fit the weights by which topics are cut."
    )
    parser.add_argument(
        "--cache", type=Path, help="a folder that keeps embeddings between runs"
    )
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument(
        "--write", action="store_true", help=f"write {topic_model.WEIGHTS.name}"
    )
    options = parser.parse_args()
    if not DATA.is_dir():
        print(
            f"skipped: there is no {DATA}; set KEEPLORE_DATA to the folder that holds segmentation/"
        )
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        vectors = Vectors(folder)
        found = corpora(vectors)
        tested = frozenset(
            unit.user for talk in found["beam_splice"] for unit in talk.units
        )
        extra = [(*rows(spliced(chats(vectors, tested), 400, (2, 3, 4, 5, 6, 8))), 2.0)]
        vectors.save()
    cross_validated(found, extra, options.folds)
    if options.write:
        weights = fit(
            [(*rows(talks_), 1.0) for name, talks_ in found.items() if is_fitted(name)]
            + extra
        )
        topic_model.WEIGHTS.write_text(
            "".join(f"{weight:.8g}\n" for weight in weights.tolist()), encoding="ascii"
        )
        print(f"{topic_model.WEIGHTS}: {len(weights)} weights")
    return 0


if __name__ == "__main__":
    sys.exit(main())
