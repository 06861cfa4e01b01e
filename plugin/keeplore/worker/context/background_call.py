"""Doing something beside, so that whoever waits can go on with what there is at a deadline."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class BackgroundCall(Generic[_T]):
    """Runs at once in a thread of its own; what is not waited for any more goes on, and nobody
    hears of its errors.
    """

    def __init__(self, act: Callable[[], _T]) -> None:
        self._act = act
        self._values: list[_T] = []
        self._errors: list[Exception] = []
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="keeplore-beside", daemon=True
        )
        self._thread.start()

    def is_done(self, within_s: float = 0.0) -> bool:
        """Whether it is over, at the latest after these seconds."""
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def result(self) -> _T:
        """What came of it, once it is done. Raises what it raised."""
        if self._errors:
            raise self._errors[0]
        return self._values[0]

    def _run(self) -> None:
        try:
            self._values.append(self._act())
        except Exception as e:  # noqa: BLE001  # raised where somebody waits
            self._errors.append(e)
