"""``keeplore archive``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.disk_errors import disk_remedy
from keeplore.cli.memory_options import kind_option
from keeplore.cli.output import emit_json, note, say, table
from keeplore.cli.parameters import AGE, SIZE, json_option, pass_registry
from keeplore.cli.writing import note_if_uncommitted
from keeplore.errors import KeeploreError, disk_message
from keeplore.memory import CATEGORIES
from keeplore.memory.names import short_id
from keeplore.memory.note import KEPT_CATEGORIES
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing.archive import ArchiveMove, ArchiveResult

SHOWN = 20  # moves; --json has all
ALLOWED = tuple(sorted(set(CATEGORIES) - KEPT_CATEGORIES))


@click.command(
    short_help="Put old memories aside; they are still found, with a lower rank."
)
@click.option(
    "--older-than",
    type=AGE,
    help="Only what was not changed for so long: 180d, 8w, 1y.",
)
@click.option(
    "--larger-than",
    type=SIZE,
    default=0,
    help="Only what takes more on disk: 50kB, 1MB.",
)
@click.option(
    "-c",
    "--category",
    "categories",
    multiple=True,
    type=click.Choice(ALLOWED),
    help="Only of this category.",
)
@kind_option("-k", "--kind", "kinds", multiple=True)
@click.option("-p", "--project", default="", help="Only of this project.")
@click.option(
    "--apply",
    is_flag=True,
    help="Do it; without this the plan is shown and nothing is changed.",
)
@click.option(
    "--undo",
    multiple=True,
    metavar="REF",
    help="Bring this memory back from the archive.",
)
@json_option
@pass_registry
def archive_command(
    registry: Registry,
    *,
    undo: tuple[str, ...],
    apply: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Show what would go to the archive of this directory's workspace and of the notes kept with
    the code here, and move it there with --apply.

    Without --older-than and --larger-than these go: conversations of more than a year, and versions
    that were replaced and are older than half a year. What is permanent never goes, nor digests,
    decisions, conventions, preferences, corrections, gotchas, infrastructure and security. Nothing
    in a file changes, and recall still finds it, below what is newer.

    Exit status: 0 done, 1 one could not be moved and stays; the others went.

    \b
    keeplore archive
    keeplore archive --older-than 180d --kind conversation --apply
    keeplore archive --undo 1f0c9a2e
    """
    if undo:
        _undo(registry, undo, as_json=as_json)
    else:
        _archive(registry, chosen, is_applied=apply, as_json=as_json)


def _archive(
    registry: Registry, chosen: Mapping[str, Any], *, is_applied: bool, as_json: bool
) -> None:
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.writing.archive import (
        ArchiveRules,
        archive_all,
        current_plans,
        placed_moves,
    )

    rules = ArchiveRules(**chosen)
    plans = current_plans(
        registry, Path.cwd(), rules, datetime.now(UTC), is_dry=not is_applied
    )
    moves = placed_moves(plans)
    done = archive_all(plans) if is_applied else None
    if as_json:
        _print_json(done.moves if done else moves, is_applied=is_applied)
    else:
        _show(moves, done)
    if done:
        _tell_problems([done])


def _show(moves: Sequence[ArchiveMove], result: ArchiveResult | None) -> None:
    shown = moves[:SHOWN]
    rows = [(short_id(move.id), move.title, move.reason, move.path) for move in shown]
    table(("id", "title", "why", "path"), rows, wide=("title", "path"))
    if len(moves) > len(shown):
        note(f"the first {len(shown)} of {len(moves)}; --json lists all")
    _tell_outcome(moves, result)


def _tell_outcome(moves: Sequence[ArchiveMove], result: ArchiveResult | None) -> None:
    size = f"{sum(move.size for move in (result.moves if result else moves)) / 1000:.0f} kB"
    if not moves:
        note("nothing to archive by these rules")
    elif result:
        brings = "`keeplore archive --undo ID` brings one back"
        count = counted(len(result.moves), "memory", "memories")
        say(f"{count} archived, {size}; {brings}")
    else:
        count = counted(len(moves), "memory", "memories")
        note(f"{count}, {size}, would go; nothing was changed: add --apply to do it")


def _undo(registry: Registry, refs: tuple[str, ...], *, as_json: bool) -> None:
    from keeplore.workspace.writing.archive import (  # heavy, as above
        placed_moves,
        unarchive,
    )

    moves: list[ArchiveMove] = []
    results = []
    for ref in refs:
        found = registry.find(ref, Path.cwd())
        done = unarchive(found.workspace, [found.row])
        moves += placed_moves([(found.workspace, done.moves)])
        results.append(done)
    if as_json:
        _print_json(moves, is_applied=True)
    else:
        for move in moves:
            say(f"Back at {move.to}")
    _tell_problems(results)


def _print_json(moves: Iterable[ArchiveMove], *, is_applied: bool) -> None:
    emit_json({"is_applied": is_applied, "moves": [asdict(move) for move in moves]})


def _tell_problems(results: Sequence[ArchiveResult]) -> None:
    """Say what could not be moved and what was not committed; exit with 1 for the former."""
    problems = [problem for result in results for problem in result.problems]
    for path, error in problems[:SHOWN]:
        note(f"{path} stays: {_told(error)}")
    if len(problems) > SHOWN:
        note(f"so do {counted(len(problems) - SHOWN, 'other', 'others')}")
    note_if_uncommitted(is_committed=all(result.is_committed for result in results))
    if problems:
        sys.exit(1)


def _told(error: KeeploreError | OSError) -> str:
    """What went wrong with a file, and the next step."""
    if isinstance(error, OSError):
        return f"{disk_message(error)}. {disk_remedy(error)}"
    return str(error)
