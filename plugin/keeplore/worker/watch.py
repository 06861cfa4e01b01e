"""Being told by the system when a host event arrives, or when text of a workspace changes."""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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

from keeplore_hooks import durable

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver, ObservedWatch

LOG = logging.getLogger(__name__)
# of a workspace; git's own folder changes with everything that we do
FOLDERS = ("memory", "projects", "user")
AGAIN_S = 300.0  # after the system refused a watch: others may have given theirs back
_LIMITS = {
    errno.ENOSPC: "fs.inotify.max_user_watches",
    errno.EMFILE: "fs.inotify.max_user_instances",
}
# of a file that is read there is nothing to say
_ARRIVING: list[type[FileSystemEvent]] = [FileCreatedEvent, FileMovedEvent]
_FOLDERS_CHANGING: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
_CHANGING = [*_ARRIVING, *_FOLDERS_CHANGING, FileClosedEvent, FileDeletedEvent]


class Watch:
    """Calls ``arrived`` with the name of a spool entry, and ``changed`` where files of a followed
    workspace changed.

    Both are called from a thread of the watch.
    """

    def __init__(
        self,
        box: Path,
        on_arrival: Callable[[str], None],
        on_change: Callable[[], None],
    ) -> None:
        self._on_change = on_change
        self._followed: dict[Path, tuple[ObservedWatch, _Folder]] = {}
        # by folders, which the watch of the one above them adds by itself, if it can
        self._has_grown = False
        self._refused = ""
        self._again_at = 0.0
        # not watched but to see whether the system gives one watch more
        self._spare = box.parent
        self._lock = threading.Lock()
        durable.make_private(box)
        self._observer, self._never = _start_observer(
            box, _Handler(lambda event: on_arrival(_names(event)[-1]))
        )

    def follow(self, roots: Iterable[Path]) -> str:
        """Follow these workspaces and no others. Says why changes of one go unnoticed, "" where
        none does.
        """
        wanted = {folder: found for root in roots for folder, found in _folders(root)}
        with self._lock:
            self._unwatch_unwanted(wanted)
            # going over all files each second would be felt
            if not wanted or self._never:
                return self._never if wanted else ""
            if time.monotonic() < self._again_at:
                return self._refused
            if (
                self._has_grown
                or self._refused
                or wanted.keys() - self._followed.keys()
            ):
                self._has_grown = False
                self._follow_folders(wanted)
            return self._refused

    def stop(self) -> None:
        self._observer.stop()

    def _unwatch_unwanted(self, wanted: Mapping[Path, _Folder]) -> None:
        """Let go of folders that are not wanted, or that are others by now: a branch without them
        was checked out.
        """
        alive = {
            emitter.watch for emitter in self._observer.emitters if emitter.is_alive()
        }
        for folder, (watch, found) in list(self._followed.items()):
            if wanted.get(folder) != found or watch not in alive:
                del self._followed[folder]
                self._observer.unschedule(watch)

    def _follow_folders(self, wanted: Mapping[Path, _Folder]) -> None:
        self._refused, self._again_at = "", 0.0
        try:
            for folder in wanted.keys() - self._followed.keys():
                self._followed[folder] = (
                    self._schedule_watch(folder, wanted[folder]),
                    wanted[folder],
                )
            # a folder further down for which there was no watch left is passed over in silence
            self._observer.unschedule(
                self._observer.schedule(FileSystemEventHandler(), str(self._spare))
            )
        except FileNotFoundError:  # it is looked for at the next step
            pass
        except OSError as e:
            # half of the folders would be of no use here, and may be to others
            self._unwatch_unwanted({})
            self._refused, self._again_at = _reason(e), time.monotonic() + AGAIN_S
            LOG.warning(
                "changes of workspaces are looked for, not watched: %s", self._refused
            )

    def _schedule_watch(self, folder: Path, known: _Folder) -> ObservedWatch:
        if known.is_root:
            handler = _Handler(self._note_folder)
            return self._observer.schedule(
                handler, str(folder), event_filter=_FOLDERS_CHANGING
            )
        handler = _Handler(self._note_change)
        return self._observer.schedule(
            handler, str(folder), recursive=True, event_filter=_CHANGING
        )

    def _note_folder(self, event: FileSystemEvent) -> None:
        """Note that one of a workspace's folders with memory came or went."""
        if not {*_names(event)}.isdisjoint(FOLDERS):
            self._on_change()

    def _note_change(self, event: FileSystemEvent) -> None:
        self._has_grown = self._has_grown or event.is_directory
        if event.is_directory or any(map(_is_text, _names(event))):
            self._on_change()


class _Folder(NamedTuple):
    inode: int
    is_root: bool  # of a workspace


class _Handler(FileSystemEventHandler):
    def __init__(self, handle: Callable[[FileSystemEvent], None]) -> None:
        self._handle = handle

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._handle(event)


def _names(event: FileSystemEvent) -> list[str]:
    """The names of what an event is about; of what was moved the one before, then the new one."""
    paths = (os.fsdecode(path) for path in (event.src_path, event.dest_path) if path)
    return [Path(path).name for path in paths]


def _is_text(name: str) -> bool:
    """Is it the name of a file with text of a workspace?"""
    return name.endswith(".md") and not name.startswith(".")


def _folders(root: Path) -> list[tuple[Path, _Folder]]:
    """A workspace and those of its folders with memory that there are."""
    found = []
    for folder in (root, *(root / name for name in FOLDERS)):
        try:
            if folder.is_dir():
                found.append((folder, _Folder(folder.stat().st_ino, folder == root)))
        except OSError:  # it vanishes, or may not be looked at
            continue
    return found


def _reason(error: OSError) -> str:
    limit = _LIMITS.get(error.errno or 0, "")
    return (
        f"the system gives no more watches ({limit} is reached)"
        if limit
        else f"the system refused a watch: {error}"
    )


def _start_observer(
    box: Path, handler: FileSystemEventHandler
) -> tuple[BaseObserver, str]:
    """An observer of the spool, and why it cannot be one of workspaces, "" where it can."""
    # it calls its own end an error
    logging.getLogger("watchdog").setLevel(logging.CRITICAL)
    try:
        observer: BaseObserver = Observer()
        observer.schedule(handler, str(box), event_filter=_ARRIVING)
        observer.start()
    except OSError as e:
        LOG.warning(
            "the spool is looked at every second instead of being watched: %s",
            _reason(e),
        )
        polling = PollingObserver()
        polling.schedule(handler, str(box), event_filter=_ARRIVING)
        polling.start()
        return polling, _reason(e)
    return observer, ""
