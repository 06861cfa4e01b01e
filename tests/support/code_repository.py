"""A code repository, and the person whose workspace knows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from keeplore.memory.note import NoteDraft
from keeplore.recall.brief import brief
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest
from keeplore.workspace.in_repo.code_workspace import CodeWorkspace
from keeplore.workspace.lifecycle.code_switch import switch_on
from keeplore.workspace.note_writer import NoteOutcome
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing import remember

Git = Callable[..., str]
ROOM = TextBudget(3000, 60_000)
GATEWAY = "The gateway waits 30 s for the ledger."
DEPLOY = "We deploy on Tuesdays."


class CodeRepository:
    """A code repository, and the person whose workspace knows it."""

    def __init__(self, top: Path, registry: Registry, git: Git) -> None:
        self.top, self.registry = top, registry
        self._git = git

    @property
    def memory(self) -> Path:
        return self.top / ".keeplore" / "memory"

    @property
    def own(self) -> Path:
        """The memory of the project in the person's workspace."""
        root = self.registry.for_directory(self.top).root
        return root / "projects" / "shop" / "memory"

    @property
    def code(self) -> CodeWorkspace:
        found = self.registry.code_memory(self.top)
        assert found is not None
        return found

    def git(self, *arguments: str | Path, cwd: Path | None = None) -> str:
        return self._git(*arguments, cwd=cwd or self.top)

    def commits(self, message: str = "Change") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def agrees(self) -> CodeWorkspace:
        return switch_on(self.registry, self.top)

    def remembers(self, text: str, cwd: Path | None = None) -> NoteOutcome:
        target = remember.target_of(self.registry, cwd or self.top)
        draft = NoteDraft(text, scope=target.scope, project=target.project)
        return remember.remember(target, draft, cwd or self.top)

    def recalls(self, question: str, cwd: Path | None = None) -> list[str]:
        request = RecallRequest(question, cwd or self.top, text_only=True)
        return [hit.title for hit in self.registry.recall(request).hits]

    def brief(self) -> str:
        views = self.registry.views(self.top)
        return brief(views, session="s", source="startup", room=ROOM)[0]

    def write(self, path: str, text: str) -> Path:
        place = self.top / ".keeplore" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place


def note(id_: str = "1", title: str = GATEWAY, **fields: object) -> str:
    """A file of a note as somebody's commit may bring it."""
    front = {
        "schema": 1,
        "id": f"mem_{id_ * 8}-0000-4000-8000-000000000000",
        "kind": "note",
        "title": title,
        "created_at": "2026-02-09T14:03:11Z",
        "scope": "project",
        "project": "shop",
        "category": "gotchas",
        "trust": "user",
        **fields,
    }
    lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in front.items())
    return f"---\n{lines}\n---\n\n# {title}\n"
