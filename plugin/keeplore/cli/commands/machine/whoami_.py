"""``keeplore whoami``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from keeplore.cli.output import emit_json, plain, say
from keeplore.config.places import Places


@click.command(short_help="Show which workspace, project and scopes apply here, and why.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(places: Places, *, as_json: bool) -> None:
    """Show where memory made in this directory goes, and what a recall from here searches.

    \b
    cd ~/code/api && keeplore whoami
    """
    # heavy: git is needed here, not for --help
    from keeplore.store.git.checkout_info import checkout_info
    from keeplore.workspace.registry import Registry

    cwd = Path.cwd()
    with Registry(places) as registry:
        workspace = registry.for_directory(cwd)
        identity, here, around = (
            workspace.identities.of(cwd),
            workspace.identities.here(cwd),
            checkout_info(cwd),
        )
        told: dict[str, Any] = {
            "workspace": workspace.name,
            "path": str(workspace.root),
            "is_home": workspace.name == registry.machine.home,
            "remote": workspace.store.remote(),
            "project": identity.project,
            "project_by": identity.reason,
            "project_is_known": identity.is_known,
            "branch": around.branch if around else "",
            "machine": registry.machine.id,
            "scopes": [
                f"{scope}:{project}" if project else scope for scope, project in here.scopes
            ],
            "state": str(places.state),
            "cache": str(places.cache),
        }
    if as_json:
        emit_json(told)
        return
    known = "" if told["project_is_known"] else ", not seen before"
    project = (
        f"{told['project']} (by {told['project_by']}{known})"
        if told["project"]
        else f"none: {told['project_by']}"
    )
    rows = {
        "workspace": f"{told['workspace']} ({told['path']}){', home' if told['is_home'] else ''}",
        "remote": told["remote"] or "none: this memory is on this machine only",
        "project": project,
        "branch": told["branch"] or "none",
        "machine": told["machine"],
        "searched": " → ".join(told["scopes"]),
        "inbox": told["state"],
        "cache": told["cache"],
    }
    for label, value in rows.items():
        say(f"{label + ':':<11}{plain(value)}")
