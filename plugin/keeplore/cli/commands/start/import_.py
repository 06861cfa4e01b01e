"""``keeplore import``: what is recorded on this machine, of one source or of all."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli import import_auto_memory
from keeplore.cli.output import plain, table
from keeplore.cli.progress import bar, fill_vectors
from keeplore.cli.values import When
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore_hooks.hosts import SOURCES, source_named

if TYPE_CHECKING:
    from keeplore.workspace.importing.auto_memory import AutoMemoryFiles as Notes
    from keeplore.workspace.importing.import_survey import SourceSurvey
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace

SHOWN_PROBLEMS = 5
SHOWN_DIRECTORIES = 3
HEADINGS = ("source", "sessions", "size", "first", "last", "projects", "left out")


@click.command(short_help="Read the sessions that a host has already recorded.")
@click.argument(
    "host", type=click.Choice(sorted((*SOURCES, import_auto_memory.NAME))), required=False
)
@click.option(
    "is_all",
    "--all",
    is_flag=True,
    help="Read the sessions of every host, and Claude Code's own notes.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be read, and stop.")
@click.option("--yes", is_flag=True, help="With --all: do not ask before reading.")
@click.option(
    "--since", type=When(), help="Only sessions written to since then: 2026-01-31, 30d, 8w."
)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look here for the host's files.",
)
@click.pass_obj
def command(
    places: Places,
    host: str | None,
    since: datetime | None,
    folder: Path | None,
    *,
    is_all: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Turn the sessions of HOST on this machine into memory; without HOST, say what is there.

    `auto-memory` stands for the notes that Claude Code keeps by itself: each becomes a memory of
    its project. Nothing leaves the machine and no model is asked. It may be interrupted and started
    again at any time: what was read is not read twice, and a second run changes nothing.

    \b
    keeplore import
    keeplore import claude-code --since 30d
    keeplore import --all
    """
    if host and is_all:
        raise click.UsageError("give a HOST or --all, not both")
    if folder and not host:
        raise click.UsageError("--from needs the HOST whose files lie there")
    # heavy: git, the index and the model are needed here, not for --help
    from keeplore.workspace.importing.import_survey import survey
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        notes = (
            import_auto_memory.find(folder, since)
            if host in (None, import_auto_memory.NAME)
            else None
        )
        if host == import_auto_memory.NAME:
            found = []
        else:
            found = survey(registry, os.environ, since=since, folders=_folders(host, folder))
            found = [one for one in found if host in (None, one.source.name)]
        if not any(one.sessions for one in found) and not (notes and notes.files):
            _say_nothing(host, folder, found, notes)
            return
        if is_all or dry_run or not host:
            _show(found, notes)
        if notes:
            import_auto_memory.tell_left_out(notes)
        if dry_run or not (host or is_all):
            _say_next(host)
            return
        home = registry.for_directory(
            Path.home()
        )  # says what to do where there is no workspace yet
        if is_all and not yes and not _agrees():
            return
        _read(registry, found)
        if notes and notes.files:
            import_auto_memory.read(registry, notes)
        for workspace in registry.opened():
            fill_vectors(workspace)
        _show_known(home)


def _folders(host: str | None, folder: Path | None) -> dict[str, str]:
    if not host or not folder:
        return {}
    if (
        folder.name == source_named(host).folder
    ):  # the sessions lie there, and people name where they saw them
        folder = folder.resolve().parent
    return {host: str(folder)}


def _say_nothing(
    host: str | None, folder: Path | None, found: Sequence[SourceSurvey], notes: Notes | None
) -> None:
    known = sum(one.known for one in found)
    if notes and (host or notes.left_out):
        import_auto_memory.say_nothing(notes, folder)
    elif known:
        click.echo(
            f"All {known} sessions are known from the hosts themselves; there is nothing else to "
            f"read."
        )
    elif folder and host:
        inside = source_named(host).folder
        raise KeeploreError(
            f"no recorded sessions of {host} in {folder}", f"Name the folder that holds {inside}/"
        )
    else:
        of = f" of {host}" if host else ""
        click.echo(
            f"No recorded sessions{of} found. If they lie elsewhere, name HOST and the folder with "
            f"--from."
        )


def _show(found: Sequence[SourceSurvey], notes: Notes | None) -> None:
    """The same table for what is there and for what is about to be read."""
    rows: list[tuple[object, ...]] = []
    for one in found:
        if not one.sessions and not one.known:
            continue
        known = f"{one.known} known from their host" if one.known else ""
        rows.append(
            (
                one.source.name,
                len(one.sessions),
                _size(one.size),
                *one.days,
                _named(one.directories),
                known,
            )
        )
    if notes and (notes.files or notes.left_out):
        size, where = sum(file.size for file in notes.files), [file.cwd for file in notes.files]
        left_out = f"{len(notes.left_out)} folders" if notes.left_out else ""
        days = import_auto_memory.days(notes)
        rows.append(
            (
                import_auto_memory.NAME,
                f"{len(notes.files)} notes",
                _size(size),
                *days,
                _named(where),
                left_out,
            )
        )
    table(HEADINGS, rows, wide=("projects",))


def _named(directories: Sequence[str]) -> str:
    names = list(dict.fromkeys(Path(directory).name for directory in directories))
    more = f" and {len(names) - SHOWN_DIRECTORIES} more" if len(names) > SHOWN_DIRECTORIES else ""
    return ", ".join(names[:SHOWN_DIRECTORIES]) + more


def _say_next(host: str | None) -> None:
    if sys.stdout.isatty():
        these = (
            f"`keeplore import {host}` reads them"
            if host
            else "`keeplore import --all` reads them all"
        )
        click.echo(f"\nNothing was read. {these}; `--since 30d` takes the latest alone.")


def _agrees() -> bool:
    """Whether the person wants it; nobody can be asked where there is no terminal."""
    if not sys.stdin.isatty():
        raise KeeploreError(
            "nobody can be asked whether to read all this",
            "Add --yes, or --dry-run to see it alone",
        )
    return click.confirm("\nRead them all?", default=True)


def _read(registry: Registry, found: Sequence[SourceSurvey]) -> None:
    # heavy, see above
    from keeplore.workspace.importing.session_import import import_sessions

    for one in found:
        if not one.sessions:
            continue
        with bar(f"Reading {one.source.name}") as progress:
            try:
                imported = import_sessions(registry, one.source, one.sessions, progress)
            except KeyboardInterrupt:
                click.echo("\nInterrupted. What was read is kept; run it again to go on.", err=True)
                raise
        looked_at, new, turns = len(one.sessions), imported.sessions, imported.turns
        click.echo(
            f"{one.source.name}: {looked_at} sessions looked at, {new} with something new: {turns} "
            f"turns."
        )
        for path, problem in imported.problems[:SHOWN_PROBLEMS]:
            click.echo(f"  {plain(path.name)}: {plain(problem)}", err=True)
        if len(imported.problems) > SHOWN_PROBLEMS:
            click.echo(
                f"  … and {len(imported.problems) - SHOWN_PROBLEMS} more lines that could not be "
                f"read",
                err=True,
            )


def _size(count: int) -> str:
    """Bytes for a person."""
    size, units = float(count), ["B", "kB", "MB", "GB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.0f} {units[0]}" if units[0] == "B" or size >= 10 else f"{size:.1f} {units[0]}"


def _show_known(workspace: Workspace) -> None:
    # heavy, see above
    from keeplore.workspace.importing.session_import import known_decisions

    known = known_decisions(workspace)
    if not known:
        return
    stamp = workspace.index.state()
    click.echo(f"\n{workspace.name} now holds {stamp.memories} memories. Among them:\n")
    for thing in known:
        click.secho(f"  {plain(thing.title)}", bold=True)
        place = plain(f"{thing.date} · {thing.project or 'workspace'} · {thing.path}")
        click.secho(f"  {place}", dim=True)
        quote = textwrap.fill(
            f"“{plain(thing.quote)}”", 92, initial_indent="    ", subsequent_indent="    "
        )
        click.echo(f"{quote}\n")
    click.echo('Ask for more: `keeplore recall "what did we decide about …"`')
