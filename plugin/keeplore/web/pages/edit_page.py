"""The form in which a memory is changed, and what a person typed into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keeplore.memory import Memory
from keeplore.memory.model import CATEGORIES, SCOPES, WIDE_SCOPES, Scope
from keeplore.web.page_context import PageContext
from keeplore.workspace.registry import FoundMemory


@dataclass(frozen=True, slots=True)
class EditedText:
    """``text`` is the body without the heading that says the title."""

    title: str
    category: str
    scope: str
    project: str
    text: str

    @classmethod
    def of_memory(cls, memory: Memory) -> EditedText:
        body = memory.body.replace("\r\n", "\n")
        text = body.removeprefix(_heading(memory)).lstrip("\n")
        return cls(memory.title, memory.category, memory.scope, memory.project, text)

    @classmethod
    def of_form(cls, form: Mapping[str, str]) -> EditedText:
        """What was typed; a browser ends lines as Windows does."""
        names = ("title", "category", "scope", "project")
        given = {name: " ".join(form.get(name, "").split()) for name in names}
        return cls(**given, text=form.get("text", "").replace("\r\n", "\n"))

    def body_for(self, memory: Memory) -> str | None:
        """The body of the new version; None where it stays as it is."""
        old = EditedText.of_memory(memory)
        if (self.title, self.text.rstrip()) == (old.title, old.text.rstrip()):
            return None
        if not memory.body.replace("\r\n", "\n").startswith(_heading(memory)):
            return f"{self.text.rstrip()}\n"
        return f"# {self.title}\n\n{self.text.rstrip()}".rstrip() + "\n"


def _heading(memory: Memory) -> str:
    return f"# {memory.title}\n"


def edit_values(
    context: PageContext,
    found: FoundMemory,
    typed: EditedText | None = None,
    joins: str = "",
    trouble: str = "",
) -> dict[str, Any]:
    """The form; what was ``typed`` stays in it where it could not be saved. ``joins`` is the other
    side of a dispute. Raises NotFound where that was decided.
    """
    others = [
        version.memory
        for version in found.workspace.notes.history(found.row.id)
        if version.is_leaf and not version.is_head
    ]
    if joins:
        # heavy: what waits for a decision needs the rules of refining
        from keeplore.web.pages.review_page import dispute_with

        others.append(dispute_with(context, joins).other.memory)
    return {
        "row": found.row,
        "text": typed or EditedText.of_memory(found.memory),
        "others": others,
        "joins": joins,
        "trouble": trouble,
        "categories": CATEGORIES,
        "scopes": SCOPES if found.memory.scope == Scope.AGENT else WIDE_SCOPES,
        "projects": [*context.workspace.index.timeline.facets()["project"]],
    }
