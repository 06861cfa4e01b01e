"""Who has nothing but the command line gets vectors all the same."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from waiting import until
from worker_end import end_worker

from keeplore.config.places import Places
from keeplore.memory import Memory, new_id, new_meta, relative_path, serialise
from keeplore.worker.server.protocol import ask

NOTES = 30  # more than a recall embeds on its way


def test_a_recall_at_a_terminal_starts_a_worker_for_vectors_and_a_script_does_not(
    at_terminal: Callable[..., tuple[int, str]], run: Callable[..., Any], memory: Path
) -> None:
    for number in range(NOTES):
        meta = new_meta(
            id=new_id(str(number)),
            kind="note",
            title=f"Note {number}",
            created_at="2026-02-09T10:00:00Z",
        )
        note = Memory(
            {**meta, "scope": "workspace"},
            f"# Note {number}\n\nIndent with {number} tabs.\n",
        )
        path = memory / relative_path(note)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(serialise(note), encoding="utf-8")
    state = Places.from_environment(os.environ).state
    assert "worker was started" not in run("recall", "indent with tabs").stderr
    assert ask(state, "status", timeout_s=5.0) is None
    try:
        status, seen = at_terminal("recall", "indent with tabs")
        assert status == 0 and "a worker was started" in " ".join(seen.split())
        until(lambda: told(run)["stamp"]["vectors"] == NOTES, "every note has a vector")
        assert "worker was started" not in at_terminal("recall", "indent with tabs")[1]
    finally:
        end_worker(state)


def told(run: Callable[..., Any]) -> Any:
    return json.loads(run("recall", "--json", "indent with tabs").stdout)
