"""What a workspace makes of the talks of a whole project, and what it answers weeks later by words
alone: as it is written down.

To write it anew: WRITE_GOLDEN=1 pytest -n0 tests/workspace/test_whole_projects.py, then read the
difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from written_down import written_lines

from keeplore.errors import ModelUnavailable
from keeplore.memory import parse
from keeplore.recall.answer import recall
from keeplore.recall.brief import brief
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.prompt_context import for_prompt, prompt_context
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallHit, RecallRequest, SearchScope
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.recall.weights import PROMPT_CANDIDATES
from keeplore.workspace.identity import MARKER
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin, Turn

TALKS = Path(__file__).parents[2] / "benchmarks"
PROJECTS: Mapping[str, Any] = {
    name: project
    for file in ("chat_projects", "project_talks")
    for name, project in yaml.load(
        (TALKS / f"{file}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
    ).items()
}
ASKED = ("trial", "atlas", "museum", "kiosk", "relay")
NOW = datetime(2026, 12, 24, tzinfo=UTC)
BETWEEN = timedelta(seconds=95)  # the messages of a session
FENCE = re.compile(r' id="[0-9a-f]{8}"(?=>$)', re.MULTILINE)  # of each block another
EXCHANGES = "\n## Exchanges\n"


@pytest.fixture
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are not the same to the last digit on every machine."""

    def unavailable(*_: object) -> None:
        raise ModelUnavailable("there is no model", "Install one")

    monkeypatch.setattr(Workspace, "embedder_of", unavailable)


@pytest.mark.parametrize("project", ASKED)
@pytest.mark.usefixtures("without_model")
def test_whole_projects(
    registry: Any, home: Path, git: Callable[..., str], project: str
) -> None:
    workspace = registry.named("memory")
    cwd = home / project
    cwd.mkdir()
    (cwd / MARKER).write_text(project)
    for session in PROJECTS[project]["sessions"]:
        _take(workspace, [*_turns(session, cwd)])
    deps = RecallDeps(workspace.index, workspace.store)
    seen = [
        *_commits(workspace, git),
        *_written(workspace),
        *_briefs(deps, project),
        *_graph(workspace),
    ]
    for question in PROJECTS[project]["questions"]:
        seen += _answered(deps, project, question["ask"])
    assert seen == written_lines(f"projects/{project}.txt", seen)


def _turns(session: Mapping[str, Any], cwd: Path) -> Iterator[Turn]:
    origin = Origin("claude-code", session["name"], str(cwd))
    began = datetime.fromisoformat(session["at"])
    for number, said in enumerate(session["talk"]):
        at = (began + number * BETWEEN).strftime("%Y-%m-%dT%H:%M:%SZ")
        replies = tuple(said["replies"])
        yield Turn(f"{origin.session}-{number}", origin, at, said["user"], replies, at)


def _take(workspace: Workspace, turns: list[Turn]) -> None:
    """Let a workspace hear a session, and close its conversation."""
    with workspace.recorder.capturing():
        for turn in turns:
            workspace.plugins.emit(turn)
    with workspace.recorder.capturing():
        workspace.recorder.capture.close(workspace.sessions.get(turns[0].origin))
    workspace.commit()
    workspace.index.refresh()


def _commits(workspace: Workspace, git: Callable[..., str]) -> Iterator[str]:
    """What git was told, the first commit at the beginning; the machine has a name of its own."""
    told = (
        "--reverse",
        "--format=commit %s",
        "--name-status",
        "--",
        "projects",
        "memory",
    )
    yield from filter(None, git("log", *told, cwd=workspace.root).splitlines())


def _written(workspace: Workspace) -> Iterator[str]:
    """Each memory, of a conversation what stands above its exchanges."""
    for file in sorted(workspace.root.rglob("memory/**/*.md")):
        memory = parse(file.read_text(encoding="utf-8"))
        told = (memory.kind, memory.category, memory.trust, memory.turns)
        yield f"= {file.parent.relative_to(workspace.root)}: {memory.title}: {told}"
        yield from filter(None, memory.body.partition(EXCHANGES)[0].splitlines()[1:])


def _briefs(deps: RecallDeps, project: str) -> Iterator[str]:
    view = WorkspaceView(deps.index, deps.store, SearchScope(project).scopes)
    room = TextBudget(1500, 6000)
    text, ids = brief([view], session="", source="startup", room=room)
    yield f"brief: {len(ids)} quoted"
    yield from FENCE.sub("", text).splitlines()


def _graph(workspace: Workspace) -> Iterator[str]:
    """What is talked of, the most mentioned first, and where it is mentioned last."""
    graph = workspace.index.graph
    graph.link()
    for entity in graph.entities(limit=50):
        last = graph.mentioning(entity, limit=2)
        titles = [workspace.index.memories([id_])[id_].title for id_, _ in last]
        yield f"entity {entity.spelling} {entity.type} {entity.mentions}: {titles}"


def _answered(deps: RecallDeps, project: str, asked: str) -> Iterator[str]:
    request = RecallRequest(asked, Path("/"), limit=3)
    answer = recall(deps, request, SearchScope(project), now=NOW)
    yield f"? {asked} {answer.status}"
    yield from map(_hit, answer.hits)
    request = RecallRequest(
        asked,
        Path("/"),
        limit=PROMPT_CANDIDATES,
        at_once=True,
        filter=for_prompt(0.3, already=()),
    )
    beside = recall(deps, request, SearchScope(project), now=NOW)
    text, _ = prompt_context(beside, room=TextBudget(400, 10_000))
    yield from FENCE.sub("", text).splitlines()


def _hit(hit: RecallHit) -> str:
    later = f", later {hit.later.text!r}" if hit.later else ""
    whose = f"{hit.marks or ''}{hit.turns or ''}"
    return f"{hit.score:.2f} {hit.title} {hit.turn} {whose} {hit.passage!r}{later}"
