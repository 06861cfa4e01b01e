"""What changes while pages are open: the index follows the files, pages are told, and somebody
notices when the last page is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable

from keeplore.config.places import stamp
from keeplore.errors import KeeploreError
from keeplore.worker.watch import Watch
from keeplore.workspace.workspace import Workspace

LOOK_S = 0.3
WITHOUT_WATCH_S = (
    5.0  # where the system gives no watch, all files are looked at that often
)
KEEP_ALIVE_S = 15.0
FOLDER = "open"  # of the inbox, for the watch alone


class ChangeFeed:
    """Follows the files of one workspace, which may be opened anew at any time, in a thread of its
    own.

    ``version`` rises with every change. ``is_following`` is true while the index needs no refresh
    before it is asked.
    """

    def __init__(self, workspace_of: Callable[[], Workspace]) -> None:
        self._workspace_of = workspace_of
        self._changed = threading.Event()
        self._changed.set()
        self._ended = threading.Event()
        self._streams = 0
        self._seen_at = time.monotonic()
        self.version = 0
        self.is_following = False

    def start(self) -> None:
        threading.Thread(target=self._follow, name="changes", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def note_visit(self) -> None:
        self._seen_at = time.monotonic()

    @property
    def unseen_s(self) -> float:
        """How long no page has been open."""
        return 0.0 if self._streams else time.monotonic() - self._seen_at

    async def stream(self) -> AsyncIterator[str]:
        """Server-sent events for one page, until it closes."""
        self._streams += 1
        try:
            sent_version, spoke_at = self.version, time.monotonic()
            yield "retry: 2000\n\n"
            while not self._ended.is_set():
                await asyncio.sleep(LOOK_S)
                if sent_version != self.version:
                    sent_version, spoke_at = self.version, time.monotonic()
                    yield f"event: changed\ndata: {sent_version}\n\n"
                elif time.monotonic() - spoke_at > KEEP_ALIVE_S:
                    spoke_at = time.monotonic()
                    yield ": still here\n\n"
        finally:
            self._streams -= 1
            self.note_visit()

    def _follow(self) -> None:
        """Until ``stop``: refresh the index after changes, and raise ``version``."""
        workspace = self._workspace_of()
        folder = workspace.places.state / FOLDER
        watch = Watch(folder, lambda _: None, self._changed.set)
        known_stamps, looked_at = self._side_stamps(workspace), 0.0
        try:
            while not self._ended.wait(LOOK_S):
                with contextlib.suppress(KeeploreError, OSError):
                    workspace = self._workspace_of()
                    is_watched = not watch.follow([workspace.root])
                    is_due = time.monotonic() - looked_at > WITHOUT_WATCH_S
                    stamps = self._side_stamps(workspace)
                    if self._changed.is_set() or (is_due and not is_watched):
                        looked_at = time.monotonic()
                        self._catch_up(workspace, is_watched=is_watched)
                    elif stamps != known_stamps:
                        self.version += 1
                    known_stamps = stamps
        finally:
            watch.stop()

    def _catch_up(self, workspace: Workspace, *, is_watched: bool) -> None:
        self._changed.clear()
        result = workspace.index.refresh()
        if not self.is_following and is_watched:
            with contextlib.suppress(KeeploreError):  # found by words alone, then
                workspace.warm_up()
        self.is_following = is_watched
        if result.changed or result.removed:
            self.version += 1

    def _side_stamps(self, workspace: Workspace) -> tuple[object, ...]:
        """Stamps of what pages show and the index does not hold: sync, machines, tombstones."""
        state, name = workspace.places.state, f"{workspace.name}.json"
        files = (state / "sync" / name, state / "machines" / name)
        return (*map(stamp, files), stamp(workspace.root / "forgotten"))
