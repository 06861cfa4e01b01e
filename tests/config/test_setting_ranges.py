"""Numbers that a person may set: within their ranges, and where they count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.config.setting_layers import set_own, set_shared
from keeplore.config.settings import flat_settings, load_settings
from keeplore.errors import ConfigError
from keeplore.recall.weights import WEIGHTS
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.refinery import refine_deps


@pytest.fixture
def places() -> Places:
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    return places


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [
        ("refine.confidence", 0.0, 1.0),
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
        assert refine_deps(workspace).least_confidence == 0.7
        set_shared(root, places.state, "recall.half_life_days", 30)
        set_own(places.state, root, "recall.feedback_boost", 1.5)
        set_own(places.state, root, "recall.graph_boost", 0.2)
        set_own(places.state, root, "refine.confidence", 0.9)
        workspace = registry.named("memory")
        weights = workspace.weights
        assert (weights.graph, weights.feedback, weights.half_life_days) == (
            0.2,
            1.5,
            30,
        )
        assert refine_deps(workspace).least_confidence == 0.9
