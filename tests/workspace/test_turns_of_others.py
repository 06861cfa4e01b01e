"""Turns that another process or machine wrote down first are not written again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin, Turn


def said(number: int, session: str, cwd: Path) -> Turn:
    origin = Origin("claude-code", session, str(cwd))
    at = f"2026-02-09T14:0{number}:00Z"
    words = f"Let's use hnswlib for index {number}."
    return Turn(f"turn-{number}", origin, at, words, ("Agreed, it needs no server.",))


def written(root: Path) -> dict[str, int]:
    """Turn → in how many files it stands."""
    found: dict[str, int] = {}
    for path in root.glob("**/memory/conversations/**/*.md"):
        for exchange in Conversation.from_markdown(
            parse(path.read_text()).body
        ).exchanges:
            found[exchange.id] = found.get(exchange.id, 0) + 1
    return found


@pytest.fixture
def record(places: Places) -> Callable[..., None]:
    """Has a process of its own take turns."""

    def taken(*turns: Turn) -> None:
        with Registry(places) as registry:
            for turn in turns:
                registry.named("memory").emit(turn)

    return taken


@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_session_that_begins_with_what_another_one_has(
    places: Places, project: Path, record: Callable[..., None], is_indexed: bool
) -> None:
    record(said(1, "one", project))
    if not is_indexed:
        shutil.rmtree(places.cache)
    record(said(1, "two", project), said(2, "two", project))
    assert written(Path.home() / "memory") == {"turn-1": 1, "turn-2": 1}


def test_a_turn_of_a_memory_that_was_forgotten_does_not_come_back(
    workspace: Workspace, project: Path, record: Callable[..., None]
) -> None:
    record(said(1, "one", project))
    workspace.index.refresh()
    [memory_id] = workspace.index.known_turns(["turn-1"]).values()
    workspace.store.forget(memory_id, workspace.machine, "2026-02-10T10:00:00Z")
    record(said(1, "two", project), said(2, "two", project))
    assert written(workspace.root) == {"turn-2": 1}
