"""A Python program that hands its own turns over, and asks: `python own_host.py` in a project."""

from datetime import UTC, datetime
from pathlib import Path

from keeplore.workspace import open_workspace
from keeplore_hooks.events import Origin, Turn

here = Origin(host="my-agent", session="session-1", cwd=str(Path.cwd()))
turns = [
    (
        "Which queue do we take?",
        "Postgres with SKIP LOCKED: one transaction with the invoice.",
    ),
    (
        "How many retries?",
        "Five, because the mail provider was once away for 40 minutes.",
    ),
]

with open_workspace() as workspace:
    for number, (user, assistant) in enumerate(turns):
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        workspace.emit(Turn(f"session-1-{number}", here, at, user, (assistant,)))
    for hit in workspace.recall("why five retries").hits:
        print(hit.title, hit.passage, hit.path, sep="\n")
