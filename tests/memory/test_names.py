"""Nothing that stands in a memory can lead its file out of its folder."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.errors import UnsafePath
from keeplore.memory import (
    CATEGORIES,
    Memory,
    file_name,
    is_id,
    new_id,
    relative_path,
    slugify,
)
from keeplore.memory.names import is_project_name, remedy_for_unknown, short_id

ID = "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
# lower-case ASCII, no leading dot or dash, no reserved name: safe on every system and in every
# shell
SAFE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{8}\.md\Z"
)


def memory(**fields: object) -> Memory:
    sound = {
        "id": ID,
        "kind": "note",
        "title": "t",
        "created_at": "2026-02-09T14:03:11Z",
        "scope": "workspace",
    }
    return Memory({**sound, **fields}, "")


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Vector DB architecture", "vector-db-architecture"),
        ("../../etc/passwd", "etc-passwd"),
        ("/absolute", "absolute"),
        ("..", "untitled"),
        ("", "untitled"),
        ("   \n\t", "untitled"),
        ("發票佇列", "fa-piao-zhu-lie"),
        ("遍历web目录", "bian-li-web-mu-lu"),
        ("Обновить документы", "obnovit-dokumenty"),
        ("✅ · —", "untitled"),
        ("Größe: naïve café", "grosse-naive-cafe"),
        ("Ledgerly™ № 5", "ledgerlytm-no-5"),
        ("CON", "con-x"),
        ("nul", "nul-x"),
        ("Com1", "com1-x"),
        ("console", "console"),
        ("-rf --no-preserve-root", "rf-no-preserve-root"),
        ("a\nb\0c", "a-b-c"),
        ("C:\\Windows\\system32", "c-windows-system32"),
        ("x" * 300, "x" * 60),
        ("word " * 60, "word-" * 11 + "word"),
        ("a" * 59 + " b", "a" * 59),
        ("\u202egnp.exe", "gnp-exe"),
    ],
)
def test_a_title_becomes_a_slug(title: str, slug: str) -> None:
    assert slugify(title) == slug


@given(st.text(), st.text())
def test_every_file_name_is_safe_on_every_system(title: str, created_at: str) -> None:
    name = file_name(memory(title=title, created_at=created_at))
    assert SAFE.match(name)
    assert len(name) <= 90


@given(st.text(), st.text(), st.text(), st.text(), st.text())
def test_every_path_stays_in_its_folder(
    title: str, kind: str, scope: str, project: str, category: str
) -> None:
    hostile = memory(
        title=title, kind=kind, scope=scope, project=project, category=category
    )
    try:
        path = PurePosixPath(relative_path(hostile))
    except UnsafePath:
        assert scope in ("project", "repo") and not is_project_name(project)
        return
    assert not path.is_absolute()
    assert ".." not in path.parts
    assert path.parts[0] in ("memory", "projects", "user")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({}, "memory/facts/2026-02-09-t-3f0c9a2e.md"),
        (
            {"kind": "conversation"},
            "memory/conversations/2026/02/2026-02-09-t-3f0c9a2e.md",
        ),
        ({"kind": "document"}, "memory/documents/2026-02-09-t-3f0c9a2e.md"),
        (
            {"scope": "user", "category": "coding-preferences"},
            "user/memory/preferences/2026-02-09-t-3f0c9a2e.md",
        ),
        (
            {
                "scope": "project",
                "project": "kasha-api",
                "category": "architectural-decisions",
            },
            "projects/kasha-api/memory/decisions/2026-02-09-t-3f0c9a2e.md",
        ),
        (
            {"scope": "repo", "project": "a"},
            "projects/a/memory/facts/2026-02-09-t-3f0c9a2e.md",
        ),
        ({"created_at": "yesterday"}, "memory/facts/0000-00-00-t-3f0c9a2e.md"),
        ({"created_at": "٢٠٢٦-٠٢-٠٩"}, "memory/facts/0000-00-00-t-3f0c9a2e.md"),
    ],
)
def test_a_memory_has_its_place(fields: dict[str, object], path: str) -> None:
    assert relative_path(memory(**fields)) == path


def test_every_category_has_a_folder_of_its_own() -> None:
    paths = {
        relative_path(memory(category=category)).split("/")[1]
        for category in CATEGORIES
    }
    assert len(paths) == len(CATEGORIES)


@pytest.mark.parametrize(
    "project",
    [
        "",
        "..",
        ".git",
        ".",
        "-rf",
        "a/b",
        "a\\b",
        "A",
        "con",
        "con.api",
        "nul",
        "a" * 64,
        "a ",
        "a\n",
        "a.",
        "ä",
        "a:b",
    ],
)
def test_a_project_name_that_is_no_safe_folder_is_refused(project: str) -> None:
    with pytest.raises(
        UnsafePath, match="cannot be a project's folder name"
    ) as refusal:
        relative_path(memory(scope="project", project=project))
    assert refusal.value.remedy


@pytest.mark.parametrize(
    "project", ["a", "kasha-api", "3d", "a_b.c", "a" * 63, "console"]
)
def test_a_project_name_that_is_a_safe_folder_is_taken(project: str) -> None:
    assert relative_path(memory(scope="project", project=project)).startswith(
        f"projects/{project}/memory/"
    )


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "mem_",
        "../" + ID,
        ID.upper(),
        ID + "\n",
        ID[:-1],
        "mem_" + "g" * 36,
        None,
        7,
    ],
)
def test_a_memory_without_a_sound_id_has_no_file_name(bad: object) -> None:
    with pytest.raises(UnsafePath, match="not a memory id"):
        file_name(memory(id=bad))


def test_the_same_parts_give_the_same_id_on_every_machine() -> None:
    assert (
        new_id("claude-code", "session", "turn")
        == "mem_067275ab-c906-5ab1-a939-5aa7a5136cd1"
    )
    assert new_id("a", "b") != new_id("ab")
    assert new_id() != new_id()
    assert is_id(new_id()) and is_id(new_id("a"))


def test_an_id_is_known_to_a_person_by_eight_digits_and_four_at_least() -> None:
    assert short_id(ID) == "3f0c9a2e"
    few = [remedy_for_unknown(digits) for digits in ("mem_3F0", "3f0", "")]
    assert (
        few == ["An id needs at least 4 of its digits; `keeplore list` prints them"] * 3
    )
    assert remedy_for_unknown("3f0c") == "`keeplore recall 3f0c` looks for those words"
