"""``keeplore import``: what is recorded on this machine, of one source or of all."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli import project_picker
from keeplore.cli.output import plain, say, table
from keeplore.cli.parameters import pass_registry, since_option
from keeplore.cli.progress import bar, fill_vectors
from keeplore.errors import KeeploreError
from keeplore.text.counts import counted, first_of
from keeplore_hooks.installed import HOSTS, SOURCES, source_named

if TYPE_CHECKING:
    from keeplore.workspace.importing.auto_memory import AutoMemoryFiles as Notes
    from keeplore.workspace.importing.found_projects import FoundProject
    from keeplore.workspace.importing.import_survey import SourceSurvey
    from keeplore.workspace.importing.session_import import KnownDecision
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace

AUTO_MEMORY = "auto-memory"
SHOWN_PROBLEMS = 5
SHOWN_DIRECTORIES = 3
HEADINGS = ("source", "sessions", "size", "first", "last", "projects", "left out")
WIDTH = 92


def _absolute(
    _context: click.Context, _parameter: click.Parameter, folder: Path | None
) -> Path | None:
    """A place as the sessions are told of it: some belong to the project that is there."""
    return folder and Path(os.path.abspath(folder))  # noqa: PTH100 (links stay)


@click.command(short_help="Read the sessions that a host has already recorded.")
@click.argument(
    "host", type=click.Choice(sorted((*SOURCES, AUTO_MEMORY))), required=False
)
@click.option(
    "is_all",
    "--all",
    is_flag=True,
    help="Read the sessions of every host, and Claude Code's own notes.",
)
@project_picker.wish_options
@click.option("--dry-run", is_flag=True, help="Say what would be read, and stop.")
@click.option("--yes", is_flag=True, help="With --all: do not ask before reading.")
@since_option("Only sessions written to since then: 2026-01-31, 30d, 8w.")
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, path_type=Path),
    callback=_absolute,
    help="Look here for the host's files; an export's file, zip or folder.",
)
@click.option(
    "--scope",
    type=click.Choice(["user", "workspace"]),
    help="Whose an export's conversations are; the user's if not given.",
)
@pass_registry
def import_command(
    registry: Registry,
    /,
    *,
    host: str | None,
    since: str | None,
    folder: Path | None,
    scope: str | None,
    is_all: bool,
    dry_run: bool,
    yes: bool,
    **wishes: tuple[str, ...],
) -> None:
    """Turn the sessions of HOST on this machine into memory; without HOST, say what is there.

    `chatgpt` and `claude-ai` read an export that --from names. `auto-memory` stands for the notes
    that Claude Code keeps by itself: each becomes a memory of its project. Nothing leaves the
    machine and no model is asked. It may be interrupted and started again at any time: what was
    read is not read twice, and a second run changes nothing. Projects in temporary directories are
    left out unless --only names them, and what `keeplore exclude` leaves out is.

    \b
    keeplore import
    keeplore import claude-code --since 30d
    keeplore import chatgpt --from ~/Downloads/export.zip
    keeplore import --all --except 'client-*'
    """
    if host and is_all:
        raise click.UsageError("give a HOST or --all, not both")
    if folder and not host:
        raise click.UsageError("--from needs the HOST whose files lie there")
    if scope and (host in (None, AUTO_MEMORY) or source_named(str(host)).folder):
        raise click.UsageError("--scope is for the conversations of an export")
    after = datetime.fromisoformat(since) if since else None
    sessions, notes = _found_sessions(registry, host, folder, after)
    if not any(survey.sessions for survey in sessions) and not (notes and notes.files):
        _say_nothing(host, folder, sessions, notes)
        return
    wish = project_picker.ProjectWish(**wishes)
    projects = _projects(registry, sessions, notes, wish)
    if is_all or dry_run or not host:
        _show(sessions, notes)
        project_picker.show(projects)
    else:
        project_picker.say_left_out(projects)
    if notes:
        _say_left_out(notes)
    if dry_run or not (host or is_all):
        _say_next(host)
        return
    # says what to do where there is no workspace yet
    home = registry.for_directory(Path.home())
    chosen = [project for project in projects if not project.left_out]
    if chosen and is_all and not yes:
        chosen = project_picker.pick(chosen)
    _show_known(home, _read_chosen(registry, sessions, notes, chosen, scope or ""))


def offer(registry: Registry, wish: project_picker.ProjectWish) -> bool:
    """Show the projects that could be read, and read those that a person at a terminal chooses.
    Returns whether there are any that were not read.
    """
    sessions, notes = _found_sessions(registry, None, None, None)
    projects = _projects(registry, sessions, notes, wish)
    if not projects:
        return False
    project_picker.show(projects)
    chosen = [project for project in projects if not project.left_out]
    if not chosen or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return bool(chosen)
    picked = project_picker.pick(chosen)
    taken = _read_chosen(registry, sessions, notes, picked, "")
    _show_known(registry.for_directory(Path.home()), taken)
    return len(picked) < len(chosen)


def _projects(
    registry: Registry,
    sessions: Sequence[SourceSurvey],
    notes: Notes | None,
    wish: project_picker.ProjectWish,
) -> list[FoundProject]:
    # heavy, as below
    from keeplore.workspace.importing.found_projects import found_projects

    found = found_projects(registry, sessions, notes, wish)
    wish.check()
    return found


def _found_sessions(
    registry: Registry, host: str | None, folder: Path | None, since: datetime | None
) -> tuple[list[SourceSurvey], Notes | None]:
    """The sessions of the host, or of all, and Claude Code's own notes where they are meant."""
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.importing.auto_memory import find_auto_memory
    from keeplore.workspace.importing.import_survey import survey

    notes = None
    if host in (None, AUTO_MEMORY):
        base = folder.resolve() if folder else _claude_folder()
        notes = find_auto_memory(base, Path.cwd(), since)
    if host == AUTO_MEMORY:
        return [], notes
    folders = {}
    if host and folder:
        # the sessions lie there, and people name where they saw them
        is_inside = folder.name == source_named(host).folder
        folders[host] = str(folder.resolve().parent if is_inside else folder)
    found = survey(registry, os.environ, since=since, folders=folders)
    return [
        sessions for sessions in found if host in (None, sessions.source.name)
    ], notes


def _claude_folder() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def _say_nothing(
    host: str | None,
    folder: Path | None,
    surveys: Sequence[SourceSurvey],
    notes: Notes | None,
) -> None:
    """Say that there is nothing to read. Raises KeeploreError where the person named something to
    read.
    """
    known = sum(survey.known for survey in surveys)
    if notes and (host or notes.left_out):
        _say_no_notes(notes, folder)
    elif known:
        say(
            f"All {known} sessions are known from the hosts themselves; there is nothing else to "
            f"read."
        )
    elif folder and host:
        inside = source_named(host).folder
        place = f"the folder that holds {inside}/" if inside else "the export itself"
        raise KeeploreError(
            f"no recorded sessions of {host} in {folder}", f"Name {place}"
        )
    else:
        say(_nothing_found(host))


def _nothing_found(host: str | None) -> str:
    """Where Keeplore looked, since nobody named a folder, and what else can be done."""
    if not host:
        return (
            "No recorded sessions found. If they lie elsewhere, name HOST and the folder with "
            "--from."
        )
    again, folder = f"`keeplore import {host} --from", source_named(host).folder
    if not folder:
        return f"An export lies where you keep it: {again} FILE` reads it."
    if host in HOSTS:
        return (
            f"No recorded sessions of {host} found where it keeps them; {again} FOLDER` looks "
            f"elsewhere."
        )
    return (
        f"No recorded sessions of {host} found: neither this directory nor a known project, nor "
        f"one above them, has any in {folder}/. {again} PROJECT` looks elsewhere."
    )


def _say_no_notes(notes: Notes, folder: Path | None) -> None:
    _say_left_out(notes)
    if notes.left_out:
        return
    if folder:
        raise KeeploreError(
            f"no notes of Claude Code in {folder}",
            "Name the folder that holds projects/ or the notes",
        )
    say(
        "No notes of Claude Code found. If they lie elsewhere, name the folder with --from."
    )


def _say_left_out(notes: Notes) -> None:
    for folder, problem in notes.left_out:
        say(f"  left out: {folder}: {problem}", err=True)


def _show(surveys: Sequence[SourceSurvey], notes: Notes | None) -> None:
    """Print the table of what is on this machine, or of what is about to be read."""
    rows = [
        _session_cells(survey) for survey in surveys if survey.sessions or survey.known
    ]
    if notes and (notes.files or notes.left_out):
        rows.append(_note_cells(notes))
    table(HEADINGS, rows, wide=("projects",))


def _session_cells(survey: SourceSurvey) -> tuple[object, ...]:
    known = f"{survey.known} known from their host" if survey.known else ""
    facts = (_size(survey.size), *survey.days, _directory_names(survey.directories))
    return (survey.source.name, len(survey.sessions), *facts, known)


def _note_cells(notes: Notes) -> tuple[object, ...]:
    days = sorted(file.written_at.strftime("%Y-%m-%d") for file in notes.files) or [""]
    size = _size(sum(file.size for file in notes.files))
    facts = (
        size,
        days[0],
        days[-1],
        _directory_names([file.cwd for file in notes.files]),
    )
    left_out = counted(len(notes.left_out), "folder") if notes.left_out else ""
    return (AUTO_MEMORY, counted(len(notes.files), "note"), *facts, left_out)


def _directory_names(directories: Iterable[str]) -> str:
    names = dict.fromkeys(Path(directory).name for directory in directories)
    return first_of(names, SHOWN_DIRECTORIES)


def _say_next(host: str | None) -> None:
    if sys.stdout.isatty():
        these = "`keeplore import --all` reads them all"
        if host:
            these = f"`keeplore import {host}` reads them"
        click.echo(
            f"\nNothing was read. {these}; `--since 30d` takes the latest alone."
        )


def _read_chosen(
    registry: Registry,
    surveys: Sequence[SourceSurvey],
    notes: Notes | None,
    projects: Sequence[FoundProject],
    scope: str,
) -> set[str]:
    """Read the sessions and notes of these projects. Returns the sessions that had something
    new.
    """
    # heavy, as above
    from keeplore.workspace.importing.found_projects import only_notes_of, only_of

    taken: set[str] = set()
    for project in only_of(surveys, projects):
        if project.sessions:
            taken.update(_read_sessions(registry, project, scope))
    if notes and (kept := only_notes_of(notes, projects)).files:
        _read_notes(registry, kept)
    for workspace in registry.opened():
        fill_vectors(workspace)
    return taken


def _read_sessions(
    registry: Registry, survey: SourceSurvey, scope: str
) -> tuple[str, ...]:
    # heavy, as above
    from keeplore.workspace.importing.session_import import import_sessions

    name = survey.source.name
    with bar(f"Reading {name}") as progress:
        try:
            imported = import_sessions(
                registry, survey.source, survey.sessions, progress, scope
            )
        except KeyboardInterrupt:
            click.echo(
                "\nInterrupted. What was read is kept; run it again to go on.", err=True
            )
            raise
    of = f"{len(imported.sessions)} of {len(survey.sessions)} sessions"
    say(f"{name}: {counted(imported.turns, 'new turn')} in {of}.")
    _say_problems(imported.problems, "lines that could not be read")
    return imported.sessions


def _read_notes(registry: Registry, notes: Notes) -> None:
    # heavy, as above
    from keeplore.workspace.importing.auto_memory import import_auto_memory

    with bar("Reading Claude Code's notes") as progress:
        done = import_auto_memory(registry, notes.files, progress)
    changed = f"{done.new} new, {done.updated} updated"
    say(f"{AUTO_MEMORY}: {changed} of {counted(len(notes.files), 'note')}.")
    _say_problems(done.problems, "notes")


def _say_problems(problems: Sequence[tuple[Path, str]], noun: str) -> None:
    for path, problem in problems[:SHOWN_PROBLEMS]:
        say(f"  {path.name}: {problem}", err=True)
    if len(problems) > SHOWN_PROBLEMS:
        say(f"  … and {len(problems) - SHOWN_PROBLEMS} more {noun}", err=True)


def _size(count: int) -> str:
    """Bytes for a person."""
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if size >= 1000:
            size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"


def _show_known(workspace: Workspace, sessions: Collection[str]) -> None:
    """Show some decisions of these sessions, as a sample of what memory now holds."""
    # heavy, as above
    from keeplore.workspace.importing.session_import import known_decisions

    known = known_decisions(workspace, sessions)
    if not known:
        return
    held = counted(workspace.index.state().memories, "memory", "memories")
    click.echo(f"\n{workspace.name} now holds {held}. Among them:\n")
    for thing in known:
        _show_decision(thing)
        say()
    say('Ask for more: `keeplore recall "what did we decide about …"`')


def _show_decision(thing: KnownDecision) -> None:
    say(f"  {thing.title}", bold=True)
    say(f"  {thing.date} · {thing.place} · {thing.path}", dim=True)
    quote = f"“{plain(thing.quote)}”"
    click.echo(textwrap.indent(textwrap.fill(quote, WIDTH - 4), "    "))
