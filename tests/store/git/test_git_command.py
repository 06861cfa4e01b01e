"""Git in a process of its own: ended with its children when it takes too long, or nobody waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.errors import RepositoryError
from keeplore.store.git.git_command import ignored, run


class Interrupted(Exception):
    """What stops the one who follows."""


def test_git_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError) as raised:
        run(tmp_path, "-c", "alias.wait=!sleep 600", "wait", timeout_s=0.6)
    assert (raised.value.message, raised.value.remedy) == (
        "`git -c` took longer than 1 s",
        "Try again later",
    )


def test_what_git_is_told_to_ignore(tmp_path: Path) -> None:
    run(tmp_path, "init -q")
    (tmp_path / ".gitignore").write_text("*.log\n/a b\n")
    paths = ["x.log", "a b", "y.md", "sub/z.log", "*.md"]
    assert ignored(tmp_path, paths) == {"x.log", "a b", "sub/z.log"}
    assert ignored(tmp_path, []) == set()


def test_git_whose_follower_stops_is_ended(tmp_path: Path) -> None:
    heard: list[str] = []

    def follow(line: str) -> None:
        heard.append(line)
        raise Interrupted

    waiting = "alias.wait=!echo begun >&2; sleep 600"
    with pytest.raises(Interrupted):
        run(tmp_path, "-c", waiting, "wait", on_progress=follow)
    assert heard == ["begun"]
