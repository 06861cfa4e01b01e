"""What the path of a file says of the memory in it, whoever gave it its name."""

from __future__ import annotations

import pytest

from keeplore.memory.location import (
    archived_path,
    digits_of,
    location_of,
    names_id,
    precedence,
)

UUID = "3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
ID = f"mem_{UUID}"
GIVEN = "2026-02-09-use-pnpm-3f0c9a2e.md"
SHOP = "projects/shop/memory"
AGENTS = f"{SHOP}/agents/reviewer"


@pytest.mark.parametrize(
    ("path", "place", "folder", "home"),
    [
        (f"memory/facts/{GIVEN}", ("workspace", ""), "facts", "memory"),
        ("memory/facts.md", ("workspace", ""), "", "memory"),
        ("memory/agents/reviewer/a.md", ("workspace", ""), "agents", "memory"),
        ("user/memory/preferences/a.md", ("user", ""), "preferences", "user/memory"),
        ("user/a.md", ("user", ""), "", "user/a.md"),
        (f"{SHOP}/conversations/2026/02/a.md", ("project", "shop"), "conversations", SHOP),
        (f"{SHOP}/archive/gotchas/a.md", ("project", "shop"), "gotchas", SHOP),
        (f"{SHOP}/archive", ("project", "shop"), "", SHOP),
        (f"{AGENTS}/gotchas/a.md", ("agent:reviewer", "shop"), "gotchas", AGENTS),
        (f"{AGENTS}/a.md", ("agent:reviewer", "shop"), "", AGENTS),
        (f"{SHOP}/archive/agents/reviewer/a.md", ("agent:reviewer", "shop"), "", AGENTS),
        (f"{AGENTS}.md", ("project", "shop"), "agents", SHOP),
        ("projects/shop", ("workspace", ""), "", "projects/shop"),
        ("README.md", ("workspace", ""), "", "README.md"),
    ],
)  # fmt: skip
def test_a_folder_says_whose_a_memory_is(
    path: str, place: tuple[str, str], folder: str, home: str
) -> None:
    found = location_of(path)
    assert ((found.scope, found.project), found.folder, found.home) == (
        place,
        folder,
        home,
    )


@pytest.mark.parametrize(
    ("name", "day", "words", "digits"),
    [
        (GIVEN, "2026-02-09", "use pnpm 3f0c9a2e", "3f0c9a2e"),
        ("2026-02-09.md", "2026-02-09", "", ""),
        ("2026-02-09 _ Use__pnpm - always.md", "2026-02-09", "Use pnpm always", ""),
        ("2026-02-30-use-pnpm.md", "", "2026 02 30 use pnpm", ""),
        ("٢٠٢٦-٠٢-٠٩-a.md", "", "٢٠٢٦ ٠٢ ٠٩ a", ""),
        (f"2026-02-09-{UUID}.md", "2026-02-09", "", ""),
        (f"{ID.upper()}.md", "", "", "3f0c9a2e"),
        (f"{ID}.txt", "", f"{ID}.txt".replace("_", " ").replace("-", " "), ""),
    ],
)
def test_a_name_says_when_and_what(
    name: str, day: str, words: str, digits: str
) -> None:
    path = f"memory/facts/{name}"
    found = location_of(path)
    assert (found.day, found.words, digits_of(path)) == (day, words, digits)


def test_a_file_has_one_id_in_and_outside_of_the_archive_however_its_name_is_spelt() -> (
    None
):
    # one that is made of the path is the same in each version of Keeplore
    assert location_of("memory/facts/über uns.md").id == (
        "mem_6cf0f1da-e425-521e-9a91-80aaa0e401a9"
    )
    for path in (f"memory/{ID}.md", f"{AGENTS}/a.md", "memory/facts/über uns.md"):
        moved = archived_path(path)
        assert (location_of(path).is_archived, location_of(moved).is_archived) == (
            False,
            True,
        )
        assert archived_path(moved) == moved
        assert location_of(moved).id == location_of(path).id
    assert location_of(f"memory/MEM_{UUID.upper()}.md").id == ID
    assert location_of("memory/u\u0308ber.md").id == location_of("memory/über.md").id
    assert location_of("memory/a.md").id != location_of("user/memory/a.md").id


def test_of_files_with_one_id_the_live_one_with_its_name_changed_last_is_used() -> None:
    early, late = "2026-02-09T00:00:00Z", "2026-03-09T00:00:00Z"
    best_first = [
        (f"memory/facts/{GIVEN}", early),
        (f"memory/{ID}.md", ""),
        ("memory/facts/mine.md", late),
        ("memory/facts/z.md", early),
        ("memory/facts/a.md", early),
        (f"memory/archive/facts/{GIVEN}", late),
        ("memory/archive/facts/z.md", late),
    ]
    named = [path for path, _ in best_first if names_id(path, ID)]
    assert named == [best_first[0][0], best_first[1][0], best_first[5][0]]
    ranked = sorted(
        best_first, key=lambda file: precedence(file[0], ID, file[1]), reverse=True
    )
    assert ranked == best_first
