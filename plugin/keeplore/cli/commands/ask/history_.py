"""``keeplore history REF``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import block, emit_json, plain, say
from keeplore.cli.parameters import json_option, reference, short
from keeplore.config.places import Places

if TYPE_CHECKING:
    from keeplore.workspace.note_writer import NoteVersion
    from keeplore.workspace.reading.version_diff import FieldChange, TextPiece

MAX_SHOWN = 4_000  # characters of a change
MARKS = {
    "-": ("[-", "-]", "red"),
    "+": ("{+", "+}", "green"),
}  # as `git diff --word-diff` writes them


@click.command(short_help="Show how a memory changed, from its first version on.")
@reference()
@json_option
@click.pass_obj
def history_command(places: Places, *, reference: str, as_json: bool) -> None:
    """Show every version of the memory REF, the first one first: when, by whom, and what changed.

    What went stands in [-…-], what came in {+…+}. Where two machines changed the same version, both
    stay until the next `keeplore edit` joins them; the one that counts meanwhile is marked. How a
    file itself was edited, `git log -p` tells.

    \b
    keeplore history 1f0c9a2e
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.version_diff import fields_changed, text_changed
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        found = registry.find(reference, Path.cwd())
        versions = found.workspace.notes.history(found.row.id)
        trust = {
            version.row.id: found.workspace.machine_trust.trust_of(version.memory)
            for version in versions
        }
    before = _before(versions)
    changes = [
        (
            version,
            fields_changed(old.memory, version.memory),
            text_changed(old.memory, version.memory),
        )
        if (old := before.get(version.row.id))
        else (version, (), ())
        for version in versions
    ]
    if as_json:
        emit_json([{**_as_json(*change), "trust": trust[change[0].row.id]} for change in changes])
        return
    is_forked = sum(version.is_leaf for version in versions) > 1
    for number, (version, fields, pieces) in enumerate(changes):
        _show(
            version,
            trust[version.row.id],
            fields,
            pieces,
            is_first=number == 0,
            is_forked=is_forked,
        )


def _before(versions: Sequence[NoteVersion]) -> dict[str, NoteVersion]:
    """What each version was made from: the one that it supersedes where that is here, else the one
    before it.
    """
    known = {version.row.id: version for version in versions}
    return {
        version.row.id: known.get(version.memory.supersedes, old)
        for old, version in pairwise(versions)
    }


def _show(
    version: NoteVersion,
    trust: str,
    fields: Sequence[FieldChange],
    pieces: Sequence[TextPiece],
    *,
    is_first: bool,
    is_forked: bool,
) -> None:
    row, memory = version.row, version.memory
    source = memory.source
    who = ", ".join(str(source[key]) for key in ("host", "machine") if source.get(key))
    about = [
        row.created_at[:16].replace("T", " "),
        trust,
        str(memory.meta.get("trigger") or ""),
        who,
    ]
    marks = ("newest" if version.is_head else "", "fork" if version.is_leaf and is_forked else "")
    mark = f"  ({', '.join(filter(None, marks))})" if any(marks) else ""
    # the number that stands in the file: two ends of a fork may have the same
    say(
        f"version {memory.version}  {short(row.id)}  {plain(', '.join(filter(None, about)))}{mark}",
        bold=True,
    )
    if is_first or not (fields or pieces):
        say(f"  {plain(row.title)}" if is_first else "  nothing that can be seen changed")
    for change in fields:
        say(f"  {change.field}: {plain(change.before) or 'none'} → {plain(change.after) or 'none'}")
    if pieces:
        text = "".join(_marked(piece) for piece in pieces)
        shown = text[:MAX_SHOWN]
        for line in shown.splitlines():
            say(f"    {line}")
        if len(text) > MAX_SHOWN:
            say(
                f"    … and {len(text) - MAX_SHOWN} characters more: `keeplore show "
                f"{short(row.id)}`"
            )
    say()


def _marked(piece: TextPiece) -> str:
    text = block(piece.text)
    if piece.sign not in MARKS:
        return text
    start, end, colour = MARKS[piece.sign]
    body = text.rstrip("\n")
    return click.style(f"{start}{body}{end}", fg=colour) + text[len(body) :]


def _as_json(
    version: NoteVersion, fields: Sequence[FieldChange], pieces: Sequence[TextPiece]
) -> dict[str, Any]:
    row, memory = version.row, version.memory
    return {
        "id": row.id,
        "version": memory.version,
        "title": row.title,
        "created_at": row.created_at,
        "trigger": memory.meta.get("trigger", ""),
        "source": dict(memory.source),
        "path": row.path,
        "is_head": version.is_head,
        "is_leaf": version.is_leaf,
        "fields": [
            {"field": change.field, "before": change.before, "after": change.after}
            for change in fields
        ],
        "text": [{"sign": piece.sign, "text": piece.text} for piece in pieces],
    }
