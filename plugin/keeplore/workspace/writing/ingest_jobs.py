"""Ingesting as jobs: each source is taken by one process at a time, and what becomes of it can be
asked for.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from keeplore.config.settings import DocumentSettings
from keeplore.errors import (
    IndexUnavailable,
    KeeploreError,
    RepositoryBusy,
    SourceRefused,
    SourceUnavailable,
    reason_of,
)
from keeplore.ingest import Extracted, SourceAddress, extracted, origin_of
from keeplore.jobs.queue import MAX_ATTEMPTS, Job
from keeplore.store.paths import is_memory
from keeplore.text.dates import now
from keeplore.text.similarity import text_hash
from keeplore.workspace.capture_policy import place_of
from keeplore.workspace.identity import load_projects
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.documents import Documents
from keeplore.workspace.writing.machine_queue import machine_queue
from keeplore_hooks import durable, typed_json

KIND = "ingest"
KEPT = 500  # sources whose end is remembered


class IngestState(StrEnum):
    """How far a source is; the last two are its end."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    CHUNKING = "chunking"
    INDEXING = "indexing"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestStatus:
    """What is known of one source; ``reason`` is why it failed, or why it waits."""

    source: str
    is_url: bool
    workspace: str
    scope: str
    project: str
    state: str
    at: str  # RFC 3339, UTC: of this state
    reason: str = ""
    what: str = ""  # a DocumentChange, once it is done
    id: str = ""
    title: str = ""
    path: str = ""  # relative to the workspace
    pieces: int = 0  # passages by which it is found

    @property
    def key(self) -> str:
        """The key of one source in one place."""
        parts = (self.workspace, self.scope, self.project, self.source)
        return text_hash("\x1f".join(parts))[:24]

    @property
    def is_over(self) -> bool:
        return self.state in (IngestState.DONE, IngestState.FAILED)


class IngestQueue:
    """The queue of sources on this machine, for any number of processes.

    ``report`` is called with every change of status; ``read`` makes the text of a source.
    """

    def __init__(
        self,
        registry: Registry,
        report: Callable[[IngestStatus], None] = lambda _: None,
        read: Callable[[SourceAddress, DocumentSettings], Extracted] = extracted,
    ) -> None:
        self._registry = registry
        self._report = report
        self._read = read
        self._queue = machine_queue(registry.places)
        self._folder = registry.places.state / "ingest"
        self._documents: dict[str, tuple[Workspace, Documents]] = {}

    def add(
        self, origin: SourceAddress, workspace: str, scope: str, project: str
    ) -> IngestStatus:
        """Put a source in; the same one that waits already is taken once.

        Raises SourceRefused for one that the person has left out of memory.
        """
        check_choice(self._registry.named(workspace), origin, project)
        status = IngestStatus(
            origin.name,
            origin.is_url,
            workspace,
            scope,
            project,
            IngestState.QUEUED,
            now(),
        )
        payload = {"source": origin.name, "is_url": origin.is_url}
        payload |= {"workspace": workspace, "scope": scope, "project": project}
        self._note(status)
        self._queue.add(KIND, status.key, payload, datetime.now(UTC))
        return status

    def note_refused(self, status: IngestStatus, why: KeeploreError) -> IngestStatus:
        """Note a source that never came into the queue."""
        return self._note(replace(status, state=IngestState.FAILED, reason=str(why)))

    def step(self) -> IngestStatus | None:
        """Take the source whose turn it is, to its end; None where none is due."""
        job = self._queue.lease([KIND], datetime.now(UTC))
        if job is None:
            return None
        status = IngestStatus(**job.payload, state=IngestState.EXTRACTING, at=now())
        try:
            status = self._take_job(job, status)
        except (SourceUnavailable, IndexUnavailable, RepositoryBusy, OSError) as e:
            is_last = job.attempts >= MAX_ATTEMPTS
            state = IngestState.FAILED if is_last else IngestState.QUEUED
            self._note_end(status, state, _why(e))
            self._queue.fail(job, datetime.now(UTC), _why(e))
        except KeeploreError as e:  # trying again would end in the same way
            self._note_end(status, IngestState.FAILED, str(e))
            self._queue.done(job)
        except KeyboardInterrupt:
            # whoever comes next need not wait for the end of the lease
            self._note_end(status, IngestState.QUEUED)
            self._queue.put_off(job, datetime.now(UTC), "")
            raise
        except Exception as e:
            self._note_end(
                status, IngestState.FAILED, f"an error of Keeplore itself: {e!r}"
            )
            self._queue.fail(job, datetime.now(UTC), repr(e))
            raise
        return self.status(status.key) or status

    def next_due_s(self) -> float | None:
        return self._queue.next_due_s([KIND], datetime.now(UTC))

    def all(self) -> list[IngestStatus]:
        """Every source that is remembered, the last changed at the end."""
        dead = self._dead_sources()
        found = [_read_status(file, dead) for file in self._folder.glob("*.json")]
        return sorted(
            (status for status in found if status),
            key=lambda status: (status.at, status.source),
        )

    def status(self, key: str) -> IngestStatus | None:
        return _read_status(self._folder / f"{key}.json", self._dead_sources())

    def _dead_sources(self) -> dict[str, str]:
        """Sources whose processes went away each time, with the reason."""
        return {job.key: job.reason for job in self._queue.dead() if job.kind == KIND}

    def _take_job(self, job: Job, status: IngestStatus) -> IngestStatus:
        """Read a document, cut it into pieces and write it, noting each step."""
        self._note(status)
        workspace = self._registry.named(status.workspace)
        documents = self._documents_of(workspace)
        origin = SourceAddress(status.source, status.is_url)
        check_choice(workspace, origin, status.project)
        found = self._read(origin, workspace.settings.documents)
        status = self._note(replace(status, state=IngestState.CHUNKING))
        draft = documents.make_draft(found, origin, status.scope, status.project)
        # whoever took so long that another one has the job now must not write beside it
        if not self._queue.renew(job, datetime.now(UTC)):
            return status
        status = self._note(
            replace(
                status,
                state=IngestState.INDEXING,
                title=draft.memory.title,
                pieces=draft.pieces,
            )
        )
        written = documents.write(draft)
        done = replace(
            status,
            state=IngestState.DONE,
            what=written.what,
            id=written.memory.id,
            path=written.path,
            title=written.memory.title,
        )
        done = self._note(done)
        self._queue.done(job)
        return done

    def _documents_of(self, workspace: Workspace) -> Documents:
        known = self._documents.get(workspace.name)
        if known is None or known[0] is not workspace:  # it was opened anew
            known = self._documents[workspace.name] = (workspace, Documents(workspace))
        return known[1]

    def _note_end(self, status: IngestStatus, state: str, reason: str = "") -> None:
        self._note(replace(status, state=state, reason=reason))

    def _note(self, status: IngestStatus) -> IngestStatus:
        """Write down how far a source is now, and tell whoever follows."""
        status = replace(status, at=now())
        durable.make_private(self._folder)
        durable.write(
            self._folder / f"{status.key}.json",
            json.dumps(asdict(status), ensure_ascii=True).encode(),
        )
        if status.is_over:
            _prune(self._folder)
        self._report(status)
        return status


def _why(error: Exception) -> str:
    """Why a source could not be kept, and the next step."""
    if not isinstance(error, OSError):
        return str(error)
    place = f"{error.filename}: " if error.filename else ""
    remedy = "Make room there, or see whose it is, and ingest it again"
    return f"{place}{reason_of(error)}. {remedy}"


def source_named(
    registry: Registry, source: str, cwd: Path, home: Path
) -> SourceAddress:
    """The source that a person names. Raises SourceRefused for one that cannot be, or is a memory
    already.
    """
    origin = origin_of(source, cwd, home)
    for root in () if origin.is_url else registry.machine.workspaces.values():
        path = Path(origin.name)
        if path.is_relative_to(root.resolve()) and is_memory(
            path.relative_to(root.resolve()).as_posix()
        ):
            raise SourceRefused(
                f"{origin.name} is a memory already",
                "It is found as it is; `keeplore list` lists it",
            )
    return origin


def check_choice(workspace: Workspace, origin: SourceAddress, project: str) -> None:
    """Raise SourceRefused where the person has left the source's folder out of memory, or the
    project that it would be kept for; WorkspaceFrozen where nothing may be written.
    """
    workspace.check_not_frozen()
    policy = workspace.capture_policy
    decisions = [
        policy.decide_place(place_of(known))
        for known in load_projects(workspace.store)
        if known.name == project
    ]
    if not origin.is_url:
        decisions.append(policy.decide(str(Path(origin.name).parent)))
    for decision in decisions:
        if not decision.may:
            raise SourceRefused(
                f"{origin.name} is left out of memory: {decision.reason}",
                "`keeplore include` there lets it in; `keeplore exclude --list` shows the rules",
            )


def _read_status(file: Path, dead: dict[str, str]) -> IngestStatus | None:
    status = typed_json.load(file, IngestStatus)
    if status and not status.is_over and (reason := dead.get(file.stem)):
        return replace(status, state=IngestState.FAILED, reason=reason)
    return status


def _prune(folder: Path) -> None:
    """Forget the ends that are the longest ago."""
    files = list(folder.glob("*.json"))
    if len(files) <= KEPT:
        return
    with contextlib.suppress(OSError):  # another process does the same
        for file in sorted(files, key=lambda file: file.stat().st_mtime_ns)[
            : len(files) - KEPT
        ]:
            if (status := _read_status(file, {})) is None or status.is_over:
                file.unlink()
