"""What is handed to the SDK for a request, and when a search is asked a second time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.mcp_server.search_tools import _hit, _recall
from keeplore.mcp_server.session_requests import SessionRequest
from keeplore.recall.request import RecallHit, RecallRequest

ASKED = RecallRequest("why", Path("/code"))


@pytest.mark.parametrize(
    ("hits", "vectors", "times"),
    [((), 9, 2), ((), 10, 1), ((), 11, 1), (("hit",), 0, 1)],
)
def test_passages_without_a_vector_are_asked_by_words(
    hits: tuple[Any, ...], vectors: int, times: int
) -> None:
    asked: list[RecallRequest] = []

    def recall(request: RecallRequest) -> Any:
        asked.append(request)
        stamp = SimpleNamespace(vectors=vectors, passages=10)
        return SimpleNamespace(hits=hits, stamp=stamp, number=len(asked))

    answer = _recall(SimpleNamespace(recall=recall), ASKED)
    by_words = RecallRequest("why", Path("/code"), text_only=True)
    assert (asked, answer.number) == ([ASKED, by_words][:times], times)


HELLO = {"protocolVersion": "2025-06-18"}


@pytest.mark.parametrize(
    ("method", "params", "client", "methods"),
    [
        ("tools/list", None, None, ["tools/list"]),
        ("tools/call", {"name": "search"}, None, ["tools/call"]),
        ("initialize", HELLO, HELLO, ["initialize"]),
        (
            "tools/call",
            {"name": "search"},
            HELLO,
            ["initialize", "notifications/initialized", "tools/call"],
        ),
    ],
)
def test_the_handshake_goes_before_a_request(
    tmp_path: Path, method: str, params: Any, client: Any, methods: list[str]
) -> None:
    request = SessionRequest("s-1", method, params, client, SimpleNamespace())
    messages = request.messages()
    assert [one["method"] for one in messages] == methods
    assert {one["jsonrpc"] for one in messages} == {"2.0"}
    assert messages[-1].get("params") == params
    assert ("params" in messages[-1]) == (params is not None)
    assert all(one["params"] == HELLO for one in messages[:-2])
    ids = [one["id"] for one in messages if "id" in one]
    assert len(set(ids)) == len(ids) == len(messages) - (len(messages) > 1)
    assert json.loads(json.dumps(messages)) == messages


def test_a_hit_is_told_with_what_reads_it() -> None:
    hit = RecallHit(
        "mem_1", "Crane", "2026-03-01T10:00:00Z", "note", "project", "shop", "", "user", 0.5,
        "It lifts.", "", "a.md", 0,
    )  # fmt: skip
    named = "“Crane” (2026-03-01 · shop · note · said by the user)"
    said = [named, "   “It lifts.”"]
    assert _hit(hit).splitlines() == [*said, "   read: id=mem_1 · a.md"]
    of_turn = "   read: id=mem_1, turn=t1 · a.md"
    assert _hit(replace(hit, turn="t1")).splitlines() == [*said, of_turn]
    titled = replace(hit, passage="Crane")
    assert _hit(titled).splitlines() == [named, "   read: id=mem_1 · a.md"]
