"""A team that keeps its notes in the code's repository: from a host's payload in one clone to what
an agent is told in another.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from live_session import Live
from ready import Done, keeplore

from keeplore.config.places import Places
from keeplore.recall.brief import brief
from keeplore.recall.prompt_context import for_prompt, prompt_context
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

ADA, BEN = "ada@example.invalid", "ben@example.invalid"
ROOM = TextBudget(3000, 60_000)
RULE = "amounts are kept in integer cents, never in floats"
Git = Callable[..., str]


@dataclass
class Member:
    """One of the team: a workspace of their own, and a clone of the code."""

    places: Places
    code: Path
    git: Git

    def run(self, *arguments: str, cwd: Path | None = None) -> Done:
        return keeplore(
            *arguments,
            cwd=cwd or self.code,
            KEEPLORE_STATE_DIR=str(self.places.state),
            KEEPLORE_CACHE_DIR=str(self.places.cache),
        )

    def does(self, *arguments: str, cwd: Path | None = None) -> str:
        done = self.run(*arguments, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def recalls(self, question: str, cwd: Path | None = None) -> list[str]:
        asked = self.does("recall", "--json", question, cwd=cwd)
        return [hit["passage"] for hit in json.loads(asked)["hits"]]

    def brief(self) -> str:
        with Registry(self.places) as registry:
            views = registry.views(self.code)
            return brief(views, session="s", source="startup", room=ROOM)[0]

    def beside(self, prompt: str) -> str:
        asked = for_prompt(0.0, already=())
        with Registry(self.places) as registry:
            request = RecallRequest(prompt, self.code, text_only=True, filter=asked)
            return prompt_context(registry.recall(request), room=ROOM)[0]

    def notes(self) -> list[Path]:
        return sorted((self.code / ".keeplore" / "memory").rglob("*.md"))

    def in_git(self, *arguments: str) -> str:
        return self.git(*arguments, cwd=self.code)

    def commits(self, message: str = "Notes") -> None:
        self.in_git("add", ".keeplore")
        self.in_git("commit", "-qm", message)


@pytest.fixture
def remote(home: Path, git: Git) -> Path:
    bare = home / "ledgerly.git"
    git("init", "-q", "--bare", "-b", "main", bare, cwd=home)
    seed = home / "seed"
    git("clone", "-q", bare, seed, cwd=home)
    (seed / "app.py").write_text("print('ledger')\n")
    git("add", "app.py", cwd=seed)
    git("commit", "-qm", "Begin", cwd=seed)
    git("push", "-q", "origin", "HEAD:main", cwd=seed)
    return bare


@pytest.fixture
def join(home: Path, git: Git, remote: Path) -> Callable[..., Member]:
    def join(email: str, code: Path, places: Places) -> Member:
        code.parent.mkdir(parents=True, exist_ok=True)
        git("clone", "-q", remote, code, cwd=home)
        git("config", "user.email", email, cwd=code)
        initialise(places, places.state.parent / "memory")
        return Member(places, code, git)

    return join


@pytest.fixture
def ada(home: Path, join: Callable[..., Member]) -> Member:
    places = Places.from_environment(os.environ)
    return join(ADA, home / "code" / "ledgerly", places)


@pytest.fixture
def ben(home: Path, join: Callable[..., Member]) -> Member:
    places = Places(home / "ben" / "state", home / "ben" / "cache")
    return join(BEN, home / "ben" / "code" / "ledgerly", places)


def says(words: str, session: str = "one") -> None:
    """What Ada's host tells of a prompt in her clone."""
    live = Live(session, itertools.count())
    live.hear("SessionStart", source="startup")
    live.user("u1", words)
    live.hear("UserPromptSubmit", prompt=words)
    live.say("a1", "I will keep to that.", "u1")
    live.hear("Stop")


def test_what_one_says_the_other_recalls_after_both_agreed(
    ada: Member, ben: Member
) -> None:
    ada.does("projects", "in-repo", "--yes")
    says(f"Remember that {RULE}.")
    (note,) = ada.notes()
    assert RULE in note.read_text()
    # nothing of it is committed or staged, and the conversation stays in the workspace
    assert ada.in_git("status", "--porcelain") == "?? .keeplore/"
    own = ada.places.state.parent / "memory" / "projects" / "ledgerly" / "memory"
    assert [path.name for path in own.iterdir()] == ["conversations"]
    ada.commits()
    ada.in_git("push", "-q", "origin", "HEAD:main")

    ben.in_git("pull", "-q", "origin", "main")
    # a clone is a stranger's text: nothing of it is read before he agrees
    asked = ben.run("recall", "In which unit are amounts kept?")
    assert RULE not in asked.stdout and "in-repo" in asked.stderr
    assert "not accepted" in ben.does("projects", "in-repo", "--yes")
    assert any(RULE in passage.lower() for passage in ben.recalls("amounts kept"))
    assert RULE not in ben.brief().lower()
    assert RULE not in ben.beside("how are amounts kept?").lower()
    ben.does("projects", "in-repo", "--accept", ADA)
    assert RULE in ben.brief().lower()
    assert RULE in ben.beside("how are amounts kept?").lower()


def test_both_edit_a_note_and_git_joins_it_by_fields(ada: Member, ben: Member) -> None:
    ada.does("projects", "in-repo", "--yes")
    ada.does("remember", "The gateway waits 30 s.\n\nThe ledger waits 20 s.")
    ada.commits()
    ada.in_git("push", "-q", "origin", "HEAD:main")
    ben.in_git("pull", "-q", "origin", "main")
    ben.does("projects", "in-repo", "--yes")
    _changed(ada, ("20 s", "25 s"), ("version: 1", "version: 1\npermanent: true"))
    ada.in_git("push", "-q", "origin", "HEAD:main")
    _changed(ben, ("30 s", "35 s"), ("version: 1", "version: 1\nconfidence: 0.5"))
    ben.in_git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    text = ben.notes()[0].read_text()
    for part in ("35 s", "25 s", "permanent: true", "confidence: 0.5"):
        assert part in text
    assert ben.in_git("status", "--porcelain") == ""


def test_marks_that_git_leaves_without_the_driver_are_mended_by_doctor(
    ada: Member, ben: Member, git: Git
) -> None:
    ada.does("projects", "in-repo", "--yes")
    ada.does("remember", "The gateway waits 30 s.")
    ada.commits()
    ada.in_git("push", "-q", "origin", "HEAD:main")
    ben.in_git("pull", "-q", "origin", "main")
    ben.does("projects", "in-repo", "--yes")
    ben.in_git("config", "--remove-section", "merge.keeplore")
    _changed(ada, ("version: 1", "version: 1\npermanent: true"))
    ada.in_git("push", "-q", "origin", "HEAD:main")
    _changed(ben, ("version: 1", "version: 1\nconfidence: 0.5"))
    pull = ("git", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert subprocess.run(
        pull, cwd=ben.code, capture_output=True, check=False
    ).returncode
    assert "<<<<<<<" in ben.notes()[0].read_text()
    told = ben.run("doctor")
    assert "waits in a merge" in told.stdout
    assert "joined by fields" in ben.run("doctor", "--fix").stdout
    text = ben.notes()[0].read_text()
    assert "permanent: true" in text and "confidence: 0.5" in text and "<<<" not in text
    # the person stages and commits it
    assert ben.in_git("status", "--porcelain").startswith("UU ")
    ben.commits("Merge")
    assert [*map(str.strip, ben.recalls("gateway"))] == ["The gateway waits 30 s."]


def _changed(member: Member, *replaced: tuple[str, str]) -> None:
    (note,) = member.notes()
    text = note.read_text()
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new, 1)
    note.write_text(text)
    member.commits("Change a note")
