"""What a question names lifts what is about it, in an answer; through real files and the real
index, by text alone.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.index import Index
from keeplore.recall import answer as pipeline
from keeplore.recall.answer import SearchTrace, recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.recall.weights import WEIGHTS
from keeplore.store import Store


def test_what_is_about_a_named_thing_is_lifted_where_that_is_asked_for(
    workspace_of: Callable[..., tuple[Index, Store]],
    memory_builders: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        pipeline, "GRAPH_S", 600.0
    )  # a busy machine must not cut the look short
    note = memory_builders.note
    triple = [
        {
            "source": "fastembed",
            "relationship": "uses",
            "target": "onnxruntime",
            "confidence": 0.9,
        }
    ]
    memories = [
        note(
            "uses",
            "2026-02-01",
            "Vectors",
            "Models are read once.",
            project="shop",
            entities=triple,
        ),
        note(
            "near",
            "2026-02-01",
            "Slow start",
            "The start of onnxruntime takes a second.",
            project="shop",
        ),
        note(
            "plain",
            "2026-02-01",
            "Slow start of the shop",
            "The start takes a second.",
            project="shop",
        ),
        note(
            "theirs",
            "2026-02-01",
            "Their slow start",
            "The start of onnxruntime is slow.",
            project="web",
        ),
    ]
    index, store = workspace_of(memories)
    Path(store.root, "entities").mkdir()
    Path(store.root, "entities", "fastembed.yaml").write_text(
        "name: fastembed\ntype: tool\naliases: [fe]\n", encoding="utf-8"
    )
    index.refresh()
    index.graph.link()
    looks: list[SearchTrace] = []

    def score_of(graph: bool) -> dict[str, float]:
        answer = recall(
            RecallDeps(index, store, graph=graph),
            RecallRequest("slow start of fe", text_only=True, wide=False),
            SearchScope("shop"),
            watch=looks.append,
        )
        return {hit.memory_id: hit.score for hit in answer.hits}

    off, on = score_of(graph=False), score_of(graph=True)
    near, plain = memories[1].id, memories[2].id
    assert set(off) == set(on)
    assert (on[near] > off[near], on[plain] == off[plain]) == (True, True)
    entry = next(r for r in looks[-1].ranked if r.memory == near)
    assert dict(entry.parts)["graph"] == WEIGHTS.graph * WEIGHTS.graph_related
    assert looks[-1].boost[near].related == ("fastembed → onnxruntime",)
    assert memories[3].id not in looks[-1].boost
