"""How many examples a property is tried with: a fifth where all tests run, all in ``make soak``."""

from __future__ import annotations

import os

EVERY = "EVERY_EXAMPLE"  # the variable by which all are asked for
SHARE = 5


def examples(count: int) -> int:
    """Of so many examples, those to be tried."""
    return count if os.environ.get(EVERY) else -(-count // SHARE)
