"""A proposal that was taken with a change, from raw payloads to what recall prints first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_session import played

from keeplore.recall.request import RecallRequest
from keeplore.workspace import Registry

SESSIONS = {
    "logs": (
        (
            "Wie lange sollen wir Zugriffsprotokolle aufbewahren?",
            "Ich schlage vor, die Protokolle 14 Tage aufzubewahren und dann zu löschen.",
        ),
        ("Ja, aber 60 Tage, das Audit verlangt das.", "Ist eingestellt."),
    ),
    "webhooks": (
        (
            "How long should a failed webhook be retried?",
            "I suggest retrying for one day, then moving the event to a dead letter table.",
        ),
        ("Make it three days, customers fix theirs on Mondays.", "Done."),
    ),
    "seed": (
        (
            "How should the test database be filled?",
            "Either inject the seed through the constructor or read it from a variable.",
        ),
        ("Inject the seed", "Done."),
    ),
}


@pytest.fixture
def registry() -> Iterator[Registry]:
    with played(SESSIONS) as registry:
        yield registry


@pytest.mark.parametrize(
    ("question", "session", "line"),
    [
        (
            "Wie lange bewahren wir Protokolle auf?",
            "logs",
            (
                "Ich schlage vor, die Protokolle 14 Tage aufzubewahren und dann zu löschen. → "
                "Ja, aber 60 Tage, das Audit verlangt das."
            ),
        ),
        (
            "for how long do we retry a webhook?",
            "webhooks",
            (
                "How long should a failed webhook be retried? → "
                "Make it three days, customers fix theirs on Mondays."
            ),
        ),
        (
            "how is the test database filled?",
            "seed",
            "How should the test database be filled? → inject the seed through the constructor",
        ),
    ],
)
def test_the_change_is_told_with_what_it_changed(
    registry: Registry, question: str, session: str, line: str
) -> None:
    cwd = Path.home() / "code" / "ledgerly"
    hit = next(iter(registry.recall(RecallRequest(question, cwd)).hits))
    assert hit.session == session
    assert line in hit.passage.split("\n")[:2]
