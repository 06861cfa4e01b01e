"""What an examination yields: plain values, worst first; some bring along how they are mended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from keeplore.errors import KeeploreError

LEVELS = ("wrong", "note", "ok")  # worst first
SHOWN = 10  # findings of one sort; the rest is counted

Fix = Callable[[], str]  # mends, and says what it did


@dataclass(frozen=True, slots=True)
class Finding:
    """``part`` is what was looked at; ``remedy`` the next step, "" where there is none to take."""

    part: str
    level: str
    message: str
    remedy: str = ""
    fix: Fix | None = None


def well(part: str, message: str) -> Finding:
    return Finding(part, "ok", message)


def note(part: str, message: str, remedy: str = "", fix: Fix | None = None) -> Finding:
    return Finding(part, "note", message, remedy, fix)


def wrong(part: str, message: str, remedy: str, fix: Fix | None = None) -> Finding:
    return Finding(part, "wrong", message, remedy, fix)


def several(found: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of one sort, and how many more there are."""
    rest: list[Finding] = []
    for number, finding in enumerate(found):
        if number < SHOWN:
            yield finding
        else:
            rest.append(finding)
    if rest:
        yield replace(rest[0], message=f"… and {len(rest)} more like these")


def mended(finding: Finding) -> Finding:
    """The finding after its fix was tried; one without a fix stays as it is."""
    if finding.fix is None:
        return finding
    try:
        done = finding.fix()
    except (KeeploreError, OSError) as e:
        return replace(finding, remedy=f"it could not be mended: {e}", fix=None)
    return Finding(finding.part, "ok", f"{finding.message}: {done}")
