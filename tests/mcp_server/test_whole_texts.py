"""What the tools tell an agent of one workspace, as it is written down.

To write it anew: WRITE_GOLDEN=1 pytest -n0 tests/mcp_server -k whole_texts, then read the
difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fixed_workspace import TALK, fill, key
from new_workspace import lay_down
from written_down import written_lines

from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.mcp_server.context import McpContext, McpServices
from keeplore.mcp_server.mcp_prompts import handover_text, recall_text
from keeplore.mcp_server.project_roots import ProjectRoots
from keeplore.mcp_server.read_tools import read
from keeplore.mcp_server.search_tools import TimelineRequest, search, timeline
from keeplore.mcp_server.write_tools import forget, remember
from keeplore.memory import new_id
from keeplore.workspace.registry import Registry

# what is another in each run, and what stands in its place
SIGNS = (
    (re.compile(r"\b(?!2026-0[1-5])\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?"), "NOW"),
    (re.compile(r'(?<=keeplore-recall id=")[0-9a-f]{8}'), "MARK"),
    (re.compile("\u202e"), "(turned round)"),
    (re.compile(r"(?<=page [12] of )\d{3,}"), "MANY"),  # a path is as long as it is
)
MADE = re.compile(r"\b(?:mem_)?([0-9a-f]{8})(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b")
SEARCH = {
    "limit": 8,
    "wide": True,
    "agent": "",
    "within": "",
    "directory": "",
    "max_tokens": 2_500,
}
READ = {"part": "overview", "turn": "", "page": 1, "directory": "", "max_tokens": 4_000}
WRITE = {
    "title": "",
    "category": "",
    "whose": ("workspace", ""),
    "replaces": "",
    "about": {},
    "directory": "",
}
PARTS = ("overview", "exchanges", "source", "history")
KNOWN = ("old", "new", "ledger", "tabs", "shop", "shop-other", "queue")
Call = tuple[str, Callable[[], str]]


@pytest.fixture
def context(home: Path) -> Iterator[McpContext]:
    places = Places.from_environment(os.environ)
    lay_down(places, home / "memory")
    places.sessions.mkdir(parents=True, exist_ok=True)
    with Registry(places) as registry:
        fill(registry.named("memory"))
        services = McpServices(
            registry, registry.recall, lambda: None, lambda _: False, lambda _: None
        )
        yield McpContext(
            services, ProjectRoots({}, places.sessions, home / "memory"), set()
        )


def calls(context: McpContext) -> Iterator[Call]:
    def found(query: str, **changed: Any) -> Call:
        return f"search {query} {changed}", lambda: search(
            context, query, **SEARCH | changed
        )

    def listed(**wanted: Any) -> Call:
        request = TimelineRequest(**wanted)
        return f"timeline {wanted}", lambda: timeline(context, request)

    def shown(reference: str, **changed: Any) -> Call:
        return f"read {reference} {changed}", lambda: read(
            context, reference, **READ | changed
        )

    def written(text: str, **changed: Any) -> Call:
        return f"remember {text} {changed}", lambda: remember(
            context, text, **WRITE | changed
        )

    def gone(reference: str) -> Call:
        return f"forget {reference}", lambda: forget(context, reference, directory="")

    yield from (found("failed jobs"), found("failed jobs", limit=1))
    yield from (found("failed jobs", max_tokens=200), found("zebra crossing permit"))
    yield from (
        found("failed jobs", within=TALK),
        found("failed jobs", within="ffffffff"),
    )
    yield from (
        found("which deploys, tabs and outbox were decided?"),
        found("VAT", wide=False),
    )
    yield from (listed(), listed(wide=True), listed(wide=True, limit=3))
    yield from (listed(wide=True, limit=3, page=2), listed(wide=True, limit=3, page=99))
    yield from (listed(wide=True, kind="note"), listed(project="shop"))
    yield from (
        listed(wide=True, category="architectural-decisions"),
        listed(project="none"),
    )
    yield from (
        listed(wide=True, since="2026-04-20"),
        listed(wide=True, before="2026-04-01"),
    )
    yield from (listed(wide=True, since="no day"), listed(wide=True, max_tokens=200))
    yield from (shown(TALK, part=part) for part in PARTS)
    yield from (
        shown(TALK, turn="2"),
        shown(TALK, turn="9"),
        shown(TALK, part="exchanges", page=2),
    )
    yield from (shown(TALK, max_tokens=100), shown(TALK, max_tokens=100, page=2))
    yield from (shown(key(name)) for name in KNOWN)
    yield from (shown(key("new"), part="history"), shown(key("tabs"), part="source"))
    yield from (shown(new_id("hostile")), shown(new_id("foreign")), shown("ffffffff"))
    yield "recall", lambda: recall_text(context, "failed jobs")
    yield from (
        ("handover", lambda: handover_text("")),
        ("handover", lambda: handover_text("VAT")),
    )
    yield from (written("We write no mocks."), written("We write no mocks."))
    yield written("Deploys are on Mondays.", replaces=key("new"))
    yield written("No entry is ever changed.", replaces=key("ledger"))
    yield written("Tables are small.", whose=("project", ""))
    yield written(
        "Tabs it is.", title="Tabs", category="coding-preferences", whose=("user", "")
    )
    related = [{"id": key("queue"), "relationship": "refines"}]
    yield written(
        "Rows stay for a week.", about={"related": related, "permanent": True}
    )
    yield from (
        gone(key("new")[4:12]),
        gone(key("new")),
        gone(key("ledger")),
        gone(TALK),
    )
    yield from (gone(TALK), shown(TALK))


def test_whole_texts(context: McpContext, home: Path) -> None:
    new: dict[str, str] = {}
    machine = context.registry.machine.id

    def number(found: re.Match[str]) -> str:
        return new.setdefault(found[1], f"id-{len(new)}")

    seen: list[str] = []
    for asked, act in calls(context):
        try:
            text = act()
        except KeeploreError as e:
            text = f"{type(e).__name__}: {e.message} → {e.remedy}"
        text = f"=== {asked}\n{text}\n".replace(str(home), "HOME").replace(
            machine, "MACHINE"
        )
        for pattern, sign in SIGNS:
            text = pattern.sub(sign, text)
        seen += MADE.sub(number, text).splitlines()
    assert seen == written_lines("mcp/texts.txt", seen)
