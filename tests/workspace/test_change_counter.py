"""How often something was written, and whose context was shortened: each is told once."""

from __future__ import annotations

import pytest

from keeplore.workspace.change_counter import ChangeCounter
from keeplore_hooks.events import Compaction, Origin


@pytest.mark.parametrize(
    ("host", "phase", "announced", "shortened"),
    [
        ("codex", "before", False, True),
        ("codex", "after", False, False),
        ("gemini-cli", "before", True, False),
        ("gemini-cli", "after", False, True),
    ],
)
def test_a_session_is_shortened_when_its_host_says_so(
    host: str, phase: str, *, announced: bool, shortened: bool
) -> None:
    counter = ChangeCounter()
    here, other = Origin(host, "s", "/code"), Origin(host, "t", "/code")
    counter.keeplore_compaction(Compaction("c", here, "2026-02-09T14:00:00Z", phase))
    assert not counter.was_announced(other) and not counter.was_shortened(other)
    told = [(counter.was_announced(here), counter.was_shortened(here)) for _ in "12"]
    assert told == [(announced, shortened), (False, False)]


def test_each_file_that_was_written_is_counted() -> None:
    counter = ChangeCounter()
    assert counter.count == 0
    counter.keeplore_memory_written()
    counter.keeplore_memory_written()
    assert counter.count == 2
    here = Origin("codex", "s", "/code")
    counter.shorten(here)
    assert counter.was_shortened(here) and not counter.was_shortened(here)
