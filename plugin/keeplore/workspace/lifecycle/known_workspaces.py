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


def registered(places: Places) -> list[RegisteredWorkspace]:
    machine = Machine.load(places)
    return [
        RegisteredWorkspace(name, root, name == machine.home, (root / FILE).is_file())
        for name, root in sorted(
            machine.workspaces.items(), key=lambda item: (item[0] != machine.home, item[0])
        )
    ]


def choose_home(places: Places, name: str) -> RegisteredWorkspace:
    """Raises NoWorkspace."""
    machine = Machine.load(places)
    root = _root(machine, name)
    replace(machine, home=name).save(places)
    return RegisteredWorkspace(name, root, is_home=True, is_there=(root / FILE).is_file())


def remove(places: Places, name: str) -> RegisteredWorkspace:
    """Take a workspace off the list and delete its index, which is made from its text; its files
    are not touched.

    Raises NoWorkspace, or ConfigError for the home workspace while there are others.
    """
    machine = Machine.load(places)
    root = _root(machine, name)
    left = {known: path for known, path in machine.workspaces.items() if known != name}
    if machine.home == name and len(left) > 1:  # with one left there is nothing to choose
        others = ", ".join(sorted(left))
        raise ConfigError(
            f"{name!r} is the home workspace",
            f"`keeplore workspaces home NAME` chooses another: {others}",
        )
    home = machine.home if machine.home != name else next(iter(left), "")
    replace(machine, home=home, workspaces=left).save(places)
    shutil.rmtree(places.cache / "index" / name, ignore_errors=True)
    Consents(places.state).withdraw(root)
    for place in (
        places.state,
        places.cache,
    ):  # what was said of another one's machines must not count for a namesake
        (place / "machines" / f"{name}.json").unlink(missing_ok=True)
    return RegisteredWorkspace(name, root, is_home=False, is_there=(root / FILE).is_file())


def rename(places: Places, old: str, new: str) -> RegisteredWorkspace:
    """Call a workspace otherwise on this machine, and keep its index and what its capture knows.

    No worker may run meanwhile. Raises NoWorkspace, or ConfigError for a name that is taken or
    cannot be one.
    """
    machine = Machine.load(places)
    root = _root(machine, old)
    if not is_project_name(new):
        remedy = "Choose one of lower-case letters, digits, dots and dashes"
        raise ConfigError(f"{new!r} cannot be the name of a workspace", remedy)
    if new in machine.workspaces:
        raise ConfigError(
            f"this machine has another workspace named {new!r}", "Choose another name"
        )
    for folder in (places.cache / "index", places.state / "capture"):
        if (folder / old).is_dir():
            shutil.rmtree(
                folder / new, ignore_errors=True
            )  # left by one of that name that was removed
            (folder / old).rename(folder / new)
    for file in (places.state / "sync", places.state / "machines", places.cache / "machines"):
        if (file / f"{old}.json").exists():
            (file / f"{old}.json").replace(file / f"{new}.json")
    known = {new if name == old else name: path for name, path in machine.workspaces.items()}
    replace(machine, home=new if machine.home == old else machine.home, workspaces=known).save(
        places
    )
    return RegisteredWorkspace(new, root, machine.home == old, (root / FILE).is_file())


def _root(machine: Machine, name: str) -> Path:
    if name not in machine.workspaces:
        known = ", ".join(sorted(machine.workspaces)) or "none"
        raise NoWorkspace(f"no workspace named {name!r} on this machine", f"It knows: {known}")
    return machine.workspaces[name]
