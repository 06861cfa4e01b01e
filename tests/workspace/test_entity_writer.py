"""Entities that people name: added, joined and taken away, by hand too, on several machines at
once.
"""

from __future__ import annotations

import shlex
import shutil

import pytest

from keeplore.errors import AlreadyExists, Corrupt, NotFound, UnsafePath
from keeplore.store import Store
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.lifecycle.sync_workspace import repair_merges
from keeplore.workspace.writing.entity_writer import add, entity_records, remove


def test_an_entity_is_one_file_and_what_is_added_again_joins_it(workspace):
    add(workspace, "fastembed", aliases=["fast-embed"])
    path = workspace.root / "entities" / "fastembed.yaml"
    path.write_text("# makes the vectors\n" + path.read_text())
    entity, has_changed = add(
        workspace, "FastEmbed", "tool", ["the embedder", "fast-embed"]
    )
    assert (entity.name, entity.type, entity.aliases, has_changed) == (
        "fastembed",
        "tool",
        ("fast-embed", "the embedder"),
        True,
    )
    assert (
        path.read_text()
        == "# makes the vectors\nname: fastembed\ntype: tool\naliases:\n- fast-embed\n- the "
        "embedder\n"
    )
    assert add(workspace, "fastembed", "tool")[1] is False
    assert remove(workspace, "Fastembed", ["The Embedder"]) == "fastembed"
    assert (
        path.read_text()
        == "# makes the vectors\nname: fastembed\ntype: tool\naliases:\n- fast-embed\n"
    )
    remove(workspace, "fastembed")
    assert not path.exists()


def test_names_that_differ_by_marks_alone_are_two_entities_and_two_projects_have_their_own(
    workspace,
):
    for name in ("C", "C++", "C#", "Zoë", "Fast Embed", "fast-embed"):
        add(workspace, name)
    add(workspace, "C", aliases=["clang"], project="shop")
    assert [one.entity.name for one in entity_records(workspace.store, "shop")] == ["C"]
    assert len({one.path for one in entity_records(workspace.store, "")}) == 6


REFUSED = [
    ("pg", [], AlreadyExists, "pg is an alias of PostgreSQL"),
    ("MySQL", ["PG"], AlreadyExists, "is an alias of PostgreSQL"),
    ("MySQL", ["postgresql"], AlreadyExists, "entity of its own"),
    ("broken", [], Corrupt, "not the file of"),
    (" ``\u202e ", [], UnsafePath, "can be no name"),
    ("x" * 101, [], UnsafePath, "can be no name"),
    (
        "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
        [],
        UnsafePath,
        "looks like a secret",
    ),
]


def test_what_cannot_be_added_is_told_with_the_next_step(workspace):
    add(workspace, "PostgreSQL", "system", ["pg"])
    folder = workspace.root / "entities"
    (folder / "broken.yaml").write_text("name: [")
    before = {path.name: path.read_text() for path in folder.iterdir()}
    for name, aliases, error, said in REFUSED:
        with pytest.raises(error, match=said) as failure:
            add(workspace, name, aliases=aliases)
        assert failure.value.remedy
    assert {path.name: path.read_text() for path in folder.iterdir()} == before


def test_what_nobody_added_cannot_be_taken_away(workspace):
    add(workspace, "PostgreSQL")
    for name, aliases, said in (
        ("postgres", [], "Did you mean PostgreSQL"),
        ("postgresql", ["x"], "has no alias"),
    ):
        with pytest.raises(NotFound, match=said):
            remove(workspace, name, aliases)


def test_a_next_step_can_be_pasted_into_a_shell_and_names_the_project(workspace):
    save_project(workspace.store, Project("shop"))
    add(workspace, "it's", aliases=["the $x"], project="shop")
    with pytest.raises(AlreadyExists) as taken:
        add(workspace, "the $x", project="shop")
    told = [
        "keeplore",
        "entity",
        "remove",
        "it's",
        "--project",
        "shop",
        "--alias",
        "the $x",
    ]
    assert f"`{shlex.join(told)}`" in taken.value.remedy
    with pytest.raises(NotFound) as unknown:
        remove(workspace, "It's")
    assert "`--project shop`" in unknown.value.remedy


def test_two_machines_that_add_one_entity_come_to_the_same_whoever_merges(
    workspace, git, tmp_path
):
    add(workspace, "redis", aliases=["old"])
    workspace.commit()
    roots = [workspace.root, tmp_path / "other"]
    git("clone", "-q", str(workspace.root), str(roots[1]), cwd=tmp_path)
    for root, alias in zip(roots, ("cache", "Redis Stack"), strict=True):
        for name, said in (
            ("redis", f"name: redis\ntype: system\naliases: [{alias}]\n"),
            ("kafka", f"name: kafka\naliases: [{alias} bus, log]\n"),
        ):
            (root / "entities" / f"{name}.yaml").write_text(said)
        assert Store(root).commit().commit
    copies = [
        shutil.copytree(root, tmp_path / f"copy-{number}")
        for number, root in enumerate(roots)
    ]
    results = []
    for root, other in ((copies[0], roots[1]), (copies[1], roots[0])):
        git("fetch", "-q", str(other), "main", cwd=root)
        store = Store(root)
        store.merge(git("rev-parse", "FETCH_HEAD", cwd=root))
        results.append(
            {path.name: path.read_text() for path in (root / "entities").iterdir()}
        )
        assert git("status", "--porcelain", cwd=root) == ""
        assert [
            (one.entity.name, one.entity.type, one.entity.aliases)
            for one in entity_records(store, "")
        ] == [
            ("kafka", "unknown", ("cache bus", "log", "Redis Stack bus")),
            ("redis", "system", ("cache", "Redis Stack")),
        ]
    assert results[0] == results[1]


def test_a_broken_file_is_a_problem_of_its_own_and_what_a_plain_merge_left_is_mended(
    workspace,
):
    add(workspace, "redis", aliases=["cache"])
    folder = workspace.root / "entities"
    (folder / "bad.yaml").write_text("name: [")
    workspace.commit()
    whole = (folder / "redis.yaml").read_text()
    torn = whole.replace(
        "- cache\n", "<<<<<<< HEAD\n- cache\n=======\n- Redis Stack\n>>>>>>> theirs\n"
    )
    (folder / "redis.yaml").write_text(torn)
    workspace.index.refresh()
    assert [path for path, _ in workspace.index.problems()] == [
        "entities/bad.yaml",
        "entities/redis.yaml",
    ]
    repair_merges(workspace)
    workspace.index.refresh()
    assert [
        (path, "no YAML" in problem) for path, problem in workspace.index.problems()
    ] == [("entities/bad.yaml", True)]
    assert workspace.index.graph.entity("Redis Stack").aliases == (
        "cache",
        "redis stack",
    )
