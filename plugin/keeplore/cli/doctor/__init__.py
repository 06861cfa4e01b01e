"""What ``keeplore doctor`` looks at: each part gives findings, and one that fails does not hide the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from keeplore.cli.doctor import check_hosts, check_index, check_llm, check_machine, check_workspace
from keeplore.cli.doctor.finding import LEVELS, Finding, mended, well, wrong
from keeplore.config.places import Places
from keeplore.connect.host_locations import Surroundings
from keeplore.errors import KeeploreError
from keeplore.workspace.registry import Registry

__all__ = ["Finding", "Look", "examine"]


@dataclass(frozen=True, slots=True)
class Look:
    """How closely to look; ``surroundings`` tell where hosts keep their files."""

    surroundings: Surroundings
    is_deep: bool = False
    is_mending: bool = False
    progress: Callable[[int, int], None] = lambda _done, _total: None


def examine(places: Places, look: Look) -> list[Finding]:
    """Every finding, worst first, else in the order in which data flows."""
    found = _taken("machine", check_machine.findings(places), look)
    found += _taken("hosts", check_hosts.findings(places, look.surroundings), look)
    try:
        with Registry(places) as registry:
            if not registry.machine.workspaces:
                found.append(
                    wrong("workspace", "none is set up on this machine", "Run `keeplore init DIR`")
                )
            for name in registry.machine.workspaces:
                found += _workspace(registry, name, look)
    except KeeploreError as e:
        found.append(wrong("machine", e.message, e.remedy))
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def _workspace(registry: Registry, name: str, look: Look) -> list[Finding]:
    part = f"workspace {name}"
    try:
        opened = registry.named(name)
    except (KeeploreError, OSError) as e:
        return [wrong(part, _message(e), _remedy(e))]
    found = _taken(part, check_workspace.findings(part, opened), look)
    if opened.settings.llm.provider:
        found += _taken(part, check_llm.findings(f"{part} model", opened), look)
    if look.is_deep:
        found += _taken(part, check_index.findings(part, opened, look.progress), look)
    return found


def _taken(part: str, findings: Iterable[Finding], look: Look) -> list[Finding]:
    """What a part yields, mended where that was asked for; what ends it is a finding too."""
    found: list[Finding] = []
    try:
        found += (mended(finding) if look.is_mending else finding for finding in findings)
    except (KeeploreError, OSError) as e:
        found.append(wrong(part, _message(e), _remedy(e)))
    return found or [well(part, "nothing to say")]


def _message(error: Exception) -> str:
    return error.message if isinstance(error, KeeploreError) else str(error)


def _remedy(error: Exception) -> str:
    return (
        error.remedy if isinstance(error, KeeploreError) else "Look at the path and its permissions"
    )
