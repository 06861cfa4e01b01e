"""Names that files beside the memories define; whatever is wrong with one is said and never raised
otherwise.
"""

from __future__ import annotations

import json

import pytest

from keeplore.index.graph.definitions import definitions_in
from keeplore.index.graph.graph_values import Definition, EntityRelation


def test_an_entity_of_a_project_and_its_aliases_belong_to_that_project() -> None:
    text = "name: PostgreSQL\ntype: system\naliases: [Postgres, pg, postgresql]\n"
    assert definitions_in("projects/shop/entities/postgresql.yaml", text) == (
        [
            Definition("shop", "postgresql", "PostgreSQL", "system", "postgresql"),
            Definition("shop", "postgres", "Postgres", "system", "postgresql"),
            Definition("shop", "pg", "pg", "system", "postgresql"),
        ],
        [],
    )
    assert definitions_in("entities/any.yaml", "name: Ann\n")[0] == [
        Definition("", "ann", "Ann", "unknown", "ann")
    ]


def test_a_project_goes_by_the_names_that_its_entry_says() -> None:
    assert definitions_in(
        "projects/shop/project.json", '{"name": "shop", "also": ["shop-3f0c9a2e"]}'
    ) == (
        [
            Definition("", "shop", "shop", "project", "shop"),
            Definition("", "shop-3f0c9a2e", "shop-3f0c9a2e", "project", "shop"),
        ],
        [],
    )


def test_a_manifest_says_what_a_project_uses_and_what_it_publishes() -> None:
    text = json.dumps(
        {
            "own": ["shop", "@shop/ui"],
            "packages": ["fastembed"],
            "systems": ["redis"],
            "tools": [],
        }
    )
    assert definitions_in("projects/shop/manifests/studio.json", text) == (
        [
            Definition("", "@shop/ui", "@shop/ui", "project", "@shop/ui"),
            Definition("", "fastembed", "fastembed", "tool", "fastembed"),
            Definition("", "redis", "redis", "system", "redis"),
        ],
        [
            EntityRelation("shop", "contains", "@shop/ui", 1.0, "shop", "@shop/ui"),
            EntityRelation("shop", "uses", "fastembed", 1.0, "shop", "fastembed"),
            EntityRelation("shop", "uses", "redis", 1.0, "shop", "redis"),
        ],
    )


def test_a_manifest_may_name_as_much_as_is_told_of_one_that_is_refused() -> None:
    names = ["x" * 100, *(f"tool-{number}" for number in range(1999))]
    defined, relations = definitions_in(
        "projects/p/manifests/m.json", json.dumps({"tools": names})
    )
    assert [one.name for one in defined] == [one.target for one in relations] == names


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("entities/a.yaml", "name: a\ntype: wizard\n", "not one of person, project"),
        ("entities/a.yaml", "name: '``'\n", "nothing but marks"),
        ("entities/a.yaml", "name: [\n", "no YAML"),
        (
            "entities/a.yaml",
            "<<<<<<< a\nname: a\n=======\nname: b\n>>>>>>> b\n",
            "conflict",
        ),
        ("projects/p/project.json", "[]", "no mapping"),
        ("projects/p/project.json", '{"also": "p"}', "`also`"),
        (
            "projects/p/project.json",
            '<<<<<<< a\n{}\n=======\n{"a": 1}\n>>>>>>> b\n',
            "conflict",
        ),
        ("projects/p/manifests/m.json", "[" * 100_000, "no JSON"),
        ("projects/p/manifests/m.json", '{"packages": [1]}', "`packages`"),
        ("projects/p/manifests/m.json", json.dumps({"tools": ["x"] * 2001}), "`tools`"),
        ("projects/p/manifests/m.json", json.dumps({"tools": ["x" * 101]}), "`tools`"),
    ],
)
def test_a_bad_file_is_one_sentence(path: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        definitions_in(path, text)


def test_what_cannot_be_stored_is_replaced_and_other_files_define_nothing() -> None:
    definitions, _ = definitions_in(
        "projects/p/manifests/m.json", '{"tools": ["a\\ud800b"]}'
    )
    assert definitions[0].spelling == definitions[0].name == "a?b"
    assert definitions_in("feedback/studio.json", "nothing of ours") == ([], [])
