"""Claude Code's own notes in ``keeplore import``: a line of the table, and what came of reading
them.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import plain
from keeplore.cli.progress import bar
from keeplore.errors import KeeploreError

if TYPE_CHECKING:
    from keeplore.workspace.importing.auto_memory import AutoMemoryFiles
    from keeplore.workspace.registry import Registry

NAME = "auto-memory"
SHOWN_PROBLEMS = 5


def find(folder: Path | None, since: datetime | None) -> AutoMemoryFiles:
    """What Claude Code noted by itself; ``folder`` is its configuration directory, or one folder of
    notes.
    """
    # heavy: reading memory is needed here, not for --help
    from keeplore.workspace.importing.auto_memory import find_auto_memory as found

    base = folder or Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    return found(base.resolve() if folder else base, Path.cwd(), since)


def days(found: AutoMemoryFiles) -> tuple[str, str]:
    """The first and the last day on which a note was written."""
    written = [file.written_at.strftime("%Y-%m-%d") for file in found.files]
    return min(written, default=""), max(written, default="")


def read(registry: Registry, found: AutoMemoryFiles) -> None:
    # heavy, see above
    from keeplore.workspace.importing.auto_memory import import_auto_memory

    with bar("Reading Claude Code's notes") as progress:
        done = import_auto_memory(registry, found.files, progress)
    click.echo(
        f"{NAME}: {len(found.files)} notes looked at, {done.new} new, {done.updated} updated."
    )
    for path, problem in done.problems[:SHOWN_PROBLEMS]:
        click.echo(f"  {plain(path.name)}: {plain(problem)}", err=True)
    if len(done.problems) > SHOWN_PROBLEMS:
        click.echo(f"  … and {len(done.problems) - SHOWN_PROBLEMS} more notes", err=True)


def tell_left_out(found: AutoMemoryFiles) -> None:
    for folder, problem in found.left_out:
        click.echo(f"  left out: {plain(str(folder))}: {plain(problem)}", err=True)


def say_nothing(found: AutoMemoryFiles, folder: Path | None) -> None:
    """Nothing to read. Raises KeeploreError where somebody said that there is."""
    tell_left_out(found)
    if folder and not found.left_out:
        raise KeeploreError(
            f"no notes of Claude Code in {folder}",
            "Name the folder that holds projects/ or the notes",
        )
    if not found.left_out:
        click.echo(
            "No notes of Claude Code found. If they lie elsewhere, name the folder with --from."
        )
