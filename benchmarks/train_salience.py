"""Fit the weights by which a statement tells what a conversation came to, and a person's sentence
how a thing shall be; say how good they are on sessions that they were not fitted on.

    python benchmarks/train_salience.py

Of the labelled sessions a statement is positive that has most of the words of a quotation, or most
of whose words the quotation has: for ``SALIENCE`` those that answer a question or decide, for
``DIRECTIVE`` the person's decisions that hold. Printed are both tables of ``discourse.salience``,
for all sessions and for every second one, and the average precision with each session left out in
turn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from labelled_sessions import LABELS, SHOWN, alike, labelled_sessions
from logistic import Matrix, fit, left_out
from talks import exchanges

from keeplore.capture.discourse import salience
from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.statements import Statement

PENALTY = 5.0
Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    session: str
    features: Features
    is_marked: bool


def main() -> int:
    if not LABELS.is_dir():
        print(f"no labels in {LABELS}: set KEEPLORE_DATA")
        return 0
    tables: tuple[tuple[str, Sequence[str], Callable[[], Iterator[Row]]], ...] = (
        ("SALIENCE", [*salience.SALIENCE][1:], telling_rows),
        ("DIRECTIVE", [*salience.DIRECTIVE][1:], directive_rows),
    )
    for name, columns, read in tables:
        report(name, columns, list(read()))
    return 0


def telling_rows() -> Iterator[Row]:
    """The statements among which heads choose."""
    for one in labelled_sessions():
        model = ConversationModel.of(exchanges(one.transcript))
        count = len(model.exchanges)
        for _, _, statement in model.salient_statements():
            features = dict(salience.statement_features(statement, count))
            yield Row(one.name, features, _is_like_any(statement.text, one.telling))


def directive_rows() -> Iterator[Row]:
    """The person's sentences."""
    for one in labelled_sessions():
        for statement in _of_person(ConversationModel.of(exchanges(one.transcript))):
            features = dict(salience.directive_features(statement))
            yield Row(one.name, features, _is_like_any(statement.text, one.settled))


def _of_person(model: ConversationModel) -> Iterator[Statement]:
    return (statement for statement in model.statements if statement.is_of_person)


def _is_like_any(text: str, quotations: Iterable[str]) -> bool:
    return any(alike(text, quotation) >= SHOWN for quotation in quotations)


def report(name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    sessions = sorted({row.session for row in rows})
    inputs, answers = matrices(columns, rows)
    chances = left_out(inputs, answers, [row.session for row in rows], PENALTY)
    print(
        f"{name}: {len(rows)} sentences of {len(sessions)} sessions, {answers.sum():.0f} "
        f"marked; average precision left out {average_precision(chances, answers):.2f}"
    )
    half = [row for row in rows if sessions.index(row.session) % 2 == 0]
    for part, chosen in (("all", rows), ("every second", half)):
        weights, intercept = fit(*matrices(columns, chosen), PENALTY)
        pairs = zip(columns, weights, strict=True)
        table = ", ".join(f"{column} {weight:.2f}" for column, weight in pairs)
        print(f"  {part}: bias {intercept:.2f}, {table}")


def matrices(columns: Sequence[str], rows: Sequence[Row]) -> tuple[Matrix, Matrix]:
    """Features (n, columns) and marks (n,)."""
    table = [[row.features.get(column, 0.0) for column in columns] for row in rows]
    return np.array(table, float), np.array([row.is_marked for row in rows], float)


def average_precision(chances: Matrix, answers: Matrix) -> float:
    """The mean of the precision at each marked one, the likeliest first."""
    ordered = answers[np.argsort(-chances, kind="stable")]
    precision = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    return float((precision * ordered).sum() / max(1.0, ordered.sum()))


if __name__ == "__main__":
    sys.exit(main())
