"""A prompt typed right after a compaction brings what the session had decided, though the spool
still holds it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from keeplore.worker.context import context_provider
from keeplore.worker.server.protocol import ask

SAID = (
    "Which queue: RabbitMQ or a table?",
    "Decided: we take a table with SKIP LOCKED.",
)


def hear(office: Any, event: str, **fields: str) -> dict[str, Any]:
    """Spool a payload of Cursor's, as the client does before it asks."""
    place = str(Path.home() / "code" / "api")
    payload = {
        "conversation_id": "c-1",
        "workspace_roots": [place],
        "cursor_version": "2026.09.1",
        **fields,
    }
    office.spool.add(
        "cursor", event, json.dumps({"hook_event_name": event, **payload}).encode()
    )
    return payload


def test_a_fast_prompt_after_a_compaction_is_told(
    office: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        context_provider, "SPOOL_SHARE", 100.0
    )  # a busy machine must not decide this
    office.init()
    (Path.home() / "code" / "api").mkdir(parents=True)
    office.start()
    hear(office, "sessionStart")
    office.taken()
    for _ in range(3):  # whichever comes first, the worker or the question
        hear(office, "beforeSubmitPrompt", prompt=SAID[0], generation_id="g1")
        hear(office, "afterAgentResponse", text=SAID[1], generation_id="g1")
        hear(office, "stop", status="completed", generation_id="g1")
        hear(office, "preCompact", trigger="auto")
        payload = hear(
            office,
            "beforeSubmitPrompt",
            prompt=f"go on {time.time_ns()}",
            generation_id="g2",
        )
        told = ask(
            office.places.state,
            "answer cursor beforeSubmitPrompt",
            payload,
            timeout_s=60,
        )
        assert (
            "in this session" in told["additional_context"]
            and "SKIP LOCKED" in told["additional_context"]
        )
    office.taken()
