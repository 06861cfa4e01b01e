"""``keeplore restore REF…``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import attributes_of, emit_json, note, say, table
from keeplore.cli.parameters import json_option, pass_registry
from keeplore.cli.writing import note_if_uncommitted
from keeplore.memory.names import short_id
from keeplore.text.dates import day_of

if TYPE_CHECKING:
    from keeplore.workspace.reading.deleted_memories import DeletedMemory
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace


@click.command(short_help="Bring back what was forgotten.")
@click.argument("refs", nargs=-1, metavar="[REF]...")
@click.option(
    "-l", "--list", "is_list", is_flag=True, help="Show what was forgotten, and when."
)
@json_option
@pass_registry
def restore_command(
    registry: Registry, *, refs: tuple[str, ...], is_list: bool, as_json: bool
) -> None:
    """Bring back the memories REF, ids or beginnings of ids, as git had them, with the versions
    forgotten with them.

    A memory whose file was deleted by hand comes back too, where git has had it. What was purged
    cannot be restored, and what was never pushed only on the machine where it was forgotten.

    \b
    keeplore restore --list
    keeplore restore 1f0c9a2e
    """
    if is_list == bool(refs):
        raise click.UsageError("give the ids of what to restore, or --list to see them")
    if is_list:
        _list(registry.for_directory(Path.cwd()), as_json=as_json)
        return
    done = [_restore(registry, ref, is_quiet=as_json) for ref in refs]
    if as_json:
        emit_json(done)


def _restore(registry: Registry, ref: str, *, is_quiet: bool) -> dict[str, Any]:
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.deleted_memories import find_forgotten
    from keeplore.workspace.writing.forget import restore

    workspace, memory_id = find_forgotten(registry, ref, Path.cwd())
    restored = restore(workspace, memory_id)
    if not is_quiet:
        for path in restored.paths:
            say(f"Restored {path}")
    note_if_uncommitted(is_committed=restored.is_committed)
    return {"ids": list(restored.ids), "paths": list(restored.paths)}


def _list(workspace: Workspace, *, as_json: bool) -> None:
    # heavy, as above
    from keeplore.workspace.reading.deleted_memories import deleted_memories

    found = list(deleted_memories(workspace))
    if as_json:
        emit_json([_as_json(memory) for memory in found])
        return
    rows = [
        (
            short_id(memory.tombstone.id),
            day_of(memory.tombstone.at),
            memory.tombstone.machine,
            _title(memory),
        )
        for memory in found
    ]
    table(("id", "forgotten", "machine", "title"), rows, wide=("title",))
    if not found:
        note("nothing is forgotten in this workspace")


def _as_json(deleted: DeletedMemory) -> dict[str, Any]:
    facts = attributes_of(deleted.tombstone, "id", "at", "machine", "path", "is_purged")
    return {**facts, "title": deleted.title, "can_return": deleted.text is not None}


def _title(deleted: DeletedMemory) -> str:
    if deleted.tombstone.is_purged:
        return "(purged)"
    return (
        deleted.title
        or f"(no text in git here; it was forgotten on {deleted.tombstone.machine})"
    )
