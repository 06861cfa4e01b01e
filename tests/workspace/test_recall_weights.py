"""What the settings of a workspace change in the weights of recall."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.config.settings import RecallSettings
from keeplore.recall.weights import WEIGHTS
from keeplore.workspace.workspace import Workspace


@pytest.mark.parametrize(
    ("wishes", "changed"),
    [
        (RecallSettings(), {}),
        (
            RecallSettings(
                threshold=0.4, graph_boost=0.1, feedback_boost=0.7, half_life_days=9
            ),
            {
                "nothing_below": 0.4,
                "unread_below": 0.2,
                "graph": 0.1,
                "feedback": 0.7,
                "half_life_days": 9,
            },
        ),
        (
            RecallSettings(threshold=0.02),
            {"nothing_below": 0.02, "unread_below": 0.01, "hidden_below": 0.02},
        ),
    ],
)
def test_wishes_replace_weights(
    workspace: Workspace, wishes: RecallSettings, changed: dict[str, float]
) -> None:
    use = FeedbackSettings(grace_days=3)
    workspace.settings = replace(workspace.settings, recall=wishes, feedback=use)
    assert workspace.weights == replace(WEIGHTS, use=use, **changed)
