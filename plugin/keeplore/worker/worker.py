"""The worker's life: start once, take the spool, keep index and HEAD in step, sync, leave when idle."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from keeplore.config.places import Places
from keeplore.errors import ConfigError, IndexUnavailable, NoWorkspace, RepositoryError, TranscriptError
from keeplore.worker.answers import Answers
from keeplore.worker.background import Background
from keeplore.worker.lock import only_one
from keeplore.worker.server import Server
from keeplore.workspace.intake import Intake
from keeplore.workspace.registry import Registry
from keeplore_hooks import durable
from keeplore_hooks.spool import Spool

LOG = logging.getLogger(__name__)
IDLE_EXIT_S = 15 * 60.0
SWEEP_S = 60.0  # between two looks for sessions that ended
RETRY_S = 5.0  # after the disk refused, or a workspace could not be opened
LET_ANSWER_S = 0.03  # a client spools an event a moment before it asks about it; the person waits for the answer
CATCH_UP_S = 5.0  # how long a command waits for what was said just now
ANSWER_S = 0.5  # the longest that the spool waits for answers to be finished


class Worker:
    """One worker a state directory; ``run`` returns at once where there is another."""

    def __init__(self, places: Places, *, idle_exit_s: float = IDLE_EXIT_S) -> None:
        self._places = places
        self._idle_exit_s = idle_exit_s
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._is_busy = True  # until the spool was looked at once
        self._waiting: set[str] = set()  # entries that cannot be taken for now
        self._has_changed = False  # an answer wrote or removed a memory

    def run(self) -> bool:
        """Work until idle or told to stop. Returns False where another worker already runs."""
        self._places.create()
        spool = Spool(self._places.spool)
        has_run = False
        while True:
            with only_one(self._places.state) as lock:
                if lock is None:
                    return has_run
                with Registry(self._places) as registry:
                    self._work(registry, spool)
            has_run = True
            # a client that put an event there while this worker was leaving saw a worker and started none
            if self._stopping.is_set() or not self._has_news(spool):
                return True

    def catch_up(self, registry: Registry) -> bool:
        """Take what is in the spool and do nothing else. Returns False where another worker runs, or an entry waits."""
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

    def _work(self, registry: Registry, spool: Spool) -> None:
        spool.recover()
        intake, background = Intake(registry), Background(registry)
        answers = Answers(
            registry,
            self._wait_until_caught_up,
            lambda: self._status(spool, registry, background),
            self._changed,
        )
        server = Server(self._places.state, lambda *request: self._handle(answers, *request))
        durable.write(self._places.state / "worker.pid", str(os.getpid()).encode())
        durable.write(self._places.state / "python", sys.executable.encode())
        observer = _watch(self._places.spool / "new", self._noticed)
        try:
            self._loop(spool, intake, background, answers)
        finally:
            server.close()
            observer.stop()
            background.close()
            with contextlib.suppress(OSError):
                (self._places.state / "worker.pid").unlink()

    def _loop(self, spool: Spool, intake: Intake, background: Background, answers: Answers) -> None:
        last_work = last_sweep = time.monotonic()
        background.warm_up()
        while not self._stopping.is_set():
            self._wake.clear()
            taken, retry_s = self._drain(spool, intake)
            moment = time.monotonic()
            if taken:
                last_work = moment
                background.note_change()
            if self._has_changed:
                self._has_changed = False
                background.change()
            if moment - last_sweep > SWEEP_S:
                last_sweep = moment
                with _logged("sweep"):
                    for path, problem in intake.sweep():
                        LOG.warning("%s was not swept: %s", path, problem)
                background.note_change()
            self._is_busy = bool(retry_s)
            with _logged("what was shown"):
                answers.save()
            pause_s = RETRY_S
            with _logged("background"):
                pause_s = background.step()
            if background.is_behind:
                last_work = moment
            idle_s = time.monotonic() - last_work
            if idle_s > self._idle_exit_s and not background.is_behind:
                return
            wait_s = min(pause_s, retry_s or pause_s, SWEEP_S, max(self._idle_exit_s - idle_s, 0.05))
            if wait_s and self._wake.wait(wait_s):
                self._is_busy = True
                time.sleep(LET_ANSWER_S)
                answers.wait_until_given(ANSWER_S)

    def _drain(self, spool: Spool, intake: Intake) -> tuple[int, float]:
        """Take every pending entry. Returns how many, and after how long to try again (0.0: nothing is left)."""
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
                taken += 1
        self._waiting = waiting
        return taken, retry_s

    def _changed(self) -> None:
        self._has_changed = True
        self._wake.set()

    def _noticed(self, name: str) -> None:
        # what this worker itself put back is tried again in time, not at once
        if name not in self._waiting:
            self._wake.set()

    def _handle(self, answers: Answers, operation: str, arguments: list[str], payload: bytes) -> bytes:
        if operation == "answer" and len(arguments) == 3:
            return answers.answer(arguments[1], arguments[2], payload)
        if operation == "recall":
            return answers.recall(payload)
        if operation == "catch-up":
            return json.dumps({"is_caught_up": self._wait_until_caught_up(CATCH_UP_S)}).encode()
        if operation == "stop":
            self.stop()
        if operation == "changed":
            self._changed()
        return answers.status()

    def _wait_until_caught_up(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._is_busy or any((self._places.spool / "new").iterdir()):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _status(self, spool: Spool, registry: Registry, background: Background) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "spool": spool.counts(),
            "waiting": len(self._waiting),
            "workspaces": [workspace.name for workspace in registry.opened()],
            "is_busy": self._is_busy,
            **background.status(),
        }


def _watch(directory: Path, noticed: Callable[[str], None]) -> BaseObserver:
    class Waker(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            if event.event_type in ("created", "moved"):
                noticed(Path(os.fsdecode(event.dest_path or event.src_path)).name)

    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    observer: BaseObserver = Observer()
    observer.schedule(Waker(), str(directory))
    try:
        observer.start()
    except OSError as e:  # the system's watches are all in use
        LOG.warning("the spool is looked at every second instead of being watched: %s", e)
        observer = PollingObserver()
        observer.schedule(Waker(), str(directory))
        observer.start()
    return observer


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    """Background steps are tried again at the next round: what went wrong is written down, the worker lives on."""
    try:
        yield
    except Exception:
        LOG.exception("%s failed", what)
