"""``keeplore exclude`` and ``keeplore include``: what may be captured."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import confirm, emit_json, note, say, table
from keeplore.cli.parameters import Command, json_option, pass_registry, yes_option
from keeplore.config.places import expanded
from keeplore.errors import ConfigError
from keeplore.text.counts import counted
from keeplore.worker.after_writing import tell_worker

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace
    from keeplore.workspace.writing.person_choice import (
        CapturedProject,
        HeldRule,
        Rules,
    )

KINDS = ("path", "project", "remote", "pattern")  # see ``capture_choice.RuleKind``


@dataclass(frozen=True, slots=True)
class ChosenPlace:
    """What a person names; ``directory`` is None where they name something else, or nothing."""

    directory: Path | None
    names: Mapping[str, str]  # kind of rule → value

    @property
    def is_named(self) -> bool:
        return self.directory is not None or bool(self.names)


def place_options(command: Command) -> Command:
    """What a rule names, and whose rule it is."""

    @click.argument("place", metavar="[PATH]", required=False)
    @click.option("--project", help="A project by its name, which may be a glob.")
    @click.option(
        "--remote", help="Projects by their git remote: github.com/acme/*, any URL."
    )
    @click.option(
        "--pattern", help="Directories by a glob: '~/clients/**', 'secret-*'."
    )
    @click.option(
        "--workspace",
        "is_shared",
        is_flag=True,
        help="As a rule of the workspace, for all its machines.",
    )
    @functools.wraps(command)
    def with_place(
        *args: Any,
        place: str | None,
        project: str | None,
        remote: str | None,
        pattern: str | None,
        **chosen: Any,
    ) -> Any:
        given = {"project": project, "remote": remote, "pattern": pattern}
        names = {kind: value for kind, value in given.items() if value}
        if len(names) > 1 or (names and place is not None):
            raise click.UsageError(
                "give one PATH, --project, --remote or --pattern at a time"
            )
        named = ChosenPlace(None, names) if place is None else _chosen_place(place)
        return command(*args, place=named, **chosen)

    return with_place


def _chosen_place(text: str) -> ChosenPlace:
    """What was typed: a rule as settings write it, the name of a project, or a directory."""
    kind, has_kind, value = text.partition(":")
    if has_kind and value.strip() and kind in KINDS and not Path(text).exists():
        if kind != "path":
            return ChosenPlace(None, {kind: value.strip()})
        text = value.strip()
    elif _is_project_name(Path(text)):
        return ChosenPlace(None, {"project": text})
    directory = Path(text).expanduser()
    return ChosenPlace(Path(os.path.abspath(directory)), {})  # noqa: PTH100 # links stay


def _is_project_name(place: Path) -> bool:
    """Whether a bare word names a project: it was typed without a slash, and no such directory is
    here.
    """
    is_word = len(place.parts) == 1 and str(place)[0] not in "./~"
    return is_word and not place.exists()


@click.command(short_help="Leave a project or a directory out of memory.")
@place_options
@click.option(
    "is_list", "--list", is_flag=True, help="Show what holds here, and every rule."
)
@click.option(
    "--forget", "is_forgetting", is_flag=True, help="Forget what was captured of it."
)
@yes_option
@json_option
@pass_registry
def exclude_command(
    registry: Registry,
    *,
    place: ChosenPlace,
    is_shared: bool,
    is_list: bool,
    is_forgetting: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Leave PATH and all below it out of memory; without one, show what is left out. A name that is
    no directory here means the project of that name; PATH may also be a rule as settings write it,
    such as project:shop.

    Nothing of it is captured from now on: no live session, no import, no notes of agents, no
    ingested file. A project is left out wherever it is checked out, since its git remotes count.
    The closest rule wins, and one of this machine before those of the workspace. Agents there are
    still told what memory holds; `KEEPLORE_OFF=1` in the environment of an agent ends that too. In
    a prompt, what stands between <private> and </private> is never kept.

    A file .keeplore with the line `capture: off` in a project does the same for whoever works
    there.

    \b
    keeplore exclude
    keeplore exclude ~/clients
    keeplore exclude --remote 'github.com/acme/*' --workspace
    """
    if not is_list and not place.is_named and (is_shared or is_forgetting):
        raise click.UsageError("name what is to be left out, such as a PATH")
    if is_list or not place.is_named:
        _list(registry, as_json=as_json)
        return
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.writing import person_choice

    workspace, rules = _rules(registry, place)
    told = person_choice.exclude(workspace, rules, is_shared=is_shared)
    found = person_choice.captured_before(registry, rules)
    if is_forgetting and found:
        _ask(found, yes=yes)
        person_choice.forget_captured(found)
    tell_worker(registry.places)
    _say_changed(workspace, rules, told, may=False, as_json=as_json)
    if as_json:
        return
    _say_captured_before(found, place, is_forgotten=is_forgetting)
    if not person_choice.means_something(registry, rules):
        note("it means nothing that is known here, and holds for what is to come")


@click.command(short_help="Let a project or a directory into memory again.")
@place_options
@json_option
@pass_registry
def include_command(
    registry: Registry, *, place: ChosenPlace, is_shared: bool, as_json: bool
) -> None:
    """Take back `keeplore exclude` for PATH, or for the project of this directory; where a wider
    rule leaves it out, override that.

    It is captured from now on. What was said in the meantime stays out where the session still
    runs; `keeplore import` reads the others.

    \b
    keeplore include
    keeplore include ~/clients/open-source
    keeplore include --project website
    """
    # heavy, as above
    from keeplore.workspace.writing import person_choice

    workspace, rules = _rules(registry, place)
    directory = place.directory or Path.cwd()
    if not place.names and person_choice.is_captured(
        workspace, rules, directory, is_shared=is_shared
    ):
        _say_captured(rules, is_shared=is_shared, as_json=as_json)
        return
    told = person_choice.include(registry, workspace, rules, is_shared=is_shared)
    tell_worker(registry.places)
    _say_changed(workspace, rules, told, may=True, as_json=as_json)
    if as_json:
        return
    decision = registry.for_directory(directory).capture_policy.decide(str(directory))
    if not place.names and not decision.may:
        note(f"it is still not captured: {decision.reason}")


def _rules(registry: Registry, place: ChosenPlace) -> tuple[Workspace, Rules]:
    """The workspace that a place belongs to, and the rules that name it."""
    from keeplore.config.capture_choice import CaptureRule, RuleKind  # heavy, as above
    from keeplore.workspace.writing.person_choice import check_projects, rules_of

    workspace = registry.for_directory(place.directory or Path.cwd())
    try:
        named = tuple(
            CaptureRule.of(RuleKind(kind), value) for kind, value in place.names.items()
        )
    except ValueError as e:
        raise ConfigError(str(e), "Give a shorter one, on one line") from e
    check_projects(registry, workspace, named)
    return workspace, named or rules_of(workspace.capture_policy, place.directory)


def _say_changed(
    workspace: Workspace, rules: Rules, told: str, *, may: bool, as_json: bool
) -> None:
    """``told`` is what there is to say of a rule that machines share, else ""."""
    is_shared = bool(told)
    if as_json:
        emit_json({"rules": [*map(str, rules)], "may": may, "is_shared": is_shared})
        return
    whose = f"by the workspace {workspace.name}" if is_shared else "on this machine"
    say(f"{'Captured again' if may else 'Left out of memory'}, {whose}:", bold=True)
    for rule in rules:
        say(f"  {rule}")
    if told:
        note(told)


def _say_captured(rules: Rules, *, is_shared: bool, as_json: bool) -> None:
    if as_json:
        emit_json({"rules": [*map(str, rules)], "may": True, "is_shared": is_shared})
    else:
        say(f"Nothing leaves {rules[0].value} out: it is captured, as before.")


def _ask(projects: Iterable[CapturedProject], *, yes: bool) -> None:
    for captured in projects:
        say(
            f"{captured.project}: {_memory_count(captured)} in {captured.workspace.name}",
            err=True,
        )
    confirm(
        "Forget them all?",
        yes=yes,
        refusal="nobody can be asked whether to forget them",
    )


def _memory_count(project: CapturedProject) -> str:
    return counted(len(project.rows), "memory", "memories")


def _say_captured_before(
    projects: Iterable[CapturedProject], place: ChosenPlace, *, is_forgotten: bool
) -> None:
    """Say what memory holds of it from before, and the command that forgets it."""
    target = [f"--{kind}={value}" for kind, value in place.names.items()]
    target += [str(place.directory)] if place.directory else []
    command = shlex.join(["keeplore", "exclude", *target, "--forget"])
    for captured in projects:
        if is_forgotten:
            say(f"Forgotten: {_memory_count(captured)} of {captured.project}.")
        else:
            say(
                f"Memory holds {_memory_count(captured)} of {captured.project} from before."
            )
    if not is_forgotten and projects:
        say(f"`{command}` forgets them.")


def _list(registry: Registry, *, as_json: bool) -> None:
    # heavy, as above
    from keeplore.text.dates import now
    from keeplore.workspace.writing.person_choice import held_rules

    cwd = Path.cwd()
    workspace = registry.for_directory(cwd)
    decision = workspace.capture_policy.decide(str(cwd), now())
    rules = held_rules(registry, workspace, cwd)
    if as_json:
        here = {"may": decision.may, "reason": decision.reason}
        emit_json({"here": here, "rules": [*map(_as_json, rules)]})
        return
    table(("rule", "", "whose", "means"), map(_cells, rules), wide=("means",))
    if not rules:
        note("there is no rule: every project is captured")
    reason = f": {decision.reason}" if decision.reason else ""
    note(f"this directory is {'captured' if decision.may else 'not captured'}{reason}")
    note(_way_here(workspace) if decision.may else "`keeplore include` lets it in")


def _way_here(workspace: Workspace) -> str:
    """How to leave out where the person is."""
    from keeplore.workspace.writing.person_choice import rules_of  # heavy, as above

    try:
        own, *_ = rules_of(workspace.capture_policy, None)
    except ConfigError:  # no project is here
        return "`keeplore exclude .` leaves this directory out"
    command = shlex.join(["keeplore", "exclude", expanded(own.value)])
    return f"`{command}` leaves this project out"


def _cells(held: HeldRule) -> tuple[str, ...]:
    word = "included" if held.may else "excluded"
    return str(held.rule), word, held.whose, ", ".join(held.means) or "nothing known"


def _as_json(held: HeldRule) -> dict[str, Any]:
    return {
        "rule": str(held.rule),
        "may": held.may,
        "whose": held.whose,
        "means": [*held.means],
    }
