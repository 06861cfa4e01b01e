"""A conversation names the commit that its project was at, where that can be known."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keeplore.memory import parse
from keeplore_hooks.events import Command, Origin, Turn

NOW = datetime.now(UTC).replace(microsecond=0)


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def repository(name: str) -> Path:
    folder = Path.home() / "code" / name
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", f"Begin {name}")
    return folder


def say(workspace, folder: Path, number: int, at: datetime) -> None:
    origin = Origin("claude-code", "s1", str(folder))
    stamp = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    workspace.emit(
        Turn(
            f"t{number}",
            origin,
            stamp,
            f"Question {number} about rounding",
            ("Yes.",),
            stamp,
        )
    )


def commits(workspace) -> dict[str, str]:
    files = [
        parse(path.read_text())
        for path in workspace.root.glob("**/conversations/**/*.md")
    ]
    return {memory.turns[0]: memory.source.get("commit", "") for memory in files}


def test_it_is_the_commit_at_the_last_word(workspace):
    shop = repository("shop")
    say(workspace, shop, 1, NOW)
    first = git(shop, "rev-parse", "HEAD")
    assert commits(workspace) == {"t1": first}
    git(shop, "commit", "-q", "--allow-empty", "-m", "Round")
    say(workspace, shop, 2, NOW)
    assert commits(workspace) == {"t1": git(shop, "rev-parse", "HEAD")} != {"t1": first}


def test_a_session_of_long_ago_has_none(workspace):
    say(workspace, repository("shop"), 1, NOW - timedelta(hours=2))
    assert commits(workspace) == {"t1": ""}


def test_one_that_is_closed_by_a_move_to_another_project_keeps_its_own(workspace):
    shop, bank = repository("shop"), repository("bank")
    say(workspace, shop, 1, NOW)
    say(workspace, bank, 2, NOW)
    workspace.emit(
        Command("c1", Origin("claude-code", "s1", str(bank)), NOW.isoformat(), "deploy")
    )
    assert commits(workspace) == {
        "t1": git(shop, "rev-parse", "HEAD"),
        "t2": git(bank, "rev-parse", "HEAD"),
    }


@pytest.mark.parametrize("folder", ["/nowhere/at/all", "a\0b", "code/plain"])
def test_without_a_repository_there_is_none(workspace, folder):
    (Path.home() / "code" / "plain").mkdir(parents=True)
    say(workspace, Path.home() / folder, 1, NOW)
    assert commits(workspace) == {"t1": ""}
