"""What an agent is told when it begins, shown to whoever asks."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from ready import keeplore

from keeplore.config.places import Places
from keeplore.memory.names import short_id
from keeplore.memory.note import NoteDraft
from keeplore.recall.brief import brief
from keeplore.recall.render import TextBudget
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

RULE = "Prices are kept in cents."


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / "code" / "shop"
    folder.mkdir(parents=True)
    initialise(Places.from_environment(os.environ), home / "memory")
    return folder


def without_delimiter(block: str) -> str:
    return re.sub(r'id="[0-9a-f]+"', "", block)


def test_it_is_what_a_host_is_given(project: Path) -> None:
    with Registry(Places.from_environment(os.environ)) as registry:
        notes = registry.named("memory").notes
        draft = NoteDraft(RULE, project="shop", category="project-conventions")
        written = notes.write(draft).memory
        registry.named("memory").index.refresh()
        views = registry.views(project)
        given, ids = brief(
            views, session="s-1", source="startup", room=TextBudget(1200, 10_000)
        )
    assert ids == (written.id,) and f"{short_id(written.id)})" in given
    done = keeplore("brief", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert without_delimiter(done.stdout) == without_delimiter(given) + "\n"


def test_where_nothing_is_told_it_says_why(project: Path) -> None:
    done = keeplore("brief", cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "note: an agent that begins here is told nothing: nothing is remembered for this "
        "project, or for all; `keeplore list --all-projects` shows what there is\n"
    )
    assert keeplore("config", "set", "context.enabled", "false").returncode == 0
    assert keeplore("brief", cwd=project).stderr == (
        "note: agents are told nothing here: `keeplore config set context.enabled true` "
        "changes that\n"
    )
