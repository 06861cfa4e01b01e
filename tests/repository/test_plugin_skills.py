"""Skills keep the open specification, and what they tell an agent to run is a command that
exists.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from keeplore.cli.main import cli
from keeplore.text.fences import TAG

SKILLS = sorted((Path(__file__).resolve().parents[2] / "plugin" / "skills").iterdir())
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
# another key makes some hosts refuse the skill
SPECIFIED = {
    "name": str,
    "description": str,
    "license": str,
    "compatibility": str,
    "metadata": dict,
}
BY_PERSON_ALONE = ("forget", "memory")


def skill(path: Path) -> tuple[dict[str, Any], str]:
    """Front matter and text."""
    empty, front, text = (
        (path / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    )
    assert empty == ""
    meta = yaml.safe_load(front)
    assert isinstance(meta, dict)
    return meta, text


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_a_skill_has_the_front_matter_of_the_open_specification(path: Path) -> None:
    meta, text = skill(path)
    assert {key: type(value) for key, value in meta.items()} == {
        key: SPECIFIED[key] for key in meta
    }
    assert meta["name"] == path.name and NAME.match(path.name) and len(path.name) <= 64
    assert 40 <= len(meta["description"]) <= 1024 and "<" not in meta["description"]
    assert all(isinstance(value, str) for value in meta.get("metadata", {}).values())
    assert 10 <= len(text.splitlines()) <= 500


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_what_only_a_person_begins_says_so(path: Path) -> None:
    """To the model in the description, and to Codex in a file of its own."""
    is_restricted = path.name in BY_PERSON_ALONE
    meta, _ = skill(path)
    assert ("Use it only when the person asks" in meta["description"]) == is_restricted
    others = {
        other.relative_to(path).as_posix()
        for other in path.rglob("*")
        if other.is_file()
    } - {"SKILL.md"}
    assert others == ({"agents/openai.yaml"} if is_restricted else set())
    for name in others:
        told = yaml.safe_load((path / name).read_text(encoding="utf-8"))
        assert told == {"policy": {"allow_implicit_invocation": False}}


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_nothing_typed_reaches_a_shell_through_a_skill(path: Path) -> None:
    _, text = skill(path)
    # the host would put what was typed there
    assert re.findall(r"\$(?:ARGUMENTS|\d|\{)", text) == []
    # the host would run it before anybody sees it
    assert re.findall(r"(?:^|\s)!`", text) == []
    scripts = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert scripts and all(script.startswith("keeplore ") for script in scripts)
    assert all(
        re.search(r"<<'\w+'$", line)
        for script in scripts
        for line in script.splitlines()
        if "<<" in line
    )


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_a_skill_tells_where_the_answer_to_a_typed_command_stands(path: Path) -> None:
    _, text = skill(path)
    assert f"`<{TAG}`" in text


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_what_a_skill_runs_is_a_command_with_these_options(path: Path) -> None:
    _, text = skill(path)
    context = click.Context(cli)
    for line in re.findall(r"^keeplore .*", text, re.MULTILINE):
        _, name, *arguments = shlex.split(line.partition(" <<")[0])
        command = cli.get_command(context, name)
        assert command is not None, line
        known = {
            option
            for parameter in command.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {
            argument for argument in arguments if argument.startswith("--")
        } <= known, line
