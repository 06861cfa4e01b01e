"""Numbers that a person may set: within their ranges, and where they count."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from new_workspace import lay_down

from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.config.places import Places
from keeplore.config.setting_layers import set_own, set_shared
from keeplore.config.settings import flat_settings, load_settings
from keeplore.errors import ConfigError
from keeplore.recall.weights import WEIGHTS
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.machine_queue import machine_queue
from keeplore.workspace.writing.refinery import refine_deps

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def places() -> Places:
    places = Places.from_environment(os.environ)
    lay_down(places, Path.home() / "memory")
    return places


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [
        ("refine.confidence", 0.0, 1.0),
        ("refine.lasting", 0.0, 1.0),
        ("documents.megabytes", 1, 100),
        ("documents.seconds", 1, 240),
        ("recall.threshold", 0.0, 1.0),
        ("feedback.delta", 0.0, 1.0),
        ("feedback.ceiling", 1.0, 10.0),
        ("feedback.fade", 0.0, 1.0),
        ("feedback.every", 1, 100),
        ("feedback.grace_days", 0, 3650),
        ("feedback.floor", 0.0, 1.0),
        ("worker.lease_minutes", 5, 60),
        ("worker.look_seconds", 1, 300),
        ("recall.graph_boost", 0.0, 2.0),
        ("recall.feedback_boost", 0.0, 2.0),
        ("recall.half_life_days", 1, 3650),
        ("sync.every_minutes", 1, 1440),
        ("worker.idle_minutes", 1, 1440),
    ],
)
def test_a_number_out_of_its_range_is_refused(
    places: Places, key: str, least: float, most: float
) -> None:
    root = Path.home() / "memory"
    for wrong in (least - 1, most + 1):
        with pytest.raises(ConfigError, match=f"{key}: it should be "):
            set_shared(root, places.state, key, wrong)
    for right in (least, most):
        set_shared(root, places.state, key, right)
        assert flat_settings(load_settings(root))[key] == right


def test_what_is_set_counts_where_memories_are_ranked_and_proposals_judged(
    places: Places,
) -> None:
    root = Path.home() / "memory"
    with Registry(places) as registry:
        workspace = registry.named("memory")
        assert workspace.weights == WEIGHTS
        deps = refine_deps(workspace)
        assert (deps.least_confidence, deps.least_lasting) == (0.7, 0.9)
        set_shared(root, places.state, "recall.threshold", 0.04)
        set_shared(root, places.state, "feedback.ceiling", 3)
        set_shared(root, places.state, "refine.lasting", 0.95)
        set_shared(root, places.state, "recall.half_life_days", 30)
        set_own(places.state, root, "recall.feedback_boost", 1.5)
        set_own(places.state, root, "recall.graph_boost", 0.2)
        set_own(places.state, root, "refine.confidence", 0.9)
        workspace = registry.named("memory")
        weights = workspace.weights
        assert weights == replace(
            WEIGHTS,
            graph=0.2,
            feedback=1.5,
            half_life_days=30,
            nothing_below=0.04,
            unread_below=0.02,
            hidden_below=0.04,
            use=FeedbackSettings(ceiling=3),
        )
        deps = refine_deps(workspace)
        assert (deps.least_confidence, deps.least_lasting) == (0.9, 0.95)


def test_a_job_is_leased_for_as_long_as_the_home_workspace_says(places: Places) -> None:
    queue = machine_queue(places)
    queue.add("ingest", "one", {}, NOON)
    set_shared(Path.home() / "memory", places.state, "worker.lease_minutes", 30)
    assert queue.lease(["ingest"], NOON)
    late = NOON + timedelta(minutes=6)
    assert queue.reap(late) == 1
    longer = machine_queue(places)
    again = late + timedelta(minutes=1)
    assert longer.lease(["ingest"], again)
    assert queue.reap(again + timedelta(minutes=29)) == 0
    assert queue.reap(again + timedelta(minutes=31)) == 1


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("context:\n  # often\n  threshold: 2\n", 3, "context.threshold"),
        ("\n\nfrozen: maybe\n", 3, "frozen"),
        (
            "llm:\n  prices:\n    big.one: {input: 1,\n      output: x}\n",
            4,
            "llm.prices",
        ),
        ("capture:\n  exclude: ['nowhere:x']\n", 2, "capture.exclude"),
        ("recall: {feedback: true,\n  halflife: 3}\n", 2, "recall.halflife"),
        ("sync: [5]\n", 1, "sync"),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_the_next_step(
    places: Places, text: str, line: int, key: str
) -> None:
    root = Path.home() / "memory"
    (root / "keeplore.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(root)
    assert caught.value.message.startswith(
        f"{root / 'keeplore.yaml'}, line {line}: {key}"
    )
    assert caught.value.remedy == (
        "Mend or remove that key; a newer Keeplore may know it"
    )
