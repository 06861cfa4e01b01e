"""What was forgotten, and can be brought back."""

from __future__ import annotations

from itertools import islice
from typing import Any

from keeplore.web.page_context import PageContext
from keeplore.workspace.reading.deleted_memories import deleted_memories

SHOWN = 200


def forgotten_values(context: PageContext) -> dict[str, Any]:
    return {"forgotten": [*islice(deleted_memories(context.workspace), SHOWN)]}
