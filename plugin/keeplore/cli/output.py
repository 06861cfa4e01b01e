"""How commands print and ask: a person on a terminal, a pipe, a program.

A terminal obeys what it is sent, and memories, paths and hosts may say anything: ``say``, ``note``
and ``table`` print no control character, ``plain`` and ``block`` make text safe for other ways.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.errors import KeeploreError
from keeplore.text.fences import one_plain_line, sanitise

MAX_RENDERED = 200_000  # characters; more would take a terminal seconds
OURS = 512  # bytes at the beginning of a file, by which it is known to be ours
_SPACES = re.compile(r"[^\S ]+")  # that would break a line

if TYPE_CHECKING:
    from rich.console import Console


def plain(text: object) -> str:
    """The text as one line without control characters."""
    return one_plain_line(text)


def block(text: str) -> str:
    """The lines of a text without control characters."""
    return sanitise(text)


def say(text: str = "", *, err: bool = False, **style: Any) -> None:
    """Print one line without control characters; colours are left off when it is piped."""
    line = _SPACES.sub(" ", sanitise(text))
    click.echo(click.style(line, **style) if style else line, err=err)


def say_labelled(facts: Sequence[tuple[str, str]], **style: Any) -> None:
    """Print facts below one another, their values aligned."""
    width = max(len(label) for label, _ in facts) + 1
    for label, value in facts:
        say(f"{label + ':':<{width}} {value}", **style)


def note(text: str) -> None:
    """Tell a person something beside the result, on stderr."""
    click.echo(f"note: {plain(text)}", err=True)


def confirm(
    question: str, *, yes: bool, refusal: str, remedy: str = "Add --yes to go on"
) -> None:
    """Ask, unless the person has said yes. Raises Abort, and KeeploreError with the refusal where
    nobody can be asked.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise KeeploreError(refusal, remedy)
    click.confirm(question, abort=True, err=True)


def confirm_risk(*, yes: bool) -> None:
    """Ask whether the person takes the risk that they were just told. Raises as
    ``confirm`` does.
    """
    confirm(
        "Accept that on this machine, for this workspace?",
        yes=yes,
        refusal="nobody is here to accept that",
        remedy="Add --yes where you do",
    )


def choose(question: str, choices: Mapping[str, str]) -> str:
    """The letter of what a person chooses, "s" where they only press return."""
    while True:
        prompt = f"  {question} [{'/'.join(choices)}]"
        key = click.prompt(prompt, default="s", show_default=False).strip().lower()[:1]
        if key in choices:
            return str(key)
        say(
            f"  {', '.join(f'{letter} {meaning}' for letter, meaning in choices.items())}"
        )


def attributes_of(thing: object, *names: str) -> dict[str, Any]:
    """Some of a value's attributes, as JSON writes them."""
    return {name: getattr(thing, name) for name in names}


def emit_json(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


def refuse_to_replace(output: Path, command: str, marks: Iterable[str]) -> None:
    """Raise KeeploreError where a file holds something else than ``command`` has written before,
    which has one of these marks at its beginning.
    """
    if not output.is_file():
        return
    with output.open("rb") as file:
        beginning = file.read(OURS)
    if beginning and not any(mark.encode() in beginning for mark in marks):
        raise KeeploreError(
            f"{output} is there already, and was not written by `keeplore {command}`",
            "Name another file with --output, or take that one away",
        )


def write_file(output: Path, pieces: Iterable[str]) -> None:
    """Write the whole file or none of it: what stood there stays until it is complete. A link, a
    device or a pipe stays, and where it leads gets the text. Raises KeeploreError where there is no
    folder for it, or OSError.
    """
    output = output.resolve()
    if not output.parent.is_dir():
        raise KeeploreError(
            f"there is no folder {output.parent}", "Make it first, or name another file"
        )
    if output.exists() and not output.is_file():
        _write(output, pieces)
        return
    aside = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        _write(aside, pieces)
        aside.replace(output)
    except BaseException as e:
        with contextlib.suppress(OSError):
            aside.unlink()
        if isinstance(e, OSError) and e.filename in (None, str(aside), aside):
            e.filename = str(output)  # which the person knows
        raise


def _write(file: Path, pieces: Iterable[str]) -> None:
    with file.open("wb") as opened:
        opened.writelines(piece.encode(errors="replace") for piece in pieces)


def near(place: Path) -> str:
    """A path as a person types it: below this directory or the home directory where it is."""
    home = Path.home()
    for root, mark in ((Path.cwd(), ""), (home, "~/"), (home.resolve(), "~/")):
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
    """A console as wide as the terminal and without markup: square brackets in a memory are
    text.
    """
    # rich costs 70 ms to import, which a command that prints a line should not pay
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False)


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    wide: Sequence[str] = (),
) -> None:
    """Print a table for a person; tab-separated lines without headings when piped. ``wide`` columns
    take what is left.
    """
    cells = [[plain(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            click.echo("\t".join(row))
        return
    _print_table(headings, cells, wide)


def _print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], wide: Sequence[str]
) -> None:
    # as above
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        is_wide = heading in wide
        shown.add_column(
            heading,
            ratio=1 if is_wide else None,
            no_wrap=not is_wide,
            overflow="ellipsis",
        )
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    console().print(shown)
