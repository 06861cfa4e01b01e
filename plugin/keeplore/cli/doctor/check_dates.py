"""Memories of a machine whose clock was wrong: dated in the future, they count as the newest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from keeplore.cli.doctor.finding import DoctorFinding, note
from keeplore.index import MemoryFilter, MemoryRow
from keeplore.text.counts import counted
from keeplore.text.dates import in_utc, minute_of
from keeplore.workspace.workspace import Workspace

# a clock that is off by less, as by a time zone, is soon right about what it dated
TOLERANCE = timedelta(days=1)


def date_findings(part: str, workspace: Workspace) -> Iterator[DoctorFinding]:
    """What is dated in the future, by the machine that wrote it."""
    since = in_utc(datetime.now(UTC) + TOLERANCE)
    wanted = MemoryFilter(archived="with", superseded=True, since=since)
    machines: dict[str, list[MemoryRow]] = {}
    for row in workspace.index.listed(wanted):
        machines.setdefault(row.machine, []).append(row)
    for machine, rows in sorted(machines.items()):
        yield _future_dates(part, machine, rows)


def _future_dates(part: str, machine: str, rows: Sequence[MemoryRow]) -> DoctorFinding:
    latest = max(rows, key=lambda row: row.updated_at)
    whose = f" of {machine}" if machine else ""
    memories = counted(len(rows), f"memory{whose} is", f"memories{whose} are")
    return note(
        part,
        f"{memories} dated in the future, the last {latest.path} at "
        f"{minute_of(latest.updated_at)}: until then they count as the newest",
        "Set the wrong clock, that machine's or this one's; then correct `created_at` and "
        "`updated_at` in the files, which `keeplore list` shows first",
    )
