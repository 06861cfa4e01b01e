"""``keeplore tidy``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, note, say, table
from keeplore.cli.parameters import json_option, pass_registry
from keeplore.memory.names import short_id
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.tidying.tidy_step import TidyStep


@click.command(short_help="Make digests of conversations, and keep notes in order.")
@click.option(
    "--dry-run", is_flag=True, help="Show what would be done and change nothing."
)
@click.option(
    "--undo",
    is_flag=True,
    help="Take back the last step of this machine; again takes back the one before.",
)
@click.option(
    "--redo", is_flag=True, help="Allow what --undo took back last, and tidy again."
)
@json_option
@pass_registry
def tidy_command(
    registry: Registry, *, dry_run: bool, undo: bool, redo: bool, as_json: bool
) -> None:
    """Tidy this directory's workspace; each step is one commit.

    Conversations that go on with one another, and the others of a project's month, get a digest:
    what was decided, what changed, what is open, each line with its memory and turn; a model writes
    it where one is set, by the rules of refining. Notes that
    say the same become one chain; what needs a person waits in `keeplore review`. Nothing is
    deleted.

    \b
    keeplore tidy --dry-run
    keeplore tidy
    keeplore tidy --undo
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.tidying.tidy_plan import allow_again, tidy, tidy_plan

    if dry_run + undo + redo > 1:
        raise click.UsageError("Give one of --dry-run, --undo and --redo.")
    if undo:
        _undo(registry, as_json=as_json)
        return
    workspace = registry.for_directory(Path.cwd())
    if redo:
        allow_again(workspace)
    steps = [*tidy_plan(workspace, note)] if dry_run else tidy(workspace, note)
    if as_json:
        found = [
            {
                "what": step.deed,
                "title": step.title,
                "why": step.detail,
                "ids": step.ids,
            }
            for step in steps
        ]
        emit_json({"is_applied": not dry_run, "steps": found})
    else:
        _show(steps, is_done=not dry_run)


def _show(steps: Sequence[TidyStep], *, is_done: bool) -> None:
    rows = [
        (step.deed, short_id(step.ids[0]) if step.ids else "", step.title, step.detail)
        for step in steps
    ]
    table(("what", "id", "title", "why"), rows, wide=("title",))
    count = counted(len(steps), "step")
    if not steps:
        note("everything is in order")
    elif is_done:
        say(f"{count} done; `keeplore tidy --undo` takes back the last one")
    else:
        note(f"{count}; nothing was changed: leave out --dry-run to do it")


def _undo(registry: Registry, *, as_json: bool) -> None:
    from keeplore.workspace.tidying.tidy_plan import undo  # heavy, as above

    done = undo(registry.for_directory(Path.cwd()))
    if as_json:
        emit_json({"undone": done.title, "paths": done.paths})
    else:
        files = counted(len(done.paths), "file is", "files are")
        say(
            f"Taken back: {done.title}; {files} as before. `keeplore tidy --redo` does it again"
        )
