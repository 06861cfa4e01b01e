from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from keeplore.index import Index, ScopeFilter
from keeplore.index.graph.entity_queries import _NameMeanings
from keeplore.memory import Memory

USES = {
    "source": "shop",
    "relationship": "uses",
    "target": "Cart Service",
    "confidence": 0.9,
}


@pytest.fixture
def about(
    files: Any, make_note: Callable[..., Memory], index: Index
) -> Callable[..., str]:
    """Puts a note of a project; its place."""

    def put(project: str, body: str, **meta: object) -> str:
        where = {"scope": "project", "project": project} if project else {}
        path: str = files.put(make_note(f"{project} {body}", body, **where, **meta))
        index.refresh()
        index.graph.link()
        return path

    return put


def seen(index: Index) -> set[tuple[str, str, str, int]]:
    return {
        (entity.name, entity.place, entity.type, entity.mentions)
        for entity in index.graph.entities()
    }


def test_one_name_in_two_projects_is_two_things_until_the_workspace_says_what_it_is(
    files: Any, index: Index, about: Callable[..., str]
) -> None:
    about("shop", "The cart keeps `PriceRule` for a day.")
    about("bank", "We dropped `PriceRule`.")
    about("farm", "PriceRule is a word to us.")
    assert seen(index) == {
        ("pricerule", "shop", "concept", 1),
        ("pricerule", "bank", "concept", 1),
    }
    assert (
        index.graph.entity("PriceRule") is None
        and index.graph.entity("PriceRule", "farm") is None
    )
    files.write(
        "entities/price-rule.yaml",
        b"name: PriceRule\ntype: system\naliases: [price rules]\n",
    )
    about("bank", "The price rules are slow.")
    [entity] = index.graph.entities()
    assert (entity.place, entity.type, entity.mentions, entity.aliases) == (
        "",
        "system",
        4,
        ("price rules",),
    )
    files.write("projects/bank/entities/own.yaml", b"name: PriceRule\ntype: task\n")
    about("bank", "Once more.")
    assert seen(index) == {
        ("pricerule", "", "system", 3),
        ("pricerule", "bank", "task", 1),
    }


def test_a_thing_is_spelled_as_its_own_project_spells_it(
    index: Index, about: Callable[..., str]
) -> None:
    about("shop", "The tables are in `shop/store/db.py`.")
    about("bank", "Look at `clients/acme/db.py`.")
    about("bank", "Again `clients/acme/db.py`.")
    assert {entity.place: entity.spelling for entity in index.graph.named("db.py")} == {
        "bank": "clients/acme/db.py",
        "shop": "shop/store/db.py",
    }


def test_what_many_projects_mention_takes_no_place_from_what_is_mentioned_more(
    index: Index, about: Callable[..., str]
) -> None:
    for project in ("shop", "bank", "farm"):
        about(project, "See `build.sh`.")
    for text in ("Call `PriceRule`.", "Drop `PriceRule`."):
        about("shop", text)
    assert [
        (entity.name, entity.mentions) for entity in index.graph.entities(limit=2)
    ] == [
        ("pricerule", 2),
        ("build.sh", 1),
    ]


def test_a_memory_counts_once_however_many_versions_it_has(
    files: Any, make_note: Callable[..., Memory], index: Index
) -> None:
    shop = {"scope": "project", "project": "shop"}
    older = ""
    for version in ("first", "second", "third"):
        link = {"supersedes": older} if older else {}
        memory = make_note(version, f"Call `PriceRule`, {version}.", **shop, **link)
        files.put(memory)
        older = memory.id
    files.put(make_note("other", "Call `PriceRule` and `TaxRule`.", **shop))
    index.refresh()
    index.graph.link()
    counts = {entity.name: entity.mentions for entity in index.graph.entities()}
    assert counts == {"pricerule": 2, "taxrule": 1}
    # by one of its names, too
    files.write("entities/price.yaml", b"name: PriceRule\naliases: [TaxRule]\n")
    index.refresh()
    assert [one.mentions for one in index.graph.named("TaxRule")] == [2]


def test_a_program_is_the_same_in_all_projects(
    index: Index, about: Callable[..., str]
) -> None:
    for project in ("shop", "bank"):
        about(project, "Run this:\n\n```sh\n$ terraform plan\n```")
    assert {name[:3] for name in seen(index) if name[0] == "terraform"} == {
        ("terraform", "", "tool")
    }
    [entity] = index.graph.named("terraform")
    own = ScopeFilter((("project", "shop"), ("workspace", "")))
    assert entity.mentions == 2 and len(index.graph.mentioning(entity, own)) == 1


def test_a_relation_is_as_sure_as_its_notes_are_on_the_mean_and_goes_with_them(
    files: Any, index: Index, about: Callable[..., str]
) -> None:
    about("shop", "The shop uses the cart service.", entities=[USES])
    gone = about(
        "shop", "Shop and cart service.", entities=[{**USES, "confidence": 0.3}]
    )
    about("shop", "The Cart Service is slow.")
    entity = index.graph.entity("cart service", "shop")
    assert entity and (entity.spelling, entity.mentions) == ("Cart Service", 3)
    [relation] = index.graph.relations(entity)
    assert (relation.source, relation.relationship, relation.other) == (
        "shop",
        "uses",
        "shop",
    )
    assert relation.confidence == pytest.approx(0.6) and relation.mentions == 2
    assert index.graph.relations(entity, ScopeFilter((("project", "bank"),))) == []
    (files.root / gone).unlink()
    index.refresh()
    index.graph.link()
    [relation] = index.graph.relations(entity, ScopeFilter((("project", "shop"),)))
    assert relation.confidence == pytest.approx(0.9) and relation.mentions == 1


def test_a_name_is_looked_for_in_what_was_written_before_it_was_known(
    files: Any, index: Index, about: Callable[..., str]
) -> None:
    about("shop", "We moved to fastembed last week.")
    assert seen(index) == set()
    files.write("projects/shop/manifests/studio.json", b'{"packages": ["fastembed"]}')
    index.refresh()
    index.graph.link()
    assert ("fastembed", "", "tool", 1) in seen(index)
    assert list(index.flaws()) == []
    (files.root / "projects/shop/manifests/studio.json").unlink()
    index.refresh()
    index.graph.link()
    assert seen(index) == set()


@pytest.mark.parametrize(
    ("name", "words", "key"),
    [
        ("购物车", "我们的购物车很慢。", "购物车"),
        ('the "big" cart', 'We sell the "big" cart.', 'the "big" cart'),
        ("Cart Service", "The cart service is slow.", "cart service"),
    ],
)
def test_a_new_name_of_any_shape_is_found_in_the_words_of_old_memories(
    files: Any, index: Index, about: Callable[..., str], name: str, words: str, key: str
) -> None:
    about("shop", words)
    about("bank", "Nothing of it here.")
    entry = f"name: {json.dumps(name)}\ntype: system\n"
    files.write("entities/cart.yaml", entry.encode())
    index.refresh()
    index.graph.link()
    assert seen(index) == {(key, "", "system", 1)}
    assert list(index.flaws()) == []


def test_of_versions_the_newest_is_listed_and_a_circle_made_by_hand_hides_nothing(
    files: Any,
    index: Index,
    about: Callable[..., str],
    make_note: Callable[..., Memory],
) -> None:
    first = make_note("First", "We pin `PriceRule`.", scope="project", project="shop")
    other = make_note(
        "Other",
        "We drop `PriceRule`.",
        scope="project",
        project="shop",
        supersedes=first.id,
    )
    files.put(first)
    files.put(other)
    about("bank", "No rules.")
    entity = index.graph.entity("PriceRule", "shop")
    assert entity and [id_ for id_, _ in index.graph.mentioning(entity)] == [other.id]
    files.put(Memory({**first.meta, "supersedes": other.id}, first.body + "Again.\n"))
    index.refresh()
    [(id_, _)] = index.graph.mentioning(entity)
    assert not index.memories([id_])[id_].superseded_by


def test_a_name_is_said_wherever_one_of_three_tells_it() -> None:
    said = _NameMeanings(1, {"file": 2}, {"shown"}, {"counted": 3})
    assert said.places == {"file", "shown", "counted"}


def test_all_that_the_graph_says_of_a_thing(
    index: Index, about: Callable[..., str]
) -> None:
    graph = index.graph
    about("shop", "We pin `PriceRule`.")
    # a name that nobody knows is not the first one that somebody does
    assert graph.named("zebra") == [] and graph.entity("zebra") is None
    slow = {
        "entity": "Cart Service",
        "type": "system",
        "aspect": "speed",
        "kind": "attribute",
    }
    dear = {**slow, "aspect": "price"}
    about("bank", "The cart service is dear.", entities=[USES], aspects=[dear])
    about("bank", "The Cart Service is slow.", aspects=[slow, dear])
    about(
        "bank",
        "The Cart Service is slow again.",
        aspects=[{**slow, "kind": "constraint"}],
    )
    about("farm", "The cart service sells eggs.", aspects=[slow])
    about("mill", "The cart service sells flour.", aspects=[slow])
    about(
        "mill",
        "`PriceRule` and `EggRule` in the mill.",
        entities=[{**USES, "source": "EggRule"}],
    )
    assert [(e.name, e.place, e.type, e.mentions) for e in graph.named("Cart Service")] == [
        ("cart service", "bank", "system", 3),
        ("cart service", "mill", "system", 2),
        ("cart service", "farm", "system", 1),
    ]  # fmt: skip
    bank = graph.entity("cart service", "bank")
    mill = graph.entity("cart service", "mill")
    assert bank and mill and graph.entity("cart service") is None
    assert [(a.aspect, a.kind, len(a.memories)) for a in graph.aspects(bank)] == [
        ("price", "attribute", 2),
        ("speed", "attribute", 1),
        ("speed", "constraint", 1),
    ]
    related = [
        (r.source, r.relationship, r.target, r.other, r.other_place, r.mentions)
        for one in (bank, mill)
        for r in graph.relations(one)
    ]
    assert related == [
        ("shop", "uses", "Cart Service", "shop", "bank", 1),
        ("EggRule", "uses", "Cart Service", "eggrule", "mill", 1),
    ]
    assert [
        (entity.name, entity.place, entity.mentions)
        for entity in graph.entities(ScopeFilter((("project", "mill"),)), "rule", 2)
    ] == [("eggrule", "mill", 1), ("pricerule", "mill", 1)]
    assert [(e.name, e.place) for e in graph.entities(like="e", limit=2)] == [
        ("cart service", "bank"),
        ("cart service", "mill"),
    ]
