"""An agent's reading counts as use of a memory that it was told, and not where it walks over all of
them.
"""

from __future__ import annotations

import os
from pathlib import Path

from keeplore.config.places import Places
from keeplore.mcp_server.context import McpContext
from keeplore.mcp_server.project_roots import ProjectRoots
from keeplore.mcp_server.read_tools import read
from keeplore.memory.note import NoteDraft
from keeplore.worker.server.mcp_services import services
from keeplore.worker.usage.injection_log import FILE, InjectionKind, InjectionLog
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore_hooks.events import Origin


def test_a_memory_that_is_read_after_it_was_told_is_noted_as_of_use() -> None:
    places, root = Places.from_environment(os.environ), Path.home() / "memory"
    initialise(places, root)
    registry = Registry(places)
    roots = ProjectRoots({}, places.sessions, root)
    desk = McpContext(services(registry, lambda: None), roots, set())
    notes = desk.registry.named("memory").notes
    told, walked = (
        notes.write(NoteDraft(text)).memory.id
        for text in ("Staging is on 5434", "Icons are drawn by hand")
    )
    shown = InjectionLog(places.state / FILE)
    shown.add(
        Origin("codex", "s-1"), ("Staging is on 5434", (told,)), InjectionKind.BRIEF
    )
    shown.save()
    for memory_id in (walked, told, told):
        assert memory_id in read(
            desk, memory_id, "overview", "", 1, directory=str(root), max_tokens=2_000
        )
    registry.close()
    assert {
        path.name.partition(".")[2] for path in (places.state / "opened").iterdir()
    } == {told}
