"""A graph made of the person's workspace and of the notes kept with the code, as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import sample_note
from code_repository import CodeRepository, note
from written_down import written_lines

from keeplore.index import ScopeFilter
from keeplore.index.graph.entity_queries import Entity
from keeplore.index.graph.relation_spans import RelatedEntity
from keeplore.viewer.joined_graph import JoinedIndex
from keeplore.workspace.writing.entity_writer import add

ALL = ScopeFilter()
AT = "2026-02-1{}T10:00:00Z"
# what each says: where it stands, its relations, its aspects
NOTES = (
    ("code", "`rate_limit` and `open_file`", ("ledgerd calls the-gateway", "pg part-of cluster"), ()),
    ("workspace", "`jobs_queue` waits for `rate_limit`", ("gw uses Postgres",), ("gateway speed",)),
    ("shop", "`jobs_queue` and `tax_table`", ("Postgres part-of cluster", "till uses Postgres"), ()),
    ("till", "`tax_table` and `rate_limit`", ("gateway uses valkey",), ("gateway size",)),
    ("code", "`jobs_queue` and `rate_limit` and `open_file`", ("Gateway uses PG",), ("gw speed",)),
    ("code", "`open_file` and `jobs_queue`", ("gw uses postgres", "seek uses ledgerd"), ("pg size",)),
)  # fmt: skip


def fields(number: int, related: tuple[str, ...], aspects: tuple[str, ...]) -> dict:
    words = [text.split(" ") for text in related]
    said = [text.split(" ") for text in aspects]
    return {
        "created_at": AT.format(number),
        "updated_at": AT.format(number),
        "entities": [
            {
                "source": source,
                "relationship": word,
                "target": target,
                "confidence": 1 - number / 8,
            }
            for source, word, target in words
        ],
        "aspects": [
            {"entity": entity, "type": "system", "aspect": aspect, "kind": "attribute"}
            for entity, aspect in said
        ],
    }


@pytest.fixture
def index(repository: CodeRepository) -> JoinedIndex:
    code = repository.agrees()
    own = repository.registry.for_directory(repository.top)
    add(own, "gateway", "system", ["gw", "the-gateway"])
    add(own, "Postgres", "tool", ["pg"], project="shop")
    for project in ("", "shop"):
        add(own, "cluster", "system", project=project)
    for number, (place, text, related, aspects) in enumerate(NOTES):
        said = fields(number, related, aspects)
        if place == "code":
            body = note(str(number), f"Note {number}", **said) + f"\n{text}.\n"
            repository.write(f"memory/gotchas/{number}.md", body)
            continue
        if place != "workspace":
            said |= {"scope": "project", "project": place}
        title = f"Note {number}"
        own.store.save(sample_note.note(title, f"# {title}\n\n{text}.\n", **said))
    for one in (own.index, code.index):
        one.refresh()
    joined = JoinedIndex(own.index, code.index, code.project)
    assert joined.graph.link(steps=0) == 0
    return joined


def test_both_are_asked_as_one(index: JoinedIndex) -> None:
    graph = index.graph
    every = graph.entities(limit=99)
    ids = list(dict(graph.mentioning(every[0], ALL, 99)))
    seen = [str(index.scopes()), *map(str, every)]
    seen += [f"five: {one.name} {one.place}" for one in graph.entities(limit=5)]
    for name in ("gateway", "GW", "pg", "ledgerd", "postgres", "nobody"):
        seen += [
            f"{name} in {project or 'all'}: {graph.entity(name, project)}"
            for project in ("", "shop", "till")
        ]
        seen.append(f"{name} anywhere: {[one.place for one in graph.named(name)]}")
    seen += [str(graph.similar_names(*one)) for one in (("gatway", 5), ("led", 1))]
    for one in every:
        seen += [f"{one.name} of {one.place or 'all'}", *_told(index, one)]
    for limit, at_least in ((99, 1), (2, 2)):
        seen.append(str(graph.co_mentioned(ids, limit, at_least)))
        seen.append(str(graph.mentioned(ALL, limit)))
    assert seen == written_lines("graph/joined.txt", seen)


def _told(index: JoinedIndex, one: Entity) -> Iterator[str]:
    graph = index.graph
    yield from map(str, graph.relations(one, ALL))
    for relation in graph.relations(one, ALL, at=AT.format(3)):
        yield f"on the 13th: {relation.source} {relation.relationship} {relation.target}"
    mentions = graph.mentioning(one, ALL, 99)
    yield f"in {_titles(index, [id_ for id_, _ in mentions])}"
    yield f"of these: {[word for _, word in graph.mentioning(one, ALL, 2)]}"
    for row in graph.aspects(one):
        yield f"{row.aspect}, {row.kind}, in {_titles(index, sorted(row.memories))}"


def _titles(index: JoinedIndex, ids: list[str]) -> list[str]:
    rows = index.memories(ids)
    return [rows[id_].title for id_ in ids]


def test_a_relation_ends_where_both_say_so(index: JoinedIndex) -> None:
    graph, end = index.graph, AT.format(8)
    postgres = graph.entity("pg")
    assert postgres is not None
    held = graph.relations(postgres, ALL)
    assert sum(one.mentions for one in held) == 5

    def told(at: str, but_for: str) -> list[RelatedEntity]:
        return graph.relations(
            postgres, ALL, at=at, ended=lambda id_: "" if id_ == but_for else end
        )

    assert told(AT.format(9), "") == []
    assert told(AT.format(7), "") == [replace(one, until=end) for one in held]
    till = ScopeFilter((("project", "till"),))
    assert graph.relations(postgres, till) == []
    assert graph.mentioning(postgres, till, 9) == []
    first = "mem_00000000-0000-4000-8000-000000000000"
    assert [one.until for one in told(AT.format(7), first)] == ["", end, end]
