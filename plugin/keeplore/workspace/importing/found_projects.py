"""Which projects an import would read, and which of them a person chooses."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from keeplore.config.capture_choice import CaptureRule, RuleKind
from keeplore.errors import ConfigError, NoWorkspace
from keeplore.text.dates import day_of
from keeplore.workspace.capture_policy import GLOB, CapturePlace, closeness
from keeplore.workspace.identity import Identity, Project
from keeplore.workspace.importing.auto_memory import AutoMemoryFiles
from keeplore.workspace.importing.import_survey import SourceSurvey
from keeplore.workspace.importing.session_import import written_at
from keeplore.workspace.registry import Registry

TEMPORARY = "a temporary directory"
# beside the one that the system names; on macOS they are links
_TEMPORARY_ROOTS = (
    "/tmp",  # noqa: S108 (it is only compared)
    "/var/tmp",  # noqa: S108 (as above)
    "/dev/shm",  # noqa: S108 (as above)
    "/private/tmp",
    "/var/folders",
    "/private/var/folders",
)


@dataclass(frozen=True, slots=True)
class FoundProject:
    """``directories`` are those in which its sessions were, the busiest first; ``left_out`` says
    why it is not read, "" where it is.
    """

    name: str
    directories: tuple[str, ...]
    sessions: int
    notes: int
    first: str  # days, "" where no session has a time
    last: str
    left_out: str = ""


@dataclass(slots=True)
class _Count:
    directories: dict[str, int]
    days: list[str]
    sessions: int = 0
    notes: int = 0


def found_projects(
    registry: Registry,
    surveys: Iterable[SourceSurvey],
    notes: AutoMemoryFiles | None,
    chosen: Callable[[FoundProject], bool | None],
) -> list[FoundProject]:
    """The projects of these sessions and notes, the busiest first. ``chosen`` says whether a person
    named one to be read, or to be left out; None where they did not.

    Raises ConfigError.
    """
    counts: dict[_ProjectKey, _Count] = {}
    for survey in surveys:
        for session in survey.sessions:
            count = _count_of(registry, counts, session.cwd)
            count.sessions += 1
            count.days += [
                _day(session.started_at),
                _day(written_at(session).isoformat()),
            ]
    for file in notes.files if notes else ():
        count = _count_of(registry, counts, file.cwd)
        count.notes += 1
        count.days.append(_day(file.written_at.isoformat()))
    found = [
        _found_project(project, count, chosen) for project, count in counts.items()
    ]
    return sorted(found, key=lambda one: (-one.sessions, one.name))


def only_of(
    surveys: Iterable[SourceSurvey], projects: Iterable[FoundProject]
) -> list[SourceSurvey]:
    """The sessions of these projects."""
    kept = _directories(projects)
    found = []
    for survey in surveys:
        sessions = tuple(session for session in survey.sessions if session.cwd in kept)
        found.append(replace(survey, sessions=sessions))
    return found


def only_notes_of(
    notes: AutoMemoryFiles, projects: Iterable[FoundProject]
) -> AutoMemoryFiles:
    """The notes of these projects."""
    kept = _directories(projects)
    return replace(notes, files=tuple(file for file in notes.files if file.cwd in kept))


def _directories(projects: Iterable[FoundProject]) -> set[str]:
    return {cwd for project in projects for cwd in project.directories}


def is_project_named(text: str, project: FoundProject) -> bool:
    """Whether a person means a project by a name, a glob of names, or a directory with all below
    it. Raises ConfigError.
    """
    is_place = "/" in text or text.startswith("~") or os.sep in text
    is_glob = any(mark in text for mark in GLOB)
    kind = RuleKind.PROJECT
    if is_place:
        kind = RuleKind.PATTERN if is_glob else RuleKind.PATH
        text = os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 (links stay)
    names = (project.name, *(Path(directory).name for directory in project.directories))
    place = CapturePlace(project.directories, names)
    try:
        return closeness(CaptureRule.of(kind, text), place) is not None
    except ValueError as e:
        raise ConfigError(str(e), "Name a project or a directory") from e


def is_temporary(directory: str, home: Path) -> bool:
    """Whether a directory is of a kind that goes away: sessions in it are mostly trials."""
    path = Path(directory)
    temporary = (*_TEMPORARY_ROOTS, tempfile.gettempdir())
    if path.is_relative_to(home):
        path = path.relative_to(home)
    elif any(map(path.is_relative_to, temporary)):
        return True
    return any(part.startswith("pytest-of-") for part in path.parts)


def _count_of(
    registry: Registry, counts: dict[_ProjectKey, _Count], cwd: str
) -> _Count:
    count = counts.setdefault(_project(registry, cwd), _Count({}, []))
    count.directories[cwd] = count.directories.get(cwd, 0) + 1
    return count


class _ProjectKey(NamedTuple):
    """A project: ``why`` it is not to be read, and what tells it from another one that would have
    the same name.
    """

    name: str
    why: str
    key: str = ""


def _project(registry: Registry, cwd: str) -> _ProjectKey:
    """The project of a directory."""
    why = TEMPORARY if cwd and is_temporary(cwd, Path.home()) else ""
    try:
        workspace = registry.for_directory(Path(cwd or Path.home()))
    except NoWorkspace:  # it is only looked at what there is
        return _ProjectKey(Path(cwd).name, why)
    decision = workspace.capture_policy.decide(cwd)
    identity = workspace.identities.of(Path(cwd)) if cwd else Identity("", "")
    return _ProjectKey(
        identity.project or Path(cwd).name,
        why if decision.may else decision.reason,
        _key(identity.proposal),
    )


def _key(new: Project | None) -> str:
    """What a project that is met for the first time will be known by."""
    return (
        next(filter(None, (*new.remotes, new.root_commit, new.path)), "") if new else ""
    )


def _found_project(
    project: _ProjectKey, count: _Count, chosen: Callable[[FoundProject], bool | None]
) -> FoundProject:
    busiest = sorted(count.directories, key=lambda cwd: (-count.directories[cwd], cwd))
    days = [day for day in count.days if day]
    found = FoundProject(
        project.name,
        tuple(busiest),
        count.sessions,
        count.notes,
        min(days, default=""),
        max(days, default=""),
        project.why,
    )
    wish = chosen(found)
    if wish is False and not project.why:
        return replace(found, left_out="not chosen")
    # a rule is changed by `keeplore include`
    return replace(found, left_out="") if wish and project.why == TEMPORARY else found


def _day(moment: str) -> str:
    """The day of a moment; "" for a file that has no time."""
    return day_of(moment) if moment[:4] > "0001" else ""
