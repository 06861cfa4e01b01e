"""What was forgotten, and can be brought back."""

from __future__ import annotations

from typing import Any

from keeplore.web.page_desk import Desk
from keeplore.workspace.reading.deleted_memories import deleted_memories

SHOWN = 200


def forgotten_values(desk: Desk) -> dict[str, Any]:
    found = []
    for one in deleted_memories(desk.workspace):
        found.append(one)
        if len(found) == SHOWN:
            break
    return {"forgotten": found}
