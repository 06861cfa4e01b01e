"""How commands print: for a person on a terminal, for a pipe, for a program.

Whatever comes from a memory, a path or a host goes through ``plain`` or ``block``: a terminal obeys
what it is sent.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.text.fences import sanitise

MAX_RENDERED = 200_000  # characters; more would take a terminal seconds

if TYPE_CHECKING:
    from rich.console import Console


def plain(text: object) -> str:
    """One line without control characters."""
    return " ".join(sanitise(str(text)).split())


def block(text: str) -> str:
    """The lines of a text without control characters."""
    return sanitise(text)


def say(text: str = "", **style: Any) -> None:
    """Print text that is already plain; colours are left off when it is piped."""
    click.echo(click.style(text, **style) if style else text)


def note(text: str) -> None:
    """Tell a person something beside the result, on stderr."""
    click.echo(f"note: {plain(text)}", err=True)


def emit_json(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


def write_file(output: Path, pieces: Iterable[str]) -> None:
    """The whole file or none of it: what stood there stays until it is complete."""
    aside = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        with aside.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(pieces)
        aside.replace(output)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def near(place: Path, cwd: Path) -> str:
    """A path as a person types it: below this directory or the home directory where it is."""
    for root, mark in ((cwd, ""), (Path.home(), "~/")):
        if place.is_relative_to(root) and place != root:
            return plain(f"{mark}{place.relative_to(root)}")
    return plain(place)


def markdown(text: str) -> None:
    """Markdown for a person, its links without addresses that a terminal would open; plain lines
    when piped.
    """
    text = block(text)
    if not sys.stdout.isatty() or len(text) > MAX_RENDERED:
        click.echo(text.rstrip("\n"))
        return
    # as below
    from rich.markdown import Markdown

    console().print(Markdown(text, hyperlinks=False))


def console() -> Console:
    """Of the width of the terminal, without markup: square brackets in a memory are text."""
    # rich costs 70 ms to import, which a command that prints a line should not pay
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, wide: Sequence[str] = ()
) -> None:
    """A table for a person; tab-separated lines without headings when piped. ``wide`` columns take
    what is left.
    """
    cells = [[plain(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            click.echo("\t".join(row))
        return
    # as above
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in headings:
        is_wide = heading in wide
        shown.add_column(
            heading, ratio=1 if is_wide else None, no_wrap=not is_wide, overflow="ellipsis"
        )
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    console().print(shown)
