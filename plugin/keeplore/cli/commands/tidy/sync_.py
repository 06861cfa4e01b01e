"""``keeplore sync``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import note, say
from keeplore.cli.parameters import pass_registry
from keeplore.config.settings import FILE, Settings, filled_settings, load_settings
from keeplore.errors import IndexUnavailable
from keeplore.text.counts import counted
from keeplore.worker.after_writing import tell_worker

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace


@click.command(short_help="Commit, fetch, merge and push the workspace now.")
@click.option(
    "--join", is_flag=True, help="Bring together two workspaces that were begun apart."
)
@pass_registry
def sync_command(registry: Registry, *, join: bool) -> None:
    """Bring this directory's workspace and its git remote together, with your own git and its
    credentials.

    The worker does the same in the background; this waits for it and says what came of it.
    """
    # heavy: git and the index
    from keeplore.workspace.lifecycle.sync_workspace import synchronise

    registry.is_mending = True  # the remote may have better settings than those here
    workspace = registry.for_directory(Path.cwd())
    before = _contradictions_before(workspace)
    result = synchronise(workspace, is_unrelated=join)
    say(f"{workspace.name}: {result.note}")
    try:
        _say_indexed(workspace, before)
    except IndexUnavailable as e:
        note(f"the text is exchanged, but what is new in it is not found yet: {e}")
    _note_ignored(workspace)
    _check_pulled(workspace)


def _contradictions_before(workspace: Workspace) -> set[str]:
    """``_contradictions``, none where the index cannot be used: text is exchanged all the same."""
    try:
        return _contradictions(workspace)
    except IndexUnavailable:
        return set()


def _say_indexed(workspace: Workspace, before: Collection[str]) -> None:
    """Bring the index up to date and say what is new in it. ``before`` are the contradictions that
    there were. Raises IndexUnavailable.
    """
    from keeplore.recall.prepare import unreadable_files  # heavy, as above

    try:
        refreshed = workspace.index.refresh()
    finally:
        tell_worker(workspace.places)
    if refreshed.changed or refreshed.removed:
        changed = counted(refreshed.changed, "memory", "memories")
        found = " and can be found now" if refreshed.changed else ""
        say(f"{changed} new or changed{found}, {refreshed.removed} gone.")
    for text in unreadable_files(workspace.index):
        note(text)
    _note_left_versions(workspace)
    if left := _contradictions(workspace):
        _say_contradictions(len(left), len(left.difference(before)))


def _check_pulled(workspace: Workspace) -> None:
    """Say (ConfigError) that the settings which were pulled are not valid; those that stand here
    stay in force.
    """
    from keeplore.store.git.inspection import committed  # heavy, as above

    load_settings(workspace.root)
    path = workspace.root / FILE
    pulled = committed(workspace.root, FILE)
    if pulled is not None:
        filled_settings(Settings(), pulled, path)


def _note_ignored(workspace: Workspace) -> None:
    # heavy, as above
    from keeplore.store.git.git_command import ignored
    from keeplore.store.git.inspection import ignored_files, unstorable_paths

    unstorable = unstorable_paths(workspace.root)
    if count := len({*unstorable} - ignored(workspace.root, unstorable)):
        paths = counted(count, "path of memory is", "paths of memory are")
        note(
            f"{paths} left out of commits, which not every system can hold: `keeplore doctor` "
            "says which"
        )
    if count := len(ignored_files(workspace.root)):
        files = counted(count, "file of memory is", "files of memory are")
        note(
            f"{files} left out of commits, because git is told so: `keeplore doctor` says which"
        )


def _note_left_versions(workspace: Workspace) -> None:
    from keeplore.cli.doctor.check_chains import left_versions  # heavy, as above

    if count := len(left_versions(workspace)):
        memories = counted(
            count, "memory is a newer version", "memories are newer versions"
        )
        note(
            f"{memories} of what was forgotten meanwhile: `keeplore doctor` says which, "
            f"and how to forget that too"
        )


def _contradictions(workspace: Workspace) -> set[str]:
    """The ids of versions that a merge set beside another."""
    # heavy, as the workspace is
    from keeplore.workspace.writing.disputes import disputes

    return {
        dispute.other.row.id for dispute in disputes(workspace.index, workspace.store)
    }


def _say_contradictions(count: int, new: int) -> None:
    """Say how many contradictions wait for the person, and how many of them this sync has
    brought.
    """
    waiting = counted(count, "contradiction waits", "contradictions wait")
    how_many_new = f", {new} of them new" if new else ""
    say(
        f"{waiting} for you{how_many_new}: two machines changed the same lines; "
        f"`keeplore review` shows them."
    )
