"""``keeplore history REF``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import attributes_of, block, emit_json, say
from keeplore.cli.parameters import json_option, pass_registry, reference
from keeplore.memory.names import short_id
from keeplore.text.dates import minute_of

if TYPE_CHECKING:
    from keeplore.memory import Memory
    from keeplore.workspace.note_writer import NoteVersion
    from keeplore.workspace.reading.version_diff import TextPiece
    from keeplore.workspace.reading.version_steps import HistoryStep
    from keeplore.workspace.registry import Registry

MAX_SHOWN = 4_000  # characters of a change
# as `git diff --word-diff` writes them
MARKS = {"-": ("[-", "-]", "red"), "+": ("{+", "+}", "green")}


@click.command(short_help="Show how a memory changed, from its first version on.")
@reference()
@json_option
@pass_registry
def history_command(registry: Registry, *, reference: str, as_json: bool) -> None:
    """Show every version of the memory REF, the first one first: when, by whom, and what changed.

    What went stands in [-…-], what came in {+…+}. Where two machines changed the same version, both
    stay until the next `keeplore edit` joins them; the one that counts meanwhile is marked. How a
    file itself was edited, `git log -p` tells.

    \b
    keeplore history 1f0c9a2e
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.version_steps import history_steps

    found = registry.find(reference, Path.cwd())
    steps = history_steps(found.workspace, found.row.id)
    if as_json:
        emit_json([_as_json(step) for step in steps])
        return
    is_forked = sum(step.version.is_leaf for step in steps) > 1
    for number, step in enumerate(steps):
        _show_heading(step, is_forked=is_forked)
        _show_changes(step, is_first=number == 0)
        say()


def _show_heading(step: HistoryStep, *, is_forked: bool) -> None:
    version, memory, row = step.version, step.version.memory, step.version.row
    trigger = str(memory.meta.get("trigger") or "")
    about = [minute_of(row.created_at), step.trust, trigger, _written_by(memory)]
    mark = _version_label(version, is_forked=is_forked)
    # the number that stands in the file: two ends of a fork may have the same
    description = ", ".join(filter(None, about))
    say(f"version {memory.version}  {short_id(row.id)}  {description}{mark}", bold=True)


def _version_label(version: NoteVersion, *, is_forked: bool) -> str:
    marks = ["newest"] if version.is_head else []
    if version.is_leaf and is_forked:
        marks.append("fork")
    return f"  ({', '.join(marks)})" if marks else ""


def _written_by(memory: Memory) -> str:
    """The host and the machine that wrote it."""
    named = (memory.source.get(key) for key in ("host", "machine"))
    return ", ".join(str(name) for name in named if name)


def _show_changes(step: HistoryStep, *, is_first: bool) -> None:
    row = step.version.row
    if is_first:
        say(f"  {row.title}")
    elif not (step.fields or step.pieces):
        say("  nothing that can be seen changed")
    for change in step.fields:
        say(f"  {change.field}: {change.before or 'none'} → {change.after or 'none'}")
    _show_text(step)


def _show_text(step: HistoryStep) -> None:
    """Show the text with what went and what came, as far as a person reads."""
    text = "".join(_styled_piece(piece) for piece in step.pieces)
    for line in text[:MAX_SHOWN].splitlines():
        click.echo(f"    {line}")
    if len(text) > MAX_SHOWN:
        rest = f"{len(text) - MAX_SHOWN} characters more"
        say(f"    … and {rest}: `keeplore show {short_id(step.version.row.id)}`")


def _styled_piece(piece: TextPiece) -> str:
    text = block(piece.text)
    if piece.sign not in MARKS:
        return text
    start, end, colour = MARKS[piece.sign]
    body = text.rstrip("\n")
    return click.style(f"{start}{body}{end}", fg=colour) + text[len(body) :]


def _as_json(step: HistoryStep) -> dict[str, Any]:
    version, row, memory = step.version, step.version.row, step.version.memory
    return {
        "id": row.id,
        "version": memory.version,
        "title": row.title,
        "created_at": row.created_at,
        "trigger": memory.meta.get("trigger", ""),
        "source": dict(memory.source),
        "path": row.path,
        **attributes_of(version, "is_head", "is_leaf"),
        "fields": [
            attributes_of(change, "field", "before", "after") for change in step.fields
        ],
        "text": [attributes_of(piece, "sign", "text") for piece in step.pieces],
        "trust": step.trust,
    }
