"""What an import would find on this machine: the sessions of every source, none of them twice."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keeplore.errors import ConfigError
from keeplore.text.dates import day_of
from keeplore.workspace.identity import load_projects
from keeplore.workspace.importing.session_import import worth_reading, written_at
from keeplore.workspace.recording.cursors import Cursors
from keeplore.workspace.registry import Registry
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Recorded, SessionSource
from keeplore_hooks.installed import HOSTS, SOURCES

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceSurvey:
    """The sessions of one source, oldest first; ``known`` counts those left out because another
    source has them.
    """

    source: SessionSource
    sessions: tuple[Recorded, ...]
    known: int = 0

    @property
    def size(self) -> int:
        """The size of the records, in bytes."""
        return sum(session.size for session in self.sessions)

    @property
    def days(self) -> tuple[str, str]:
        """The first and the last day on which something was said, "" where no session has a
        time.
        """
        began = [
            day_of(session.started_at)
            for session in self.sessions
            if session.started_at
        ]
        ended = [
            day_of(written_at(session).isoformat())
            for session in self.sessions
            if written_at(session).year > 1
        ]
        return min(began, default=""), max((*began, *ended), default="")

    @property
    def directories(self) -> tuple[str, ...]:
        """The directories where people worked, the busiest first."""
        counts = Counter(session.cwd for session in self.sessions if session.cwd)
        return tuple(sorted(counts, key=lambda cwd: (-counts[cwd], cwd)))


def survey(
    registry: Registry,
    environment: Mapping[str, str],
    *,
    since: datetime | None = None,
    folders: Mapping[str, str] | None = None,
) -> list[SourceSurvey]:
    """What every source has, hosts first; ``folders`` names the folders of sources that lie
    elsewhere.

    A session that two sources have counts for the first of them: what a host itself recorded is the
    better record.
    """
    home, cursors = Path.home(), Cursors(registry.places.sessions)
    seen: dict[str, str] = {}  # session → the source that has it
    found = []
    directories: dict[str, None] = {}
    for source in SOURCES.usable():
        named = environment.get(source.variable, "") if source.variable else ""
        folder = (folders or {}).get(source.name, "") or named
        if source.name in HOSTS or folder:
            recorded = list(_recorded_sessions(source, home, folder))
        elif not source.folder:  # it lies where a person says
            recorded = []
        else:
            known = (*directories, *_project_directories(registry))
            recorded = list(_kept_around(source, home, known))
        directories.update(
            dict.fromkeys(session.cwd for session in recorded if session.cwd)
        )
        new = [
            session for session in recorded if _is_new(source, session, seen, cursors)
        ]
        seen |= {session.session: source.name for session in new}
        chosen = tuple(worth_reading(new, since))
        found.append(SourceSurvey(source, chosen, len(recorded) - len(new)))
    return found


def _kept_around(
    source: SessionSource, home: Path, directories: Iterable[str]
) -> Iterator[Recorded]:
    """The sessions that projects in these directories and those above them keep in the source's
    folder, and not what else lies in them.
    """
    for directory in _with_parents(directories, home):
        if (Path(directory) / source.folder).is_dir():
            yield from _recorded_sessions(source, home, directory)


def _recorded_sessions(
    source: SessionSource, home: Path, folder: str
) -> Iterator[Recorded]:
    """The sessions of a source; an adapter of others that fails has those up to then."""
    try:
        yield from source.recorded(home, folder)
    except Exception:
        LOG.exception("the adapter of %s fails", source.name)


def _is_new(
    source: SessionSource, session: Recorded, seen: Mapping[str, str], cursors: Cursors
) -> bool:
    """Is it the first that has the session? A host may have reported one whose record is gone."""
    if seen.get(session.session, source.name) != source.name:
        return False
    others: Iterable[str] = HOSTS if source.name not in HOSTS else ()
    return not any(
        cursors.get(Origin(name, session.session)).heard_at for name in others
    )


def _project_directories(registry: Registry) -> Iterator[str]:
    """The directories of the projects that the workspaces know by their path."""
    for name in registry.machine.workspaces:
        # a workspace that is gone must not hide the others
        with contextlib.suppress(ConfigError):
            paths = [
                path
                for project in load_projects(registry.named(name).store)
                for path in sorted(project.places)
            ]
            yield from (str(Path(path).expanduser()) for path in paths)


def _with_parents(directories: Iterable[str], home: Path) -> list[str]:
    """The directories and those above them, below the home directory: an agent may have been
    started deeper down.
    """
    found: dict[str, None] = {}
    for directory in (str(Path.cwd()), *directories):
        path = Path(directory)
        above = [
            parent
            for parent in path.parents
            if parent.is_relative_to(home) and parent != home
        ]
        found.update(
            dict.fromkeys(
                str(directory)
                for directory in (path, *above)
                if directory.is_absolute()
            )
        )
    return list(found)
