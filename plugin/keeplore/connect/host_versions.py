"""Which version of a host program is here, as far as its files tell: none is run for it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from keeplore.connect.host_locations import LOCATIONS

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_PARENTS = 4  # folders above a program in which its package may lie
_MAX_PACKAGE = 1 << 20  # bytes


def installed_version(host: str, environment: Mapping[str, str]) -> str:
    """The version of the program that the PATH names, "" where nothing tells it."""
    for program in LOCATIONS[host].programs:
        if found := shutil.which(program, path=environment.get("PATH", "")):
            return _version_of(Path(found))
    return ""


def _version_of(program: Path) -> str:
    """What the package says in which a program lies, else its own path."""
    try:
        place = program.resolve()
    except (OSError, RuntimeError):
        return ""
    for folder in [*place.parents][:_PARENTS]:
        if version := _version_in_package(folder / "package.json"):
            return version
    # as of a program that keeps every version in a folder of its own
    in_path = _VERSION.findall(str(place))
    return in_path[-1] if in_path else ""


def _version_in_package(package: Path) -> str:
    try:
        with package.open("rb") as file:
            facts = json.loads(file.read(_MAX_PACKAGE))
    except (OSError, ValueError, RecursionError):
        return ""
    version = facts.get("version") if isinstance(facts, dict) else None
    known = _VERSION.match(version) if isinstance(version, str) else None
    return known[0] if known else ""
