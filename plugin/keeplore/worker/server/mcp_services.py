"""What the worker does for the sessions of agents that use its tools."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from keeplore.mcp_server.context import McpServices
from keeplore.recall.request import Answer, RecallRequest
from keeplore.worker.context.background_call import BackgroundCall
from keeplore.worker.usage.view_log import note_opened, was_shown
from keeplore.workspace.registry import Registry

MODEL_S = 5.0  # for an answer by meaning, where the model may have to be loaded
TOO_SLOW = (
    "searched by words alone: the model took too long; `keeplore doctor` says more"
)


def services(registry: Registry, on_change: Callable[[], None]) -> McpServices:
    """``on_change`` is called after a memory came or went."""
    state = registry.places.state
    return McpServices(
        registry,
        functools.partial(_recall, registry),
        on_change,
        functools.partial(was_shown, state),
        functools.partial(note_opened, state),
    )


def _recall(registry: Registry, request: RecallRequest) -> Answer:
    """The answer, by words alone where the model takes too long. Raises KeeploreError."""
    whole = BackgroundCall(lambda: registry.recall(request))
    if whole.is_done(MODEL_S):
        return whole.result()
    return registry.recall(replace(request, text_only=True)).with_note(TOO_SLOW)
