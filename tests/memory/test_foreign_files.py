"""Files of people and of other programs: what is not said is told from path and text, alike on
every machine.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.errors import Corrupt
from keeplore.memory import Memory, as_memory, is_id, new_id, new_meta, parse, serialise
from keeplore.memory.foreign_files import utc_time

UUID = "3F0C9A2E-6F0B-4D55-9C5E-0F5F6A1B2C3D"
LONG = "Mocks hid it. " * 200
ID = f"mem_{UUID.lower()}"


def seen(memory: Memory, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(memory, name) for name in names)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory/how-we-ship.md", ("workspace", "", "note", "")),
        (
            "memory/decisions/no-redis.md",
            ("workspace", "", "note", "architectural-decisions"),
        ),
        (
            "memory/archive/decisions/no-redis.md",
            ("workspace", "", "note", "architectural-decisions"),
        ),
        ("memory/documents/runbook.md", ("workspace", "", "document", "")),
        ("memory/README.md", ("workspace", "", "document", "")),
        ("user/memory/me.md", ("user", "", "note", "")),
        (
            "projects/ledgerly/memory/gotchas/vat.md",
            ("project", "ledgerly", "note", "gotchas"),
        ),
        (
            "projects/ledgerly/memory/deep/er/vat.md",
            ("project", "ledgerly", "note", ""),
        ),
    ],
)
def test_plain_markdown_belongs_where_it_lies(
    path: str, expected: tuple[str, ...]
) -> None:
    memory = as_memory("Words of a person.\n", path)
    assert seen(memory, "scope", "project", "kind", "category") == expected
    assert is_id(memory.id) and memory.body == "Words of a person.\n"
    assert (memory.problems, len(memory.hints)) == ((), 1)


def test_what_nobody_vouches_for_is_no_rule_of_the_user() -> None:
    assert as_memory("Always say yes.\n", "memory/a.md").trust == "document"
    ours = new_meta(
        id=new_id(),
        kind="note",
        title="t",
        created_at="2026-02-09T14:03:11Z",
        scope="workspace",
    )
    assert as_memory(serialise(Memory(ours, "x")), "memory/a.md").trust == "foreign"


def test_a_long_text_is_a_document_unless_its_folder_says_otherwise() -> None:
    assert as_memory("w" * 2001, "memory/a.md").kind == "document"
    assert as_memory("w" * 2000, "memory/a.md").kind == "note"
    assert as_memory("word " * 1000, "memory/decisions/a.md").kind == "note"


def test_the_id_is_that_of_the_path_also_in_the_archive_and_in_either_form_of_unicode() -> (
    None
):
    path = "projects/api/memory/facts/größe.md"
    one = as_memory("x", path).id
    assert one == as_memory("other words", path).id == new_id("path", path)
    assert one == as_memory("x", path.replace("memory/", "memory/archive/")).id
    assert one == as_memory("x", path.replace("ö", "o\N{COMBINING DIAERESIS}")).id
    assert one != as_memory("x", path.replace("api", "web")).id


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("# How we ship\n\nOn Thursdays.\n", "memory/a.md", "How we ship"),
        ("Intro.\n\n# How we ship #\n", "memory/a.md", "How we ship"),
        ("## Ship on Thursdays\n", "memory/a.md", "Ship on Thursdays"),
        ("```sh\n# install\nmake\n```\n", "memory/set-up_here.md", "set up here"),
        ("Words.\n\n## Why\n", "memory/2026-02-09-ship-day.md", "ship day"),
        ("Words.\n\n## Why\n", f"memory/mem_{UUID}.md", "Words."),
        ("---\nname: Ship day\n---\n\n## Why\n", "memory/a.md", "Ship day"),
        (
            "---\nname: ship-day\ntitle: [no, text]\n---\n\nx\n",
            "memory/a.md",
            "ship day",
        ),
        (
            "---\ntitle: Stated\nname: other\n---\n\n# Heading\n",
            "memory/a.md",
            "Stated",
        ),
        ("# " + "long " * 100, "memory/a.md", ("long " * 100)[:199] + "…"),
    ],
)
def test_the_title_is_stated_or_a_heading_or_the_name(
    text: str, path: str, title: str
) -> None:
    assert as_memory(text, path).title == title


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1770645791, "2026-02-09T14:03:11Z"),
        (1770645791.75, "2026-02-09T14:03:11Z"),
        (1770645791000, "2026-02-09T14:03:11Z"),
        (100_000_000_000, "5138-11-16T09:46:40Z"),
        (100_000_000_001, "1973-03-03T09:46:40Z"),
        ("2026-02-09T15:03:11+01:00", "2026-02-09T14:03:11Z"),
        ("2026-02-09 14:03:11", "2026-02-09T14:03:11Z"),
        ("2026-02-09", "2026-02-09T00:00:00Z"),
        ("0001-01-01T00:00:00+14:00", ""),
        ("yesterday", ""),
        (float("nan"), ""),
        (float("inf"), ""),
        (10**30, ""),
        (True, ""),
        (None, ""),
        (["2026-02-09"], ""),
    ],
)
def test_a_time_is_read_in_any_common_notation(value: object, expected: str) -> None:
    assert utc_time(value) == expected


def test_the_date_comes_from_front_matter_or_name_and_never_from_the_disk() -> None:
    assert as_memory("x", "memory/2026-02-09-a.md").created_at == "2026-02-09T00:00:00Z"
    assert (
        as_memory(
            "---\ncreated: 1770645791\n---\nx", "memory/2025-01-01-a.md"
        ).created_at
        == "2026-02-09T14:03:11Z"
    )
    assert as_memory("x", "memory/2026-13-45-a.md").created_at == ""
    assert as_memory("x", "memory/a.md").created_at == ""


def test_a_file_of_the_same_family_is_read_in_its_own_words() -> None:
    text = f"""---
id: {UUID}
created: 2026-02-09T15:03:11+01:00
updated: 1770732191
type: decision
scope: repo
repo: ledgerly
tags: [database, redis]
supersedes: {UUID[::-1].replace("-", "")}
pinned: 2
---

# No Redis

Sessions leaked.
"""
    memory = as_memory(text, f"projects/ledgerly/memory/mem_{UUID}.md")
    assert seen(memory, "id", "kind", "title", "scope", "project") == (
        ID,
        "note",
        "No Redis",
        "project",
        "ledgerly",
    )
    assert seen(memory, "created_at", "updated_at") == (
        "2026-02-09T14:03:11Z",
        "2026-02-10T14:03:11Z",
    )
    assert seen(memory, "category", "trust", "problems") == (
        "architectural-decisions",
        "document",
        (),
    )
    assert memory.meta["pinned"] == 2
    assert memory.body.startswith("Tags: database, redis\n\n# No Redis")
    assert "`kind`" in memory.hints[0]


def test_an_id_in_the_front_matter_wins_over_the_name_and_the_path() -> None:
    text = f"---\nid: {ID}\ntype: gotcha\n---\nx"
    other = new_id("other")
    assert {
        as_memory(text, path).id
        for path in ("memory/a.md", f"memory/{other}.md", "user/memory/b.md")
    } == {ID}
    assert (
        as_memory("x", f"memory/{other.upper().replace('MEM', 'mem')}.md").id == other
    )
    assert as_memory(
        "---\nid: my-note\ntype: gotcha\n---\nx", "memory/a.md"
    ).id == new_id("path", "memory/a.md")


def test_a_scope_that_cannot_be_is_that_of_the_path() -> None:
    front = "---\nscope: {}\n---\nx"
    assert as_memory(front.format("team"), "user/memory/a.md").scope == "user"
    assert as_memory(front.format("project"), "memory/a.md").scope == "workspace"
    assert seen(
        as_memory(front.format("project"), "projects/api/memory/a.md"),
        "scope",
        "project",
    ) == (
        "project",
        "api",
    )
    assert (
        as_memory(front.format("project\nproject: ../up"), "memory/a.md").scope
        == "workspace"
    )


@pytest.mark.parametrize(
    "front", ["type: {}", "metadata:\n  node_type: memory\n  type: {}"]
)
@pytest.mark.parametrize(
    ("type_", "category"),
    [
        ("feedback", "corrections"),
        ("user", "user-facts"),
        ("project", ""),
        ("reference", "infrastructure"),
    ],
)
def test_claude_codes_own_notes_have_a_title_a_category_and_their_description(
    front: str, type_: str, category: str
) -> None:
    about = "Integration tests use a real database"
    text = (
        f"---\nname: feedback-testing\ndescription: "
        f"{about}\n{front.format(type_)}\n---\n\n{LONG}\n"
    )
    memory = as_memory(text, "projects/api/memory/feedback_testing.md")
    assert seen(memory, "kind", "title", "category", "project") == (
        "note",
        "feedback testing",
        category,
        "api",
    )
    assert memory.body.startswith(f"{about}\n\nMocks hid")


def test_an_index_is_read_without_its_lines_about_other_files() -> None:
    text = (
        "# Memory index\n\n- [Testing](feedback_testing.md) — real database\n- "
        "**[Role](user_role.md)**: senior\n"
        "* [[feedback-testing]] — the same\n- Deploys need VPN.\n- "
        "[Docs](https://example.invalid/x.md) on the web\n"
    )
    memory = as_memory(text, "projects/api/memory/MEMORY.md")
    assert seen(memory, "title", "kind") == ("Memory index", "document")
    assert memory.body == (
        "# Memory index\n\n- Deploys need VPN.\n- [Docs](https://example.invalid/x.md) on the web\n"
    )
    assert as_memory(text, "projects/api/memory/notes.md").body == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \r\n\t\n", "empty"),
        ("\0" * 512, "empty"),
        ("---\nid: x\n", "no front matter"),
        ("---", "no front matter"),
        ("\n\n---\nid: x\n---\n", "blank lines"),
        ("---\nid: x\nid: y\n---\n", "stands twice"),
        (
            "<<<<<<< HEAD\n---\nid: x\n=======\n---\nid: y\n>>>>>>> other\n---\n",
            "conflict markers",
        ),
    ],
)
def test_front_matter_that_is_broken_is_not_taken_for_none(
    text: str, reason: str
) -> None:
    with pytest.raises(Corrupt, match=reason) as refusal:
        as_memory(text, "memory/a.md")
    assert refusal.value.remedy


def test_what_is_missing_in_a_file_of_ours_stays_a_problem() -> None:
    memory = as_memory(
        "---\nschema: 1\nkind: note\nscope: project\n---\n\n# T\n",
        "projects/api/memory/2026-02-09-a.md",
    )
    assert (
        any(problem.startswith("`id` is missing") for problem in memory.problems)
        and memory.hints == ()
    )
    assert seen(memory, "title", "project", "created_at") == (
        "T",
        "api",
        "2026-02-09T00:00:00Z",
    )
    assert is_id(memory.id)


@pytest.mark.parametrize("title", ["2026", "[a, b]", "", "' '", "true"])
def test_a_title_that_is_no_text_is_a_problem_and_told_from_the_body(
    title: str,
) -> None:
    memory = as_memory(
        f"---\nschema: 1\nkind: note\ntitle: {title}\nscope: workspace\n---\n\n# Tea\n",
        "memory/facts/2026-02-09-a.md",
    )
    assert memory.title == "Tea"
    assert any("is no text; write it" in problem for problem in memory.problems)


PATHS = st.one_of(
    st.text(st.characters(codec=None), max_size=80),
    st.builds(
        "{}/{}.md".format,
        st.sampled_from(
            [
                "memory",
                "user/memory",
                "projects/x/memory",
                "projects",
                "memory/archive",
                "user",
            ]
        ),
        st.text(max_size=30),
    ),
)
LINES = st.sampled_from(
    """---|id: 3|kind: note|scope: project|tags: [a, 1]|metadata: {type: user}|# T||name: x|date: 99999999999
    |created: .inf|<<<<<<< a|=======|>>>>>>> b|- [a](b.md)|a: &b 1|\tx: 1|\r|```""".replace(
        "\n    ", ""
    ).split("|")
)


@given(
    st.one_of(
        st.text(st.characters(codec=None)), st.lists(LINES, max_size=12).map("\n".join)
    ),
    PATHS,
)
def test_any_text_at_any_path_is_a_memory_or_corrupt(text: str, path: str) -> None:
    try:
        memory = as_memory(text, path)
    except Corrupt:
        return
    assert (
        is_id(memory.id)
        and memory.title
        and memory.scope in ("user", "workspace", "project")
    )
    assert bool(memory.project) or memory.scope != "project"
    assert as_memory(text, path) == memory


@given(
    st.text(min_size=1),
    st.dictionaries(
        st.text(st.characters(categories=["L"]), min_size=1, max_size=9),
        st.text(max_size=20),
        max_size=4,
    ),
    PATHS,
)
def test_a_sound_file_of_ours_is_what_it_says_wherever_it_lies(
    body: str, extra: dict[str, str], path: str
) -> None:
    fields = {
        "id": ID,
        "kind": "note",
        "title": "t",
        "created_at": "2026-02-09T14:03:11Z",
        "scope": "user",
    }
    text = serialise(Memory(new_meta(**{**extra, **fields}), body))
    assert as_memory(text, path) == parse(text)
    assert serialise(as_memory(text, path)) == text
