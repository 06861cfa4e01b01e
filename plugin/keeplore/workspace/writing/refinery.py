"""Refining a workspace: what waits for it, what that would cost, and the jobs by which it is
done.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keeplore.config.settings import RefineMode, Settings
from keeplore.errors import (
    BudgetSpent,
    KeeploreError,
    LlmRefused,
    LlmUnavailable,
    NotFound,
    RepositoryBusy,
    WorkspaceFrozen,
)
from keeplore.index import MemoryFilter
from keeplore.jobs.queue import Job
from keeplore.llm.account import OVERHEAD_TOKENS, Account
from keeplore.llm.base import TransientFailure, tokens
from keeplore.llm.open_model import open_account
from keeplore.recall.request import SearchScope
from keeplore.refine import aspects, decide, extract
from keeplore.refine.candidates import NoteSearch
from keeplore.refine.deps import RefineDeps
from keeplore.refine.model_client import ModelClient
from keeplore.refine.pending import PendingPart, pending_part, refined_exchanges
from keeplore.refine.pipeline import NEAR_SHARE, RefineResult, refine
from keeplore.refine.shared_extraction import (
    MOST_TALKS,
    SharedExtraction,
    extracted_together,
    parts_sharing,
)
from keeplore.text.agent_scope import agent_of
from keeplore.text.dates import now
from keeplore.workspace.recording.refine_trigger import KINDS
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.machine_queue import machine_queue
from keeplore_hooks import durable

LOG = logging.getLogger(__name__)
LOCK = "refine.lock"
OUTAGE_S, BUSY_S = 300.0, 60.0  # until a model or a repository is tried again
# tokens that a model writes, of those that were said; for what it would cost
OUTPUT_SHARE, LEAST_OUTPUT = (0.15, 150)
# tokens of aspects that a model writes, of those of the facts; measured: 0.15
ASPECTS_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class RefineEstimate:
    """What refining would cost at most; ``price`` is None where keeplore.yaml tells none for the
    model.
    """

    conversations: int
    said: int  # tokens
    input: int
    output: int
    price: float | None


@dataclass(frozen=True, slots=True)
class RefineStep:
    """What came of a job that was taken: ``result`` is None where it came to nothing, ``problem``
    says why then.

    ``wait_s`` is for how long no other one needs to be tried.
    """

    job: Job
    result: RefineResult | None
    problem: str = ""
    wait_s: float = 0.0


class Refinery:
    """Takes jobs from the queue, one at a time on the whole machine; of a short conversation those
    that come next are asked about in the same call, if they are short too.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.queue = machine_queue(registry.places)
        # by job: what a call gave beforehand, and whom a call that came to nothing was about
        self._shared: dict[_JobTopic, SharedExtraction] = {}
        self._alone: set[_JobTopic] = set()

    def step(self) -> RefineStep | None:
        """Do the job whose turn it is; None where none is."""
        with one_at_a_time(self._registry.places.state):
            job = self.queue.lease(KINDS, _utc_now())
            return self._carry_out(job) if job else None

    def next_due_s(self) -> float | None:
        return self.queue.next_due_s(KINDS, _utc_now())

    def _carry_out(self, job: Job) -> RefineStep:
        """Refine a conversation; what hinders that decides whether the job is done, put off or
        counted as failed.
        """
        try:
            result = self._refine_job(job)
        except NotFound as e:  # forgotten or merged away since
            self._finish_job(job)
            return RefineStep(job, None, e.message)
        except (RepositoryBusy, WorkspaceFrozen) as e:
            return self._put_off(job, e, _utc_now() + timedelta(seconds=BUSY_S))
        except BudgetSpent as e:
            return self._put_off(job, e, e.until)
        except LlmUnavailable as e:
            later = _utc_now() + timedelta(seconds=OUTAGE_S)
            if not isinstance(e, TransientFailure) or not e.is_billed:
                return self._put_off(job, e, later)
            # it worked for nothing: without an end to that, one conversation that is too long for
            # it would spend the budget
            self.queue.fail(job, later, str(e))
            return RefineStep(job, None, str(e))
        except (KeeploreError, OSError) as e:
            self.queue.fail(job, _utc_now(), str(e))
            return RefineStep(job, None, str(e))
        except Exception as e:
            LOG.exception("%s could not be refined", job.key)
            self.queue.fail(job, _utc_now(), type(e).__name__)
            return RefineStep(job, None, type(e).__name__)
        self._finish_job(job)
        return RefineStep(job, result)

    def _finish_job(self, job: Job) -> None:
        self.queue.done(job)
        # what was given up earlier is no longer something to tell of
        self.queue.bury(KINDS, job.key)

    def _put_off(self, job: Job, error: KeeploreError, until: datetime) -> RefineStep:
        self.queue.put_off(job, until, str(error))
        return RefineStep(
            job, None, str(error), max(0.0, (until - _utc_now()).total_seconds())
        )

    def _refine_job(self, job: Job) -> RefineResult:
        """Refine the conversation of a job, by an answer that it shares with others where there is
        one.
        """
        workspace = self._registry.named(str(job.payload.get("workspace", "")))
        workspace.check_not_frozen()
        mode = str(job.payload.get("mode") or workspace.settings.refine.mode)
        account = open_account(
            workspace.settings.llm,
            workspace.root,
            workspace.places,
            workspace.plugins.hook.keeplore_llm,
        )
        if account is None:
            return RefineResult(job.key, why="no model is set")
        deps = refine_deps(workspace)
        if mode != RefineMode.FROZEN:
            self._refine_together(job, deps, account, mode)
        return refine(
            deps,
            account,
            job.key,
            mode,
            anywhere=_is_anywhere(job),
            has_aspects=workspace.settings.refine.aspects,
            keep=lambda: self.queue.renew(job, _utc_now()),
            shared=self._shared.pop(_topic(job), None),
        )

    def _parts_with(
        self, job: Job, deps: RefineDeps, mode: str
    ) -> Iterator[PendingPart]:
        """What is to be asked about of a job, and of those that come next and are like it."""
        waiting = self.queue.coming(KINDS, _utc_now(), MOST_TALKS)
        topics = dict.fromkeys(map(_topic, (job, *waiting)))
        deps.search.index.refresh()
        asked = refined_exchanges(deps.store.records(), mode)
        for topic in topics:
            if topic[1:] != _topic(job)[1:] or topic in self._alone:
                continue
            with contextlib.suppress(NotFound):
                part = pending_part(deps, topic[0], asked, anywhere=_is_anywhere(job))
                if not part.why:
                    yield part

    def _refine_together(
        self, job: Job, deps: RefineDeps, account: Account, mode: str
    ) -> None:
        """Ask about a short conversation together with those that come next. Raises what a model
        that is not there does.
        """
        topic = _topic(job)
        if topic in self._shared or topic in self._alone:
            return
        chosen = parts_sharing(self._parts_with(job, deps, mode))
        if not any(part.memory.id == job.key for part in chosen):
            return
        topics = [(part.memory.id, *topic[1:]) for part in chosen]
        try:
            found = extracted_together(deps, ModelClient(account), chosen)
        except KeeploreError as e:
            self._alone.update(topics)
            if not isinstance(e, LlmRefused):
                raise
        else:
            self._shared.update(zip(topics, found, strict=True))


def backlog(
    workspace: Workspace, since: str = "", mode: str = "", *, anywhere: bool = False
) -> Iterator[PendingPart]:
    """What of closed conversations is left to be refined, the oldest first; ``since`` is when they
    were changed.
    """
    workspace.index.refresh()
    deps = refine_deps(workspace)
    known = refined_exchanges(
        workspace.store.records(), mode or workspace.settings.refine.mode
    )
    rows = workspace.index.listed(MemoryFilter(kind="conversation", since=since))
    for row in sorted(rows, key=lambda row: (row.created_at, row.id)):
        with contextlib.suppress(NotFound):
            if (
                not row.is_open
                and not (
                    part := pending_part(deps, row.id, known, anywhere=anywhere)
                ).why
            ):
                yield part


def estimate(parts: Iterator[PendingPart], settings: Settings) -> RefineEstimate:
    """What refining these would cost at most: nobody is asked for it."""
    has_aspects = settings.refine.aspects
    count = said = read = written = 0
    for part in parts:
        facts = int(OUTPUT_SHARE * part.said_tokens)
        count += 1
        said += part.said_tokens
        written += max(LEAST_OUTPUT, facts) + (
            int(ASPECTS_SHARE * facts) if has_aspects else 0
        )
        read += _most_read(part, facts) + (
            _most_read_of_aspects(facts) if has_aspects else 0
        )
    price = settings.llm.prices.get(settings.llm.model)
    cost = (read * price.input + written * price.output) / 1_000_000 if price else None
    return RefineEstimate(count, said, read, written, cost)


def _most_read(part: PendingPart, facts: int) -> int:
    """Tokens of the questions about a conversation that gives as many tokens of facts."""
    characters = sum(len(window.text) for window in part.windows)
    read = _stage_overhead(decide.PROMPT.text, decide.SCHEMA) + facts
    read += tokens(" " * extract.listing_room(characters, NEAR_SHARE))
    for window in part.windows:
        read += (
            _stage_overhead(extract.PROMPT.text, extract.SCHEMA)
            + tokens(window.text)
            + tokens(" " * extract.listing_room(len(window.text)))
        )
    return read


def _most_read_of_aspects(facts: int) -> int:
    """The most tokens that asking about aspects reads, for so many tokens of facts."""
    listed = tokens(" " * aspects.LISTED * aspects.MAX_ASPECT)
    asked = _stage_overhead(aspects.PROMPT.text, aspects.SCHEMA) + facts
    return asked + aspects.MAX_ENTITIES * listed


def refine_deps(workspace: Workspace) -> RefineDeps:
    """A workspace as refining sees it."""
    # here, because its patterns cost a tenth of a second
    from keeplore.capture.discourse.instructions import is_document

    return RefineDeps(
        store=workspace.store,
        search=NoteSearch(
            workspace.index,
            workspace.store,
            workspace.embedder,
            workspace.machine_trust.trust_of,
        ),
        machine=workspace.machine,
        own_machines=workspace.own_machines,
        now=now,
        redact=workspace.plugins.redact,
        is_document=is_document,
        commit=workspace.commit,
        here=lambda scope, project: SearchScope(project, agent=agent_of(scope)),
        written=workspace.plugins.announce_written,
        has_user_scope=workspace.is_home,
        least_confidence=workspace.settings.refine.confidence,
        least_lasting=workspace.settings.refine.lasting,
    )


def _stage_overhead(prompt: str, schema: Mapping[str, Any]) -> int:
    return tokens(prompt) + tokens(str(dict(schema))) + OVERHEAD_TOKENS


_JobTopic = tuple[str, str, str, bool]


def _topic(job: Job) -> _JobTopic:
    """The conversation of a job, and what it shares with jobs that may be asked about in one call:
    workspace and mode.
    """
    said = job.payload
    workspace, mode = str(said.get("workspace", "")), str(said.get("mode") or "")
    return job.key, workspace, mode, _is_anywhere(job)


def _is_anywhere(job: Job) -> bool:
    return job.payload.get("anywhere") is True


def one_at_a_time(state: Path) -> AbstractContextManager[None]:
    """Wait until no other process of this machine refines, and hold the others off."""
    return durable.locked(state / LOCK)


def _utc_now() -> datetime:
    return datetime.now(UTC)
