"""``keeplore forget REF…``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import emit_json, note, say
from keeplore.cli.parameters import json_option, pass_registry, reference, yes_option
from keeplore.cli.usage_errors import WrongUsage
from keeplore.cli.writing import note_if_uncommitted
from keeplore.errors import NotFound
from keeplore.memory.names import short_id
from keeplore.text.counts import counted
from keeplore.text.dates import shown_day
from keeplore.worker.after_writing import tell_worker

if TYPE_CHECKING:
    from keeplore.index import MemoryRow
    from keeplore.store import PurgePlan, PurgeResult
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace

SHOWN = 20  # paths of a plan
PUSHED = (
    "* Other machines with Keeplore do the same to their copies by themselves, at their next sync",
    (
        "* A clone without Keeplore keeps the text: clone it again, or `git fetch` and `git reset "
        "--hard @{u}`"
    ),
    "* The forge keeps unreachable objects until it cleans up: ask it to, where that matters",
)


@click.command(
    short_help="Take a memory away, with all its versions; it can be restored."
)
@reference("refs", many=True)
@click.option(
    "--purge",
    is_flag=True,
    help="Remove the text from git's history too, here and on every machine.",
)
@yes_option
@json_option
@pass_registry
def forget_command(
    registry: Registry, *, refs: tuple[str, ...], purge: bool, yes: bool, as_json: bool
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
    done: list[dict[str, Any]] = []
    gone: set[str] = set()
    # all of them, before the first one goes
    targets = [_target(registry, ref) for ref in refs]
    for workspace, memory_id in dict.fromkeys(targets):
        if memory_id not in gone:  # with another version of it
            act = _purge if purge else _forget
            done.append(act(workspace, memory_id, yes=yes, is_quiet=as_json))
            gone.update(done[-1]["ids"])
    tell_worker(registry.places)
    if as_json:
        emit_json(done)


def _target(registry: Registry, ref: str) -> tuple[Workspace, str]:
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.reading.deleted_memories import find_forgotten

    try:
        found = registry.find(ref, Path.cwd())
    except NotFound:
        with contextlib.suppress(NotFound):  # to purge it, or because it was done twice
            return find_forgotten(registry, ref, Path.cwd())
        raise
    return found.workspace, found.row.id


def _forget(
    workspace: Workspace, memory_id: str, *, yes: bool, is_quiet: bool
) -> dict[str, Any]:
    from keeplore.workspace.writing.forget import forget  # heavy, as above

    is_here = _show(workspace, memory_id, is_quiet=is_quiet)
    if is_here and not yes:
        _need_a_person("forgotten")
        click.confirm("Forget this?", abort=True, err=True)
    forgot = forget(workspace, memory_id)
    if is_here and not is_quiet:
        say(f"Forgotten. `keeplore restore {short_id(memory_id)}` brings it back.")
    note_if_uncommitted(is_committed=forgot.is_committed)
    _note_quoting(forgot.quoting, "keeplore forget")
    return _as_json(forgot.ids, forgot.quoting, is_purged=False)


def _purge(
    workspace: Workspace, memory_id: str, *, yes: bool, is_quiet: bool
) -> dict[str, Any]:
    # heavy, as above
    from keeplore.workspace.writing.forget import purge, purge_plan, quoting_notes

    plan = purge_plan(workspace, memory_id)
    quoting = quoting_notes(workspace, memory_id)
    _show(workspace, memory_id, is_quiet=is_quiet)
    for line in _plan_lines(workspace, plan):
        say(line, err=True)  # what is about to happen is no result
    if not yes:
        _ask_for(short_id(memory_id))
    done = purge(workspace, memory_id)
    if not is_quiet:
        _say_purged(workspace, done)
    _note_quoting(quoting, "keeplore forget --purge")
    return _as_json(done.ids, quoting, is_purged=True) | {"commits": done.commits}


def _say_purged(workspace: Workspace, result: PurgeResult) -> None:
    say(f"Purged: {counted(result.commits, 'commit')} written anew.")
    if not result.holding:
        say("No object of git and no file of Keeplore on this machine holds its words.")
    for place in result.holding[:SHOWN]:
        note(f"{place} has words of it and stays")
    if workspace.store.remote():
        say("`keeplore sync` replaces the history at the remote.")


def _note_quoting(rows: Iterable[MemoryRow], command: str) -> None:
    for row in rows:
        note(
            f"{row.path} quotes it and stays; `{command} {short_id(row.id)}` takes it away"
        )


def _as_json(
    ids: Iterable[str], quoting: Iterable[MemoryRow], *, is_purged: bool
) -> dict[str, Any]:
    return {
        "ids": list(ids),
        "quoting": [row.id for row in quoting],
        "is_purged": is_purged,
    }


def _show(workspace: Workspace, memory_id: str, *, is_quiet: bool) -> bool:
    """Print what goes; False where it is gone already."""
    versions = workspace.notes.history(memory_id)
    if is_quiet:
        return bool(versions)
    for version in reversed(versions):
        row = version.row
        say(row.title, bold=True)
        say(
            f"  {shown_day(row.created_at)} · {short_id(row.id)} · {row.path}", dim=True
        )
    if not versions and workspace.store.is_forgotten(memory_id):
        say(f"{memory_id} is forgotten already")
    return bool(versions)


def _plan_lines(workspace: Workspace, plan: PurgePlan) -> Iterator[str]:
    texts, commits = counted(len(plan.blobs), "text"), counted(plan.commits, "commit")
    yield f"Taken out of {commits} of {workspace.name}: {texts}"
    yield from _path_lines(plan.paths)
    for ref, count in plan.refs:
        yield f"* {ref.removeprefix('refs/heads/')}: {count} commits get other ids"
    if plan.signed:
        yield f"* {len(plan.signed)} of them lose their signature"
    yield from _kept_lines(plan)
    yield from _staying_lines(plan)
    yield from _elsewhere_lines(plan, workspace.store.remote())
    yield (
        "* A password or key that was in it has to be changed all the same: others may have seen it"
    )


def _kept_lines(plan: PurgePlan) -> Iterator[str]:
    """What the code's own history has of it."""
    if plan.kept:
        place = " ".join(f"--path {path}" for path in plan.paths)
        kept = counted(plan.kept, "commit")
        yield f"* It stays in {kept} of the code, whose history is the team's"
        yield f"* It goes there with `git filter-repo --invert-paths {place}`, in all clones"


def _path_lines(paths: Sequence[str]) -> Iterator[str]:
    for path in paths[:SHOWN]:
        yield f"- {path}"
    if len(paths) > SHOWN:
        yield f"- and {len(paths) - SHOWN} more"


def _staying_lines(plan: PurgePlan) -> Iterator[str]:
    """What here says the same and is not touched."""
    if plan.stays:
        yield "* These say the same and stay, being memories or files of their own:"
        yield from _path_lines(plan.stays)
    if plan.messages:
        messages = counted(plan.messages, "message")
        yield f"* Words of it stay in {messages} of commits"


def _elsewhere_lines(plan: PurgePlan, remote: str) -> Iterator[str]:
    """What other copies of the workspace hold of it."""
    if plan.is_pushed:
        branches = ", ".join(
            ref.removeprefix("refs/remotes/") for ref in plan.remote_refs
        )
        replaces = f"the next sync replaces the history at {remote} (a force-push)"
        yield f"* The text was pushed ({branches}): {replaces}"
        yield from PUSHED
    elif remote:
        yield "* The text was not pushed; no other machine has it from here"


def _need_a_person(deed: str) -> None:
    """Refuse to go on (WrongUsage) where nobody can be asked."""
    if not sys.stdin.isatty():
        raise WrongUsage(
            f"nobody is here to be asked, so nothing was {deed}", "Add --yes to go on"
        )


def _ask_for(digits: str) -> None:
    _need_a_person("purged")
    typed = click.prompt(
        f"Type {digits} to purge it", default="", show_default=False, err=True
    )
    if typed.strip() != digits:
        raise click.Abort
