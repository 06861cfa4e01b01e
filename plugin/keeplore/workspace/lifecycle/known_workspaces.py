"""Which workspaces a machine knows: choosing the home workspace, renaming one, taking one off the
list.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from keeplore.config.consent import Consents
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.settings import FILE
from keeplore.errors import ConfigError, NoWorkspace
from keeplore.memory.names import is_project_name


@dataclass(frozen=True, slots=True)
class RegisteredWorkspace:
    """``is_there`` is False where the directory is gone or is no workspace any more."""

    name: str
    root: Path
    is_home: bool
    is_there: bool


def registered_workspaces(places: Places) -> list[RegisteredWorkspace]:
    machine = Machine.load(places)
    names = sorted(machine.workspaces, key=lambda name: (name != machine.home, name))
    return [_record(machine, name) for name in names]


def choose_home(places: Places, name: str) -> RegisteredWorkspace:
    """Make a workspace the person's home workspace. Raises NoWorkspace."""
    machine = replace(Machine.load(places), home=name)
    record = _record(machine, name)
    machine.save(places)
    return record


def remove(places: Places, name: str) -> RegisteredWorkspace:
    """Take a workspace off the list and delete its index, which is made from its text; its files
    are not touched.

    Raises NoWorkspace, or ConfigError for the home workspace while there are others.
    """
    machine = Machine.load(places)
    record = _record(machine, name)
    left = {known: path for known, path in machine.workspaces.items() if known != name}
    if record.is_home and len(left) > 1:  # with one left there is nothing to choose
        others = ", ".join(sorted(left))
        raise ConfigError(
            f"{name!r} is the home workspace",
            f"`keeplore workspaces home NAME` chooses another: {others}",
        )
    home = next(iter(left), "") if record.is_home else machine.home
    replace(machine, home=home, workspaces=left).save(places)
    _remove_state(places, record)
    return replace(record, is_home=False)


def _remove_state(places: Places, gone: RegisteredWorkspace) -> None:
    shutil.rmtree(places.cache / "index" / gone.name, ignore_errors=True)
    Consents(places.state).withdraw(gone.root)
    # what was said of another one's machines must not count for a namesake
    for place in (places.state, places.cache):
        (place / "machines" / f"{gone.name}.json").unlink(missing_ok=True)


def rename(places: Places, old: str, new: str) -> RegisteredWorkspace:
    """Call a workspace otherwise on this machine, and keep its index and what its capture knows.

    No worker may run meanwhile. Raises NoWorkspace, or ConfigError for a name that is taken or
    cannot be one.
    """
    machine = Machine.load(places)
    is_home = _record(machine, old).is_home
    _expect_free(machine, new)
    _move_state(places, old, new)
    known = {
        new if name == old else name: path for name, path in machine.workspaces.items()
    }
    machine = replace(machine, home=new if is_home else machine.home, workspaces=known)
    machine.save(places)
    return _record(machine, new)


def _expect_free(machine: Machine, name: str) -> None:
    """Raise ConfigError for a name that is taken or cannot be one."""
    if not is_project_name(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a workspace",
            "Choose one of lower-case letters, digits, dots and dashes",
        )
    if name in machine.workspaces:
        raise ConfigError(
            f"this machine has another workspace named {name!r}", "Choose another name"
        )


def _move_state(places: Places, old: str, new: str) -> None:
    for folder in (places.cache / "index", places.state / "capture"):
        if (folder / old).is_dir():
            # left by one of that name that was removed
            shutil.rmtree(folder / new, ignore_errors=True)
            (folder / old).rename(folder / new)
    for folder in (
        places.state / "sync",
        places.state / "machines",
        places.cache / "machines",
    ):
        if (folder / f"{old}.json").exists():
            (folder / f"{old}.json").replace(folder / f"{new}.json")


def _record(machine: Machine, name: str) -> RegisteredWorkspace:
    """The workspace that this machine knows by a name. Raises NoWorkspace."""
    root = machine.workspaces.get(name)
    if root is None:
        known = ", ".join(sorted(machine.workspaces)) or "none"
        raise NoWorkspace(
            f"no workspace named {name!r} on this machine", f"It knows: {known}"
        )
    return RegisteredWorkspace(
        name, root, name == machine.home, (root / FILE).is_file()
    )
