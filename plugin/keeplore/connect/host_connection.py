"""What a plugin says of a host so that `keeplore connect` can connect it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from keeplore.connect.hook_events import Launcher
from keeplore.connect.resources import Resource


@dataclass(frozen=True, slots=True)
class HostLocation:
    """``variable`` names the host's own directory, ``home_variable`` what holds ``folder`` in place
    of the home.
    """

    label: str
    folder: str
    programs: Sequence[str]
    next_step: str  # what a person does then
    tried: str = ""  # the newest version that was run with Keeplore
    before: str = ""  # what a person should know who has not connected it yet
    variable: str = ""
    home_variable: str = ""
    home: str = ""  # from the home directory, what holds ``folder``


@dataclass(frozen=True, slots=True)
class ConnectPlace:
    """Where a host is connected, and what it is to run."""

    home: Path
    directory: Path  # the host's own, or the folder in it that is ours alone
    launcher: Launcher


@dataclass(frozen=True, slots=True)
class Desired:
    """A file, and what of ours is to stand in it."""

    path: Path
    resource: Resource


def _no_text(_directory: Path) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class HostConnection:
    """How one host is connected. The last three are given the host's directory, and say in words
    what they find there, "" for nothing.
    """

    host: str
    location: HostLocation
    files: Callable[[ConnectPlace], Iterable[Desired]]
    own_folder: str = ""  # below the host's directory, what is ours alone
    # that the host has Keeplore from elsewhere
    installed_otherwise: Callable[[Path], str] = _no_text
    # the setting that keeps the host from running our entries
    switched_off: Callable[[Path], str] = _no_text
    # what the host itself wrote because of our entries
    left_behind: Callable[[Path], str] = _no_text
