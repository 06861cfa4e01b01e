"""What belongs to the machine: the spool, the worker, the hosts, and what all of them need."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from keeplore import __version__
from keeplore.cli.disk_errors import HELD, held_events
from keeplore.cli.doctor.finding import (
    DoctorFinding,
    failed,
    note,
    several,
    well,
    wrong,
)
from keeplore.config import installation
from keeplore.config.machine import FILE, Machine, host_name
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.index.vectors.hnsw import is_available
from keeplore.store import run
from keeplore.text.counts import counted
from keeplore.worker.server.protocol import ask
from keeplore.worker.single_instance import only_one
from keeplore.workspace.recording.cursors import Cursors
from keeplore_hooks.second_places import loss_markers
from keeplore_hooks.spool import REASON_SUFFIX, DeadEntry, Spool

ANSWER_S = 2.0
BACKLOG = 50  # entries that wait; a worker takes some hundred a minute
OLD_S = 3600.0  # an entry that waits longer has no worker
FREE_BYTES = 200 * 1024 * 1024
FAULT_S = 600.0  # what went wrong longer ago has been put right, or comes again
GIT_NEEDED = (2, 30)
RUN_IT = "Run `keeplore worker run` and see what it says"
LATELY = timedelta(days=7)


def findings(places: Places) -> Iterator[DoctorFinding]:
    places.create()
    status = ask(places.state, "status", timeout_s=ANSWER_S)
    yield from _spool(places, is_running=status is not None)
    yield from _worker(places, status) if status else _no_worker(places)
    yield from _crash(places)
    yield from _python(places)
    yield from _hosts(places)
    yield from _identity(places)
    yield from _surroundings(places)


def _spool(places: Places, *, is_running: bool) -> Iterator[DoctorFinding]:
    spool = Spool(places.spool)
    counts = spool.counts()
    waiting = counts["new"] + counts["claimed"]
    yield _backlog_finding(spool, waiting, is_running=is_running)
    if aside := spool.elsewhere():
        message = (
            f"{len(aside)} of them in {aside[0].parent}: no room in {places.state}"
        )
        yield note(
            "spool", message, "Make room; the next `keeplore worker run` takes them"
        )
    if counts["claimed"] and not is_running:
        message = f"{counts['claimed']} host events were being read when a worker died"
        yield wrong("spool", message, RUN_IT, partial(_put_back, places, spool))
    yield from _set_aside(places, spool)
    yield from _dropped_events(places)
    if left := spool.leftovers():
        message = f"{counted(len(left), 'file')} of clients that were killed"
        yield note("spool", message, "", partial(_sweep_spool, spool))


def _dropped_events(places: Places) -> Iterator[DoctorFinding]:
    """Events that no disk had room for."""
    if lost := loss_markers(places.state):
        yield wrong(
            "spool",
            f"{len(lost)} host events were lost: no disk had room for them",
            "Make room; `keeplore doctor --fix` begins to count anew",
            partial(_reset_lost_counts, lost),
        )


def _reset_lost_counts(lost: Iterable[Path]) -> str:
    for path in lost:
        path.unlink(missing_ok=True)
    return "counted anew"


def _backlog_finding(spool: Spool, waiting: int, *, is_running: bool) -> DoctorFinding:
    oldest = next((entry.at for entry in spool.pending()), "")
    is_old = oldest and not is_running and _age_s(oldest) > OLD_S
    events = counted(waiting, "host event waits", "host events wait")
    if waiting > BACKLOG or is_old:
        return wrong(
            "spool", f"{events}, the oldest since {oldest or 'a while'}", RUN_IT
        )
    return well("spool", events)


def _set_aside(places: Places, spool: Spool) -> Iterator[DoctorFinding]:
    dead = spool.dead()
    entries = [entry for entry in dead if entry.event]
    if entries:
        yield wrong(
            "spool",
            f"{len(entries)} host events could not be read: {_reasons(entries)}",
            f"`keeplore doctor --fix` tries them again; they lie in {places.spool / 'dead'}",
            lambda: (
                f"{sum(map(spool.revive, entries))} wait again; `keeplore worker run` reads them"
            ),
        )
    # a file of somebody else's is not ours to remove, and trying it again cannot help
    strange = [entry for entry in dead if not entry.event]
    yield from several(
        wrong(
            "spool",
            f"{entry.path} is no host event: {entry.reason}",
            f"Look at it, then {_removing(entry.path)}",
        )
        for entry in strange
    )


def _reasons(entries: Iterable[DeadEntry]) -> str:
    reasons = Counter(entry.reason for entry in entries)
    return "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))


def _removing(path: Path) -> str:
    """The command that removes a file, and why it was set aside where that is written beside it."""
    reason = path.with_name(path.name + REASON_SUFFIX)
    names = [str(path), str(reason)] if reason.exists() else [str(path)]
    return f"`rm -r {shlex.join(names)}`"


def _put_back(places: Places, spool: Spool) -> str:
    with only_one(places.state) as lock:
        if lock is None:
            return "a worker has them"
        return f"{spool.recover()} put back; `keeplore worker run` reads them"


def _sweep_spool(spool: Spool) -> str:
    spool.sweep()
    return "removed"


def _worker(places: Places, status: Mapping[str, Any]) -> Iterator[DoctorFinding]:
    """What a worker that runs says of itself."""
    version = status["version"]
    yield well("worker", f"runs, process {status['pid']}, version {version}")
    if installation.is_newer(version, __version__):
        yield note(
            "worker", f"it is of version {version}, and this command of {__version__}"
        )
    held = status.get("held", {})
    yield from _held_findings(held)
    yield from _fault_findings(places, status.get("faults", ()), held)
    if reason := status.get("unwatched"):
        yield note(
            "worker",
            f"it looks for changes of files every few seconds: {reason}",
            "On Linux `sysctl` raises the limit; nothing is lost without",
        )


def _held_findings(held: Mapping[str, int]) -> Iterator[DoctorFinding]:
    held_texts = (held_events(reason, count) for reason, count in held.items())
    yield from several(wrong("spool", message, HELD) for message in held_texts)


def _fault_findings(
    places: Places, faults: Iterable[str], held: Iterable[str]
) -> Iterator[DoctorFinding]:
    """What went wrong lately, but for what keeps host events waiting even now."""
    for fault in faults:
        is_told = any(reason in fault for reason in held)
        if _age_s(fault[:20]) < FAULT_S and not is_told:
            log = places.state / "worker.log"
            yield note("worker", f"a while ago: {fault}", f"{log} has more of it")


def _misplaced_sessions(places: Places) -> Iterator[DoctorFinding]:
    """What stands where the next worker has to write what a session has open."""
    files = (*places.sessions.glob("*.json"), *places.state.glob("capture/*/*.json"))
    yield from several(
        wrong(
            "spool",
            f"{path} is no file, so nothing more of its session can be written",
            f"Move it away; {RUN_IT[0].lower()}{RUN_IT[1:]}",
        )
        for path in sorted(files)
        if not path.is_file()
    )


def _no_worker(places: Places) -> Iterator[DoctorFinding]:
    with only_one(places.state) as lock:
        is_stuck = lock is None
    if is_stuck:
        pid = _text(places.state / "worker.pid") or "unknown"
        yield wrong(
            "worker",
            f"process {pid} holds the lock and does not answer",
            f"`kill {pid}`",
        )
    else:
        yield well("worker", "does not run; the next host event starts one")
        yield from _misplaced_sessions(places)
    if vain := installation.in_vain(places.state):
        yield wrong("worker", vain, "Mend what it says there")


def _crash(places: Places) -> Iterator[DoctorFinding]:
    crash = places.state / "crash.log"
    if crash.exists():
        at = datetime.fromtimestamp(crash.stat().st_mtime, UTC).strftime("%Y-%m-%d")
        yield note(
            "worker",
            f"an error of Keeplore itself was written down on {at}",
            f"Report {crash}, then remove it",
        )


def _python(places: Places) -> Iterator[DoctorFinding]:
    """The interpreter with which hosts start a worker."""
    known = installation.registered(places.state)
    if known is None and not (places.state / FILE).exists():
        return  # the first workspace registers it
    python = known.python if known else "no Python"
    if known is None or not known.is_there:
        message = f"hosts cannot start a worker: {python} is registered for it"
        yield wrong(
            "worker",
            message,
            "`keeplore doctor --fix` registers this one",
            partial(_register, places),
        )
    elif python != sys.executable:
        message = (
            f"hosts start it with {python}, and this command runs with {sys.executable}"
        )
        yield note("worker", message)


def _register(places: Places) -> str:
    """Let hosts start workers with this Python."""
    installation.register(places.state, anyway=True)
    return f"registered {sys.executable}"


def _hosts(places: Places) -> Iterator[DoctorFinding]:
    for host, (at, problem, count) in sorted(
        Cursors(places.sessions).problems().items()
    ):
        if _age_s(at) < LATELY.total_seconds():
            sessions = f" of {count} sessions" if count > 1 else ""
            yield note(
                f"host {host}",
                f"at {at} not all{sessions} could be read: {problem}",
                "A newer Keeplore may read it; what could be read was kept",
            )


def _identity(places: Places) -> Iterator[DoctorFinding]:
    if not (places.state / FILE).exists():
        return
    machine = Machine.load(places)
    here = host_name()
    yield well("machine", f"it writes as {machine.id}")
    if here and here != machine.name:
        yield note(
            "machine",
            f"it is called {here} now, and was {machine.name} when it got the id {machine.id}",
            (
                f"If it was copied from another computer, which must not write as this one: "
                f"remove {places.state / FILE} here and run `keeplore init DIR` for each workspace"
            ),
        )


def _surroundings(places: Places) -> Iterator[DoctorFinding]:
    yield _git(places)
    yield from _rights(places)
    yield from _disk_findings(places)
    if not is_available():
        yield well(
            "vectors",
            "hnswlib cannot be imported: exact search serves, slower above 50,000 passages. It "
            "is compiled by `pip install hnswlib` where there is a C++ compiler",
        )


def _git(places: Places) -> DoctorFinding:
    try:
        version_line = run(places.state, "--version").text
    except KeeploreError as e:
        return failed("git", e)
    version = tuple(int(number) for number in re.findall(r"\d+", version_line)[:2])
    if version >= GIT_NEEDED:
        return well("git", version_line)
    needed = ".".join(map(str, GIT_NEEDED))
    return wrong(
        "git", f"{version_line} is too old", f"Install git {needed} or a later one"
    )


def _roots(places: Places) -> list[Path]:
    return [root for root in Machine.load(places).workspaces.values() if root.is_dir()]


def _rights(places: Places) -> Iterator[DoctorFinding]:
    """Whether Keeplore may write where it does."""
    folders = [places.state, places.cache, places.spool / "new", places.spool / "tmp"]
    for root in _roots(places):
        folders += [root, root / ".git"]
    for folder in filter(Path.is_dir, (places.state, places.cache)):
        if os.name == "posix" and folder.stat().st_mode & 0o077:
            message = f"others may look into {folder}, which holds what is said here"
            yield note(
                "permissions",
                message,
                f"`chmod 700 {shlex.quote(str(folder))}`",
                partial(_close_folder, folder),
            )
    for folder in folders:
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            message = f"nothing can be written into {folder}"
            yield wrong("permissions", message, _way_to_write(folder))


def _way_to_write(folder: Path) -> str:
    if os.name == "posix" and os.statvfs(folder).f_flag & os.ST_RDONLY:
        return "Its disk is mounted read-only: mount it so that it can be written"
    if os.name == "posix" and (owner := folder.stat().st_uid) != os.geteuid():
        return (
            f"It belongs to {_user_name(owner)}: where it is to be yours, "
            f'`sudo chown -R "$USER" {shlex.quote(str(folder))}`'
        )
    return f"`chmod u+rwx {shlex.quote(str(folder))}`"


def _user_name(number: int) -> str:
    import pwd  # here, because Windows has none

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _close_folder(folder: Path) -> str:
    folder.chmod(0o700)
    return "closed to others"


def _disk_findings(places: Places) -> Iterator[DoctorFinding]:
    """Whether there is room on each disk where Keeplore writes."""
    disks: dict[int, Path] = {}
    for folder in (places.state, places.cache, places.spool, *_roots(places)):
        if folder.is_dir():
            disks.setdefault(folder.stat().st_dev, folder)
    for folder in disks.values():
        usage = shutil.disk_usage(folder)
        # a small disk of its own has less room, and may have enough
        if usage.free < min(FREE_BYTES, usage.total // 10):
            yield wrong(
                "disk",
                f"{usage.free >> 20} MB are free where {folder} lies",
                "Make room there",
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
