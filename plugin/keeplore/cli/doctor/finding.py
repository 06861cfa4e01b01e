"""What an examination yields: plain values, worst first; some bring along how they are mended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from keeplore.cli.disk_errors import disk_remedy
from keeplore.errors import KeeploreError, disk_message, problem_message

SHOWN = 10  # findings of one sort; the rest is counted

Fix = Callable[[], str]  # mends, and says what it did


class FindingLevel(StrEnum):
    """Worst first."""

    WRONG = "wrong"
    NOTE = "note"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """``part`` is what was looked at; ``remedy`` the next step, "" where there is none to take."""

    part: str
    level: FindingLevel
    message: str
    remedy: str = ""
    fix: Fix | None = None


def well(part: str, message: str) -> DoctorFinding:
    return DoctorFinding(part, FindingLevel.OK, message)


def note(
    part: str, message: str, remedy: str = "", fix: Fix | None = None
) -> DoctorFinding:
    return DoctorFinding(part, FindingLevel.NOTE, message, remedy, fix)


def wrong(
    part: str, message: str, remedy: str, fix: Fix | None = None
) -> DoctorFinding:
    return DoctorFinding(part, FindingLevel.WRONG, message, remedy, fix)


def several(findings: Iterable[DoctorFinding]) -> Iterator[DoctorFinding]:
    """The first findings of one sort, and how many more there are."""
    kept = list(findings)
    yield from kept[:SHOWN]
    if left := kept[SHOWN:]:
        yield replace(left[0], message=f"… and {len(left)} more like these")


def after_fix(finding: DoctorFinding) -> DoctorFinding:
    """The finding after its fix was tried; one without a fix stays as it is."""
    if finding.fix is None:
        return finding
    try:
        done = finding.fix()
    except (KeeploreError, OSError) as e:
        return replace(
            finding, remedy=f"it could not be mended: {problem_message(e)}", fix=None
        )
    return well(finding.part, f"{finding.message}: {done}")


def failed(part: str, error: KeeploreError | OSError) -> DoctorFinding:
    """What was looked at raised this."""
    if isinstance(error, KeeploreError):
        return wrong(part, error.message, error.remedy)
    return wrong(part, disk_message(error), disk_remedy(error))
