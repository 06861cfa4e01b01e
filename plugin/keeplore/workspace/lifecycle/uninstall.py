"""Leaving a machine: what Keeplore has put there beside the workspaces, and removing exactly
that.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from keeplore.config.code_consent import CodeConsents
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.store.git import pre_commit_hook
from keeplore.store.merge import merge_driver
from keeplore.workspace.registry import Registry
from keeplore_hooks.spool import Spool

# Names that are ours. A person may have named a directory of their own as the inbox: nothing else
# in it is touched.
STATE = (
    "README",
    "format",
    "machine.json*",
    "settings.yaml",
    "redaction.key",
    "python",
    "shown.json",
    "spool",
    "briefs",
    "drift.json",
    "machines",
    "sessions",
    "capture",
    "sync",
    "edits",
    "accepted.json",
    "in-repo.json",
    "pauses.json",
    "paused",
    "plugin-failures.json",
    "jobs.sqlite3*",
    "leases",
    "ledger.sqlite3*",
    "refine.lock",
    "ingest",
    "worker.*",
    "crash.log",
    "client",
    "connections.*",
    "advised-*",
    "activity",
    "uses",
    "open",
    "opened",
    "tidied",
    "warned-*",
    "dropped-*",
    ".*.tmp",
)
EDITS = "edits"  # of those, what was typed into an editor and is not saved
CACHE = ("README", "index", "machines", "models", ".*.tmp")


@dataclass(frozen=True, slots=True)
class UninstallPlan:
    """``events`` are host events that no workspace has yet; ``foreign`` is what stays because it is
    not ours, ``unsaved`` because a person typed it and it was not saved.
    """

    state: tuple[Path, ...]
    cache: tuple[Path, ...]
    commit_hooks: tuple[Path, ...]  # pre-commit hooks of git that are ours
    workspaces: tuple[Path, ...]  # which stay
    foreign: tuple[Path, ...]
    unsaved: tuple[Path, ...]
    events: int
    unreadable: int


def plan(places: Places, *, keeps_state: bool) -> UninstallPlan:
    """What would go and what would stay. Raises ConfigError."""
    roots = _known_roots(places)
    state, not_state = _split_by_name(places.state, STATE)
    if unsaved := _unsaved_texts(places):
        state = tuple(path for path in state if path.name != EDITS)
    cache, not_cache = _split_by_name(places.cache, CACHE)
    counts = Spool(places.spool).counts()
    foreign = not_cache if keeps_state else (*not_state, *not_cache)
    return UninstallPlan(
        state=() if keeps_state else state,
        cache=cache,
        commit_hooks=tuple(_commit_hooks(roots)),
        workspaces=roots,
        foreign=foreign,
        unsaved=unsaved,
        events=counts["new"] + counts["claimed"],
        unreadable=counts["dead"],
    )


def _known_roots(places: Places) -> tuple[Path, ...]:
    """The workspaces; none where there is no inbox."""
    if not places.state.is_dir():
        return ()
    return tuple(Machine.load(places).workspaces.values())


def _unsaved_texts(places: Places) -> tuple[Path, ...]:
    return tuple(sorted((places.state / EDITS).glob("*.md")))


def commit_all(places: Places) -> list[str]:
    """Commit what lies on disk in every workspace; returns what could not be, which stays there
    uncommitted.
    """
    problems = []
    with Registry(places) as registry:
        for name in registry.machine.workspaces:
            try:
                registry.named(name).commit()
            except (KeeploreError, OSError) as e:
                problems.append(f"{name}: {e}")
    return problems


def remove(places: Places, planned: UninstallPlan) -> None:
    """Remove what the plan names; no worker may run. Raises OSError."""
    for hook in planned.commit_hooks:
        hook.unlink(missing_ok=True)
    code_roots = (Path(consent.main) for consent in CodeConsents(places.state).all())
    for root in (*planned.workspaces, *code_roots):
        # it names an interpreter that may go away as well
        with contextlib.suppress(KeeploreError, OSError):
            merge_driver.uninstall(root)
    for path in (*planned.cache, *planned.state):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for folder in (places.cache, places.state) if planned.state else (places.cache,):
        # not empty: something of the person's is in it
        with contextlib.suppress(OSError):
            folder.rmdir()


def _split_by_name(
    folder: Path, names: Iterable[str]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """What in a folder has one of our names, and what else there is."""
    if not folder.is_dir():
        return (), ()
    ours: list[Path] = []
    others: list[Path] = []
    for path in sorted(folder.iterdir()):
        is_ours = any(fnmatch(path.name, name) for name in names)
        (ours if is_ours else others).append(path)
    return tuple(ours), tuple(others)


def _commit_hooks(roots: Iterable[Path]) -> Iterator[Path]:
    for root in roots:
        # gone, or git refuses: there is nothing of ours to find
        with contextlib.suppress(KeeploreError, OSError):
            if place := pre_commit_hook.installed(root):
                yield place
