"""Rules that a person gives beside something else."""

import pytest

from keeplore.capture.notes.note_candidates import candidates
from keeplore.memory import Exchange
from keeplore.memory.model import Category


@pytest.mark.parametrize(
    ("said", "rule", "confidence"),
    [
        (
            "thanks, and never push to main directly, always open a pull request",
            "Never push to main directly, always open a pull request",
            0.98,
        ),
        (
            "from now on, write tests first",
            "From now on, write tests first",
            0.98,
        ),
        (
            "We use pnpm here, never npm. Please install ioredis",
            "We use pnpm here, never npm.",
            0.91,
        ),
    ],
)
def test_a_rule_beside_something_else_is_a_note(
    said: str, rule: str, confidence: float
) -> None:
    exchange = Exchange("t-1", "2026-02-09T14:03:11Z", said, ("Understood.",))
    found = [(c.text, c.category, c.confidence) for c in candidates([exchange])]
    assert found == [(rule, Category.CONVENTIONS, confidence)]
