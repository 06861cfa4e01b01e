"""The worker's life: start once, take the spool, keep index and HEAD in step, sync, leave when
idle.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from keeplore import __version__
from keeplore.config import installation
from keeplore.config.places import Places
from keeplore.errors import (
    ConfigError,
    IndexUnavailable,
    NoWorkspace,
    RepositoryError,
    TranscriptError,
)
from keeplore.worker.health import FaultLog, ProgramFile, memory_mb
from keeplore.worker.server.request_handler import RequestHandler
from keeplore.worker.server.socket_server import SocketServer
from keeplore.worker.single_instance import only_one
from keeplore.workspace.registry import Registry
from keeplore_hooks import durable
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.worker.refine_jobs import RefineJobs
    from keeplore.worker.scheduler import Background
    from keeplore.worker.usage.usage_feedback import UsageFeedback
    from keeplore.workspace.importing.intake import Intake

LOG = logging.getLogger(__name__)
IDLE_EXIT_S = 15 * 60.0
REST_S = 5 * 60.0  # without work or questions, then the model's memory is given back
SWEEP_S = 60.0  # after an event, until sessions that ended are looked for
PROVEN_S = 60.0  # a worker that lives so long did start
SHORTEST_S = 0.05  # that is waited
FIRST_ASK_S = 0.15  # a client that starts a worker asks it as soon as it listens
RETRY_S = 5.0  # after the disk refused, or a workspace could not be opened
# a client spools an event a moment before it asks about it; the person waits for the answer
LET_ANSWER_S = 0.03
CATCH_UP_S = 5.0  # how long a command waits for what was said just now
BEGIN_S = 1.5  # how long one who asks for the status waits for a worker that has just been started
ANSWER_S = 0.5  # the longest that the spool waits for answers to be finished


class Worker:
    """One worker a state directory; ``run`` returns at once where there is another.

    A rested one loads no model until somebody asks. ``wants_successor`` is true after ``run`` where
    this process should become a worker anew: its program has changed on the disk, a newer one is in
    use, or to give memory back.
    """

    def __init__(
        self,
        places: Places,
        *,
        idle_exit_s: float = IDLE_EXIT_S,
        rest_s: float = REST_S,
        is_rested: bool = False,
    ) -> None:
        self._places = places
        self._idle_exit_s = idle_exit_s
        self._rest_s = rest_s
        self._is_rested = is_rested
        self._is_superseded = False
        self.wants_successor = False
        self._installation = ProgramFile()
        self._started_at = time.monotonic()
        self._active_at = self._started_at - (rest_s if is_rested else 0.0)
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._has_answered = threading.Event()
        self._is_busy = True  # until the spool was looked at once
        self._waiting: set[str] = set()  # entries that cannot be taken for now
        self._has_changed = False  # an answer wrote or removed a memory
        self._has_begun = False  # a session
        self._has_refined = False  # and committed, so that it can be pushed
        self._background: Background | None = None  # until the first answer was given

    def run(self) -> bool:
        """Work until idle or told to stop. Returns False where another worker already runs."""
        self._places.create()
        spool = Spool(self._places.spool)
        has_run = False
        while True:
            with only_one(self._places.state) as lock:
                if lock is None:
                    return has_run
                with Registry(self._places) as registry, FaultLog() as faults:
                    self._work(registry, spool, faults)
                self._prove()
            has_run = True
            # a client that put an event there while this worker was leaving saw a worker and
            # started none
            if self._stopping.is_set() or self.wants_successor or not self._has_news(spool):
                return True

    def catch_up(self, registry: Registry) -> bool:
        """Take what is in the spool and do nothing else. Returns False where another worker runs,
        or an entry waits.
        """
        from keeplore.workspace.importing.intake import Intake  # here, as in _go_on

        spool = Spool(self._places.spool)
        with only_one(self._places.state) as lock:
            if lock is None:
                return False
            spool.recover()
            self._drain(spool, Intake(registry))
            return not any(spool.pending())

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()

    def _has_news(self, spool: Spool) -> bool:
        return any(entry.name not in self._waiting for entry in spool.pending())

    def _work(self, registry: Registry, spool: Spool, faults: FaultLog) -> None:
        answers = RequestHandler(
            registry,
            self._wait_until_caught_up,
            lambda: self._status(spool, registry, faults),
            self._changed,
        )
        server = SocketServer(self._places.state, lambda *request: self._handle(answers, *request))
        durable.write(self._places.state / "worker.pid", str(os.getpid()).encode())
        installation.register(self._places.state)
        try:
            self._has_answered.wait(0.0 if self._is_rested else FIRST_ASK_S)
            answers.wait_until_given(ANSWER_S)
            self._go_on(registry, spool, answers)
        finally:
            server.close()
            with contextlib.suppress(OSError):
                (self._places.state / "worker.pid").unlink()

    def _go_on(self, registry: Registry, spool: Spool, answers: RequestHandler) -> None:
        """All that is not answering."""
        # here, because whoever started this worker waits for its first answer
        from keeplore.worker.refine_jobs import RefineJobs
        from keeplore.worker.scheduler import Background
        from keeplore.worker.usage.usage_feedback import UsageFeedback
        from keeplore.worker.watch import Watch
        from keeplore.workspace.importing.intake import Intake

        spool.recover()
        watch = Watch(
            self._places.spool / "new", self._noticed, lambda: self._noticed_text(background)
        )
        background = Background(
            registry,
            lambda opened: watch.follow(workspace.root for workspace in opened),
            self._wake.set,
        )
        self._background = background
        refining = RefineJobs(registry, self._refined)
        uses = UsageFeedback(registry, answers.taken)
        try:
            self._loop(spool, Intake(registry, uses.heard), background, refining, answers, uses)
        finally:
            watch.stop()
            refining.close()
            with _logged("what was of use"):
                uses.save(is_last=True)
            background.close()

    def _loop(
        self,
        spool: Spool,
        intake: Intake,
        background: Background,
        refining: RefineJobs,
        answers: RequestHandler,
        uses: UsageFeedback,
    ) -> None:
        sweep_at = time.monotonic()
        background.open()
        with _logged("the copy of the client"):
            # here, because the first question is answered by now
            from keeplore.connect.client_copy import refresh_clients

            refresh_clients(self._places.state)
        while not self._stopping.is_set():
            self._wake.clear()
            taken, retry_s = self._drain(spool, intake)
            moment = time.monotonic()
            if taken:
                self._active_at, self._is_rested = moment, False
                sweep_at = sweep_at or moment + SWEEP_S
                background.note_change()
            if self._has_changed:
                self._has_changed = False
                background.change()
            if self._has_begun or self._has_refined:
                self._has_begun = self._has_refined = False
                background.fetch()
            if sweep_at and moment >= sweep_at:
                sweep_at = moment + SWEEP_S if self._sweep(intake) else 0.0
                background.note_change()
            self._is_busy = bool(retry_s)
            with _logged("what was shown"):
                answers.save()
            with _logged("what was of use"):
                if uses.save():
                    background.change()
            pause_s = RETRY_S
            with _logged("background"):
                pause_s = background.step()
            with _logged("refining"):
                refining.look()
            if not self._is_rested:
                background.warm_up()
            leave_s = SWEEP_S if refining.is_busy else self._may_stay_s(background)
            if leave_s <= 0:
                return
            wait_s = min(
                pause_s, retry_s or pause_s, leave_s, sweep_at - moment if sweep_at else pause_s
            )
            if wait_s > 0 and self._wake.wait(wait_s):
                self._is_busy = True
                time.sleep(LET_ANSWER_S)
                answers.wait_until_given(ANSWER_S)

    def _sweep(self, intake: Intake) -> bool:
        """Returns whether it has to be tried again."""
        problems = True
        with _logged("sweep"):
            found = intake.sweep()
            problems = bool(found)
            for path, problem in found:
                LOG.warning("%s was not swept: %s", path, problem)
        return problems

    def _may_stay_s(self, background: Background) -> float:
        """For how long this worker may wait for something to do; 0.0 where it has to leave now."""
        moment = time.monotonic()
        lived_s, idle_s = moment - self._started_at, moment - self._active_at
        if lived_s > PROVEN_S:
            self._prove()
        if background.is_syncing or background.is_behind:
            return SWEEP_S
        is_outdated = self._is_superseded or self._installation.has_changed
        if idle_s > self._idle_exit_s and not is_outdated:
            return 0.0
        # a model that was unloaded would leave 100 MB of libraries and gaps behind; a new process
        # has none of that
        rests_in_s = (
            self._rest_s - min(idle_s, lived_s) if background.is_model_loaded else self._idle_exit_s
        )
        if is_outdated or rests_in_s <= 0:
            self.wants_successor = True
            return 0.0
        return max(min(rests_in_s, self._idle_exit_s - idle_s), SHORTEST_S)

    def _prove(self) -> None:
        """Clients may start workers as they like: this one did start."""
        with contextlib.suppress(OSError):
            (self._places.state / installation.TRIES_FILE).unlink(missing_ok=True)

    def _drain(self, spool: Spool, intake: Intake) -> tuple[int, float]:
        """Take every pending entry. Returns how many, and after how long to try again (0.0: nothing
        is left).
        """
        taken, retry_s = 0, 0.0
        waiting: set[str] = set()
        for entry in spool.pending():
            if self._stopping.is_set():
                break
            claimed = spool.claim(entry)
            if claimed is None:
                continue
            self._is_busy = True
            try:
                result = intake.take(claimed)
            except (ConfigError, IndexUnavailable, RepositoryError, OSError) as e:
                # not the entry's fault: it stays until there is a workspace that can be used
                LOG.warning("%s has to wait: %s", entry.name, e)
                waiting.add(entry.name)
                self._waiting.add(entry.name)
                spool.release(claimed)
                retry_s = RETRY_S
                if isinstance(e, NoWorkspace | OSError):  # every other entry would meet the same
                    break
            except TranscriptError as e:
                LOG.warning("%s is set aside: %s", entry.name, e)
                spool.quarantine(claimed, str(e))
            except Exception:
                LOG.exception("%s could not be taken", entry.name)
                spool.retry(claimed)
            else:
                for problem in result.problems:
                    LOG.info("%s: %s", entry.name, problem)
                spool.acknowledge(claimed)
                self._has_begun = self._has_begun or result.has_begun
                if self._background:
                    self._background.note_taken(result)
                taken += 1
        self._waiting = waiting
        return taken, retry_s

    def _changed(self) -> None:
        self._has_changed = True
        self._wake.set()

    def _refined(self) -> None:
        self._has_refined = True
        self._changed()

    def _noticed(self, name: str) -> None:
        # what this worker itself put back is tried again in time, not at once
        if name not in self._waiting:
            self._wake.set()

    def _noticed_text(self, background: Background) -> None:
        if background.note_text():  # a storm of changes wakes it once
            self._wake.set()

    def _handle(
        self, answers: RequestHandler, operation: str, arguments: list[str], payload: bytes
    ) -> bytes:
        if operation in ("answer", "recall"):
            return self._question(answers, operation, arguments, payload)
        # a client is no older or newer worker; only who uses the program itself may want another
        # one to answer
        if installation.is_newer(arguments[0], __version__):
            self._is_superseded = True
            self._wake.set()
        if operation == "catch-up":
            return json.dumps({"is_caught_up": self._wait_until_caught_up(CATCH_UP_S)}).encode()
        if operation == "stop":
            self.stop()
        if operation == "changed":
            self._changed()
        return answers.status()

    def _question(
        self, answers: RequestHandler, operation: str, arguments: list[str], payload: bytes
    ) -> bytes:
        try:
            if operation == "recall":
                return answers.recall(payload)
            return (
                answers.answer(arguments[1], arguments[2], payload) if len(arguments) == 3 else b""
            )
        finally:
            self._active_at = time.monotonic()
            self._has_answered.set()
            if self._is_rested:
                self._is_rested = False
                self._wake.set()

    def _wait_until_caught_up(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._is_busy or any((self._places.spool / "new").iterdir()):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _status(self, spool: Spool, registry: Registry, faults: FaultLog) -> dict[str, Any]:
        until = time.monotonic() + BEGIN_S
        while (background := self._background) is None and time.monotonic() < until:
            time.sleep(SHORTEST_S)
        if background is None:
            raise TimeoutError("this worker has only just been started")
        return {
            "pid": os.getpid(),
            "uptime_s": round(time.monotonic() - self._started_at),
            "memory_mb": memory_mb(),
            "spool": spool.counts(),
            "waiting": len(self._waiting),
            "workspaces": [workspace.name for workspace in registry.opened()],
            "is_busy": self._is_busy,
            **background.status(),
            "faults": faults.latest(),
        }


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    """Background steps are tried again at the next round: what went wrong is written down, the
    worker lives on.
    """
    try:
        yield
    except Exception:
        LOG.exception("%s failed", what)
