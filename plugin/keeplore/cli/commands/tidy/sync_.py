"""``keeplore sync``."""

from __future__ import annotations

from pathlib import Path

import click

from keeplore.config.places import Places


@click.command(short_help="Commit, fetch, merge and push the workspace now.")
@click.option("--join", is_flag=True, help="Bring together two workspaces that were begun apart.")
@click.pass_obj
def command(places: Places, *, join: bool) -> None:
    """Bring this directory's workspace and its git remote together, with your own git and its
    credentials.

    The worker does the same in the background; this waits for it and says what came of it.
    """
    # heavy: git is needed here, not for --help
    from keeplore.workspace.lifecycle.synchronise import synchronise
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing.disputes import disputes

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        before = {dispute.other.row.id for dispute in disputes(workspace.index, workspace.store)}
        result = synchronise(workspace, is_unrelated=join)
        refreshed = workspace.index.refresh()
        click.echo(f"{workspace.name}: {result.note}")
        if refreshed.changed or refreshed.removed:
            click.echo(
                f"{refreshed.changed} memories new or changed, {refreshed.removed} gone; they can "
                f"be found now."
            )
        left = {dispute.other.row.id for dispute in disputes(workspace.index, workspace.store)}
        if left:
            new = f", {len(left - before)} of them new" if left - before else ""
            counted = (
                "1 contradiction waits" if len(left) == 1 else f"{len(left)} contradictions wait"
            )
            click.echo(
                f"{counted} for you{new}: two machines changed the same lines; `keeplore review` "
                f"shows them."
            )
