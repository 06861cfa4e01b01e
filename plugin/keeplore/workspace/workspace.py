"""A workspace in use: store, index, plugins and capture, built together and closed together."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keeplore.capture import (
    RECENT,
    Capture,
    NoteSteps,
    NoteTaker,
    Place,
    Redactor,
    Segmenter,
    Sessions,
    Steps,
    SummaryKeeper,
    SummarySteps,
    category_of,
    title_of,
)
from keeplore.config.machine import Machine, redaction_key
from keeplore.config.places import Places
from keeplore.config.settings import Settings, load_settings
from keeplore.errors import ModelUnavailable, StoreError
from keeplore.index import Allowed, BuiltinEmbedder, Embedder, Index, Wanted
from keeplore.memory import Memory
from keeplore.recall import Answer, Here, recall
from keeplore.store import Store
from keeplore.sync import Synced, synchronise
from keeplore.workspace.erasing import Remains, erase
from keeplore.workspace.identity import Identity, identify, save_project
from keeplore.workspace.notes import Notes
from keeplore.workspace.plugins import Plugins
from keeplore.workspace.recent import RecentOnCommand
from keeplore.workspace.synced import SyncLog
from keeplore_hooks.events import HostEvent, Origin
from keeplore_hooks.specs import hookimpl_last

IDENTITY_SECONDS = 30.0  # a directory's project is looked up again after this long: a remote may have been added


class Workspace:
    """One workspace. Safe for several threads; several processes may have it open at once.

    Raises ConfigError where the directory is no workspace.
    """

    def __init__(self, name: str, root: Path, places: Places, machine: Machine) -> None:
        self.name = name
        self.root = root
        self.machine = machine.id
        self._places = places
        self.settings: Settings = load_settings(root)
        self.plugins = Plugins()
        self.plugins.register(Redactor(redaction_key(places)))
        self.plugins.register(BuiltinEmbedder(places.models))
        self.plugins.load_installed()
        self.embedder: Embedder | None = self.plugins.hook.keeplore_embedder(model=self.settings.embedding.model)
        self.plugins.register(Segmenter(self.embedder))
        self.store = Store(root, branch=self.settings.branch, before_write=self._before_write)
        self.index = Index(places.cache / "index" / name, self.store, self.embedder)
        self.sessions = Sessions(places.state / "capture" / name)
        self.capture = Capture(self.store, self.sessions, self._steps(machine.id))
        self.plugins.register(self.capture)
        self.plugins.register(SummaryKeeper(self.store, self.sessions, self._summary_steps(machine.id)))
        self._recent = RecentOnCommand()
        self.plugins.register(self._recent)
        self.sync_log = SyncLog(places.state / "sync" / f"{name}.json", now)
        self.changes = Changes()
        self.plugins.register(self.changes)
        self.notes = Notes(
            self.store,
            self.index,
            machine=machine.id,
            now=now,
            redact=self.plugins.redact,
            guess=category_of,
            written=self._written,
        )
        steps = NoteSteps(self.place, self.plugins.redact, self.notes.write)
        self.plugins.register(NoteTaker(steps, is_automatic=self.settings.capture.notes))
        self._home = Path.home()
        self._identities: dict[str, tuple[float, Identity]] = {}
        self._writing = threading.RLock()
        self._has_refreshed = False

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def emit(self, event: HostEvent) -> None:
        """Hand one host event to the plugins; what it led to is on disk when this returns."""
        with self.capturing():
            self.plugins.emit(event)

    @contextlib.contextmanager
    def capturing(self) -> Iterator[None]:
        """Hold this workspace's capture while several events are handed over; all is on disk at the end."""
        with self._writing, self.sessions.locked():
            self.capture.forget_open()
            self._has_refreshed = False
            yield
            self.capture.flush()
            self._recent.carry_out(self)

    def recall(
        self, query: str, cwd: Path | None = None, *, limit: int = 5, wide: bool = False, text_only: bool = False
    ) -> Answer:
        """Ranked memories for a query, as seen from a directory; ``text_only`` leaves the model alone.

        This workspace alone: ``Registry.recall`` also asks those that it inherits.
        """
        here = self.here(cwd or Path.cwd())
        return recall(
            self.index, self.store, query, here, embedder=self.embedder, limit=limit, wide=wide, text_only=text_only
        )

    def identity(self, directory: Path) -> Identity:
        key = str(directory)
        at, known = self._identities.get(key, (0.0, None))
        if known is None or time.monotonic() - at > IDENTITY_SECONDS:
            if directory.is_relative_to(self.root):
                known = Identity("", "this is the workspace itself", is_known=True)
            else:
                known = identify(directory, self.store, self._home)
            self._identities[key] = (time.monotonic(), known)
        return known

    def here(self, directory: Path) -> Here:
        """Which scopes apply in a directory."""
        return Here(project=self.identity(directory).project)

    def place(self, origin: Origin) -> Place:
        """Where memory that is made there belongs; a project that is met for the first time gets its entry."""
        identity = self.identity(Path(origin.cwd)) if origin.cwd else Identity("", "no directory")
        if not identity.project:
            return Place("workspace", branch=origin.branch)
        if identity.proposal is not None:
            save_project(self.store, identity.proposal)
        return Place("project", identity.project, origin.branch)

    def commit(self, message: str = "") -> str:
        """Bring HEAD up to what is on disk; "" where nothing differs.

        Raises RepositoryBusy while git is busy with something of the user's: the files wait on disk.
        """
        with self._writing:
            return self.store.commit(message).commit or ""

    def synchronise(self) -> Synced:
        """Commit, fetch, merge and push. Raises RemoteError or RepositoryError; nothing is lost then."""
        return self.sync_log.noted(self._synchronise)

    def erase(self, remains: Remains) -> None:
        """Remove the copies of purged memories that this machine has outside of git."""
        erase(self._places, self.root, self.index, self.sessions, remains)

    def close(self) -> None:
        self.index.close()

    def _synchronise(self) -> Synced:
        synced = synchronise(self.store)
        if synced.purged:  # the text is gone, but the index still knows where it came from
            rows = self.index.memories(synced.purged).values()
            sessions = tuple(dict.fromkeys((row.host, row.session) for row in rows if row.session))
            self.erase(Remains(synced.purged, sessions, tuple(row.title for row in rows)))
        return synced

    def _steps(self, machine: str) -> Steps:
        return Steps(
            place=self.place,
            redact=self.plugins.redact,
            segment=lambda exchanges, turn: self.plugins.hook.keeplore_segment(exchanges=exchanges, turn=turn) or "",
            known_turns=self._known_turns,
            written=self._written,
            closing=self._closing,
            earlier=self._earlier,
            embed=self._embed(),
            machine=machine,
        )

    def _summary_steps(self, machine: str) -> SummarySteps:
        return SummarySteps(
            place=self.place,
            redact=self.plugins.redact,
            title=lambda exchange: title_of([exchange], {}),
            flush=self.capture.flush,
            written=self._written,
            machine=machine,
        )

    def _known_turns(self, ids: Iterable[str]) -> Mapping[str, str]:
        if not self._has_refreshed:  # another process may have written since
            self.index.refresh()
            self._has_refreshed = True
        asked = list(ids)
        forgotten = self.store.forgotten_turns()
        return self.index.known_turns(asked) | {id_: forgotten[id_] for id_ in asked if id_ in forgotten}

    def _written(self, memory_id: str, path: str) -> None:
        self.plugins.hook.keeplore_memory_written(memory_id=memory_id, path=path)

    def _closing(self, meta: Mapping[str, Any], body: str) -> None:
        self.plugins.hook.keeplore_conversation_closing(meta=meta, body=body)

    def _earlier(self, place: Place, before: str) -> Iterator[Memory]:
        self.index.refresh()  # one may have been closed a moment ago
        allowed = Allowed(((place.scope, place.project),))
        wanted = Wanted(allowed, kind="conversation", before=before, limit=RECENT)
        for row in self.index.listed(wanted):
            if not row.is_open:
                with contextlib.suppress(StoreError):  # removed or damaged meanwhile
                    yield self.store.load(row.path)

    def _embed(self) -> Callable[[Sequence[str]], Any] | None:
        embedder = self.embedder
        if embedder is None:
            return None

        def embed(texts: Sequence[str]) -> Any:
            try:
                return embedder.embed(texts)
            except ModelUnavailable:
                return None

        return embed

    def _before_write(self, memory: Memory) -> Memory:
        meta = {**memory.meta, "title": self.plugins.redact(memory.title)}
        return Memory(meta, self.plugins.before_write(meta, memory.body))


class Changes:
    """A plugin that counts the files that were written, so that index and commit need to look only after a change."""

    def __init__(self) -> None:
        self.count = 0

    @hookimpl_last
    def keeplore_memory_written(self) -> None:
        self.count += 1


def now() -> str:
    """This moment as memories write it: RFC 3339, UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
