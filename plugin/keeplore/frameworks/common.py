"""Keeplore beside an event loop: what it does runs in threads, and no error of its own ever reaches
the run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from keeplore.errors import KeeploreError
from keeplore.host import HostSession

LOG = logging.getLogger(__name__)
# so long a run waits for what is recalled; the first time a model is loaded
CONTEXT_S = 5.0
CAPTURE_S = 30.0  # and until a turn is on disk; then it goes on without, and the thread finishes
T = TypeVar("T")


class SafeRunner:
    """Runs calls for a framework's adapter and never fails; only the first failure is reported, as
    a warning.
    """

    def __init__(self) -> None:
        self._has_failed = False

    async def run(self, act: Callable[[], T], default: T, within_s: float) -> T:
        """What ``act`` gives in a thread; ``default`` where it fails or takes longer."""
        # shielded: a thread cannot be stopped, and one that is late still brings its turn to disk
        waiting = asyncio.shield(asyncio.to_thread(self._safely, act, default))
        try:
            return await asyncio.wait_for(waiting, within_s)
        except TimeoutError:
            self._log_failure("it took longer than %s seconds", within_s)
            return default

    def _safely(self, act: Callable[[], T], default: T) -> T:
        try:
            return act()
        except Exception as e:  # noqa: BLE001  # a broken memory must never break the run
            self._log_failure(
                "%s", e, is_bug=not isinstance(e, KeeploreError | OSError)
            )
            return default

    def _log_failure(
        self, reason: str, detail: object, *, is_bug: bool = False
    ) -> None:
        level = logging.DEBUG if self._has_failed else logging.WARNING
        message = f"Keeplore is left out of this run: {reason}"  # a constant
        LOG.log(level, message, detail, exc_info=is_bug)
        self._has_failed = True


class AdapterSession:
    """A session as an adapter sees it: a block for each of its prompts, and turns to take in."""

    def __init__(self, session: HostSession, runner: SafeRunner) -> None:
        self._session = session
        self._runner = runner
        self._blocks: dict[str, str] = {}

    async def blocks(self, prompts: Sequence[str]) -> list[str]:
        """What stands beside each prompt, "" for nothing; only the last one is asked about.

        A prompt has the same block at every call of the model, so that the model keeps what it was
        shown once, and a provider's cache of the beginning stays good.
        """
        if prompts and prompts[-1] not in self._blocks:
            last = prompts[-1]
            self._blocks[last] = await self._runner.run(
                lambda: self._session.context(last), "", CONTEXT_S
            )
        return [self._blocks.get(prompt, "") for prompt in prompts]

    async def add(self, user: str, replies: Sequence[str], id_: str = "") -> str:
        """The turn's id, "" where it could not be taken in."""
        return await self._runner.run(
            lambda: self._session.add(user, *replies, id_=id_), "", CAPTURE_S
        )
