"""A workspace with a talk in it, and a model that answers what a test says.

Each note that refining wrote and each line of the audit is compared with what is written down
(support/written_down.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import written_down
from new_workspace import lay_down

from keeplore.config.places import Places
from keeplore.index import MemoryFilter
from keeplore.llm.account import Account
from keeplore.llm.base import tokens
from keeplore.llm.ledger import Budget, SpendingLedger
from keeplore.memory import Conversation, Exchange, Memory, new_id, new_meta, serialise
from keeplore.refine.deps import RefineDeps
from keeplore.refine.pipeline import RefineResult, refine
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.refinery import refine_deps
from keeplore_hooks.contracts import Completion, Usage

ASKED = (
    "Which database should the orders service use? It has to survive a restart in the middle of a "
    "payment, and two "
    "people of the team know PostgreSQL well. The load is small, some forty requests a second at "
    "most in December."
)
ADVICE = (
    "PostgreSQL fits: it has real transactions, and the load is far below what one server takes. "
    "One gotcha: the pool "
    "of connections is exhausted after eleven idle clients, because pgbouncer keeps them in "
    "session mode."
)
DECIDED = (
    "Good. We go with PostgreSQL 16 for the orders service because we need transactions. My "
    "name is Lena, by the way."
)
# ids, and moments of this run
_CHANGING = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}(-[0-9a-f-]{27})?(?![0-9a-f])|20[\d-]{8}T[\d:.]+Z"
)


class Script:
    """A model whose answers are given; a function makes one of the question."""

    name = "scripted"

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.questions: list[str] = []

    def available(self) -> str:
        return ""

    def complete(
        self, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        self.questions.append(prompt)
        answer = self.answers.pop(0)
        said = answer(prompt) if callable(answer) else answer
        if isinstance(said, BaseException):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return Completion(
            text, Usage(tokens(system) + tokens(prompt), tokens(text)), self.name
        )


@dataclass
class Desk:
    workspace: Workspace
    account: Account
    model: Script
    around: RefineDeps

    def say(self, *exchanges: tuple[str, str], day: int = 9) -> str:
        """A closed conversation of these exchanges, as capture writes one; its id."""
        session, said = f"session-{day}", []
        for number, (user, assistant) in enumerate(exchanges):
            at = f"2026-02-{day:02}T10:{number:02}:00Z"
            said.append(
                Exchange(
                    f"{session}-t{number}", at, user, (assistant,), f"{at[:17]}30Z"
                )
            )
        source = {
            "host": "claude-code",
            "session": session,
            "machine": self.workspace.machine,
        }
        meta = new_meta(
            id=new_id("test", session),
            kind="conversation",
            title="The orders service",
            created_at=said[0].at,
            updated_at=said[-1].ended_at,
            scope="workspace",
            trust="assistant",
            source={**source, "turns": [exchange.id for exchange in said]},
        )
        body = Conversation("The orders service", tuple(said)).to_markdown()
        self.workspace.store.save(Memory(meta, body))
        self.workspace.index.refresh()
        return str(meta["id"])

    def refine(
        self, talk: str, *answers: Any, mode: str = "controlled", **options: Any
    ) -> RefineResult:
        self.model.answers = [*answers]
        result = refine(self.around, self.account, talk, mode, **options)
        assert self.model.answers == [], "not every answer was asked for"
        return result

    def notes(self) -> list[Memory]:
        """The current notes that refining wrote."""
        self.workspace.index.refresh()
        rows = self.workspace.index.listed(MemoryFilter(kind="note"))
        found = [self.workspace.store.load(row.path) for row in rows]
        return [memory for memory in found if memory.meta.get("trigger") == "refine"]

    def audit(self, event: str = "refine") -> list[dict[str, Any]]:
        return [
            entry
            for entry in self.workspace.store.records()
            if entry.get("event") == event
        ]

    def written(self) -> list[str]:
        """All notes of refining and lines of the audit, without what differs from run to run."""
        made = [serialise(note) for note in self.notes()]
        records = self.workspace.store.records()
        made += [json.dumps(record, sort_keys=True) for record in records]
        return sorted(
            _CHANGING.sub("<…>", text).replace(self.workspace.machine, "<machine>")
            for text in made
        )


@pytest.fixture
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    places = Places(tmp_path / "state", tmp_path / "cache")
    lay_down(places, tmp_path / "memory")
    with Registry(places) as registry:
        workspace = registry.for_directory(tmp_path)
        model = Script()
        account = Account(
            model,
            SpendingLedger(tmp_path / "ledger.db"),
            Budget(0, 0),
            sleep=lambda _: None,
        )
        around = refine_deps(workspace)
        # words alone find what is near: no model has to be loaded
        made = Desk(
            workspace,
            account,
            model,
            replace(around, search=replace(around.search, embedder=None)),
        )
        yield made
        name = request.node.name.removeprefix("test_").replace("_", " ")
        seen = made.written()
        assert seen == written_down.lines_of("refine/written.yaml", name, seen)


@pytest.fixture
def fact() -> Callable[..., dict[str, Any]]:
    """A fact as a model writes it."""

    def make(content: str, span: str, **fields: Any) -> dict[str, Any]:
        usual = {
            "type": "decision",
            "scope": "project",
            "category": "architectural-decisions",
            "confidence": 0.9,
        }
        return {
            "content": content,
            "span": span,
            "lasting": 0.2,
            "about": "",
            **usual,
            **fields,
        }

    return make
