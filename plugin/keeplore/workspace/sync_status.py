"""How the last exchange with the remote went: a small file a workspace in the state directory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.errors import KeeploreError
from keeplore_hooks import durable, typed_json

if TYPE_CHECKING:
    from keeplore.sync import SyncResult


@dataclass(frozen=True, slots=True)
class LastSync:
    """``at`` is when it was last tried (RFC 3339, "" for never), ``succeeded_at`` when it last went
    well.

    ``error`` and ``remedy`` are "" where it did.
    """

    at: str = ""
    succeeded_at: str = ""
    error: str = ""
    remedy: str = ""


class SyncLog:
    """The log of one workspace's syncs; a file that cannot be read counts as empty."""

    def __init__(self, path: Path, now: Callable[[], str]) -> None:
        self._path = path
        self._now = now

    def last(self) -> LastSync:
        return typed_json.load(self._path, LastSync) or LastSync()

    def run_and_note(self, act: Callable[[], SyncResult]) -> SyncResult:
        """Run ``act`` and write down how it went; raises what it raises."""
        try:
            result = act()
        except KeeploreError as e:
            self._write(
                LastSync(self._now(), self.last().succeeded_at, e.message, e.remedy)
            )
            raise
        self.note_success()
        return result

    def note_success(self) -> None:
        """Write down that all that the remote has is here, as after a clone."""
        at = self._now()
        self._write(LastSync(at, at))

    def _write(self, last: LastSync) -> None:
        # a full disk must not turn an exchange that went well into an error
        with contextlib.suppress(OSError):
            durable.make_private(self._path.parent)
            durable.write(self._path, json.dumps(asdict(last)).encode())
