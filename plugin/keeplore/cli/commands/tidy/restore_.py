"""``keeplore restore REF…``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.config.places import Places

if TYPE_CHECKING:
    from keeplore.workspace.reading.deleted_memories import DeletedMemory
    from keeplore.workspace.registry import Registry


@click.command(short_help="Bring back what was forgotten.")
@click.argument("refs", nargs=-1, metavar="[REF]...")
@click.option("-l", "--list", "is_list", is_flag=True, help="Show what was forgotten, and when.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(places: Places, *, refs: tuple[str, ...], is_list: bool, as_json: bool) -> None:
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
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        if is_list:
            _list(registry, as_json=as_json)
            return
        from keeplore.workspace.reading.deleted_memories import find_forgotten  # heavy, as above
        from keeplore.workspace.writing.forget import restore  # heavy, as above

        done = []
        for ref in refs:
            workspace, memory_id = find_forgotten(registry, ref, Path.cwd())
            restored = restore(workspace, memory_id)
            done.append({"ids": list(restored.ids), "paths": list(restored.paths)})
            if not as_json:
                for path in restored.paths:
                    say(f"Restored {plain(path)}")
            if not restored.is_committed:
                note("git is busy with something of yours; it is committed afterwards")
    if as_json:
        emit_json(done)


def _list(registry: Registry, *, as_json: bool) -> None:
    from keeplore.workspace.reading.deleted_memories import deleted_memories  # heavy, as above

    found = list(deleted_memories(registry.for_directory(Path.cwd())))
    if as_json:
        emit_json(
            [
                {
                    "id": one.stone.id,
                    "at": one.stone.at,
                    "machine": one.stone.machine,
                    "title": one.title,
                    "path": one.path,
                    "is_purged": one.stone.is_purged,
                    "can_return": one.can_return,
                }
                for one in found
            ]
        )
        return
    rows = [
        (one.stone.id[4:12], one.stone.at[:10], one.stone.machine, _title(one)) for one in found
    ]
    table(("id", "forgotten", "machine", "title"), rows, wide=("title",))
    if not found:
        note("nothing is forgotten in this workspace")


def _title(one: DeletedMemory) -> str:
    if one.stone.is_purged:
        return "(purged)"
    return one.title or f"(no text in git here; it was forgotten on {one.stone.machine})"
