"""The key phrases of a conversation."""

from __future__ import annotations

import pytest

from keeplore.capture.titles.key_phrases import profile
from keeplore.memory import Exchange


@pytest.mark.parametrize(
    ("sentence", "run", "is_subject"),
    [
        ("The hook caused it.", "hook caused", False),
        ("The search Normally builds it.", "search Normally builds", False),
        ("It is in the data feed.", "data feed", True),
        ("It is in the callback on_loaded.", "callback on_loaded", True),
        ("It is in the pagination.", "pagination", True),
        ("It is in the commit.", "commit", False),
        ("It is in the commit hook.", "commit hook", False),
    ],
)
def test_the_rest_of_a_clause_is_no_subject(
    sentence: str, run: str, is_subject: bool
) -> None:
    talk = [Exchange("turn-0", "2026-03-01T10:00:00Z", sentence, ())]
    assert (run in profile(talk).phrases) is is_subject
