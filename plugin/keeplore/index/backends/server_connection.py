"""A line to a server that may be slow, away or come back: whoever waits is never kept longer than
said.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from keeplore.errors import EngineUnavailable
from keeplore_hooks.contracts import EngineServer

# after a failure the server is not asked for so long: the next prompts need not find out again
AGAIN_S = 15.0

_T = TypeVar("_T")


class ServerConnection:
    """A connection to a server, made when it is needed and dropped when it fails. Thread-safe; one
    call at a time reaches it.
    """

    def __init__(self, connect: Callable[[], EngineServer]) -> None:
        self._connect = connect
        self._server: EngineServer | None = None
        self._using = threading.Lock()
        self._failed = ""
        self._again_at = 0.0

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def why_not(self) -> str:
        """Why the next call will not try, "" where it will."""
        return self._unavailable().message if time.monotonic() < self._again_at else ""

    def call(self, act: Callable[[EngineServer], _T], within_s: float) -> _T:
        """What ``act`` gives for the server; connecting counts into the time.

        Raises EngineUnavailable where there is no answer in time, or was none a moment ago.
        """
        if time.monotonic() < self._again_at:
            raise self._unavailable()
        given: list[_T] = []
        errors: list[Exception] = []
        # what nobody waits for any more may go on: it ends by the server's own limits
        thread = threading.Thread(
            target=self._run,
            args=(act, given, errors),
            name="keeplore-engine",
            daemon=True,
        )
        thread.start()
        thread.join(within_s)
        if given:
            return given[0]
        if errors and not isinstance(errors[0], EngineUnavailable):
            raise errors[0]
        self._fail(
            str(errors[0]) if errors else f"it gave no answer within {within_s:g} s"
        )
        raise self._unavailable()

    def retry(self) -> None:
        """Let the next call try, whatever failed a moment ago."""
        self._again_at = 0.0

    def close(self) -> None:
        # a call that hangs keeps its connection until it ends
        if self._using.acquire(blocking=False):
            try:
                self._drop()
            finally:
                self._using.release()

    def _run(
        self,
        act: Callable[[EngineServer], _T],
        given: list[_T],
        errors: list[Exception],
    ) -> None:
        with self._using:
            try:
                if self._server is None:
                    self._server = self._connect()
                given.append(act(self._server))
            except EngineUnavailable as e:
                errors.append(e)
                self._drop()
            except Exception as e:  # noqa: BLE001  # raised where somebody waits
                errors.append(e)

    def _drop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            with contextlib.suppress(EngineUnavailable):
                server.close()

    def _fail(self, why: str) -> None:
        self._failed, self._again_at = why, time.monotonic() + AGAIN_S

    def _unavailable(self) -> EngineUnavailable:
        return EngineUnavailable(
            f"the shared engine does not answer: {self._failed}",
            "This machine's full text serves meanwhile; `keeplore engine` tells more",
        )
