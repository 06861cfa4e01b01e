"""A workspace, and closed conversations in it in which one thing was decided."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from keeplore.memory import Conversation, Exchange, Memory, Quote, new_id, new_meta
from keeplore.workspace.workspace import Workspace

Talk = Callable[..., Memory]


@pytest.fixture
def talk(workspace: Workspace) -> Talk:
    def write(
        number: int,
        decided: str,
        *,
        month: int = 2,
        open_question: str = "",
        links: tuple[str, ...] = (),
        **meta: object,
    ) -> Memory:
        at, turn = f"2026-{month:02d}-{number:02d}T10:00:00Z", f"turn-{month}-{number}"
        title = f"Talk {month}-{number}"
        asked = (Quote(open_question, "user", turn),) if open_question else ()
        said = Conversation(
            title,
            (Exchange(turn, at, f"{decided} {open_question}", ("Done.",), at),),
            decision=(Quote(decided, "user", turn),),
            open_questions=asked,
        )
        fields = new_meta(
            id=new_id(title),
            kind="conversation",
            title=title,
            created_at=at,
            updated_at=at,
            version=1,
            scope="project",
            project="shop",
            trust="assistant",
            related=[{"id": id_, "relationship": "relates-to"} for id_ in links],
            source={"machine": workspace.machine, "session": title, "turns": [turn]},
        )
        memory = Memory({**fields, **meta}, said.to_markdown())
        workspace.store.save(memory)
        return memory

    return write
