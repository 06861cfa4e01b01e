"""When a recall starts a worker for what it does not make itself, and what it is sent."""

from __future__ import annotations

from typing import Any

import pytest

from keeplore.cli.commands.ask import recall_
from keeplore.config.places import Places
from keeplore.recall.request import RecallRequest

STAMP = {"model": "m", "passages": 124, "vectors": 100, "updated_at": "2026-02-09"}


@pytest.mark.parametrize(
    ("answer", "is_started"),
    [
        ({}, False),
        ({"status": "stale"}, True),
        ({"status": "found", "stamp": STAMP}, False),
        ({"status": "stale", "stamp": STAMP}, True),
        ({"stamp": STAMP | {"vectors": 99}}, True),
        ({"stamp": STAMP | {"vectors": 0, "model": ""}}, False),
        ({"stamp": STAMP | {"updated_at": ""}}, True),
    ],
)
def test_a_worker_is_started_for_text_and_vectors_that_are_missing(
    home: Any, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], is_started: bool
) -> None:
    places = Places(home / "state", home / "cache")
    started: list[Any] = []
    monkeypatch.setattr(recall_, "start", lambda state: started.append(state) or 7)
    assert recall_._start_worker(places, answer) == is_started
    assert started == [places.state] * is_started
    monkeypatch.setattr(recall_, "ask", lambda *_, **__: {"pid": 7})  # one that runs
    assert not recall_._start_worker(places, answer)
    assert len(started) == is_started


def test_a_question_names_the_session_around_the_shell(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(home / "state", home / "cache")
    asked: list[RecallRequest] = []
    answer = {"status": "nothing", "hits": [], "notes": []}
    monkeypatch.setattr(recall_, "_answer", lambda _, one: asked.append(one) or answer)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    monkeypatch.setattr("sys.stdin", None)
    question = ["where did we leave off?", "--json"]
    with pytest.raises(SystemExit):
        recall_.recall_command.main(question, obj=places, standalone_mode=False)
    assert [one.session for one in asked] == ["s-1"]
