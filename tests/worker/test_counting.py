"""What a worker counts of what it does, and what its owner is shown of that."""

from __future__ import annotations

import json
from typing import Any

from ready import keeplore
from waiting import until

from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.worker.server.protocol import ask
from keeplore.workspace.activity import activity_since
from keeplore.workspace.registry import Registry


def test_what_is_taken_told_and_asked_is_counted_and_shown(office: Any) -> None:
    office.init()
    cwd = office.root.parent / "code" / "api"
    cwd.mkdir(parents=True)
    with Registry(office.places) as registry:
        draft = NoteDraft("Prices are kept in cents", project="api")
        registry.named("memory").notes.write(draft)
        registry.named("memory").index.refresh()
    office.start()
    state = office.places.state
    until(lambda: ask(state, "status", timeout_s=30) is not None, "the worker answers")
    office.prompt("Prices are kept in cents", cwd=cwd)
    office.taken()
    for words in ("prices in cents", "zebra"):
        request = RecallRequest(words, cwd=cwd, text_only=True)
        found = ask(office.places.state, "recall", request.to_json(), timeout_s=60)
        assert found is not None
    assert office.stop() == [[True]]
    found = activity_since(office.places.state, "2020-01-01")
    assert dict(found.counts) == {"turns": 1, "nothing found": 1}
    assert {name: steps.total() for name, steps in found.times.items()} == {"recall": 2}
    told = json.loads(keeplore("stats", "--since", "30d", "--json").stdout)
    assert told["counts"] == {
        "turns": 1,
        "sessions": 0,
        "prompts": 0,
        "silent": 0,
        "told": 0,
        "memories": 0,
        "used": 0,
        "nothing found": 1,
        "errors": 0,
    }
    [answers] = told["answers"]
    assert (answers["what"], answers["answers"]) == ("recall", 2)
    assert 0 < answers["p50_ms"] <= answers["p95_ms"] <= answers["p99_ms"]
    assert (told["tokens"], told["price"]) == (0, 0.0)
    lines = keeplore("stats", "--since", "30d").stdout.splitlines()
    assert lines[1:3] == ["turns\t1", "sessions\t0"]
