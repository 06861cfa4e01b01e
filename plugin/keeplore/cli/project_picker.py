"""Which projects are to be imported: shown as a table, and asked where a person can answer."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import near, note, say, table
from keeplore.cli.parameters import Command
from keeplore.errors import KeeploreError
from keeplore.text.counts import first_of

if TYPE_CHECKING:
    from keeplore.workspace.importing.found_projects import FoundProject

HEADINGS = ("", "project", "directory", "sessions", "first", "last", "left out")
NO_DIRECTORY = "conversations of no project"
HOW = "return reads them all, `n` none, `1,3-5` these, `-2` all but that one"
_NUMBERS = re.compile(r"(-?)(\d{1,6})(?:-(\d{1,6}))?")


def wish_options(command: Command) -> Command:
    """What a person says beforehand: ``only`` and ``without``."""
    without = click.option(
        "--except", "without", multiple=True, metavar="PROJECT", help="All but these."
    )
    only = click.option(
        "--only",
        multiple=True,
        metavar="PROJECT",
        help="Only these: a name, a glob, or a directory with all below it.",
    )
    return only(without(command))


class ProjectWish:
    """What a person said by ``--only`` and ``--except``."""

    def __init__(self, only: Sequence[str] = (), without: Sequence[str] = ()) -> None:
        self._only, self._without = only, without
        self._met: set[str] = set()

    def __call__(self, project: FoundProject) -> bool | None:
        """Whether it is to be read; None where nothing was said."""
        if self._is_meant(self._without, project):
            return False
        is_named = self._is_meant(self._only, project)
        return is_named if self._only else None

    def options(self) -> str:
        """The wish as options of the command line."""
        said = [("--only", one) for one in self._only]
        said += [("--except", one) for one in self._without]
        return "".join(f" {name} {shlex.quote(one)}" for name, one in said)

    def check(self) -> None:
        """Raise KeeploreError for a wish that no project fitted, which may be a slip."""
        for text in (*self._only, *self._without):
            if text not in self._met:
                raise KeeploreError(
                    f"no project with sessions is meant by {text!r}",
                    "`keeplore import` lists them; give a name, a glob or a directory",
                )

    def _is_meant(self, texts: Iterable[str], project: FoundProject) -> bool:
        # heavy: git
        from keeplore.workspace.importing.found_projects import is_project_named

        met = [text for text in texts if is_project_named(text, project)]
        self._met.update(met)
        return bool(met)


def show(projects: Sequence[FoundProject]) -> None:
    """Print the projects; those that would be read are numbered."""
    numbers = iter(range(1, len(projects) + 1))
    rows = []
    for project in projects:
        number = "" if project.left_out else str(next(numbers))
        count = (
            f"{project.sessions}, {project.notes} notes"
            if project.notes
            else project.sessions
        )
        facts = (
            _directory(project),
            count,
            project.first,
            project.last,
            project.left_out,
        )
        rows.append((number, project.name or NO_DIRECTORY, *facts))
    say()
    table(HEADINGS, rows, wide=("directory",))


def pick(projects: Sequence[FoundProject]) -> list[FoundProject]:
    """The projects among the numbered ones that the person chooses. Raises KeeploreError where
    nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise KeeploreError(
            "nobody can be asked whether to read all this",
            "Add --yes, or --dry-run to see it alone",
        )
    say(f"\n{HOW}", dim=True)
    while True:
        typed = click.prompt("Read which?", default="all", show_default=False)
        numbers = parse_choice(typed, len(projects))
        if numbers is not None:
            return [projects[number - 1] for number in numbers]
        say(f"There are 1 to {len(projects)}: {HOW}")


def parse_choice(typed: str, most: int) -> list[int] | None:
    """The numbers that are meant, from 1 on; None for what cannot be."""
    word = typed.strip().lower()
    if word in ("", "all", "a", "y", "yes"):
        return [*range(1, most + 1)]
    if word in ("n", "no", "none"):
        return []
    included: set[int] = set()
    excluded: set[int] = set()
    for part in filter(None, re.split(r"[\s,]+", word)):
        match = _NUMBERS.fullmatch(part)
        if match is None:
            return None
        first, last = int(match[2]), int(match[3] or match[2])
        if not 1 <= first <= last <= most:
            return None
        target = excluded if match[1] else included
        target.update(range(first, last + 1))
    every = included or set(range(1, most + 1))
    return sorted(every - excluded)


def say_left_out(projects: Sequence[FoundProject]) -> None:
    """Say what is not read because of an earlier choice."""
    reasons: dict[str, list[str]] = {}
    for project in projects:
        if project.left_out and project.left_out != "not chosen":
            reasons.setdefault(project.left_out, []).append(
                project.name or _directory(project)
            )
    for reason, names in reasons.items():
        note(f"left out: {', '.join(names)}: {reason}")


def _directory(project: FoundProject) -> str:
    places = [near(Path(directory)) for directory in project.directories if directory]
    return first_of(places, 1)
