"""Being told by the system when a host event arrives, or when text of a workspace changes."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver, ObservedWatch

LOG = logging.getLogger(__name__)
FOLDERS = ("memory", "projects", "user")  # of a workspace; git's own folder changes with everything that we do
# of a file that is read there is nothing to say
_ARRIVING: list[type[FileSystemEvent]] = [FileCreatedEvent, FileMovedEvent]
_CHANGING = [*_ARRIVING, FileClosedEvent, FileDeletedEvent, DirCreatedEvent, DirMovedEvent, DirDeletedEvent]


class Watch:
    """Calls ``arrived`` with the name of a spool entry, and ``changed`` where files of a followed workspace changed.

    Both are called from a thread of the watch.
    """

    def __init__(self, box: Path, arrived: Callable[[str], None], changed: Callable[[], None]) -> None:
        self._changed = changed
        self._followed: dict[Path, ObservedWatch] = {}
        self._lock = threading.Lock()
        box.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._observer = _started(box, _Arrivals(arrived))

    def follow(self, roots: Iterable[Path]) -> bool:
        """Follow these workspaces and no others. False where changes of one of them go unnoticed."""
        wanted = {folder for root in roots for folder in _folders(root)}
        with self._lock:
            for folder in self._followed.keys() - wanted:
                self._observer.unschedule(self._followed.pop(folder))
            if isinstance(self._observer, PollingObserver):  # going over all files again and again would be felt
                return not wanted
            for folder in wanted - self._followed.keys():
                try:
                    handler = _Changes(self._changed)
                    followed = self._observer.schedule(handler, str(folder), recursive=True, event_filter=_CHANGING)
                    self._followed[folder] = followed
                except OSError as e:  # the system's watches are all in use, or it vanished
                    LOG.warning("%s is not watched: %s", folder, e)
                    return False
        return True

    def stop(self) -> None:
        self._observer.stop()


class _Arrivals(FileSystemEventHandler):
    def __init__(self, arrived: Callable[[str], None]) -> None:
        self._arrived = arrived

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._arrived(Path(os.fsdecode(event.dest_path or event.src_path)).name)


class _Changes(FileSystemEventHandler):
    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        name = Path(os.fsdecode(event.dest_path or event.src_path)).name
        if event.is_directory or (name.endswith(".md") and not name.startswith(".")):
            self._changed()


def _folders(root: Path) -> list[Path]:
    return [root / name for name in FOLDERS if (root / name).is_dir()]


def _started(box: Path, handler: FileSystemEventHandler) -> BaseObserver:
    observer: BaseObserver = Observer()
    observer.schedule(handler, str(box), event_filter=_ARRIVING)
    try:
        observer.start()
    except OSError as e:  # the system's watches are all in use
        LOG.warning("the spool is looked at every second instead of being watched: %s", e)
        observer = PollingObserver()
        observer.schedule(handler, str(box), event_filter=_ARRIVING)
        observer.start()
    return observer
