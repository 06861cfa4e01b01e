"""Carrying a plan out, so that whoever is killed in between can connect or disconnect again and all
is well.
"""

from __future__ import annotations

import contextlib
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from keeplore.config import installation
from keeplore.connect.assets import client_files
from keeplore.connect.client_copy import FOLDER, write_clients
from keeplore.connect.connect_plan import ConnectPlan, FileChange
from keeplore.connect.connection_record import FILE, ConnectionRecord
from keeplore.connect.resources import read_file
from keeplore.errors import ConfigError
from keeplore_hooks import durable

LOCK = "connections.lock"
NEW_MODE = 0o600


def apply(plan: ConnectPlan, state: Path) -> None:
    """Make every change of the plan; ``state`` must exist.

    Raises ConfigError where a file has changed since it was planned: nothing or a part is done
    then, and all of it is recorded. Raises OSError.
    """
    with durable.locked(state / LOCK):
        _expect_as_planned(plan, state)
        plan.during.save(state)
        if plan.ready:
            write_clients(state)
            installation.register(state)
        for file in _own_files(plan, state):
            _sweep(file)
        for change in plan.changes:
            _apply_change(change)
        _remove_empty(plan.during.folders)
        left = [folder for folder in plan.after.folders if Path(folder).is_dir()]
        replace(plan.after, folders=tuple(left) if plan.after.files else ()).save(state)


def _expect_as_planned(plan: ConnectPlan, state: Path) -> None:
    """Raise ConfigError where something is other than it was when the plan was made."""
    is_changed = any(
        read_file(change.target) != change.before for change in plan.changes
    )
    if is_changed or ConnectionRecord.load(state) != plan.before:
        raise ConfigError(
            "a file has changed while you looked at this", "Run the same command again"
        )


def _apply_change(change: FileChange) -> None:
    target = change.target
    if change.after is None:
        target.unlink(missing_ok=True)
        durable.sync_directory(target.parent)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else NEW_MODE
    durable.write(target, change.after, mode)
    # this process's umask took some of it
    if stat.S_IMODE(target.stat().st_mode) != mode:
        target.chmod(mode)


def _remove_empty(folders: Iterable[str]) -> None:
    for folder in sorted(folders, key=len, reverse=True):
        with contextlib.suppress(OSError):  # something else is in it, or it is gone
            Path(folder).rmdir()


def _own_files(plan: ConnectPlan, state: Path) -> Iterator[Path]:
    """The files beside which a killed process may have left something."""
    for file in plan.during.files.values():
        yield Path(file.target)
    yield state / FILE
    yield state / installation.FILE
    for name in client_files():
        yield state / FOLDER / name


def _sweep(target: Path) -> None:
    """Remove what a killed one left beside a file of ours."""
    aside = re.compile(rf"\.{re.escape(target.name)}\.\d+-[0-9a-f]{{8}}\.tmp")
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            if aside.fullmatch(path.name):
                path.unlink()
