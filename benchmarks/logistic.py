"""Logistic regression with a ridge penalty, for the scripts that fit weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

STEPS = 50
ENOUGH = 1e-5  # a step that changes no weight by more is the last
Matrix = NDArray[np.float64]


def fit(
    inputs: Matrix, answers: Matrix, penalty: float, counts: Matrix | None = None
) -> tuple[Matrix, float]:
    """The weight of each feature and the intercept, by iteratively reweighted least squares.

    ``inputs`` (n, features), ``answers`` (n,) of 0 and 1, ``counts`` (n,) how often each row
    counts; ``penalty`` is that of the squared weights of standardised features.
    """
    counts = np.ones(len(inputs)) if counts is None else counts
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0)
    spread[spread < 1e-6] = 1e6  # a feature that never varies weighs nothing
    rows = np.c_[(inputs - mean) / spread, np.ones(len(inputs))]
    ridge = np.diag([penalty] * inputs.shape[1] + [1e-6])
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        curve = counts * (chances * (1 - chances) + 1e-9)
        slope = rows.T @ (counts * (answers - chances)) - ridge @ weights
        change = np.linalg.solve((rows * curve[:, None]).T @ rows + ridge, slope)
        weights += change
        if np.abs(change).max() < ENOUGH:
            break
    plain = weights[:-1] / spread
    return plain, float(weights[-1] - plain @ mean)


def left_out(
    inputs: Matrix, answers: Matrix, groups: Sequence[str], penalty: float
) -> Matrix:
    """The chance of each row by weights that were fitted on the other groups, (n,)."""
    chances = np.zeros(len(answers))
    for group in sorted(set(groups)):
        own = np.array([name == group for name in groups])
        weights, intercept = fit(inputs[~own], answers[~own], penalty)
        chances[own] = 1 / (1 + np.exp(-(inputs[own] @ weights + intercept)))
    return chances
