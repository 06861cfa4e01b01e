"""Having a person change a memory in their editor; what they typed is never lost."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from keeplore.cli.calling_agent import agent
from keeplore.cli.edit_document import Edited, document, read_back
from keeplore.cli.output import note, plain
from keeplore.cli.references import short
from keeplore.errors import Corrupt, KeeploreError
from keeplore.memory import Memory
from keeplore_hooks import durable


@contextlib.contextmanager
def in_editor(
    state: Path, memory: Memory, others: Sequence[Memory] = ()
) -> Iterator[Edited | None]:
    """What the person changed, None for nothing; ``others`` stand below, to take from.

    Where what is done with it fails, their text stays in a file of the state directory and they are
    told which. Raises KeeploreError where no editor can open, or what they saved cannot be read.
    """
    _check_editor()
    folder = state / "edits"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{short(memory.id)}-{secrets.token_hex(4)}.md"
    text = document(memory, others)
    durable.write(path, text.encode())
    try:
        yield _edited(path, text, memory, is_cut=bool(others))
    except (KeeploreError, OSError):
        if path.read_text(encoding="utf-8", errors="replace") == text:  # nothing was typed
            path.unlink()
        else:
            note(f"your text is in {path}")
        raise
    path.unlink(missing_ok=True)


def changes(memory: Memory, edited: Edited) -> dict[str, Any]:
    """What a new version gets: the body and the fields that the person changed, and whose words it
    is then.
    """
    is_own = memory.kind == "note" and not agent().session
    # a conversation stays what both have said
    trust = {"trust": "user"} if (edited.body is not None or edited.fields) and is_own else {}
    return {"body": edited.body, **edited.fields, **trust}


def _check_editor() -> None:
    """Without a terminal only a program that was named can edit, as a script's sed does."""
    is_named = any(os.environ.get(name) for name in ("VISUAL", "EDITOR"))
    if not is_named and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise KeeploreError(
            "no editor can open here, where there is no terminal",
            "Set EDITOR to a program that changes the file, or use --title, --category, --scope or "
            "--project",
        )


def _edited(path: Path, before: str, old: Memory, *, is_cut: bool) -> Edited | None:
    """What the person changed, None for nothing; asked again where it cannot be read."""
    while True:
        try:
            click.edit(filename=str(path), extension=".md")
        except click.ClickException as e:
            raise KeeploreError(
                e.message, "Set EDITOR to an editor that waits, such as `nano` or `code --wait`"
            ) from e
        text = path.read_text(encoding="utf-8", errors="replace")
        if text in ("", before) or text.isspace():
            return None
        try:
            return read_back(text, old, is_cut=is_cut)
        except Corrupt as e:
            _show_fault(text.splitlines(), e)
            if not sys.stdin.isatty() or not click.confirm(
                "Edit it again?", default=True, err=True
            ):
                raise KeeploreError(f"nothing was changed: {e.message}", e.remedy) from e


def _show_fault(lines: Sequence[str], fault: Corrupt) -> None:
    shown = lines[fault.line - 1] if fault.line <= len(lines) else ""
    click.echo(f"line {fault.line}: {plain(fault.message)}", err=True)
    click.echo(f"  | {plain(shown)}", err=True)
