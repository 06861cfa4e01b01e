"""In which folders Claude Code may keep its own notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.cli.commands.start.connect_ import _elsewhere_error, _is_memory

ROOT = Path("/home/ann/memory")


@pytest.mark.parametrize(
    ("folder", "is_memory"),
    [
        ("memory", True),
        ("user/memory", True),
        ("user/memory/notes", True),
        ("projects/shop/memory", True),
        (".", False),
        ("user", False),
        ("../other/memory", False),
    ],
)
def test_notes_lie_in_the_memory_of_a_workspace(folder: str, is_memory: bool) -> None:
    place = Path("/home/ann/other/memory") if ".." in folder else ROOT / folder
    assert _is_memory(place, ROOT) == is_memory


def test_what_is_elsewhere_is_told_where_it_may_lie() -> None:
    error = _elsewhere_error(Path("/opt/notes"), [ROOT, Path("/srv/team")])
    assert (error.message, error.remedy) == (
        "/opt/notes is not in the memory of a workspace",
        "Name a folder in /home/ann/memory/user/memory, /srv/team/user/memory",
    )
