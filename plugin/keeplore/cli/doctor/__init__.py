"""What ``keeplore doctor`` looks at: each part gives findings, and one that fails does not hide the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass

from keeplore.cli.doctor import (
    check_capture,
    check_code,
    check_hosts,
    check_index,
    check_llm,
    check_machine,
    check_plugins,
    check_workspace,
)
from keeplore.cli.doctor.finding import (
    DoctorFinding,
    FindingLevel,
    after_fix,
    failed,
    well,
    wrong,
)
from keeplore.config.places import Places
from keeplore.connect.host_locations import Surroundings
from keeplore.errors import KeeploreError
from keeplore.workspace.registry import Registry

__all__ = ["DoctorFinding", "DoctorOptions", "examine"]


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """How closely to look; ``surroundings`` tell where hosts keep their files. What is on disk is
    committed on the way if ``commits``.
    """

    surroundings: Surroundings
    is_deep: bool = False
    is_mending: bool = False
    progress: Callable[[int, int], None] = lambda _done, _total: None
    commits: bool = True


def examine(
    places: Places, options: DoctorOptions, opened: Registry | None = None
) -> list[DoctorFinding]:
    """Every finding, worst first, else in the order in which data flows; ``opened`` is a registry
    that is in use already.
    """
    found = _collected("machine", check_machine.findings(places), options)
    found += _collected(
        "hosts", check_hosts.findings(places, options.surroundings), options
    )
    try:
        with nullcontext(opened) if opened else Registry(places) as registry:
            names = registry.machine.workspaces
            if not names:
                found.append(
                    wrong(
                        "workspace",
                        "none is set up on this machine",
                        "Run `keeplore init DIR`",
                    )
                )
            for name in names:
                found += _workspace(registry, name, options)
            found += _collected("capture", check_capture.findings(registry), options)
            found += _code(registry, options)
    except KeeploreError as e:
        found.append(failed("machine", e))
    found += check_plugins.findings(places)
    return sorted(found, key=lambda finding: list(FindingLevel).index(finding.level))


def _workspace(
    registry: Registry, name: str, options: DoctorOptions
) -> list[DoctorFinding]:
    part = f"workspace {name}"
    try:
        opened = registry.named(name)
    except (KeeploreError, OSError) as e:
        return [failed(part, e)]
    findings = check_workspace.findings(part, opened, commits=options.commits)
    found = _collected(part, findings, options)
    found += check_workspace.unknown_inherited(part, opened, registry.machine)
    if opened.settings.llm.provider:
        found += _collected(part, check_llm.findings(f"{part} model", opened), options)
    if options.is_deep:
        found += _collected(
            part, check_index.findings(part, opened, options.progress), options
        )
    return found


def _code(registry: Registry, options: DoctorOptions) -> list[DoctorFinding]:
    part = "notes with the code"
    found = check_code.findings(registry, options.progress, is_deep=options.is_deep)
    looked = list(registry.code_repositories())
    return _collected(part, found, options) if looked else []


def _collected(
    part: str, findings: Iterable[DoctorFinding], options: DoctorOptions
) -> list[DoctorFinding]:
    """What a part yields, mended where that was asked for; what ends it is a finding too."""
    found: list[DoctorFinding] = []
    try:
        found += (
            after_fix(finding) if options.is_mending else finding
            for finding in findings
        )
    except (KeeploreError, OSError) as e:
        found.append(failed(part, e))
    return found or [well(part, "nothing to say")]
