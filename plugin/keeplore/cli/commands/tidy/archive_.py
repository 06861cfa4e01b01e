"""``keeplore archive``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.cli.values import Age, Size
from keeplore.config.places import Places
from keeplore.memory.model import CATEGORIES, KINDS
from keeplore.memory.note import KEPT_CATEGORIES

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing.archive import ArchiveMove, ArchiveResult, ArchiveRules

SHOWN = 20  # moves; --json has all
ALLOWED = tuple(sorted(set(CATEGORIES) - KEPT_CATEGORIES))


@click.command(short_help="Put old memories aside; they are still found, with a lower rank.")
@click.option(
    "--older-than", type=Age(), help="Only what was not changed for so long: 180d, 8w, 1y."
)
@click.option(
    "--larger-than", type=Size(), default=0, help="Only what takes more on disk: 50kB, 1MB."
)
@click.option(
    "-c", "--category", multiple=True, type=click.Choice(ALLOWED), help="Only of this category."
)
@click.option("-k", "--kind", multiple=True, type=click.Choice(KINDS), help="Only of this kind.")
@click.option("-p", "--project", default="", help="Only of this project.")
@click.option(
    "--apply", is_flag=True, help="Do it; without this the plan is shown and nothing is changed."
)
@click.option(
    "--undo", multiple=True, metavar="REF", help="Bring this memory back from the archive."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(
    places: Places,
    *,
    older_than: timedelta | None,
    larger_than: int,
    category: tuple[str, ...],
    kind: tuple[str, ...],
    project: str,
    apply: bool,
    undo: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what would go to the archive of this directory's workspace, and move it there with
    --apply.

    Without --older-than and --larger-than these go: conversations of more than a year, and versions
    that were replaced and are older than half a year. What is permanent never goes, nor decisions,
    conventions, preferences, corrections, gotchas, infrastructure and security. Nothing in a file
    changes, and recall still finds it, below what is newer.

    \b
    keeplore archive
    keeplore archive --older-than 180d --kind conversation --apply
    keeplore archive --undo 1f0c9a2e
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing.archive import ArchiveRules

    with Registry(places) as registry:
        if undo:
            _undo(registry, undo, as_json=as_json)
            return
        rules = ArchiveRules(older_than, larger_than, category, kind, project)
        _archive(registry, rules, is_applied=apply, as_json=as_json)


def _archive(registry: Registry, rules: ArchiveRules, *, is_applied: bool, as_json: bool) -> None:
    from keeplore.workspace.writing.archive import archive, current_plan  # heavy, as above

    workspace = registry.for_directory(Path.cwd())
    moves = current_plan(workspace, rules, datetime.now(UTC))
    done = archive(workspace, moves) if is_applied else None
    if as_json:
        emit_json(
            {
                "is_applied": is_applied,
                "moves": [asdict(move) for move in (done.moves if done else moves)],
            }
        )
    else:
        shown = moves[:SHOWN]
        rows = [(move.id[4:12], move.title, move.reason, move.path) for move in shown]
        table(("id", "title", "why", "path"), rows, wide=("title", "path"))
        if len(moves) > len(shown):
            note(f"the first {len(shown)} of {len(moves)}; --json lists all")
        kilobytes = sum(move.size for move in moves) / 1000
        if not moves:
            note("nothing to archive by these rules")
        elif done:
            say(
                f"{len(done.moves)} memories archived, {kilobytes:.0f} kB; `keeplore archive "
                f"--undo ID` brings one back"
            )
        else:
            note(
                f"{len(moves)} memories, {kilobytes:.0f} kB, would go; nothing was changed: add "
                f"--apply to do it"
            )
    if done:
        _tell(done)


def _undo(registry: Registry, refs: tuple[str, ...], *, as_json: bool) -> None:
    from keeplore.workspace.writing.archive import unarchive  # heavy, as above

    moves: list[ArchiveMove] = []
    for ref in refs:
        found = registry.find(ref, Path.cwd())
        done = unarchive(found.workspace, [found.row])
        moves += done.moves
        _tell(done)
    if as_json:
        emit_json({"is_applied": True, "moves": [asdict(move) for move in moves]})
        return
    for move in moves:
        say(f"Back at {plain(move.to)}")


def _tell(done: ArchiveResult) -> None:
    for path, problem in done.problems:
        note(f"{path} stays: {problem}")
    if not done.is_committed:
        note("git is busy with something of yours; it is committed afterwards")
