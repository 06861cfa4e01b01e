"""What belongs to the machine: the spool, the worker, the hosts, and what all of them need."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keeplore import __version__
from keeplore.cli.doctor.finding import Finding, note, several, well, wrong
from keeplore.config import installation
from keeplore.config.machine import FILE, Machine
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.store import run
from keeplore.worker.server.protocol import ask
from keeplore.worker.single_instance import only_one
from keeplore.workspace.recording.cursors import Cursors
from keeplore_hooks.spool import REASON_SUFFIX, Spool

ANSWER_S = 2.0
BACKLOG = 50  # entries that wait; a worker takes some hundred a minute
OLD_S = 3600.0  # an entry that waits longer has no worker
FREE_BYTES = 200 * 1024 * 1024
FAULT_S = 600.0  # what went wrong longer ago has been put right, or comes again
GIT_NEEDED = (2, 30)
LATELY = timedelta(days=7)


def findings(places: Places) -> Iterator[Finding]:
    places.create()
    told = ask(places.state, "status", timeout_s=ANSWER_S)
    yield from _spool(places, is_running=told is not None)
    yield from _worker(places, told)
    yield from _hosts(places)
    yield from _identity(places)
    yield from _surroundings(places)


def _spool(places: Places, *, is_running: bool) -> Iterator[Finding]:
    spool = Spool(places.spool)
    counts = spool.counts()
    waiting = counts["new"] + counts["claimed"]
    oldest = next((entry.at for entry in spool.pending()), "")
    run_it = "Run `keeplore worker run` and see what it says"
    if waiting > BACKLOG or (oldest and not is_running and _age_s(oldest) > OLD_S):
        yield wrong(
            "spool", f"{waiting} host events wait, the oldest since {oldest or 'a while'}", run_it
        )
    else:
        yield well("spool", f"{waiting} host events wait")
    if counts["claimed"] and not is_running:
        message = f"{counts['claimed']} host events were being read when a worker died"
        yield wrong("spool", message, run_it, lambda: _put_back(places, spool))
    yield from _set_aside(places, spool)
    if left := spool.leftovers():
        yield note(
            "spool", f"{len(left)} files of clients that were killed", "", lambda: _swept(spool)
        )


def _set_aside(places: Places, spool: Spool) -> Iterator[Finding]:
    dead = spool.dead()
    if entries := [entry for entry in dead if entry.event]:
        reasons = Counter(entry.reason for entry in entries)
        told = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
        yield wrong(
            "spool",
            f"{len(entries)} host events could not be read: {told}",
            f"`keeplore doctor --fix` tries them again; they lie in {places.spool / 'dead'}",
            lambda: (
                f"{sum(map(spool.revive, entries))} wait again; `keeplore worker run` reads them"
            ),
        )
    # a file of somebody else's is not ours to remove, and trying it again cannot help
    yield from several(
        wrong(
            "spool",
            f"{entry.path} is no host event: {entry.reason}",
            f"Look at it, then {_removing(entry.path)}",
        )
        for entry in dead
        if not entry.event
    )


def _removing(path: Path) -> str:
    beside = path.with_name(path.name + REASON_SUFFIX)
    return (
        f"`rm -r "
        f"{shlex.join(str(place) for place in (path, beside) if place.exists() or place == path)}`"
    )


def _put_back(places: Places, spool: Spool) -> str:
    with only_one(places.state) as lock:
        if lock is None:
            return "a worker has them"
        return f"{spool.recover()} put back; `keeplore worker run` reads them"


def _swept(spool: Spool) -> str:
    spool.sweep()
    return "removed"


def _worker(places: Places, told: Any) -> Iterator[Finding]:
    if told:
        yield well("worker", f"runs, process {told['pid']}, version {told['version']}")
        if installation.is_newer(told["version"], __version__):
            yield note(
                "worker", f"it is of version {told['version']}, and this command of {__version__}"
            )
        for fault in told.get("faults", ()):
            if _age_s(fault[:20]) < FAULT_S:
                yield note(
                    "worker",
                    f"a while ago: {fault}",
                    f"{places.state / 'worker.log'} has more of it",
                )
        if reason := told.get("unwatched"):
            message = f"it looks for changes of files every few seconds: {reason}"
            yield note(
                "worker", message, "On Linux `sysctl` raises the limit; nothing is lost without"
            )
    else:
        with only_one(places.state) as lock:
            is_stuck = lock is None
        if is_stuck:
            pid = _text(places.state / "worker.pid") or "unknown"
            yield wrong(
                "worker", f"process {pid} holds the lock and does not answer", f"`kill {pid}`"
            )
        else:
            yield well("worker", "does not run; the next host event starts one")
        if vain := installation.in_vain(places.state):
            yield wrong("worker", vain, "Mend what it says there")
    crash = places.state / "crash.log"
    if crash.exists():
        at = datetime.fromtimestamp(crash.stat().st_mtime, UTC).strftime("%Y-%m-%d")
        yield note(
            "worker",
            f"an error of Keeplore itself was written down on {at}",
            f"Report {crash}, then remove it",
        )
    known = installation.registered(places.state)
    if known is None or not known.is_there:
        message = (
            f"hosts cannot start a worker: {known.python if known else 'no Python'} is "
            f"registered for it"
        )
        remedy = "`keeplore doctor --fix` registers this one"
        yield wrong("worker", message, remedy, lambda: _register(places))
    elif known.python != sys.executable:
        yield note(
            "worker",
            f"hosts start it with {known.python}, and this command runs with {sys.executable}",
        )


def _register(places: Places) -> str:
    installation.register(places.state, anyway=True)
    return f"registered {sys.executable}"


def _hosts(places: Places) -> Iterator[Finding]:
    for host, (at, problem, count) in sorted(Cursors(places.sessions).problems().items()):
        if _age_s(at) < LATELY.total_seconds():
            remedy = "A newer Keeplore may read it; what could be read was kept"
            sessions = f" of {count} sessions" if count > 1 else ""
            yield note(
                f"host {host}", f"at {at} not all{sessions} could be read: {problem}", remedy
            )


def _identity(places: Places) -> Iterator[Finding]:
    if not (places.state / FILE).exists():
        return
    machine = Machine.load(places)
    here = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().split(".")[0].lower()).strip("-")
    yield well("machine", f"it writes as {machine.id}")
    if here and here != machine.name:
        message = f"it is called {here} now, and was {machine.name} when it got the id {machine.id}"
        remedy = (
            f"If it was copied from another computer, which must not write as this one: "
            f"remove {places.state / FILE}"
        )
        yield note(
            "machine", message, f"{remedy} here and run `keeplore init DIR` for each workspace"
        )


def _surroundings(places: Places) -> Iterator[Finding]:
    try:
        said = run(places.state, "--version").text
        version = tuple(int(number) for number in re.findall(r"\d+", said)[:2])
        if version < GIT_NEEDED:
            yield wrong(
                "git",
                f"{said} is too old",
                f"Install git {'.'.join(map(str, GIT_NEEDED))} or a later one",
            )
        else:
            yield well("git", said)
    except KeeploreError as e:
        yield wrong("git", e.message, e.remedy)
    yield from _room(places)
    if importlib.util.find_spec("hnswlib") is None:
        yield well(
            "vectors", "hnswlib is not installed: exact search serves, slower above 50,000 passages"
        )


def _room(places: Places) -> Iterator[Finding]:
    """Where Keeplore writes: whether it may, and whether there is room."""
    roots = [root for root in Machine.load(places).workspaces.values() if root.is_dir()]
    boxes = [places.spool / "new", places.spool / "tmp"]
    for folder in (places.state, places.cache, *boxes, *roots, *(root / ".git" for root in roots)):
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            yield wrong(
                "permissions", f"nothing can be written into {folder}", f"`chmod u+rwx '{folder}'`"
            )
    seen = set()
    for folder in (places.state, places.cache, places.spool, *roots):
        device = folder.stat().st_dev if folder.is_dir() else None
        if device is None or device in seen:
            continue
        seen.add(device)
        usage = shutil.disk_usage(folder)
        # a small disk of its own has less room, and may have enough
        if usage.free < min(FREE_BYTES, usage.total // 10):
            yield wrong(
                "disk", f"{usage.free >> 20} MB are free where {folder} lies", "Make room there"
            )


def _age_s(at: str) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return 0.0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
