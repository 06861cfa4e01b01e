"""Whole answers to questions about the corpus, found by words alone, as they are written down: each
part of what is printed and of the scores behind it, and what is told unasked.

To write them anew: WRITE_GOLDEN=1 pytest tests/recall -k whole_answers, then read the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from written_down import written_lines

from keeplore.config.settings import ContextSettings
from keeplore.index import Index
from keeplore.recall.answer import SearchTrace, recall
from keeplore.recall.brief import brief
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.prompt_context import for_prompt, prompt_context
from keeplore.recall.ranking.model import Ranked
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.recall.unasked.workspace_view import WorkspaceView
from keeplore.recall.weights import PROMPT_CANDIDATES
from keeplore.store import Store

NOW = datetime(2026, 5, 1, tzinfo=UTC)
FENCE = re.compile(r' id="[0-9a-f]{8}"(?=>$)', re.MULTILINE)  # of each block another
SHOWN = 3  # memories whose scores are told
PROJECTS = ("kasha-api", "lumen-web", "orbit-infra", "")
QUESTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("kasha-api", "why did we drop Redis", {}),
    ("kasha-api", "what is the rate limit for a tenant", {}),
    ("kasha-api", "was the rate limit ever 100 requests a minute for each key?", {}),
    ("kasha-api", "customer charged twice after a retry", {"limit": 2}),
    ("kasha-api", "Idempotency-Key", {"by_exchange": True}),
    ("kasha-api", "asyncpg or an ORM", {}),
    ("kasha-api", "what did we do in February 2026", {}),
    ("kasha-api", "what was decided last week", {}),
    ("kasha-api", "is the flaky settlement test solved?", {}),
    ("kasha-api", "Kubernetes", {}),
    ("kasha-api", "moment.js bundle", {"wide": True}),
    ("kasha-api", "warum haben wir Redis abgeschafft", {}),
    ("kasha-api", "how long should I boil an egg", {}),
    ("kasha-api", "the", {}),
    ("lumen-web", "which state library, Zustand or Redux?", {}),
    ("lumen-web", "hydration mismatch date", {"by_exchange": True}),
    ("lumen-web", "cypress", {}),
    ("lumen-web", "list everything about uploads and feature flags", {}),
    ("orbit-infra", "who may deploy on Friday afternoon?", {}),
    ("orbit-infra", "disk outage postmortem since March", {}),
    ("orbit-infra", "how many days does Prometheus keep", {}),
    ("orbit-infra", "database backup restored Monday", {"at_once": True}),
    ("", "commit subjects", {}),
    ("", "Vault secrets", {"text_only": True, "limit": 1}),
)


def test_whole_answers(
    workspace_of: Callable[..., tuple[Index, Store]], memory_builders: SimpleNamespace
) -> None:
    deps = RecallDeps(*workspace_of(memory_builders.corpus()), None)
    seen = [*_answers(deps), *_told_beside(deps), *_briefs(deps)]
    assert seen == written_lines("recall/answers.txt", seen)


def _answers(deps: RecallDeps) -> Iterator[str]:
    for project, query, wishes in QUESTIONS:
        traces: list[SearchTrace] = []
        request = RecallRequest(query, Path("/"), **wishes)
        answer = recall(
            deps, request, SearchScope(project), now=NOW, watch=traces.append
        )
        yield f"? {project} {query} {wishes or ''}".rstrip()
        yield from (f"hit {_as_text(hit)}" for hit in answer.hits)
        yield f"{answer.status} by {answer.legs}: {answer.notes}"
        for trace in traces[-1:]:
            yield f"query {_as_text(trace.query.question)}"
            yield from map(_score, trace.ranked[:SHOWN])


def _score(entry: Ranked) -> str:
    parts = (f"{name} {_as_text(odds)}" for name, odds in entry.parts if odds)
    return f"ranked {entry.memory[4:12]} {_as_text(entry.odds)} by {', '.join(parts)}"


def _told_beside(deps: RecallDeps) -> Iterator[str]:
    for project, query, _ in QUESTIONS:
        unasked = for_prompt(ContextSettings().threshold, already=())
        request = RecallRequest(
            query, Path("/"), limit=PROMPT_CANDIDATES, at_once=True, filter=unasked
        )
        answer = recall(deps, request, SearchScope(project), now=NOW)
        text, _ = prompt_context(answer, room=TextBudget(400, 10_000))
        yield f"beside {project} {query}".rstrip()
        yield from FENCE.sub("", text).splitlines()


def _briefs(deps: RecallDeps) -> Iterator[str]:
    for project in PROJECTS:
        view = WorkspaceView(deps.index, deps.store, SearchScope(project).scopes)
        room = TextBudget(1500, 6000)
        text, ids = brief([view], session="", source="startup", room=room)
        yield f"brief of {project or 'no project'}: {len(ids)} quoted"
        yield from FENCE.sub("", text).splitlines()


def _as_text(value: Any) -> str:
    """What a value holds of itself and is not empty; numbers in three digits, as every machine
    gives them.
    """
    if isinstance(value, float):
        return str(round(value, 3))
    if isinstance(value, Set):
        return " | ".join(sorted(value))
    if hasattr(value, "__dataclass_fields__"):
        held = ((one.name, getattr(value, one.name)) for one in fields(value))
        return ", ".join(f"{name}={_as_text(one)}" for name, one in held if one)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_as_text, value))})"
    return repr(value)
