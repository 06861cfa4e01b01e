"""How much is tried where all tests run, and how much in ``make soak``: of examples of a property a
fifth and all, of a long text a third of a megabyte and all of it.
"""

from __future__ import annotations

import os

import pytest

EVERY = "EVERY_EXAMPLE"  # the variable by which all are asked for
SHARE = 5
# characters
LONG = pytest.mark.parametrize(
    "size", [333_333, pytest.param(1_000_000, marks=pytest.mark.soak)]
)


def examples(count: int) -> int:
    """Of so many examples, those to be tried."""
    return count if os.environ.get(EVERY) else -(-count // SHARE)
