"""Fit the weights by which a statement of a conversation answers a question, and say how good they
are on sessions that they were not fitted on.

    python benchmarks/train_told.py

The labelled sessions are imported into a workspace and asked about in place: by the questions of
their labels, and by those of ``told_questions.tsv``, which names the statements that answer each.
Printed are the table of ``recall.statements.told_statements``, the weight in its
``statement_reader`` and, with each ninth of the sessions left out in turn, for how many of both the
lines that would be printed hold the answer, without and with the reader.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
from labelled_sessions import BEGIN, LABELS, PROGRAM, SHOWN, make_workspace, share
from logistic import Matrix
from talks import text_hash

from keeplore.capture.distill.held_statements import held_statements
from keeplore.config.places import Places
from keeplore.memory import Conversation
from keeplore.recall.prepare import embed_query
from keeplore.recall.question import parse_question
from keeplore.recall.ranking.fuse import above_floor
from keeplore.recall.request import HeldStatement
from keeplore.recall.statement_reader import READ
from keeplore.recall.statements.told_statements import (
    FEATURE_WEIGHTS,
    answer_features,
    best_lines,
    nearness_of_turns,
)
from keeplore.recall.weights import EXCERPT_CHARS, WEIGHTS
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.contracts import Embedder

QUESTIONS = Path(__file__).with_name("told_questions.tsv")
ALIKE = 0.6  # share of a quotation's words from which a statement is it
FOLDS = 9
PENALTY, STEPS, RATE = 0.05, 300, 0.05


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """``answers`` are hashes of the statements that answer; of a label's, its quotations."""

    session: str
    text: str
    answers: frozenset[str]
    quotations: tuple[str, ...] = ()

    def is_answered_by(self, text: str) -> bool:
        is_quoted = any(
            share(quotation, text) >= ALIKE for quotation in self.quotations
        )
        return is_quoted or text_hash(text) in self.answers


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with the statements of the conversation that answers it."""

    question: AskedQuestion
    held: Sequence[HeldStatement]
    inputs: Matrix  # (statements, features)
    answers: Matrix  # (statements,) of 0 and 1
    nearness: Matrix  # (statements,), how far above the model's floor each is

    def likeliest(self, odds: Matrix) -> Choice:
        """The statements that the reader reads, with log-odds and nearness."""
        read = _likeliest_places(odds)
        held = [self.held[place] for place in read]
        near = self.nearness[read]
        inputs = np.stack([odds[read], near], axis=1)
        return Choice(self.question, held, inputs, self.answers[read], near)

    def judged(self, odds: Matrix, weight: float) -> Matrix:
        """The log-odds with the reader's; what it does not read counts as the farthest."""
        read = _likeliest_places(odds)
        nearness = np.full(len(odds), self.nearness[read].min())
        nearness[read] = self.nearness[read]
        return odds + weight * nearness


def _likeliest_places(odds: Matrix) -> Matrix:
    """Where the statements are that the reader reads."""
    return np.argsort(-odds)[:READ]


def main() -> int:
    if not LABELS.is_dir():
        print(f"no labels in {LABELS}: set KEEPLORE_DATA")
        return 0
    with tempfile.TemporaryDirectory(prefix="keeplore-told-") as directory:
        home = Path(directory)
        names = sorted(file.stem for file in LABELS.glob("*.json"))
        make_workspace(
            home, {name: BEGIN + timedelta(days=n) for n, name in enumerate(names)}
        )
        with Registry(Places.from_environment(os.environ)) as registry:
            workspace = registry.named("memory")
            workspace.index.embed_pending()
            choices = [*all_choices(workspace, home)]
        subprocess.run([PROGRAM, "worker", "stop"], cwd=home, check=False)
    report(names, choices)
    return 0


def all_choices(workspace: Workspace, home: Path) -> Iterator[Choice]:
    """Of each question the conversation with most of the statements that answer it."""
    talks = {}
    for file in sorted((home / "memory").rglob("conversations/**/*.md")):
        memory = workspace.store.load(file.relative_to(home / "memory").as_posix())
        talks[memory.id] = held_statements(Conversation.from_markdown(memory.body))
    embedder = workspace.index.answering(workspace.embedder)
    vectors = {id_: _embedded(embedder, held) for id_, held in talks.items()}
    for question in all_questions():
        counts = {
            id_: sum(question.is_answered_by(s.text) for s in held)
            for id_, held in talks.items()
        }
        best = max(counts, key=lambda id_: counts[id_])
        if not counts[best]:
            continue
        query = embed_query(parse_question(question.text), embedder)
        near = nearness_of_turns(workspace.index, query, best)
        rows = [dict(row) for row in answer_features(talks[best], query.question, near)]
        inputs = np.array(
            [[row.get(name, 0.0) for name in FEATURE_WEIGHTS] for row in rows]
        )
        answers = [float(question.is_answered_by(s.text)) for s in talks[best]]
        cosines = vectors[best] @ query.vector
        nearness = np.array([above_floor(c, embedder.floor) for c in cosines])
        yield Choice(question, talks[best], inputs, np.array(answers), nearness)


def _embedded(embedder: Embedder, held: Sequence[HeldStatement]) -> Matrix:
    """A row for each statement."""
    return embedder.embed([one.in_context for one in held]).astype(np.float64)


def all_questions() -> Iterator[AskedQuestion]:
    for file in sorted(LABELS.glob("*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        for asked in data["questions"]:
            quotations = tuple(evidence["quote"] for evidence in asked["evidence"])
            yield AskedQuestion(data["session"], asked["q"], frozenset(), quotations)
    session = ""
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            session = line[2:]
        elif not line.startswith("#"):
            text, answers = line.split("\t")
            yield AskedQuestion(session, text, frozenset(answers.split(",")))


def fitted(choices: Sequence[Choice]) -> Matrix:
    """The weights of a conditional logit (D. McFadden, 1974): of all statements of a conversation
    one that answers is chosen.
    """
    inputs = np.concatenate([choice.inputs for choice in choices])
    answers = np.concatenate([choice.answers for choice in choices])
    sizes = [len(choice.answers) for choice in choices]
    spread = inputs.std(axis=0) + 1e-6
    rows = inputs / spread
    weights, first, second = (np.zeros(inputs.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        chances = _shares(np.exp(rows @ weights), sizes)
        given = _shares(chances * answers, sizes)
        slope = 2 * PENALTY * weights + (chances - given) @ rows / len(sizes)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
        weights = weights - RATE * first / (1 - 0.9**step) / scale
    return weights / spread


def _shares(values: Matrix, sizes: Sequence[int]) -> Matrix:
    """Each value as a share of all of its choice, where the choices stand one after the other."""
    starts = np.cumsum([0, *sizes[:-1]])
    return values / np.repeat(np.add.reduceat(values, starts), sizes)


def report(names: Sequence[str], choices: Sequence[Choice]) -> None:
    weights = fitted(choices)
    pairs = zip(FEATURE_WEIGHTS, weights, strict=True)
    print(", ".join(f"{name} {weight:.2f}" for name, weight in pairs))
    print(f"near {near_weight(choices, weights):.2f}")
    shown: dict[tuple[bool, bool], list[bool]] = {}
    for fold in range(FOLDS):
        own = {*names[fold::FOLDS]}
        others = [c for c in choices if c.question.session not in own]
        learnt = fitted(others)
        near = near_weight(others, learnt)
        for choice in choices:
            if choice.question.session not in own:
                continue
            odds = choice.inputs @ learnt
            is_label = bool(choice.question.quotations)
            for is_read, told in ((False, odds), (True, choice.judged(odds, near))):
                is_shown = _is_shown(choice, told)
                shown.setdefault((is_label, is_read), []).append(is_shown)
    for (is_label, is_read), results in sorted(shown.items(), reverse=True):
        kind = "of the labels" if is_label else "of the list"
        by = "read by the model" if is_read else "by words"
        print(f"questions {kind}, {by}: {sum(results)} of {len(results)} answered")


def near_weight(choices: Sequence[Choice], weights: Matrix) -> float:
    """The weight of nearness beside the log-odds of statements that are read."""
    read = [choice.likeliest(choice.inputs @ weights) for choice in choices]
    odds, near = fitted([choice for choice in read if choice.answers.any()])
    return float(near / odds)


def _is_shown(choice: Choice, scores: Matrix) -> bool:
    told = [*zip(choice.held, scores, strict=True)]
    lines = [line for line, _ in best_lines(told, WEIGHTS, EXCERPT_CHARS)]
    if not choice.question.quotations:
        return any(choice.question.is_answered_by(line) for line in lines)
    text = "\n".join(lines)
    return any(share(quoted, text) >= SHOWN for quoted in choice.question.quotations)


if __name__ == "__main__":
    sys.exit(main())
