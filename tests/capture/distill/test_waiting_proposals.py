"""Which of an agent's proposals a mere yes is for."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.agreements.agent_proposals import waiting_proposal

DROP = "I suggest dropping the export table now."
WRITE = "I recommend writing a new index nightly."
FINE = " It is so and so."


@pytest.mark.parametrize(
    ("reply", "waits"),
    [
        ("It is done.", None),
        ("Shall I drop the export table now?", None),  # an offer
        (DROP, DROP),
        (f"1. {DROP}", DROP),
        # of several the one that is put most strongly, where none is told apart by a label
        (f"{DROP}\n\n- {WRITE}", WRITE),
        (f"- {DROP}\n- {WRITE}", WRITE),
        (f"{WRITE} {DROP}", DROP),
        (f"1. {DROP}\n2. {WRITE}", None),
        (f"{DROP}\n\n1. {WRITE}", None),
        (f"- {DROP}\n\n1. {WRITE}", None),
        # so far back that nobody answers it any more
        (DROP + 7 * FINE, DROP),
        (DROP + 8 * FINE, None),
        (f"1. {DROP}\n\n2. {WRITE}{7 * FINE}", WRITE),
    ],
)
def test_a_yes_is_for_the_proposal_that_waits(reply: str, waits: str | None) -> None:
    found = waiting_proposal(reply)
    assert (found.text if found else None) == waits
