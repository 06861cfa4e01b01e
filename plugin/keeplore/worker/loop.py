"""The worker's life: start once, answer, take the spool, run what is due, leave when idle."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from keeplore import __version__
from keeplore.config import installation
from keeplore.config.places import Places
from keeplore.worker.health import FaultLog, memory_mb
from keeplore.worker.lifetime import IDLE_EXIT_S, REST_S, Lifetime
from keeplore.worker.server.protocol import ADDRESS_FILE
from keeplore.worker.server.request_handler import ANSWER_WORDS, RequestHandler
from keeplore.worker.server.socket_server import SocketServer
from keeplore.worker.single_instance import is_lost, only_one
from keeplore.workspace.activity import ActivityLog, Counted
from keeplore.workspace.registry import Registry
from keeplore_hooks import durable
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.worker.background import BackgroundTasks
    from keeplore.worker.tasks.session_tasks import SweepTask
    from keeplore.worker.tasks.spool_task import SpoolTask
    from keeplore.worker.usage.usage_feedback import UsageFeedback
    from keeplore.workspace.importing.intake import IntakeResult

LOG = logging.getLogger(__name__)
PROVEN_S = 60.0  # a worker that lives so long did start
FIRST_ASK_S = 0.15  # a client that starts a worker asks it as soon as it listens
# a client spools an event a moment before it asks about it; the person waits for the answer
LET_ANSWER_S = 0.03
CATCH_UP_S = 5.0  # how long a command waits for what was said just now
BEGIN_S = 1.5  # how long one who asks for the status waits for a worker that has just been started
POLL_S = 0.05
LOOK_S = 60.0  # the longest that a worker stays whose state directory was deleted
FINISH_S = 2.0  # what agents asked for is given this long at the end
ANSWER_S = 0.5  # the longest that the spool waits for answers to be finished


class Worker:
    """The worker of a state directory; ``run`` returns at once where there is another.

    A rested one loads no model until somebody asks.
    """

    def __init__(
        self,
        places: Places,
        *,
        idle_exit_s: float = IDLE_EXIT_S,
        rest_s: float = REST_S,
        is_rested: bool = False,
    ) -> None:
        self.lifetime = Lifetime(idle_exit_s, rest_s, is_rested=is_rested)
        self._places = places
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._has_answered = threading.Event()
        self._is_busy = True  # until the spool was looked at once
        self._has_taken = False  # host events since the last round
        self._is_lost: Callable[[], bool] = lambda: False  # see ``single_instance``
        # both until the first answer was given
        self._inbox: SpoolTask | None = None
        self._background: BackgroundTasks | None = None

    @property
    def wants_successor(self) -> bool:
        """After ``run``: whether this process should become a worker anew."""
        return self.lifetime.wants_successor

    def run(self) -> bool:
        """Work until idle or told to stop. Returns False where another worker already runs."""
        self._places.create()
        spool = Spool(self._places.spool, without_secrets)
        has_run = False
        while True:
            with only_one(self._places.state, self._is_leaving) as lock:
                if lock is None:
                    return has_run
                self._is_lost = partial(is_lost, self._places.state, lock)
                with Registry(self._places) as registry, FaultLog() as faults:
                    self._serve(registry, spool, faults)
                if self._is_lost():
                    return True
                self._forget_failed_starts()
                self._allow_restart()
            has_run = True
            # a client that put an event there while this worker was leaving saw a worker and
            # started none
            has_news = self._inbox is not None and self._inbox.has_news
            if self._stopping.is_set() or self.wants_successor or not has_news:
                return True

    def _is_leaving(self) -> bool:
        """Whether the worker that runs has stopped answering: a client that started this one counts
        on it.
        """
        return not (self._places.state / ADDRESS_FILE).exists()

    def catch_up(self, registry: Registry) -> bool:
        """Take what is in the spool and do nothing else. Returns False where another worker runs,
        or an entry waits.
        """
        # here, as in _run_tasks
        from keeplore.worker.tasks.spool_task import SpoolTask
        from keeplore.workspace.importing.intake import Intake

        spool = Spool(self._places.spool, without_secrets)
        with only_one(self._places.state) as lock:
            if lock is None:
                return False
            spool.recover()
            SpoolTask(
                spool, Intake(registry), self._stopping.is_set, lambda _: None
            ).run(0.0)
            return not any(spool.pending())

    def held(self) -> dict[str, int]:
        """What host events wait for that cannot be written, and how many of them."""
        # a copy: the status is asked for by another thread
        waiting = self._inbox.waiting.copy() if self._inbox else {}
        return dict(Counter(filter(None, waiting.values())))

    def _waiting_status(self, inbox: SpoolTask) -> dict[str, Any]:
        return {"waiting": len(inbox.waiting), "held": self.held()}

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()

    def _serve(self, registry: Registry, spool: Spool, faults: FaultLog) -> None:
        handler = RequestHandler(
            registry,
            self._wait_until_caught_up,
            lambda: self._status(spool, registry, faults),
            self._note_change,
        )
        server = SocketServer(
            self._places.state,
            lambda *request: self._handle(handler, *request),
            handler.take_back_unheard,
            is_lost=self._is_lost,
        )
        faults.on_fault = lambda: handler.activity.count(Counted.ERRORS)
        durable.write(self._places.state / "worker.pid", str(os.getpid()).encode())
        installation.register(self._places.state)
        try:
            self._has_answered.wait(0.0 if self.lifetime.is_rested else FIRST_ASK_S)
            handler.wait_until_given(ANSWER_S)
            self._run_tasks(registry, spool, handler)
        finally:
            server.close()
            handler.finish(FINISH_S)
            with contextlib.suppress(OSError):
                (self._places.state / "worker.pid").unlink()

    def _run_tasks(
        self, registry: Registry, spool: Spool, handler: RequestHandler
    ) -> None:
        """Run everything that is not answering."""
        # here, because whoever started this worker waits for its first answer
        from keeplore.worker.background import BackgroundTasks
        from keeplore.worker.usage.usage_feedback import UsageFeedback
        from keeplore.worker.watch import Watch

        spool.recover()
        watch = Watch(self._places.spool / "new", self._note_spooled, self._note_text)
        self._background = BackgroundTasks(
            registry,
            lambda opened: watch.follow(workspace.root for workspace in opened),
            self._wake.set,
            lambda: self.lifetime.is_rested,
        )
        usage = UsageFeedback(registry, handler.taken, handler.activity.count)
        try:
            self._loop(registry, spool, handler, usage, self._background)
        finally:
            watch.stop()
            if not self._is_lost():
                _save_last(usage)
                _save_last(handler)
            self._background.close()

    def _loop(
        self,
        registry: Registry,
        spool: Spool,
        handler: RequestHandler,
        usage: UsageFeedback,
        background: BackgroundTasks,
    ) -> None:
        """Run what is due, the inbox first, until the worker is stopped or has been idle long
        enough.
        """
        # here, as in _run_tasks
        from keeplore.worker.scheduler import Scheduler
        from keeplore.worker.tasks.session_tasks import SaveTask, SweepTask
        from keeplore.worker.tasks.spool_task import SpoolTask
        from keeplore.workspace.importing.intake import Intake

        intake = Intake(registry, usage.observe)
        sweep = SweepTask(intake, background.look_for_changes)
        inbox = SpoolTask(
            spool,
            intake,
            self._stopping.is_set,
            lambda taken: self._note_taken(taken, sweep, handler.activity),
        )
        save = SaveTask(handler.save, usage.save, background.request_commit)
        first = Scheduler((inbox, sweep))
        rest = Scheduler((save, *background.tasks, background.model))
        self._inbox = inbox
        background.open()
        self._refresh_clients()
        while not (self._stopping.is_set() or self._is_lost()):
            self._wake.clear()
            pause_s = min(LOOK_S, first.run())
            self._note_work(background)
            self._is_busy = bool(inbox.waiting)
            pause_s = min(pause_s, rest.run())
            if self.lifetime.lived_s > PROVEN_S:
                self._forget_failed_starts()
            wait_s = self.lifetime.allowed_wait_s(
                background, is_awaited=sweep.is_awaited
            )
            if wait_s <= 0:
                return
            self._rest_until_due(min(pause_s, wait_s), handler)

    def _rest_until_due(self, seconds: float, handler: RequestHandler) -> None:
        """Wait until something is due, or somebody wakes the worker: then answers go first."""
        if seconds > 0 and self._wake.wait(seconds):
            self._is_busy = True
            time.sleep(LET_ANSWER_S)
            handler.wait_until_given(ANSWER_S)

    def _refresh_clients(self) -> None:
        # here, because the first question is answered by now
        from keeplore.connect.client_copy import refresh_clients

        try:
            refresh_clients(self._places.state)
        except Exception:
            LOG.exception("the copy of the client could not be refreshed")

    def _forget_failed_starts(self) -> None:
        """Let clients start workers freely again: this one did start."""
        with contextlib.suppress(OSError):
            (self._places.state / installation.TRIES_FILE).unlink(missing_ok=True)

    def _allow_restart(self) -> None:
        """Let clients start the next worker at once: this one ended in order."""
        with contextlib.suppress(OSError):
            for file in self._places.state.glob("worker.start-*"):
                file.unlink(missing_ok=True)

    def _note_taken(
        self, result: IntakeResult, sweep: SweepTask, activity: ActivityLog
    ) -> None:
        """Count whatever an entry led to as work; the sessions that it touched may be
        closed later.
        """
        self._has_taken = True
        activity.count(Counted.TURNS, result.turns)
        activity.count(Counted.SESSIONS, result.has_begun)
        sweep.note_event(time.monotonic(), has_begun=result.has_begun)
        if self._background:
            self._background.note_taken(result)

    def _note_work(self, background: BackgroundTasks) -> None:
        """Host events came since the last round, or none."""
        if self._has_taken:
            self._has_taken = False
            self.lifetime.note_work()
            background.look_for_changes()

    def _note_change(self) -> None:
        if self._background:
            self._background.request_commit()
        self._wake.set()

    def _note_spooled(self, name: str) -> None:
        """Wake for a new file in the spool; called by the watch from its own thread."""
        # what this worker itself put back is tried again in time, not at once
        if self._inbox is None or name not in self._inbox.waiting:
            self._wake.set()

    def _note_text(self) -> None:
        # a storm wakes it once
        if self._background and self._background.index.note_text():
            self._wake.set()

    def _handle(
        self,
        handler: RequestHandler,
        operation: str,
        arguments: list[str],
        payload: bytes,
    ) -> bytes:
        if operation in ("answer", "recall", "mcp"):
            return self._answer(handler, operation, arguments, payload)
        # a client is no older or newer worker; only who uses the program itself may want another
        # one to answer
        if installation.is_newer(arguments[0], __version__):
            self.lifetime.is_superseded = True
            self._wake.set()
        if operation == "catch-up":
            return json.dumps(
                {"is_caught_up": self._wait_until_caught_up(CATCH_UP_S)}
            ).encode()
        if operation == "stop":
            self.stop()
        if operation == "changed":
            self._note_change()
        return handler.status()

    def _answer(
        self,
        handler: RequestHandler,
        operation: str,
        arguments: list[str],
        payload: bytes,
    ) -> bytes:
        try:
            if operation == "recall":
                return handler.recall(payload)
            if operation == "mcp":
                return handler.mcp(payload)
            if len(arguments) == ANSWER_WORDS:
                return handler.answer(arguments[1], arguments[2], payload)
            return b""
        finally:
            self._has_answered.set()
            if self.lifetime.note_work():
                self._wake.set()

    def _wait_until_caught_up(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._is_busy or any((self._places.spool / "new").iterdir()):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _status(
        self, spool: Spool, registry: Registry, faults: FaultLog
    ) -> dict[str, Any]:
        until = time.monotonic() + BEGIN_S
        while (inbox := self._inbox) is None and time.monotonic() < until:
            time.sleep(POLL_S)
        if inbox is None or self._background is None:
            raise TimeoutError("this worker has only just been started")
        return {
            "pid": os.getpid(),
            "uptime_s": round(self.lifetime.lived_s),
            "memory_mb": memory_mb(),
            "spool": spool.counts(),
            **self._waiting_status(inbox),
            "workspaces": [workspace.name for workspace in registry.opened()],
            "is_busy": self._is_busy,
            **self._background.status(),
            "faults": faults.latest(),
        }


def _save_last(what: UsageFeedback | RequestHandler) -> None:
    try:
        what.save(is_last=True)
    except Exception:
        LOG.exception("what was counted could not be written")


def without_secrets(payload: bytes) -> bytes:
    """A payload that is set aside, without its secrets."""
    # here, because its patterns cost a tenth of a second and hardly an entry is set aside
    from keeplore.redact import Redactor

    clean = Redactor().keeplore_redact(payload.decode("utf-8", "replace"), "")
    return payload if clean is None else clean.encode()
