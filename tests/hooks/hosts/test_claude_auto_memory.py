"""Which of Claude Code's own notes are read, and of which directory they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore_hooks.hosts.claude.claude_auto_memory import (
    AutoMemoryNotes,
    files_of,
    note_folders,
    slug,
)


def put(folder: Path, *names: str) -> Path:
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    return folder


def test_hidden_files_links_and_other_kinds_are_left_out(tmp_path: Path) -> None:
    names = ("b.md", "a/c.md", ".d.md", ".git/e.md", "f.txt")
    folder = put(tmp_path / "memory", *names)
    (folder / "g.md").symlink_to(folder / "b.md")
    (folder / "h.md").mkdir()
    assert files_of(folder) == ("a/c.md", "b.md")


@pytest.mark.parametrize("count", [2_000, 2_001])
def test_of_one_folder_2000_files_are_read(tmp_path: Path, count: int) -> None:
    names = [f"n{number:04}.md" for number in range(count)]
    assert files_of(put(tmp_path, *names)) == tuple(names[:2_000])


def test_every_sign_but_letters_and_digits_is_a_dash() -> None:
    assert slug("/home/ann/my shop_2") == "-home-ann-my-shop-2"
    assert slug("/ö/🐟") == "-----"


def test_a_folder_of_notes_may_be_of_each_directory_that_is_written_so(
    tmp_path: Path,
) -> None:
    for name in ("my-shop", "my_shop", "my.shop"):
        (tmp_path / "code" / name).mkdir(parents=True)
    project = tmp_path / "base" / "projects" / slug(str(tmp_path / "code" / "my-shop"))
    put(project / "memory", "a.md")
    other = put(tmp_path / "base" / "projects" / "none" / "memory", ".hidden.md")
    (project.parent / "linked").mkdir()
    (project.parent / "linked" / "memory").symlink_to(project / "memory")
    assert other.is_dir()
    [found] = note_folders(tmp_path / "base")
    named = (str(tmp_path / "code" / "my-shop"), str(tmp_path / "code" / "my.shop"))
    assert found == AutoMemoryNotes(project / "memory", ("a.md",), named)
