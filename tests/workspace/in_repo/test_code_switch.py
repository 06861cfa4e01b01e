"""Saying yes, and no again, to notes kept with the code: what is written, and each reason why it
cannot be.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from code_repository import CodeRepository

from keeplore.errors import ConfigError, KeeploreError, NotFound, WorkspaceFrozen
from keeplore.workspace.lifecycle.code_switch import is_ignored, switch_off, switch_on

SETTINGS = "# Notes of this project are kept here and reviewed with the code.\nmemory: in-repo\n"
WRITTEN = {
    ".gitattributes": "memory/** text eol=lf merge=keeplore\n",
    ".gitignore": "# files that are being written\n.*.tmp\n",
    "project.yaml": SETTINGS,
}


def texts(repository: CodeRepository) -> dict[str, str]:
    found = (repository.top / ".keeplore").iterdir()
    return {path.name: path.read_text() for path in found}


def refusal(error: type[KeeploreError], act: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(error) as raised:
        act()
    return raised.value.message, raised.value.remedy


def test_what_is_written_is_written_once_and_a_person_may_change_it(
    repository: CodeRepository,
) -> None:
    opened = repository.agrees()
    assert (opened.tree.top, opened.project) == (repository.top, "shop")
    assert texts(repository) == WRITTEN
    modes = {path.stat().st_mode for path in (repository.top / ".keeplore").iterdir()}
    assert modes == {0o100644}
    settings = repository.git("config", "--local", "--list")
    assert "merge.keeplore.driver=" in settings
    own = {
        ".gitattributes": "mine\n",
        "project.yaml": "name: shop\nmemory:  in-repo # yes\n",
    }
    for name, text in own.items():
        repository.write(name, text)
    repository.agrees()
    assert texts(repository) == {**WRITTEN, **own}
    repository.write("project.yaml", "name: shop # ours\n")
    repository.agrees()
    assert texts(repository)["project.yaml"] == "name: shop # ours\nmemory: in-repo\n"
    assert (
        switch_off(repository.registry, repository.top / ".keeplore") == repository.top
    )
    assert texts(repository).keys() == WRITTEN.keys()
    assert "merge.keeplore" not in repository.git("config", "--local", "--list")
    assert refusal(
        NotFound, lambda: switch_off(repository.registry, repository.top)
    ) == (
        f"nothing is kept with the code of {repository.top}",
        "`keeplore whoami` says so",
    )


def test_whether_git_would_leave_notes_out(repository: CodeRepository) -> None:
    assert not is_ignored(repository.top)
    (repository.top / ".gitignore").write_text(".keeplore/\n")
    assert is_ignored(repository.top)


def test_where_it_cannot_be_the_reason_is_told(
    repository: CodeRepository, home: Path
) -> None:
    registry, top = repository.registry, repository.top
    nowhere = home / "elsewhere"
    nowhere.mkdir()
    for act in (switch_on, switch_off):
        assert refusal(ConfigError, lambda act=act: act(registry, nowhere)) == (
            f"{nowhere} is in no work tree of git",
            "Go to a code repository",
        )
    own = registry.for_directory(top).root
    told = refusal(ConfigError, lambda: switch_on(registry, own))
    assert told == (f"{own} is no project", "Go to a code repository")
    folder = top / ".keeplore"
    folder.write_text("name: shop\n")
    told = refusal(ConfigError, repository.agrees)
    assert told == (
        f"{folder} is a file",
        f"Move what it says to {folder}/project.yaml",
    )
    folder.unlink()
    repository.write("project.yaml", "memory: [\n")
    message, remedy = refusal(ConfigError, repository.agrees)
    assert message.startswith(f"{folder}/project.yaml cannot be changed: while parsing")
    assert remedy == "Write `memory: in-repo` into it"
    shutil.rmtree(folder)
    # an index that cannot be made
    index = registry.places.cache / "index"
    shutil.rmtree(index)
    index.write_text("")
    assert refusal(ConfigError, repository.agrees) == (
        f"{folder} cannot be used",
        "`keeplore whoami` says what is here",
    )


def test_a_frozen_workspace_reads_what_others_keep_and_begins_nothing(
    repository: CodeRepository,
) -> None:
    own = repository.registry.for_directory(repository.top)
    settings = own.root / "keeplore.yaml"
    settings.write_text("schema: 1\nfrozen: true\n")
    expected = WorkspaceFrozen(own.root)
    told = refusal(WorkspaceFrozen, repository.agrees)
    assert told == (expected.message, expected.remedy)
    assert not (repository.top / ".keeplore").exists()
    repository.write("project.yaml", "memory: in-repo\n")
    repository.agrees()
    assert texts(repository) == {"project.yaml": "memory: in-repo\n"}
    assert "merge.keeplore" not in repository.git("config", "--local", "--list")
