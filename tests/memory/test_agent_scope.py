"""An agent's name becomes a folder and a key: the same everywhere, of one agent alone, and never a
way out.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.errors import UnsafePath
from keeplore.memory import Memory, as_memory, relative_path
from keeplore.memory.lint_rules import check
from keeplore.memory.location import archived_path, location_of
from keeplore.memory.names import root_of
from keeplore.recall.request import INHERITED, OWN, SIBLING, SearchScope
from keeplore.store.paths import check_written
from keeplore.text.agent_scope import (
    NAME_CHARS,
    agent_name,
    agent_of,
    is_agent_name,
    key_of,
    long_place,
    scope_meta,
    short_place,
)

ID = "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
FRONT = {
    "schema": 1,
    "id": ID,
    "kind": "note",
    "title": "No merge without a test",
    "created_at": "2026-02-09T14:03:11Z",
    "category": "gotchas",
}
NAME = "2026-02-09-no-merge-without-a-test-3f0c9a2e.md"
PATH = f"projects/shop/memory/agents/reviewer/gotchas/{NAME}"


def note(**fields: object) -> Memory:
    return Memory({**FRONT, **fields}, "# No merge without a test\n")


@given(st.text(max_size=200))
def test_any_name_is_a_safe_folder_or_none(named: str) -> None:
    name = agent_name(named)
    assert name == "" or (is_agent_name(name) and len(name) <= NAME_CHARS)
    assert name == agent_name(name)
    if name:
        check_written(f"{root_of(key_of(name), 'shop')}/facts/a.md")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Code Reviewer", "code-reviewer", True),
        ("code_reviewer", " code  reviewer\n", True),
        ("审查", "審查", False),
        ("größe", "grosse", False),
        ("reviewer-" * 9 + "a", "reviewer-" * 9 + "b", False),
    ],
)
def test_two_agents_never_share_a_name_that_was_cut_or_transliterated(
    one: str, other: str, is_same: bool
) -> None:
    assert (agent_name(one) == agent_name(other)) == is_same


def test_half_of_a_surrogate_pair_is_a_letter_as_any_other() -> None:
    assert agent_name("reviewer \udc80") == "reviewer-fa598de7"


@pytest.mark.parametrize("named", ["", "..", "/", "🙂", "\0", " "])
def test_what_has_no_letter_names_nobody(named: str) -> None:
    assert (agent_name(named), agent_of(key_of(named))) == ("", "")


@pytest.mark.parametrize("named", ["Reviewer", "con", "a--b", "-a", "a/b", "a" * 41])
def test_a_name_that_we_would_not_give_is_none(named: str) -> None:
    assert not is_agent_name(named)


def test_a_place_is_shown_and_stated() -> None:
    scope = key_of("reviewer")
    assert scope_meta(scope, "shop") == {
        "scope": "agent",
        "project": "shop",
        "agent": "reviewer",
    }
    assert scope_meta("user", "shop") == {
        "scope": "user",
        "project": None,
        "agent": None,
    }
    assert (short_place(scope, "shop"), long_place(scope, "shop")) == (
        "shop/reviewer",
        "agent reviewer of shop",
    )
    assert (short_place("user", ""), long_place("user", "")) == ("user", "user scope")
    assert long_place("project", "shop") == "project shop"


def test_memory_and_path_say_the_same() -> None:
    mine = note(**scope_meta(key_of("reviewer"), "shop"))
    assert mine.place == ("agent:reviewer", "shop")
    assert relative_path(mine) == PATH
    at = location_of(PATH)
    assert (at.scope, at.project, at.folder, at.category, at.home) == (
        "agent:reviewer",
        "shop",
        "gotchas",
        "gotchas",
        "projects/shop/memory/agents/reviewer",
    )
    archived = archived_path(PATH)
    assert archived == f"projects/shop/memory/archive/agents/reviewer/gotchas/{NAME}"
    there = location_of(archived)
    assert (there.scope, there.is_archived, there.id) == (at.scope, True, at.id)


@pytest.mark.parametrize("agent", [None, "", "..", "Code Reviewer", 7])
def test_memory_of_an_agent_without_a_sound_name_is_nobodys(agent: object) -> None:
    lost = note(scope="agent", project="shop", agent=agent)
    assert lost.place == ("agent:", "shop")
    with pytest.raises(UnsafePath):
        relative_path(lost)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (PATH, ("agent:reviewer", "shop")),
        ("projects/shop/memory/agents/reviewer.md", ("project", "shop")),
        ("projects/shop/memory/agents/Code Reviewer/a.md", ("project", "shop")),
        ("memory/agents/reviewer/a.md", ("workspace", "")),
    ],
)
def test_a_file_without_front_matter_is_for_whom_its_folder_is(
    path: str, place: tuple[str, str]
) -> None:
    found = as_memory("Never merge on a Friday.\n", path)
    assert (found.place, found.problems) == (place, ())


def test_what_is_missing_or_in_the_wrong_folder_is_said() -> None:
    auditors = root_of(key_of("auditor"), "shop")
    front = "".join(f"{key}: {value}\n" for key, value in FRONT.items())
    wrong = f"---\n{front}scope: agent\n---\n\nNo.\n"
    other = f"---\n{front}scope: agent\nproject: shop\nagent: auditor\n---\n\nNo.\n"
    said = [
        [
            (found.message, found.remedy)
            for found in check(PATH, text.encode(), no_secrets).findings
        ]
        for text in (wrong, other)
    ]
    assert said[0][:2] == [
        ("`scope: agent` needs `project: NAME`", "Add it"),
        (
            "`scope: agent` needs `agent: NAME`, in lower-case letters, digits and dashes",
            "Add it",
        ),
    ]
    assert said[1] == [
        (
            "it is of scope agent:auditor shop and lies in projects/shop/memory/agents/reviewer/",
            f"Move it below {auditors}/, or change `scope`, `project` and `agent`",
        )
    ]


def no_secrets(_: bytes) -> list[tuple[int, int, str]]:
    return []


def test_an_agent_has_its_own_first_and_inherits_upward() -> None:
    scope = SearchScope("shop", ("old-shop",), "reviewer")
    assert scope.scopes == (
        ("agent:reviewer", "shop"),
        ("agent:reviewer", "old-shop"),
        ("project", "shop"),
        ("project", "old-shop"),
        ("workspace", ""),
        ("user", ""),
    )
    near = {pair: scope.distance(*pair) for pair in scope.scopes}
    assert [*near.values()] == [OWN] * 4 + [INHERITED] * 2
    for pair in (("agent:builder", "shop"), ("agent:", "shop"), ("project", "other")):
        assert scope.distance(*pair) == SIBLING
    assert SearchScope("", (), "reviewer").scopes == (("workspace", ""), ("user", ""))
