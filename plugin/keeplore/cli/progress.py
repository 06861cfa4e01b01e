"""Progress on stderr, only where a person is watching."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import note, plain
from keeplore.errors import ModelUnavailable

if TYPE_CHECKING:
    from rich.progress import TaskID

    from keeplore.workspace.workspace import Workspace

Progress = Callable[[int, int], None]
LINE_CHARS = 100


@contextlib.contextmanager
def bar(label: str) -> Iterator[Progress]:
    """A function that takes how many are done, of how many; the bar shows from the first
    call on.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    # rich costs 70 ms to import, which only a person with a terminal should pay
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=None)

        def advance(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        yield advance


@contextlib.contextmanager
def lines() -> Iterator[Callable[[str, str], None]]:
    """A function that takes a name and how far it is; each name has a line while a person is
    watching.
    """
    if not sys.stderr.isatty():
        yield lambda _name, _text: None
        return
    # heavy, as above
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show_line(name: str, text: str) -> None:
            line = f"{plain(name)}: {plain(text)[:LINE_CHARS]}"
            if name in tasks:
                bars.update(tasks[name], description=line)
            else:
                tasks[name] = bars.add_task(line, total=None)

        yield show_line


def fill_vectors(workspace: Workspace) -> bool:
    """Make the missing vectors and the graph; False where the person interrupts, which loses
    nothing.

    A model that cannot be used is told of: text search serves without it.
    """
    try:
        workspace.index.graph.link()
        with bar("Making vectors") as progress:
            workspace.index.embed_pending(progress=progress)
    except ModelUnavailable as e:
        note(f"no vectors were made: {e}")
    except KeyboardInterrupt:
        click.echo(
            "Vectors are not complete; they are filled in when the worker next runs.",
            err=True,
        )
        return False
    return True
