"""Of the sentences that a person wrote down before the cue phrases were read, those that last are
written, and of those that only look like them none.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

SAID = yaml.load(
    Path(__file__).with_name("lasting_sentences.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)
OPENERS = ("", "ok, ", "Also, ", "Btw ")


@pytest.mark.parametrize("opener", OPENERS)
def test_of_whole_messages_those_that_last_are_written(opener: str) -> None:
    told = [*SAID["written"], *SAID["missed"], *SAID["lookalikes"]]
    assert [m for m in told if is_written(f"{opener}{m}")] == SAID["written"]


def test_of_corrections_and_pasted_lines_the_corrections_are_written() -> None:
    told = [*SAID["as_is_written"], *SAID["as_is_lookalikes"]]
    assert [m for m in told if is_written(m)] == SAID["as_is_written"]


def is_written(message: str) -> bool:
    exchange = Exchange("one", "2026-02-09T14:00:00Z", message, ("Done.",))
    return any(c.confidence >= AUTOMATIC for c in candidates([exchange]))
