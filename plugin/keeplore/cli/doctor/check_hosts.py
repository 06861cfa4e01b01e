"""The hosts of this machine: whether they are connected, with everything in place, and when they
were last heard of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from keeplore.cli.connect_dialog import runs
from keeplore.cli.doctor.finding import Finding, note, well, wrong
from keeplore.config.places import Places
from keeplore.connect.client_copy import FOLDER, outdated, refresh_clients
from keeplore.connect.connect_plan import Plan, connect, look
from keeplore.connect.connection_record import Manifest, Owner
from keeplore.connect.host_locations import PLACES, Surroundings, installed_otherwise, switched_off
from keeplore.connect.resources import INTACT, MISSING
from keeplore.workspace.recording.cursors import Cursors
from keeplore_hooks.spool import Spool

SHOWN = 3  # files that are named
LOOK = (
    "Look at it: neither `keeplore connect` nor `keeplore disconnect` changes what a person wrote"
)


def findings(places: Places, surroundings: Surroundings) -> Iterator[Finding]:
    heard = _heard(places)
    manifest = Manifest.load(places.state)
    yield from _client(places.state)
    owners = manifest.owners()
    for owner in owners:
        yield from _connected(owner, manifest, surroundings, heard)
    connected = {owner.host for owner in owners}
    for host in (*PLACES, *sorted(heard.keys() - PLACES.keys())):
        if host not in connected:
            yield from _unconnected(host, surroundings, heard.get(host, ""))


def _heard(places: Places) -> Mapping[str, str]:
    """Host → when its last event came (RFC 3339, UTC): those that wait count as well."""
    heard = Cursors(places.sessions).heard()
    for entry in Spool(places.spool).pending():
        heard[entry.host] = max(heard.get(entry.host, ""), entry.at)
    return heard


def _client(state: Path) -> Iterator[Finding]:
    if not (state / FOLDER).is_dir():
        return
    if old := outdated(state):
        yield note(
            "client",
            f"{', '.join(old)} in {state / FOLDER} is not as this release has it",
            "`keeplore doctor --fix`, or the next worker, brings it up to date",
            lambda: f"wrote {', '.join(refresh_clients(state))}",
        )
    else:
        yield well(
            "client", f"the copy that hosts run, {state / FOLDER}, is as this release has it"
        )


def _connected(
    owner: Owner, manifest: Manifest, surroundings: Surroundings, heard: Mapping[str, str]
) -> Iterator[Finding]:
    part, place, at = f"host {owner.host}", PLACES[owner.host], heard.get(owner.host, "")
    found = [(kept.path, state) for kept, state in look(manifest) if owner in kept.owners]
    gone = [path for path, state in found if state == MISSING]
    other = [path for path, state in found if state not in (INTACT, MISSING)]
    if gone:
        remedy = (
            f"`keeplore connect {owner.host}` puts it back, `keeplore disconnect "
            f"{owner.host}` takes out the rest"
        )
        yield wrong(
            part, f"what `keeplore connect` put there is missing from {_named(gone)}", remedy
        )
    if other:
        yield note(
            part, f"changed by hand since `keeplore connect` put it there: {_named(other)}", LOOK
        )
    again = _again(owner, manifest, surroundings)
    for told in again.told if again else ():
        yield wrong(part, f"connected in part: {told.message}", told.remedy)
    if not (gone or other or (again and again.told)):
        yield well(part, f"connected in {owner.directory}: {len(found)} files, all intact")
        if again and again.changes:
            yield note(
                part, "this release has newer entries for it", f"`keeplore connect {owner.host}`"
            )
    if why := installed_otherwise(owner.host, Path(owner.directory)):
        remedy = (
            f"Remove one of the two: `keeplore disconnect {owner.host}` takes out what it has "
            f"put there"
        )
        yield note(part, f"it is connected twice: {why}", remedy)
    if setting := switched_off(owner.host, Path(owner.directory)):
        yield note(
            part,
            f"it runs none of our entries: {setting}",
            "Take that out to have its sessions remembered",
        )
    if at:
        yield well(part, f"its last event came at {at}")
    else:
        yield note(
            part,
            "connected, and nothing was heard of it yet",
            f"In {place.label}: {place.next_step}",
        )


def _again(owner: Owner, manifest: Manifest, surroundings: Surroundings) -> Plan | None:
    """What connecting once more would do; None for a directory that the environment does not name
    now.
    """
    if owner.directory != str(surroundings.directory(owner.host)):
        return None
    return connect([owner.host], surroundings, manifest, runs(surroundings))


def _unconnected(host: str, surroundings: Surroundings, at: str) -> Iterator[Finding]:
    part = f"host {host}"
    if at:
        yield well(part, f"its last event came at {at}")
    if host not in PLACES or host not in surroundings.found():
        return
    place, directory = PLACES[host], surroundings.directory(host)
    why = installed_otherwise(host, directory)
    if why and not at:
        yield note(
            part, f"{why}, and nothing was heard yet", f"Start a new session of {place.label}"
        )
    elif why:
        yield well(part, why)
    elif not at:
        yield note(
            part, f"{place.label} is here, and is not connected", f"`keeplore connect {host}`"
        )


def _named(paths: list[str]) -> str:
    rest = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(paths[:SHOWN]) + rest
