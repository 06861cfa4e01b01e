"""What a person's choice of projects means here: rules held against what is known, and memory from
before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sample_note import note

from keeplore.config.capture_choice import CaptureRule
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.person_choice import (
    HeldRule,
    captured_before,
    exclude,
    forget_captured,
    held_rules,
    include,
    is_captured,
    known_places,
    means_something,
)


def ruled(*texts: str) -> tuple[CaptureRule, ...]:
    return tuple(map(CaptureRule.parse, texts))


@pytest.fixture
def projects(workspace: Workspace, home: Path) -> None:
    """Projects with memory, but for one; of one no directory is known, and one has two names."""
    for name, path, also in (
        ("api", "~/code/api", ("old-api",)),
        ("bank", "~/code/bank", ()),
        ("nowhere", "", ()),
        ("silent", "~/code/silent", ()),
    ):
        save_project(workspace.store, Project(name, path=path, also=also))
        (home / path.removeprefix("~/") / "docs").mkdir(parents=True, exist_ok=True)
    for title, project in (
        ("A", "api"),
        ("B", "old-api"),
        ("C", "bank"),
        ("D", "nowhere"),
    ):
        workspace.store.save(note(title, scope="project", project=project))
    a = note("A")
    workspace.store.save(
        note("A2", scope="project", project="api", supersedes=a.id, version=2)
    )
    workspace.store.save(note("Everywhere"))
    workspace.store.commit()


@pytest.fixture
def chosen(registry: Registry, projects: None) -> Callable[..., list[HeldRule]]:
    """``chosen(act, *rules, is_shared=False)``: what stands then."""

    def chosen(act: str, *texts: str, is_shared: bool = False) -> list[HeldRule]:
        own = registry.named("memory")
        if act == "exclude":
            exclude(own, ruled(*texts), is_shared=is_shared)
        elif act == "include":
            include(registry, own, ruled(*texts), is_shared=is_shared)
        here = Path.home() / "code" / "bank"
        return held_rules(registry, registry.named("memory"), here)

    return chosen


def test_rules_are_told_with_what_they_mean_here(
    chosen: Callable[..., list[HeldRule]], registry: Registry
) -> None:
    code = Path.home() / "code"
    assert [(one.name, one.directory) for one in known_places(registry)] == [
        ("api", str(code / "api")),
        ("bank", str(code / "bank")),
        ("nowhere", ""),
        ("silent", str(code / "silent")),
    ]
    meant: dict[str, tuple[str, ...]] = {
        "project:api": ("api",),
        "path:~/code": ("api", "bank", "silent"),
        "path:~/code/bank/docs": ("~/code/bank/docs",),
        "path:~/gone": (),
        "project:x*": (),
        "remote:host/x": (),
        "pattern:bank": ("bank",),
    }
    chosen("exclude", *meant)
    (shared,) = ruled("project:*a*")
    assert chosen("exclude", str(shared), is_shared=True) == [
        *(
            HeldRule(*ruled(rule), False, "machine", names)
            for rule, names in meant.items()
        ),
        HeldRule(shared, False, "memory", ("api", "bank")),
    ]
    assert [means_something(registry, ruled(rule)) for rule in meant] == [
        bool(names) for names in meant.values()
    ]


@pytest.mark.parametrize(
    ("rule", "wider", "is_written"),
    [
        ("project:api", "project:ap*", True),
        ("remote:host/o/api", "remote:host/o/*", True),
        ("path:~/code/api", "path:~/code", True),
        (
            "pattern:api",
            "pattern:ap*",
            False,
        ),  # it means no place of which this could be asked
    ],
)
def test_an_inclusion_is_written_where_another_rule_still_leaves_it_out(
    chosen: Callable[..., list[HeldRule]], rule: str, wider: str, is_written: bool
) -> None:
    def held(act: str, *rules: str) -> list[tuple[str, bool]]:
        return [(str(one.rule), one.may) for one in chosen(act, *rules)]

    assert held("exclude", rule, wider) == [(rule, False), (wider, False)]
    assert held("include", rule) == [(wider, False), (rule, True)][: 1 + is_written]
    held("include", rule, wider)
    assert held("exclude", rule) == [(rule, False)]
    assert held("include", rule) == []


def test_whether_to_include_a_place_changes_anything(
    chosen: Callable[..., list[HeldRule]], registry: Registry
) -> None:
    place, bank = Path.home() / "code" / "api", Path.home() / "code" / "bank"

    def told(rule: str, directory: Path) -> tuple[bool, bool]:
        own = registry.named("memory")
        return tuple(  # type: ignore[return-value]
            is_captured(own, ruled(rule), directory, is_shared=is_shared)
            for is_shared in (False, True)
        )

    assert told("project:api", place) == (True, True)
    chosen("exclude", "project:gone", is_shared=True)
    assert told("project:gone", bank) == (True, False)
    chosen("exclude", "project:api")
    assert told("project:api", place) == (False, False)
    assert told("project:api", bank) == (False, True)


def test_memory_from_before_is_that_of_whole_projects_and_goes_in_a_commit_each(
    chosen: Callable[..., list[HeldRule]],
    registry: Registry,
    workspace: Workspace,
    git: Callable[..., str],
) -> None:
    rules = (
        "project:api",
        "project:nowhere",
        "path:~/code/bank/docs",
        "path:~/code/silent",
    )
    assert captured_before(registry, ruled(*rules)) == []
    chosen("exclude", *rules, "project:bank")
    found = captured_before(registry, ruled(*rules))
    assert [
        (one.workspace.name, one.project, [row.title for row in one.rows])
        for one in found
    ] == [("memory", "api", ["A", "A2", "B"]), ("memory", "nowhere", ["D"])]
    manifest = f"projects/api/manifests/{workspace.machine}.json"
    (workspace.root / manifest).parent.mkdir(parents=True)
    (workspace.root / manifest).write_text("{}")
    workspace.store.commit()
    forget_captured(found)
    left = (workspace.store.load(file.path).title for file in workspace.store.scan())
    assert sorted(left) == ["C", "Everywhere"]
    assert not (workspace.root / manifest).exists()
    assert git("log", "-2", "--format=%s", cwd=workspace.root).splitlines() == [
        "Forget what was captured of nowhere",
        "Forget what was captured of api",
    ]
