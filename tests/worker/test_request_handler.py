"""What a worker answers to commands and to sessions of agents, and what it counts of that."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from new_workspace import lay_down

from keeplore import __version__
from keeplore.config.places import Places
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.worker.server.request_handler import RequestHandler
from keeplore.workspace.registry import Registry

STATUS = {"pid": 1}


@pytest.fixture
def handler(home: Path) -> Iterator[RequestHandler]:
    places = Places.from_environment(os.environ)
    lay_down(places, home / "memory")
    with Registry(places) as registry:
        workspace = registry.named("memory")
        workspace.notes.write(NoteDraft("Deploys are on Tuesdays.", scope="workspace"))
        yield RequestHandler(registry, lambda _: True, lambda: STATUS, lambda: None)


def asked(handler: RequestHandler, question: str, **wishes: Any) -> dict[str, Any]:
    request = RecallRequest(question, text_only=True, **wishes)
    answer: dict[str, Any] = json.loads(
        handler.recall(json.dumps(request.to_json()).encode())
    )
    return answer


def told_session(handler: RequestHandler, request: bytes) -> bytes:
    """The reply, asked for in a thread as a worker does: in the first one of a test a browser's
    loop may run.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(handler.mcp, request).result()


def test_commands_and_sessions_are_answered_and_counted(
    handler: RequestHandler, home: Path
) -> None:
    client = {"name": "a host", "version": "1"}
    session = {
        "id": "1",
        "cwd": str(home),
        "environment": {},
        "client": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": client,
        },
    }
    request = json.dumps({"session": session, "method": "ping"}).encode()
    (hit,) = asked(handler, "when are deploys")["hits"]
    assert hit["title"] == "Deploys are on Tuesdays."
    assert asked(handler, "who has the pager")["hits"] == []
    assert handler.status() == json.dumps({"version": __version__, **STATUS}).encode()
    handler.finish(0.0)  # nothing was asked by a session
    assert json.loads(told_session(handler, request)) == {"result": {}}
    handler.finish(0.0)
    assert told_session(handler, request) == b""
    handler.save(is_last=True)
    (file,) = (home / "state" / "activity").iterdir()
    (day,) = json.loads(file.read_text()).values()
    times = {what: sum(steps.values()) for what, steps in day["times"].items()}
    assert (day["counts"], times) == ({"nothing found": 1}, {"recall": 2, "mcp": 2})


def test_the_spool_stands_back_for_prompts_but_those_that_wait_for_it(
    handler: RequestHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def wait(seconds: float) -> bool:
        seen.append(handler._prompts)
        return seconds > 0

    monkeypatch.setattr(handler, "_wait_for_spool", wait)
    with handler._counted_prompts():
        assert handler._caught_up(0.5)
        with handler._counted_prompts():
            assert not handler._caught_up(0.0)
            seen.append(handler._prompts)
        seen.append(handler._prompts)
    handler.wait_until_given(60.0)
    assert seen == [0, 1, 2, 1]


def test_what_cannot_be_asked_is_told_with_a_way_out(handler: RequestHandler) -> None:
    whole = RecallRequest("deploys").to_json() | {"limit": 0}
    assert json.loads(handler.recall(json.dumps(whole).encode())) == {
        "error": {
            "message": "a question to memory cannot be read: limit is below 1",
            "remedy": "Update Keeplore where the question comes from: both sides must have "
            "one version",
        }
    }
