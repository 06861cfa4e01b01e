"""Having a person change a memory in their editor: its text, what may be changed of its front
matter, and what they typed, which is never lost.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from keeplore.cli.output import note, say
from keeplore.cli.writing import calling_agent
from keeplore.errors import Corrupt, KeeploreError
from keeplore.memory import Memory, parse, serialise
from keeplore.memory.model import links_to_others
from keeplore.memory.names import short_id
from keeplore.memory.validation import faults
from keeplore_hooks import durable

FIELDS = ("title", "category", "permanent", "related")
CUT = "------------------------ >8 ------------------------"
_REST = (
    f"{CUT}\nThis memory was changed on two machines. What you save joins them. The other "
    f"version, to take from:\n\n"
)
_RESTORE = "Put them back as they were, or empty the file to change nothing"
_REMEDY = "Mend it, or empty the file to change nothing"


@dataclass(frozen=True, slots=True)
class Edited:
    """What differs; ``fields`` has None for what was removed, ``body`` is None where the text
    stayed.
    """

    body: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)


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
    path = folder / f"{short_id(memory.id)}-{secrets.token_hex(4)}.md"
    text = _document(memory, others)
    durable.write(path, text.encode())
    try:
        yield _edit_until_valid(path, text, memory, is_cut=bool(others))
    except (KeeploreError, OSError):
        # nothing was typed
        if path.read_text(encoding="utf-8", errors="replace") == text:
            path.unlink()
        else:
            note(f"your text is in {path}")
        raise
    path.unlink(missing_ok=True)


def changes(memory: Memory, edited: Edited) -> dict[str, Any]:
    """What a new version gets: the body and the fields that the person changed, and whose words it
    is then.
    """
    made = {"body": edited.body, **edited.fields}
    is_changed = edited.body is not None or edited.fields
    # a conversation stays what both have said
    if is_changed and memory.kind == "note" and not calling_agent().session:
        made["trust"] = "user"
    return made


def _check_editor() -> None:
    """Refuse to go on (KeeploreError) without a terminal, unless a program was named that can edit
    by itself, as a script's sed does.
    """
    is_named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not is_named and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise KeeploreError(
            "no editor can open here, where there is no terminal",
            "Set EDITOR to a program that changes the file, or use --title, --category, --scope or "
            "--project",
        )


def _edit_until_valid(
    path: Path, before: str, old: Memory, *, is_cut: bool
) -> Edited | None:
    """The text as the person changed it, None where they changed nothing; they are asked again
    where it cannot be read.
    """
    while True:
        text = _text_from_editor(path)
        if text == before or not text.strip():
            return None
        try:
            return read_back(text, old, is_cut=is_cut)
        except Corrupt as e:
            _show_fault(text.splitlines(), e)
            is_given_up = not sys.stdin.isatty()
            if is_given_up or not click.confirm(
                "Edit it again?", default=True, err=True
            ):
                raise KeeploreError(
                    f"nothing was changed: {e.message}", e.remedy
                ) from e


def _text_from_editor(path: Path) -> str:
    """What the file holds when the editor is left. Raises KeeploreError where none opens."""
    try:
        click.edit(filename=str(path), extension=".md")
    except click.ClickException as e:
        raise KeeploreError(
            e.message,
            "Set EDITOR to an editor that waits, such as `nano` or `code --wait`",
        ) from e
    return path.read_text(encoding="utf-8", errors="replace")


def _show_fault(lines: Sequence[str], fault: Corrupt) -> None:
    shown = lines[fault.line - 1] if fault.line <= len(lines) else ""
    say(f"line {fault.line}: {fault.message}", err=True)
    say(f"  | {shown.strip()}", err=True)


def _document(memory: Memory, others: Sequence[Memory]) -> str:
    """The text for the editor, with the other ends of a forked chain below a line that cuts them
    off.
    """
    text = serialise(Memory(_editable(memory), memory.body))
    if not others:
        return text
    rest = "\n\n".join(f"{other.title}\n\n{other.body.strip()}" for other in others)
    return f"{text.rstrip()}\n\n{_REST}{rest}\n"


def read_back(text: str, old: Memory, *, is_cut: bool) -> Edited:
    """What a person changed. Raises Corrupt with the line where it cannot be read, or is no sound
    value.
    """
    text = text.replace("\r\n", "\n")
    if is_cut:
        text = text.partition(f"\n{CUT}")[0] + "\n"
    new = _parsed_memory(text)
    body = new.body.rstrip() + "\n"
    title, body = _with_one_title(old, " ".join(new.title.split()), body)
    changed = _changed_fields(_editable(old), {**_editable(new), "title": title})
    return Edited(None if body.rstrip() == old.body.rstrip() else body, changed)


def _changed_fields(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields with another value, None for those that are gone."""
    wanted = {key: after.get(key) or None for key in FIELDS}
    return {
        key: value
        for key, value in wanted.items()
        if value != (before.get(key) or None)
    }


def _parsed_memory(text: str) -> Memory:
    """The memory that the text is. Raises Corrupt."""
    if not text.startswith("---"):
        raise Corrupt(
            "no front matter: its lines at the top, from --- to ---, are gone", _RESTORE
        )
    new = parse(text)
    for key in new.meta:
        if key not in FIELDS:
            raise Corrupt(
                f"`{key}` cannot be changed here", _REMEDY, _line_of(text, key)
            )
    for key, message, _ in faults(new.meta):
        if key in new.meta:
            raise Corrupt(message, _REMEDY, _line_of(text, key))
    if not isinstance(new.meta.get("title"), str) or not new.title.strip():
        raise Corrupt("`title` is missing", _REMEDY, _line_of(text, "title"))
    return new


def _editable(memory: Memory) -> dict[str, Any]:
    """The fields that a person may change, without those that say nothing."""
    links = links_to_others(memory.meta.get("related"))
    found: dict[str, Any] = {key: getattr(memory, key) for key in ("title", "category")}
    found |= {"permanent": memory.is_permanent, "related": links}
    return {key: value for key, value in found.items() if value or key == "permanent"}


def _with_one_title(old: Memory, title: str, body: str) -> tuple[str, str]:
    """Make title and heading the same: a person who changes one of them means both."""
    heading, _, rest = body.partition("\n")
    if not old.body.startswith(f"# {old.title}\n") or not heading.startswith("# "):
        return title, body
    if title != old.title:
        return title, f"# {title}\n{rest}" if heading == f"# {old.title}" else body
    return heading[2:].strip() or title, body


def _line_of(text: str, key: str) -> int:
    """The number of the line with the key, counted from 1; 1 where no line has it."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(f"{key}:"):
            return number
    return 1
