"""The list of workspaces: looked at, changed, and never a reason to lose a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ready import keeplore

from keeplore.config.consent import Consents, ConsentUse
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.memory.note import NoteDraft
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.from_environment(os.environ)
    for name in ("memory", "work", "team"):
        initialise(places, home / name)
    return places


def test_they_are_listed_home_first(places: Places, home: Path) -> None:
    assert keeplore("workspaces").stdout.splitlines() == [
        f"memory\t{home / 'memory'}\thome",
        f"team\t{home / 'team'}\t",
        f"work\t{home / 'work'}\t",
    ]
    (home / "team" / "keeplore.yaml").unlink()
    told = json.loads(keeplore("workspaces", "list", "--json").stdout)
    assert told == json.loads(keeplore("workspaces", "--json").stdout)
    assert [(one["name"], one["is_home"], one["is_there"]) for one in told] == [
        ("memory", True, True),
        ("team", False, False),
        ("work", False, True),
    ]


def test_another_one_becomes_home(places: Places) -> None:
    assert keeplore("workspaces", "home", "work").returncode == 0
    assert Machine.load(places).home == "work"
    done = keeplore("workspaces", "home", "nowhere")
    assert done.returncode == 1 and "It knows: memory, team, work" in done.stderr


def test_removing_one_keeps_every_file_of_it(places: Places, home: Path) -> None:
    with Registry(places) as registry:
        registry.named("team").notes.write(NoteDraft("Use pnpm"))
    before = {
        path: path.read_bytes() for path in (home / "team").rglob("*") if path.is_file()
    }
    Consents(places.state).accept(
        home / "team", ConsentUse.EMBEDDING, "https://models.example.com:443/v1#m"
    )
    done = keeplore("workspaces", "remove", "team")
    assert not Consents(places.state).has(
        home / "team", ConsentUse.EMBEDDING, "https://models.example.com:443/v1#m"
    )
    assert (
        done.returncode == 0
        and str(home / "team") in done.stdout
        and "stay" in done.stdout
    )
    assert {
        path: path.read_bytes() for path in (home / "team").rglob("*") if path.is_file()
    } == before
    assert sorted(Machine.load(places).workspaces) == ["memory", "work"]
    assert not (places.cache / "index" / "team").exists()
    assert keeplore("init", "team").returncode == 0
    with Registry(places) as registry:
        team = registry.named("team")
        team.index.refresh()
        assert team.index.state().memories == 1


def test_the_home_workspace_is_only_removed_when_it_is_clear_which_one_follows(
    places: Places,
) -> None:
    done = keeplore("workspaces", "remove", "memory")
    assert done.returncode == 1 and "workspaces home NAME" in done.stderr
    assert keeplore("workspaces", "remove", "team").returncode == 0
    assert keeplore("workspaces", "remove", "memory").returncode == 0
    assert Machine.load(places).home == "work"
    assert keeplore("workspaces", "remove", "work").returncode == 0
    assert keeplore("workspaces").stdout == ""
    assert (
        keeplore("init", "memory").returncode == 0
        and Machine.load(places).home == "memory"
    )


def test_a_renamed_one_keeps_its_index_and_its_part_as_home(
    places: Places, home: Path
) -> None:
    with Registry(places) as registry:
        registry.named("memory").notes.write(NoteDraft("Use pnpm"))
    done = keeplore("workspaces", "rename", "memory", "private")
    assert done.returncode == 0 and "inherits: [memory]" in done.stderr
    machine = Machine.load(places)
    assert (
        machine.home == "private" and machine.workspaces["private"] == home / "memory"
    )
    assert (places.cache / "index" / "private" / "index.sqlite3").exists()
    assert "Use pnpm" in keeplore("recall", "--text", "pnpm").stdout
    for new, words in (("work", "another workspace"), ("../up", "cannot be the name")):
        done = keeplore("workspaces", "rename", "private", new)
        assert done.returncode == 1 and words in done.stderr


def test_a_workspace_that_is_inherited_and_not_here_is_told_of(
    places: Places, home: Path
) -> None:
    settings = home / "memory" / "keeplore.yaml"
    text = settings.read_text()
    assert "inherits: []" in text
    settings.write_text(text.replace("inherits: []", "inherits: [team, taem]"))
    told = keeplore("doctor").stdout
    assert "it inherits 'taem', which is no workspace of this machine" in told
    assert "it inherits 'team'" not in told


def test_a_name_that_is_not_taken_since_there_is_one_is_told(home: Path) -> None:
    assert home and keeplore("init", "memory").stderr == ""
    again = keeplore("init", "memory", "--name", "work")
    assert again.stdout.startswith("Registered workspace 'memory' in ")
    assert again.stderr == (
        "note: it keeps the name that this machine knows: `keeplore workspaces rename memory work` "
        "changes that\n"
    )
