"""Beside a prompt only what it is about is told: of this project, of the thing and person that it
names, and as it holds now (scoped_prompts.yaml).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from keeplore.config.settings import ContextSettings
from keeplore.index import Embedder, Index
from keeplore.memory import Memory
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.prompt_context import for_prompt, is_worth_asking, prompt_context
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.recall.weights import PROMPT_CANDIDATES
from keeplore.store import Store

WRITTEN = yaml.load(
    Path(__file__).with_name("scoped_prompts.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)
NOW = datetime(2026, 5, 1, tzinfo=UTC)
ROOM = TextBudget(400, 10_000)
PRECISION = 0.9  # of all lines that are told, those that are wanted
# a person whom memory does not know, named where another one is named with other words around
NOT_TOLD_APART = "When does Kenji review and where is he?"
HELPED = 0.8  # of the prompts that memory has something on, those that are told it


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    prompt: str
    wanted: frozenset[str]
    told: frozenset[str]

    @property
    def is_right(self) -> bool:
        return self.told <= self.wanted and bool(self.told) == bool(self.wanted)


def memories(builders: Any) -> list[Memory]:
    found = [
        builders.note(key, str(date), text, text, **_place(place))
        for key, place, date, text in WRITTEN["notes"]
    ]
    found += [
        builders.conversation(key, str(date), title, talk, **_place(place))
        for key, place, date, title, talk in WRITTEN["talks"]
    ]
    return found


def _place(place: str) -> dict[str, str]:
    return {"project": place} if place else {"scope": "workspace"}


def outcomes(
    index: Index, store: Store, embedder: Embedder, id_of: Callable[[str], str]
) -> Iterator[PromptOutcome]:
    """What each prompt is told with the defaults."""
    deps = RecallDeps(index, store, embedder)
    keys = {id_of(entry[0]): entry[0] for entry in _entries()}
    for place, prompt, wanted in WRITTEN["prompts"]:
        told: tuple[str, ...] = ()
        if is_worth_asking(prompt):
            unasked = for_prompt(ContextSettings().threshold, already=())
            request = RecallRequest(
                prompt, limit=PROMPT_CANDIDATES, at_once=True, filter=unasked
            )
            answer = recall(deps, request, SearchScope(place), now=NOW)
            _, told = prompt_context(answer, room=ROOM)
        yield PromptOutcome(
            prompt, frozenset(wanted), frozenset(keys[id_] for id_ in told)
        )


def _entries() -> list[list[Any]]:
    return [*WRITTEN["notes"], *WRITTEN["talks"]]


def precision(found: list[PromptOutcome]) -> float:
    told = sum(len(one.told) for one in found)
    return sum(len(one.told & one.wanted) for one in found) / max(told, 1)


@pytest.fixture(scope="module")
def found(
    tmp_path_factory: pytest.TempPathFactory,
    memory_builders: SimpleNamespace,
    embedder: Embedder,
) -> list[PromptOutcome]:
    folder = tmp_path_factory.mktemp("scoped")
    written = memories(memory_builders)
    index, store = memory_builders.indexed(folder, written, embedder)
    index.embed_pending()
    try:
        return list(outcomes(index, store, embedder, memory_builders.memory_id))
    finally:
        index.close()


def test_what_is_told_beside_prompts_is_what_they_are_about(
    found: list[PromptOutcome],
) -> None:
    assert len(found) >= 60
    assert precision(found) >= PRECISION, [one for one in found if not one.is_right]
    helped = [bool(one.told & one.wanted) for one in found if one.wanted]
    assert sum(helped) >= HELPED * len(helped), [o for o in found if not o.is_right]


def test_what_was_replaced_is_told_beside_no_prompt(found: list[PromptOutcome]) -> None:
    replaced = {key for key, *_ in _entries() if key.endswith("-old")} | {"retry-3"}
    assert [one for one in found if one.told & replaced] == []


def test_where_memory_has_nothing_no_prompt_is_told_anything(
    found: list[PromptOutcome],
) -> None:
    wrong = {one.prompt for one in found if one.told and not one.wanted}
    assert wrong <= {NOT_TOLD_APART}
