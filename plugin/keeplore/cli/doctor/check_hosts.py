"""The hosts of this machine: whether they are connected, with everything in place, and when they
were last heard of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from keeplore.cli.connect_dialog import client_launcher
from keeplore.cli.doctor.finding import DoctorFinding, note, well, wrong
from keeplore.cli.doctor.host_drift import (
    unheard_findings,
    unknown_findings,
    version_findings,
)
from keeplore.config.places import Places
from keeplore.connect.client_copy import FOLDER, outdated, refresh_clients
from keeplore.connect.connect_plan import ConnectProblem, connect, statuses
from keeplore.connect.connection_record import FILE, ConnectionRecord, Owner
from keeplore.connect.host_locations import (
    LOCATIONS,
    Surroundings,
    installed_otherwise,
    switched_off,
)
from keeplore.connect.resources import ResourceStatus
from keeplore.text.counts import counted, first_of
from keeplore.text.dates import minute_of
from keeplore.workspace.recording.cursors import Cursors
from keeplore_hooks.hosts.jsonl import time_of_file
from keeplore_hooks.spool import Spool

SHOWN = 3  # files that are named
LOOK = (
    "Look at it: neither `keeplore connect` nor `keeplore disconnect` changes what a person "
    "wrote"
)


def findings(places: Places, surroundings: Surroundings) -> Iterator[DoctorFinding]:
    heard = _last_events(places)
    record = ConnectionRecord.load(places.state)
    yield from _client(places.state)
    owners = record.owners()
    for owner in owners:
        yield from _entry_findings(owner, record, surroundings)
        yield from _connected_by_a_person(owner)
        at = heard.get(owner.host, "")
        yield _last_event(owner.host, at)
        yield from version_findings(owner.host, surroundings)
        yield from unheard_findings(
            owner.host, surroundings, at, _connected_at(places.state)
        )
        yield from unknown_findings(owner.host, places.state)
    connected = {owner.host for owner in owners}
    if not (owners or heard or surroundings.found()):
        yield well("hosts", "no agent was found on this machine")
    for host in (*LOCATIONS, *sorted(heard.keys() - LOCATIONS.keys())):
        if host not in connected:
            yield from _unconnected_findings(host, surroundings, heard.get(host, ""))


def _last_events(places: Places) -> Mapping[str, str]:
    """Host → when its last event came (RFC 3339, UTC): those that wait count as well."""
    heard = Cursors(places.sessions).heard()
    for entry in Spool(places.spool).pending():
        heard[entry.host] = max(heard.get(entry.host, ""), entry.at)
    return heard


def _connected_at(state: Path) -> str:
    """When entries were changed last (RFC 3339, UTC); "" for never."""
    try:
        return time_of_file(state / FILE)
    except OSError:
        return ""


def _client(state: Path) -> Iterator[DoctorFinding]:
    folder = state / FOLDER
    if not folder.is_dir():
        return
    if old := outdated(state):
        yield note(
            "client",
            f"{', '.join(old)} in {folder} is not as this release has it",
            "`keeplore doctor --fix`, or the next worker, brings it up to date",
            lambda: f"wrote {', '.join(refresh_clients(state))}",
        )
    else:
        yield well(
            "client", f"the copy that hosts run, {folder}, is as this release has it"
        )


def _entry_findings(
    owner: Owner, record: ConnectionRecord, surroundings: Surroundings
) -> Iterator[DoctorFinding]:
    """Whether what was installed is still there, and as this release would install it."""
    part = f"host {owner.host}"
    found = {
        file.path: status for file, status in statuses(record) if owner in file.owners
    }
    flaws = [*_not_intact(owner.host, found)]
    yield from flaws
    problems, has_changes = _connecting_again(owner, record, surroundings)
    for problem in problems:
        yield wrong(part, f"connected in part: {problem.message}", problem.remedy)
    if flaws or problems:
        return
    yield well(
        part,
        f"connected in {owner.directory}: {counted(len(found), 'file')}, all intact",
    )
    if has_changes:
        yield note(
            part,
            "its entries are not as this release writes them",
            f"`keeplore connect {owner.host}` brings them up to date",
        )


def _not_intact(host: str, found: Mapping[str, str]) -> Iterator[DoctorFinding]:
    gone = [path for path, status in found.items() if status == ResourceStatus.MISSING]
    changed = [path for path, status in found.items() if status not in _WELL_KNOWN]
    if gone:
        remedy = (
            f"`keeplore connect {host}` puts it back, `keeplore disconnect {host}` takes out the "
            f"rest"
        )
        message = (
            f"what `keeplore connect` put there is missing from {first_of(gone, SHOWN)}"
        )
        yield wrong(f"host {host}", message, remedy)
    if changed:
        files = first_of(changed, SHOWN)
        message = f"changed by hand since `keeplore connect` put it there: {files}"
        yield note(f"host {host}", message, LOOK)


_WELL_KNOWN = (ResourceStatus.INTACT, ResourceStatus.MISSING)


def _connecting_again(
    owner: Owner, record: ConnectionRecord, surroundings: Surroundings
) -> tuple[tuple[ConnectProblem, ...], bool]:
    """Which problems connecting once more would have, and whether it would change something;
    nothing is known of a directory that the environment does not name now.
    """
    if owner.directory != str(surroundings.directory(owner.host)):
        return (), False
    plan = connect([owner.host], surroundings, record, client_launcher(surroundings))
    return plan.problems, bool(plan.changes)


def _connected_by_a_person(owner: Owner) -> Iterator[DoctorFinding]:
    """What else a person set up that has to do with our entries."""
    part, directory = f"host {owner.host}", Path(owner.directory)
    if why := installed_otherwise(owner.host, directory):
        remedy = (
            f"Remove one of the two: `keeplore disconnect {owner.host}` takes out what it has put "
            f"there"
        )
        yield note(part, f"it is connected twice: {why}", remedy)
    if setting := switched_off(owner.host, directory):
        remedy = "Take that out to have its sessions remembered"
        yield note(part, f"it runs none of our entries: {setting}", remedy)


def _last_event(host: str, at: str) -> DoctorFinding:
    if at:
        return well(f"host {host}", f"its last event came at {minute_of(at)}")
    location = LOCATIONS[host]
    return note(
        f"host {host}",
        "connected, and nothing was heard of it yet",
        f"In {location.label}: {location.next_step}",
    )


def _unconnected_findings(
    host: str, surroundings: Surroundings, at: str
) -> Iterator[DoctorFinding]:
    part = f"host {host}"
    if at:
        yield _last_event(host, at)
    if host not in LOCATIONS or host not in surroundings.found():
        return
    label, why = (
        LOCATIONS[host].label,
        installed_otherwise(host, surroundings.directory(host)),
    )
    if why and at:
        yield well(part, why)
    elif why:
        yield note(
            part, f"{why}, and nothing was heard yet", f"Start a new session of {label}"
        )
    elif not at:
        yield note(
            part, f"{label} is here, and is not connected", f"`keeplore connect {host}`"
        )
