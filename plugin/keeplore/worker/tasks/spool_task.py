"""Taking host events out of the spool."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable

from keeplore.errors import (
    ConfigError,
    IndexUnavailable,
    NoWorkspace,
    RepositoryError,
    TranscriptError,
    is_in_the_way,
    problem_message,
)
from keeplore.worker.tasks.base import NEVER
from keeplore.workspace.importing.intake import Intake, IntakeResult
from keeplore_hooks.spool import Spool, SpoolEntry

LOG = logging.getLogger(__name__)
RETRY_S = 5.0  # after the disk refused, or a workspace could not be opened


class SpoolTask:
    """Takes every pending entry; ``is_stopping`` is asked before each, ``taken`` is told what came
    of it.
    """

    name = "taking host events"

    def __init__(
        self,
        spool: Spool,
        intake: Intake,
        is_stopping: Callable[[], bool],
        on_taken: Callable[[IntakeResult], None],
    ) -> None:
        self._spool = spool
        self._intake = intake
        self._is_stopping = is_stopping
        self._on_taken = on_taken
        # entry that cannot be taken for now → what it waits for, "" for the first workspace
        self.waiting: dict[str, str] = {}

    @property
    def has_news(self) -> bool:
        return any(entry.name not in self.waiting for entry in self._spool.pending())

    def run(self, now: float) -> float:
        """Take in what hosts have told; what cannot be taken now waits."""
        waiting: dict[str, str] = {}
        with contextlib.suppress(
            OSError
        ):  # there is still no room: the next run tries again
            self._spool.collect()
        for entry in self._spool.pending():
            if self._is_stopping():
                break
            claimed = self._spool.claim(entry)
            if claimed is None:
                continue
            try:
                result = self._result_of(claimed)
            except (ConfigError, IndexUnavailable, RepositoryError, OSError) as e:
                waiting[entry.name] = self._hold_back(claimed, e)
                if _concerns_all(e):
                    break
            else:
                if result is not None:
                    self._spool.acknowledge(claimed)
                    self._on_taken(result)
        self.waiting = waiting
        return now + RETRY_S if waiting else NEVER

    def _hold_back(self, claimed: SpoolEntry, error: Exception) -> str:
        """Keep an entry that is not at fault until there is a workspace that can be used; returns
        what it waits for.
        """
        reason = problem_message(error)
        known = "" if isinstance(error, NoWorkspace) else reason
        # it is tried every few seconds, and a log is for what is new
        is_new = self.waiting.get(claimed.name) != known
        level = logging.WARNING if is_new else logging.DEBUG
        LOG.log(level, "%s has to wait: %s", claimed.name, reason)
        # before the watch tells that it is there again
        self.waiting[claimed.name] = known
        self._spool.release(claimed)
        return known

    def _result_of(self, claimed: SpoolEntry) -> IntakeResult | None:
        """What an entry led to; None where it was set aside, or is tried again.

        Raises ConfigError, IndexUnavailable, RepositoryError or OSError where it has to wait.
        """
        try:
            result = self._intake.take(claimed)
        except (ConfigError, IndexUnavailable, RepositoryError, OSError):
            raise
        except TranscriptError as e:
            LOG.warning("%s is set aside: %s", claimed.name, e)
            self._spool.quarantine(claimed, str(e))
            return None
        except Exception:
            LOG.exception("%s could not be taken", claimed.name)
            self._spool.retry(claimed)
            return None
        for problem in result.problems:
            LOG.info("%s: %s", claimed.name, problem)
        return result


def _concerns_all(error: Exception) -> bool:
    """Whether every other entry would meet the same: what is in the way of one session's file is
    none of the others' business.
    """
    if isinstance(error, OSError):
        return not is_in_the_way(error)
    return isinstance(error, NoWorkspace)
