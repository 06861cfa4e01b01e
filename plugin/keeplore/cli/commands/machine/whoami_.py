"""``keeplore whoami``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note, say_labelled
from keeplore.cli.parameters import json_option, pass_registry

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry


@click.command(
    short_help="Show which workspace, project and scopes apply here, and why."
)
@json_option
@pass_registry
def whoami_command(registry: Registry, *, as_json: bool) -> None:
    """Show where memory made in this directory goes, and what a recall from here searches.

    \b
    cd ~/code/api && keeplore whoami
    """
    facts = _facts(registry, Path.cwd())
    if as_json:
        emit_json(facts)
        return
    say_labelled([*_rows(facts).items()])
    if facts["also_known_in"]:
        own, other = facts["workspace"], facts["also_known_in"][0]
        note(
            f"{facts['project']} is known to {own} and {' and '.join(facts['also_known_in'])}; "
            f"{own} is used, as the first that is asked. `keeplore workspaces home {other}` lets "
            f"{other} be asked first"
        )
    if len(facts["projects_alike"]) == 1:
        project, (other,) = facts["project"], facts["projects_alike"]
        note(
            f"{other} begins with the same commit; if it is this project, `keeplore projects "
            f"reassign {project} {other}`"
        )


def _rows(facts: dict[str, Any]) -> dict[str, str]:
    home = ", home" if facts["is_home"] else ""
    return {
        "workspace": f"{facts['workspace']} ({facts['path']}){home}",
        "remote": facts["remote"] or "none: this memory is on this machine only",
        "project": _project(facts),
        "captured": _capture_answer(facts),
        "notes": facts["notes_with_code"] or "in the workspace",
        "branch": facts["branch"] or "none",
        "machine": facts["machine"],
        "searched": " → ".join(facts["scopes"]),
        "inbox": facts["state"],
        "cache": facts["cache"],
    }


def _project(facts: dict[str, Any]) -> str:
    if not facts["project"]:
        return f"none: {facts['project_by']}"
    known = "" if facts["project_is_known"] else ", not seen before"
    return f"{facts['project']} (by {facts['project_by']}{known})"


def _capture_answer(facts: dict[str, Any]) -> str:
    reason = facts["captured_because"]
    because = f", because {reason}" if reason else ""
    return f"{'yes' if facts['is_captured'] else 'no'}{because}"


def _facts(registry: Registry, cwd: Path) -> dict[str, Any]:
    from keeplore.store.git.checkout_info import checkout_info  # heavy: git
    from keeplore.text.dates import now

    workspace = registry.for_directory(cwd)
    code = registry.code_memory(cwd, workspace)
    identity, checkout = workspace.identities.of(cwd), checkout_info(cwd)
    scopes = workspace.identities.here(cwd).scopes
    decision = workspace.capture_policy.decide(str(cwd), now())
    return {
        "workspace": workspace.name,
        "path": str(workspace.root),
        "also_known_in": registry.also_knowing(cwd),
        "is_home": workspace.name == registry.machine.home,
        "remote": workspace.store.remote(),
        "project": identity.project,
        "project_by": identity.reason,
        "project_is_known": identity.is_known,
        "projects_alike": identity.alike,
        "is_captured": decision.may,
        "captured_because": decision.reason,
        "notes_with_code": str(code.root) if code else "",
        "branch": checkout.branch if checkout else "",
        "machine": registry.machine.id,
        "scopes": [":".join(filter(None, scope)) for scope in scopes],
        "state": str(registry.places.state),
        "cache": str(registry.places.cache),
    }
