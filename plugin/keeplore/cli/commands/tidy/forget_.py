"""``keeplore forget REF…``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note, plain, say
from keeplore.cli.references import reference
from keeplore.config.places import Places
from keeplore.errors import KeeploreError, NotFound

if TYPE_CHECKING:
    from keeplore.store import PurgePlan
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace

SHOWN = 20  # paths of a plan


@click.command(short_help="Take a memory away, with all its versions; it can be restored.")
@reference("refs", many=True)
@click.option(
    "--purge",
    is_flag=True,
    help="Remove the text from git's history too, here and on every machine.",
)
@click.option(
    "-y", "--yes", is_flag=True, help="Do not ask; needed for --purge where nobody can be asked."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(
    places: Places, *, refs: tuple[str, ...], purge: bool, yes: bool, as_json: bool
) -> None:
    """Forget the memories REF: ids, beginnings of ids (four digits or more), or paths as they are
    printed.

    Earlier versions go along, since one of them would otherwise take the place of the newest. What
    is forgotten stays so on every machine, and `keeplore restore` brings it back from git. With
    --purge nothing brings it back: its text is taken out of every commit, and the next sync
    replaces the history at the remote.

    \b
    keeplore forget 1f0c9a2e
    keeplore forget --purge 1f0c9a2e
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry

    done: list[dict[str, Any]] = []
    with Registry(places) as registry:
        targets = [_target(registry, ref) for ref in refs]  # all of them, before the first one goes
        for workspace, memory_id in dict.fromkeys(targets):
            if memory_id in {
                id_ for entry in done for id_ in entry["ids"]
            }:  # another version of one before
                continue
            act = _purge if purge else _forget
            done.append(act(workspace, memory_id, yes=yes, is_quiet=as_json))
    if as_json:
        emit_json(done)


def _target(registry: Registry, ref: str) -> tuple[Workspace, str]:
    from keeplore.workspace.reading.deleted_memories import find_forgotten  # heavy, as above

    try:
        found = registry.find(ref, Path.cwd())
    except NotFound:
        try:
            return find_forgotten(
                registry, ref, Path.cwd()
            )  # to purge it, or because it was done twice
        except NotFound:
            pass
        raise
    return found.workspace, found.row.id


def _forget(workspace: Workspace, memory_id: str, *, yes: bool, is_quiet: bool) -> dict[str, Any]:
    from keeplore.workspace.writing.forget import forget  # heavy, as above

    _show(workspace, memory_id, is_quiet=is_quiet)
    if not yes and sys.stdin.isatty():
        click.confirm("Forget this?", abort=True, err=True)
    forgot = forget(workspace, memory_id)
    if not is_quiet:
        say(f"Forgotten. `keeplore restore {memory_id[4:12]}` brings it back.")
    if not forgot.is_committed:
        note("git is busy with something of yours; it is committed afterwards")
    for row in forgot.quoting:
        note(f"{row.path} quotes it and stays; `keeplore forget {row.id[4:12]}` takes it away")
    return {
        "ids": list(forgot.ids),
        "quoting": [row.id for row in forgot.quoting],
        "is_purged": False,
    }


def _purge(workspace: Workspace, memory_id: str, *, yes: bool, is_quiet: bool) -> dict[str, Any]:
    # heavy, as above
    from keeplore.workspace.writing.forget import purge, purge_plan, quoting_notes

    plan = purge_plan(workspace, memory_id)
    quoting = quoting_notes(workspace, memory_id)
    _show(workspace, memory_id, is_quiet=is_quiet)
    _show_plan(workspace, plan)
    if not yes:
        _ask_for(memory_id[4:12])
    done = purge(workspace, memory_id)
    if not is_quiet:
        say(
            f"Purged: {done.commits} commits were written anew, and nothing on this machine holds "
            f"the text."
        )
        if workspace.store.remote():
            say("`keeplore sync` replaces the history at the remote.")
    for row in quoting:
        note(
            f"{row.path} quotes it and stays; `keeplore forget --purge {row.id[4:12]}` takes it "
            f"away"
        )
    return {
        "ids": list(done.ids),
        "quoting": [row.id for row in quoting],
        "is_purged": True,
        "commits": done.commits,
    }


def _show(workspace: Workspace, memory_id: str, *, is_quiet: bool) -> None:
    if is_quiet:
        return
    versions = workspace.notes.history(memory_id)
    for version in reversed(versions):
        row = version.row
        say(plain(row.title), bold=True)
        say(f"  {row.created_at[:10]} · {row.id[4:12]} · {plain(row.path)}", dim=True)
    if not versions:
        say(f"{memory_id}, which is forgotten already")


def _show_plan(workspace: Workspace, plan: PurgePlan) -> None:
    """On stderr: what is about to happen is no result."""

    def tell(text: str) -> None:
        click.echo(plain(text), err=True)

    remote = workspace.store.remote()
    tell(f"{len(plan.blobs)} texts are taken out of {plan.commits} commits of {workspace.name}:")
    for path in plan.paths[:SHOWN]:
        tell(f"- {path}")
    if len(plan.paths) > SHOWN:
        tell(f"- and {len(plan.paths) - SHOWN} more")
    for ref, count in plan.refs:
        tell(f"* {ref.removeprefix('refs/heads/')}: {count} commits get other ids")
    if plan.signed:
        tell(f"* {len(plan.signed)} of them lose their signature")
    if plan.is_pushed:
        branches = ", ".join(ref.removeprefix("refs/remotes/") for ref in plan.remote_refs)
        tell(
            f"* The text was pushed ({branches}): the next sync replaces the history at {remote} "
            f"(a force-push)"
        )
        tell(
            "* Other machines with Keeplore do the same to their copies by themselves, at their "
            "next sync"
        )
        tell(
            "* A clone without Keeplore keeps the text: clone it again, or `git fetch` and `git "
            "reset --hard @{u}`"
        )
        tell(
            "* The forge keeps unreachable objects until it cleans up: ask it to, where that "
            "matters"
        )
    elif remote:
        tell("* The text was not pushed; no other machine has it from here")
    tell(
        "* A password or key that was in it has to be changed all the same: others may have seen it"
    )


def _ask_for(digits: str) -> None:
    if not sys.stdin.isatty():
        raise KeeploreError(
            "purging cannot be undone, and nobody is here to be asked", "Add --yes to go on"
        )
    if (
        click.prompt(f"Type {digits} to purge it", default="", show_default=False, err=True).strip()
        != digits
    ):
        raise click.Abort
