"""The pictures of a small workspace, from each place and entity, as they are written down.

To write them anew: WRITE_GOLDEN=1 pytest tests/viewer -k collect, then read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

import pytest
from written_down import written_lines

from keeplore.config.places import Places
from keeplore.index import Index, ScopeFilter
from keeplore.memory import Memory, new_id, new_meta
from keeplore.viewer.collect import GraphView, neighbourhood, overview
from keeplore.viewer.picture import GraphPicture
from keeplore.viewer.tree import as_tree
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

SHOP = ScopeFilter((("project", "shop"), ("workspace", "")))
# project, text, (source, relationship, target)
NOTES = (
    ("shop", "`jobs_queue` and `rate_limit` and `tax_table`", ("shop", "uses", "Postgres")),
    ("shop", "`jobs_queue` and `rate_limit`", ("shop", "uses", "Postgres")),
    ("shop", "`jobs_queue` and `tax_table` and `rate_limit`", ("jobs_queue", "depends_on", "Postgres")),
    ("till", "`rate_limit` and `tax_table`", ("till", "uses", "Postgres")),
    ("till", "`rate_limit` and `tax_table` and `jobs_queue`", ("Postgres", "part_of", "cluster")),
    ("", "`rate_limit` and `open_file` and `seek_end`", ("cluster", "relates_to", "shop")),
    ("", "`open_file` and `seek_end`", ("shop", "uses", "cluster")),
    ("", "`open_file` and `seek_end` and `tax_table`", ("till", "depends_on", "shop")),
)  # fmt: skip


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    places = Places(tmp_path / "state", tmp_path / "cache")
    initialise(places, tmp_path / "memory")
    with Registry(places) as registry:
        workspace = registry.for_directory(tmp_path / "memory")
        for number, (project, text, (source, word, target)) in enumerate(NOTES):
            meta = new_meta(
                id=new_id(str(number)),
                kind="note",
                title=f"Note {number}",
                created_at=f"2026-02-{1 + number:02}T10:00:00Z",
                scope="project" if project else "workspace",
                project=project,
                trust="user",
                entities=[{"source": source, "relationship": word, "target": target}],
            )
            workspace.store.save(Memory(meta, f"# Note {number}\n\n{text}.\n"))
        workspace.index.refresh()
        workspace.index.graph.link(steps=0)
        yield workspace.index


def test_the_picture_of_each_place_and_entity(index: Index) -> None:
    every = GraphView(index, "memory", ScopeFilter())
    shop = GraphView(index, "memory", SHOP, "shop")
    old = GraphView(index, "memory", ScopeFilter(), at="2026-02-03T00:00:00Z")
    seen = [
        *_told("all", overview(every, 99)),
        *_told("all, five", overview(every, 5)),
        *_told("all, a list", overview(every, 4, is_tied=False)),
        *_told("shop", overview(shop, 99)),
        *_told("shop, three", overview(shop, 3)),
        *_told("before", overview(old, 99)),
    ]
    for view, place in ((every, "all"), (shop, "shop")):
        for name in ("postgres", "tax_table", "shop"):
            middle = index.graph.named(name)[0]
            for hops, limit in ((1, 99), (2, 99), (2, 4)):
                picture = neighbourhood(view, middle, hops, limit)
                seen += _told(f"{name} from {place}, {hops}, {limit}", picture)
    assert seen == written_lines("graph/collected.txt", seen)


def _told(name: str, picture: GraphPicture) -> Iterator[str]:
    """A line for each part; memories by their titles."""
    flags = f"{picture.workspace}, more {picture.has_more}, middle {picture.has_middle}"
    yield f"# {name}: {flags}"
    for node in picture.nodes:
        notes = " ".join(f"{one.title[5:]}@{one.at[8:10]}" for one in node.memories)
        known = f"{node.name} {node.spelling} {node.type} {node.place}".strip()
        yield f"{known}: {node.mentions}, hop {node.distance}, in {notes}"
    yield from (" ".join(map(str, astuple(one))) for one in picture.relations)
    yield "; ".join(" ".join(map(str, astuple(one))) for one in picture.together)
    yield from as_tree(picture)
