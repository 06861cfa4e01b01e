"""Several workspaces on one machine: which one a directory belongs to, and what it inherits."""

import os
import shutil
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import ConfigError, NoWorkspace
from keeplore.recall.request import RecallRequest
from keeplore.workspace import Registry, open_workspace
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.lifecycle.setup import clone_workspace, initialise
from keeplore_hooks.events import Origin, Turn


@pytest.fixture
def places():
    return Places.from_environment(os.environ)


def say(workspace, text: str, cwd: Path, number: int = 1) -> None:
    origin = Origin("my-agent", f"{workspace.name}-{number}", str(cwd))
    workspace.emit(
        Turn(
            f"{workspace.name}-{number}",
            origin,
            "2026-02-09T14:00:00Z",
            text,
            ("Noted.",),
        )
    )


def test_a_machine_without_a_workspace_says_what_to_do(places):
    with (
        Registry(places) as registry,
        pytest.raises(NoWorkspace, match="keeplore init DIR"),
    ):
        registry.for_directory(Path.home())


def test_a_directory_goes_to_the_workspace_that_knows_its_project_else_home(places):
    initialise(places, Path.home() / "memory")
    initialise(places, Path.home() / "team", "work")
    with Registry(places) as registry:
        save_project(registry.named("work").store, Project("api", path="~/code/api"))
        for folder, expected in {
            "code/api": "work",
            "code/toy": "memory",
            "team": "work",
            "memory/x": "memory",
        }.items():
            (Path.home() / folder).mkdir(parents=True, exist_ok=True)
            assert registry.for_directory(Path.home() / folder).name == expected


def test_a_workspace_that_is_gone_does_not_hide_the_home_workspace(places):
    initialise(places, Path.home() / "memory")
    made = initialise(places, Path.home() / "team", "work")
    made.root.rename(Path.home() / "elsewhere")
    with Registry(places) as registry:
        assert registry.for_directory(Path.home() / "code").name == "memory"


def test_what_a_workspace_inherits_is_found_from_it_and_nothing_else_of_the_other(
    places,
):
    initialise(places, Path.home() / "memory")
    initialise(places, Path.home() / "team", "work")
    (Path.home() / "team" / "keeplore.yaml").write_text(
        "schema: 1\ninherits: [memory]\n"
    )
    toy, api = Path.home() / "code" / "toy", Path.home() / "code" / "api"
    for folder in (toy, api):
        folder.mkdir(parents=True)
    with Registry(places) as registry:
        save_project(registry.named("work").store, Project("api", path="~/code/api"))
        say(
            registry.named("memory"),
            "All services log in JSON, because the collector parses nothing else.",
            Path.home(),
        )
        say(
            registry.named("memory"),
            "The toy project logs to a file called toy.log in plain text.",
            toy,
            2,
        )
        answer = registry.recall(RecallRequest("how do services log", api))
    assert answer.status == "found"
    (hit,) = answer.hits
    assert hit.scope == "workspace" and Path(hit.path).is_absolute()


def test_a_second_init_changes_nothing_and_a_taken_name_is_refused(places):
    first = initialise(places, Path.home() / "memory")
    before = {p: p.read_bytes() for p in first.root.iterdir() if p.is_file()}
    again = initialise(places, Path.home() / "memory")
    assert (again.is_new, again.name) == (False, "memory")
    assert {p: p.read_bytes() for p in first.root.iterdir() if p.is_file()} == before
    with pytest.raises(ConfigError, match="--name"):
        initialise(places, Path.home() / "other" / "memory")


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_clone_whose_head_nobody_pushed_is_joined_and_an_empty_one_begun(
    places, tmp_path, git, is_shared
):
    remote, mine = tmp_path / "remote.git", tmp_path / "memory"
    git("init", "-q", "--bare", "-b", "master", str(remote), cwd=tmp_path)
    initialise(places, tmp_path / "first")
    if is_shared:
        git("push", "-q", str(remote), "main", cwd=tmp_path / "first")
    git("clone", "-q", str(remote), str(mine), cwd=tmp_path)
    assert initialise(places, mine).is_new is not is_shared
    branches = git("branch", "--format=%(refname:short) %(upstream:short)", cwd=mine)
    branch = "main" if is_shared else "master"
    assert branches.strip() == f"{branch} origin/{branch}"


def test_a_workspace_is_not_begun_among_code_unasked(places, tmp_path, git):
    shop = tmp_path / "shop"
    git("init", "-q", str(shop), cwd=tmp_path)
    for name in ("README.md", "LICENSE", ".gitignore", ".gitattributes"):
        (shop / name).touch()
    (shop / ".tools").mkdir()
    (shop / ".tools" / "hook.py").touch()
    (shop / "src" / "shop").mkdir(parents=True)
    (shop / "src" / "shop" / "Main.TS").touch()
    before = sorted(shop.rglob("[!.]*"))
    with pytest.raises(ConfigError) as refused:
        initialise(places, shop)
    assert refused.value.message == (
        f"{shop} holds code (src/shop/Main.TS): what you talk about anywhere would be committed "
        f"there"
    )
    assert refused.value.remedy == (
        "`keeplore init ~/memory` makes a workspace of its own, and `keeplore projects in-repo` "
        "keeps notes of this project with its code; --beside-code insists"
    )
    assert sorted(shop.rglob("[!.]*")) == before
    (shop / "src" / "shop" / "Main.TS").unlink()
    assert initialise(places, shop).is_new
    (shop / "helper.py").touch()
    assert not initialise(places, shop).is_new


def test_a_workspace_is_not_begun_within_a_repository_of_code_unasked(
    places, tmp_path, git
):
    shop = tmp_path / "shop"
    git("init", "-q", str(shop), cwd=tmp_path)
    (shop / "main.go").touch()
    (shop / ".gitignore").write_text("ignored/\n")
    with pytest.raises(ConfigError) as refused:
        initialise(places, shop / "notes" / "memory")
    assert refused.value.message == (
        f"{shop}/notes/memory lies in a repository of code ({shop}, main.go): it would be a "
        "repository within that one"
    )
    assert not (shop / "notes").exists()
    assert initialise(places, shop / "ignored" / "memory").is_new
    assert initialise(places, shop / "notes", beside_code=True).is_new


def test_no_workspace_is_begun_or_cloned_within_another(places, tmp_path, git):
    outer = initialise(places, tmp_path / "outer").root
    other = initialise(places, tmp_path / "other").root
    inner = outer / "memory" / "team"
    attempts = (
        lambda: initialise(places, inner),
        lambda: initialise(places, inner, beside_code=True),
        lambda: clone_workspace(places, str(other), inner, "team"),
    )
    for attempt in attempts:
        with pytest.raises(ConfigError) as refused:
            attempt()
        assert str(refused.value) == (
            f"{inner} lies in the workspace {outer}, whose sync leaves out a repository within it. "
            f"Name a directory outside of {outer}"
        )
        assert not inner.exists()
    (outer / ".gitignore").write_text("aside/\n")
    aside = outer / "aside" / "team"
    assert initialise(places, aside).is_new
    with Registry(places) as registry:
        assert registry.for_directory(aside / "memory").root == aside
        assert registry.for_directory(outer / "aside").root == outer
    git("clone", "-q", str(other), str(inner), cwd=tmp_path)
    assert not initialise(places, inner, "cloned").is_new


def test_a_repository_of_settings_in_the_home_directory_holds_no_code(places, git):
    git("init", "-q", cwd=Path.home())
    (Path.home() / "prompt.lua").touch()
    assert initialise(places, Path.home() / "memory").is_new


def test_neither_the_home_directory_nor_one_around_a_workspace_becomes_one(
    places, tmp_path
):
    own = tmp_path / "team" / "memory"
    initialise(places, own)
    told = {}
    for place in (Path.home(), own.parent):
        with pytest.raises(ConfigError) as raised:
            initialise(places, place, beside_code=True)
        told[place] = raised.value.message
        assert not (place / ".git").exists()
    assert told == {
        Path.home(): f"{Path.home()} is the home directory, and all in it would count as the "
        "workspace",
        own.parent: f"{own.parent} holds the workspace {own}, which would count as part of it",
    }
    # a workspace that is gone is in nobody's way
    shutil.rmtree(own)
    assert initialise(places, own.parent).is_new


def test_a_person_may_insist_on_a_workspace_beside_code(places, tmp_path):
    (tmp_path / "main.go").touch()
    assert initialise(places, tmp_path, beside_code=True).is_home


def test_a_python_program_opens_the_workspace_of_its_directory(places):
    initialise(places, Path.home() / "memory")
    with open_workspace(Path.home()) as workspace:
        say(workspace, "We deploy on Tuesdays, never on Fridays.", Path.home())
        assert workspace.recall("when do we deploy").hits[0].scope == "workspace"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2]", "the file: it should be a list of keys"),
        ("capture: {enabled: perhaps}", "capture.enabled"),
        ("capturing: true", "capturing"),
        ("schema: 2", "schema"),
        ("sync: {automatic: {}}", "sync.automatic: it should be true or false"),
        ("inherits: [1]", "inherits: it should be a list of texts"),
        ("branch: ''", "branch"),
        ("1: x", "1: there is no such key"),
        ("a: [", "no YAML"),
        ("a:\n  " + "- " * 5000 + "1", "YAML"),
        ("x: " + "y" * 20000, "larger than"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_do(places, text, expected):
    made = initialise(places, Path.home() / "memory")
    (made.root / "keeplore.yaml").write_text(text)
    with Registry(places) as registry, pytest.raises(ConfigError, match=expected):
        registry.named("memory")


def test_a_registry_that_is_open_sees_a_workspace_that_is_set_up_meanwhile(places):
    initialise(places, Path.home() / "memory")
    with Registry(places) as registry:
        assert registry.for_directory(Path.home() / "team").name == "memory"
        initialise(places, Path.home() / "team", "work")
        assert registry.for_directory(Path.home() / "team").name == "work"
