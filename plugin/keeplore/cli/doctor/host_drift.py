"""How a host may have moved away from what was tried: a newer version, entries that never run,
events and fields that nobody reads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from keeplore.cli.doctor.finding import DoctorFinding, note, well
from keeplore.config.installation import is_newer
from keeplore.connect.host_locations import LOCATIONS, Surroundings
from keeplore.connect.host_versions import installed_version
from keeplore.connect.payload_drift import counted
from keeplore.text.counts import first_of
from keeplore.text.dates import minute_of
from keeplore_hooks.hosts import Recorded
from keeplore_hooks.hosts.jsonl import time_of_file
from keeplore_hooks.installed import source_named

# a record may be written a while before the event that tells of it, as long as the assistant works
UNHEARD = timedelta(hours=1)
SHOWN = 6  # names


def version_findings(host: str, surroundings: Surroundings) -> Iterator[DoctorFinding]:
    """Whether the version that is here was tried with Keeplore."""
    here = installed_version(host, surroundings.environment)
    location = LOCATIONS[host]
    if not here:
        return
    if not location.tried:
        message = f"{location.label} {here} is here, and no version of it was tried"
        yield note(f"host {host}", message)
    elif is_newer(here, location.tried):
        message = (
            f"{location.label} {here} is here; the newest version that was tried is "
            f"{location.tried}"
        )
        remedy = "Where something of a session is missing, report it with both versions"
        yield note(f"host {host}", message, remedy)
    else:
        message = f"{location.label} {here} is here, tried up to {location.tried}"
        yield well(f"host {host}", message)


def unheard_findings(
    host: str, surroundings: Surroundings, heard_at: str, since: str
) -> Iterator[DoctorFinding]:
    """Whether sessions of a connected host grow on the disk of which no event tells; ``since`` is
    when it was connected.
    """
    written_at = _last_written(host, surroundings)
    known_at = max(heard_at, since)
    if not written_at or not known_at:
        return
    if datetime.fromisoformat(written_at) - datetime.fromisoformat(known_at) > UNHEARD:
        location = LOCATIONS[host]
        message = (
            f"its sessions grow, the last one at {minute_of(written_at)}, and no event of it came "
            f"since {minute_of(known_at)}: it runs none of our entries"
        )
        remedy = f"In {location.label}: {location.next_step}"
        yield note(f"host {host}", message, remedy)


def unknown_findings(host: str, state: Path) -> Iterator[DoctorFinding]:
    """What each version of the host sent that is not read yet."""
    for version, names in counted(state).get(host, {}).items():
        most = sorted(names, key=lambda name: (-names[name], name))
        listed = first_of((f"{name} ({names[name]})" for name in most), SHOWN)
        message = (
            f"{LOCATIONS[host].label} {version or 'of an unknown version'} sends what is not read "
            f"here, each so many times at least: {listed}"
        )
        remedy = "Where something of a session is missing, report it with the version"
        yield note(f"host {host}", message, remedy)


def _last_written(host: str, surroundings: Surroundings) -> str:
    """When a session on disk was written last (RFC 3339, UTC), "" where there is none."""
    try:
        source = source_named(host)
        named = source.variable and surroundings.environment.get(source.variable, "")
        recorded = source.recorded(surroundings.home, named)
        return max(map(_written_at, recorded), default="")
    except Exception:  # noqa: BLE001  # anything may come out of somebody else's adapter
        return ""


def _written_at(session: Recorded) -> str:
    if session.written_at:
        return session.written_at
    with contextlib.suppress(OSError):
        return time_of_file(session.path)
    return ""
