"""What a question's names lead to, on the tables of the graph: limits, scopes, and that nothing
makes it fail.
"""

import sqlite3
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from keeplore.index.graph import boost
from keeplore.index.graph.boost import BoostReason, boosted, runs_of
from keeplore.index.schema import GRAPH_TABLES
from keeplore_hooks.contracts import ScopeFilter

SHOP, WEB = ("project", "shop"), ("project", "web")
HERE = ScopeFilter((SHOP, ("workspace", "")))
EVER = 1e18
_OTHERS = """
CREATE TABLE scopes (id INTEGER PRIMARY KEY, scope TEXT, project TEXT);
CREATE TABLE memories (
    key INTEGER PRIMARY KEY, id TEXT, scope_id INTEGER, updated_at TEXT, path TEXT
);
CREATE TABLE links (memory INTEGER, relationship TEXT, target TEXT);
INSERT INTO scopes VALUES (1, 'project', 'shop'), (2, 'project', 'web'), (3, 'workspace', '');
"""


class Graph:
    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.executescript(GRAPH_TABLES + _OTHERS)

    def name(self, name: str) -> int:
        self.connection.execute(
            "INSERT OR IGNORE INTO names (name) VALUES (?)", (name,)
        )
        return int(
            self.connection.execute(
                "SELECT id FROM names WHERE name = ?", (name,)
            ).fetchone()[0]
        )

    def memory(self, id_: str, scope: int, *names: str) -> None:
        added = self.connection.execute(
            "INSERT INTO memories VALUES (NULL, ?, ?, ?, ?)",
            (id_, scope, f"2026-{id_}", f"{id_}.md"),
        )
        for name in names:
            row = (added.lastrowid, self.name(name), scope, name)
            self.connection.execute(
                "INSERT INTO mentions VALUES (?, ?, ?, 0, ?, 1, 4, 1)", row
            )

    def relate(
        self,
        source: str,
        target: str,
        place: str = "",
        confidence: int = 500_000,
        path: str = "p",
    ) -> None:
        ids = self.name(source), self.name(target)
        self.connection.execute(
            "INSERT INTO relations VALUES (?, ?, ?, 'uses', ?, ?)",
            (path, place, *ids, confidence),
        )

    def alias(self, name: str, entity: str, place: str = "") -> None:
        for one in (name, entity):
            row = (place, self.name(one), self.name(entity))
            self.connection.execute(
                "INSERT OR IGNORE INTO definitions VALUES ('p', ?, ?, '', '', ?)", row
            )


@pytest.fixture
def graph() -> Iterator[Graph]:
    made = Graph()
    made.memory("direct", 1, "fastembed")
    made.memory("shared", 3, "fastembed", "onnx runtime")
    made.memory("elsewhere", 2, "fastembed")
    made.memory("near", 1, "onnx runtime")
    made.memory("apart", 1, "redis")
    made.relate("fastembed", "onnx runtime")
    yield made
    made.connection.close()


def test_names_lead_to_their_memories_and_over_one_relation_to_those_of_neighbours(
    graph: Graph,
) -> None:
    found = boosted(graph.connection, "Why is **fastembed** slow?", HERE, EVER)
    way = ("fastembed → onnx runtime",)
    assert found == {
        "direct": BoostReason(("fastembed",)),
        "shared": BoostReason(("fastembed",), way),
        "near": BoostReason((), way),
    }
    # the other way round, by a name of two words; and everywhere
    back = boosted(graph.connection, "the ONNX  Runtime's threads", ScopeFilter(), EVER)
    assert (back["near"].named, set(back)) == (
        ("onnx runtime",),
        {"near", "shared", "direct", "elsewhere"},
    )
    assert boosted(graph.connection, "nothing known", HERE, EVER) == {}


def test_what_was_replaced_relates_nothing_any_more(graph: Graph) -> None:
    graph.relate("fastembed", "redis", path="direct.md")
    assert "apart" in boosted(graph.connection, "fastembed", HERE, EVER)
    graph.memory("newer", 1, "fastembed")
    sql = "INSERT INTO links SELECT key, 'supersedes', 'direct' FROM memories WHERE id = 'newer'"
    graph.connection.execute(sql)
    assert "apart" not in boosted(graph.connection, "fastembed", HERE, EVER)


def test_what_another_project_says_of_a_name_does_not_count_here(graph: Graph) -> None:
    graph.relate("fastembed", "redis", place="web")
    graph.alias("fe", "fastembed", place="web")
    graph.memory("theirs", 2, "redis")
    assert "apart" not in boosted(graph.connection, "fastembed", HERE, EVER)
    assert boosted(graph.connection, "fe", HERE, EVER) == {}
    everywhere = boosted(graph.connection, "fe", ScopeFilter(), EVER)
    assert "direct" in everywhere
    # and where everything is searched, a relation of one project leads to nothing of another one
    assert ("theirs" in everywhere, "apart" in everywhere) == (True, False)


def test_an_alias_stands_for_its_entity_and_its_other_names(graph: Graph) -> None:
    graph.alias("fe", "fastembed")
    graph.alias("fast-embed", "fastembed")
    graph.memory("other name", 1, "fast-embed")
    assert {"direct", "shared", "other name", "near"} <= set(
        boosted(graph.connection, "fe", HERE, EVER)
    )


def test_the_limits_hold_and_the_rarest_names_come_first(graph: Graph) -> None:
    for number in range(boost.MEMORIES + 50):
        graph.memory(f"{number:04}", 1, "common", *(["rare"] if number == 3 else []))
    found = boosted(graph.connection, "common rare fastembed", HERE, EVER)
    assert len(found) == boost.MEMORIES
    assert found["0003"].named[0] == "rare"
    assert {"direct", "shared"} <= set(found)


def test_what_was_found_until_the_deadline_is_used(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert boosted(graph.connection, "fastembed", HERE, time.monotonic() - 1) == {}
    moments = iter([0.0])  # late after the memories of the entity itself
    monkeypatch.setattr(
        boost, "time", SimpleNamespace(monotonic=lambda: next(moments, 2.0))
    )
    monkeypatch.setattr(boost, "OPS", 1_000_000)
    assert set(boosted(graph.connection, "fastembed", HERE, 1.0)) == {
        "direct",
        "shared",
    }


@pytest.mark.parametrize(
    "table", ["names", "mentions", "relations", "definitions", "scopes"]
)
def test_a_broken_database_gives_nothing_and_no_error(graph: Graph, table: str) -> None:
    graph.connection.execute(f"DROP TABLE {table}")
    assert boosted(graph.connection, "fastembed", HERE, EVER) == {}
    assert graph.connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    "text",
    [
        "' OR 1=1 --" * 200,
        "% _ %fast% fast_mbed fastembe%",
        "a " * 1_000,
        "\x00\ud800\u202e" * 600,
        "((((" * 500,
        "x" * 2_000,
        "",
    ],
)
def test_a_hostile_question_finds_nothing_and_breaks_nothing(
    graph: Graph, text: str
) -> None:
    graph.memory("wild", 1, "wildcards")
    assert boosted(graph.connection, text, HERE, EVER) == {}
    assert len(boost.runs_of(text)) <= boost.CANDIDATES
    if text.isprintable():
        assert boosted(graph.connection, f"{text[:1_990]} fastembed", HERE, EVER) != {}


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", []),
        ("The  Kasha", ["the", "kasha", "the kasha"]),
        (
            "Kasha API's f’s",
            [
                *("kasha", "api's", "api", "f’s", "f"),
                *("kasha api's", "kasha api", "api's f’s", "api's f"),
                *("kasha api's f’s", "kasha api's f"),
            ],
        ),
        ("a b a b", ["a", "b", "a b", "b a", "a b a", "b a b", "a b a b"]),
        (
            "a b c d e f",
            [
                *("a", "b", "c", "d", "e", "f"),
                *("a b", "b c", "c d", "d e", "e f"),
                *("a b c", "b c d", "c d e", "d e f"),
                *("a b c d", "b c d e", "c d e f"),
                *("a b c d e", "b c d e f"),
            ],
        ),
    ],
)
def test_names_that_a_question_may_hold(text: str, runs: list[str]) -> None:
    assert runs_of(text) == runs


def test_of_a_long_question_as_many_runs_are_looked_up_as_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boost, "CANDIDATES", 4)
    assert runs_of("a b c d") == ["a", "b", "c", "d"]
    assert runs_of("a b c") == ["a", "b", "c", "a b"]
