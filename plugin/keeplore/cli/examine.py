"""What ``keeplore doctor`` looks at: each part gives findings, and one that fails does not hide the others."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass

from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.worker.protocol import ask
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.spool import Spool

ANSWER_S = 2.0
SHOWN = 10
BACKLOG = 50  # entries that wait; a worker takes some hundred a minute


@dataclass(frozen=True, slots=True)
class Finding:
    part: str
    is_well: bool
    message: str
    remedy: str = ""


def _well(part: str, message: str) -> Finding:
    return Finding(part, is_well=True, message=message)


def _wrong(part: str, message: str, remedy: str) -> Finding:
    return Finding(part, is_well=False, message=message, remedy=remedy)


def examine(places: Places) -> list[Finding]:
    """Every finding, well or not, in the order in which data flows."""
    findings = [*_spool(places), *_worker(places)]
    try:
        with Registry(places) as registry:
            if not registry.machine.workspaces:
                findings.append(_wrong("workspace", "none is set up on this machine", "Run `keeplore init DIR`"))
            for name in registry.machine.workspaces:
                findings += _guarded(registry, name)
    except KeeploreError as e:
        findings.append(_wrong("machine", e.message, e.remedy))
    return findings


def _spool(places: Places) -> Iterator[Finding]:
    counts = Spool(places.spool).counts()
    waiting = counts["new"] + counts["claimed"]
    if waiting > BACKLOG:
        yield _wrong("spool", f"{waiting} host events wait", "Run `keeplore worker run` and see what it says")
    else:
        yield _well("spool", f"{waiting} host events wait")
    if counts["dead"]:
        remedy = f"Look at the files in {places.spool / 'dead'}; each has a reason beside it"
        yield _wrong("spool", f"{counts['dead']} host events could not be read", remedy)


def _worker(places: Places) -> Iterator[Finding]:
    told = ask(places.state, "status", timeout_s=ANSWER_S)
    message = f"runs, process {told['pid']}" if told else "does not run; the next host event starts one"
    yield _well("worker", message)
    if importlib.util.find_spec("hnswlib") is None:
        yield _well("vectors", "hnswlib is not installed: exact search serves, slower above 50,000 passages")


def _guarded(registry: Registry, name: str) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings += _workspace(registry.named(name))
    except (KeeploreError, OSError) as e:
        remedy = e.remedy if isinstance(e, KeeploreError) else "Look at the path and its permissions"
        findings.append(_wrong(f"workspace {name}", getattr(e, "message", str(e)), remedy))
    return findings


def _workspace(workspace: Workspace) -> Iterator[Finding]:
    part = f"workspace {workspace.name}"
    try:
        committed = workspace.store.commit()
        done = f", {len(committed.paths)} files committed just now" if committed.commit else ""
        yield _well(part, f"HEAD holds what is on disk{done}")
        for path in committed.skipped[:SHOWN]:
            yield _wrong(
                f"{part} file", f"{path} is left out of commits", "docs/repository.md says what is skipped and why"
            )
    except KeeploreError as e:
        yield _wrong(part, e.message, e.remedy)
    refreshed = workspace.index.refresh()
    stamp = workspace.index.stamp()
    message = f"{stamp.memories} memories, {stamp.passages} passages, {stamp.vectors} vectors"
    lag = workspace.index.lag()
    yield Finding(
        f"{part} index",
        not lag,
        message if not lag else f"{lag} files differ from it",
        "" if not lag else "Run it again",
    )
    if stamp.vectors < stamp.passages:
        missing = stamp.passages - stamp.vectors
        yield _well(f"{part} index", f"{missing} vectors are still to be made; text search serves meanwhile")
    if refreshed.changed:
        yield _well(f"{part} index", f"{refreshed.changed} changed files read just now")
    for failure in workspace.plugins.failures:
        yield _wrong(f"{part} plugin", failure, "Update it, or uninstall its package")
    for path, problem in workspace.index.problems():
        yield _wrong(f"{part} file", f"{path}: {problem}", "Mend the file; it is skipped until then")
    if not workspace.store.remote():
        remedy = f"`git -C {workspace.root} remote add origin URL`, then `keeplore sync`"
        yield _well(part, f"it has no remote, so it is on this machine only: {remedy}")
