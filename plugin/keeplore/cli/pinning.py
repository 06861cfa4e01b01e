"""What ``pin`` and ``unpin`` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keeplore.cli.after_write import settle
from keeplore.cli.output import plain, say
from keeplore.cli.references import short
from keeplore.config.places import Places


def pin(places: Places, references: Sequence[str], *, is_wanted: bool) -> None:
    """Set or remove the mark of permanence, each in a new version; nothing is written before all
    are found.
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        found = [registry.find(reference, Path.cwd()) for reference in references]
        changed = {}
        for one in found:
            outcome = one.workspace.notes.revise(one.row.id, permanent=True if is_wanted else None)
            state = "permanent" if is_wanted else "not permanent"
            if outcome.is_new:
                changed[one.workspace.name] = one.workspace
                say(f"Now {state}: {plain(outcome.memory.title)} ({short(outcome.memory.id)})")
            else:
                say(
                    f"It was {state} before: {plain(outcome.memory.title)} "
                    f"({short(outcome.memory.id)})"
                )
        for workspace in changed.values():
            settle(places, workspace)
