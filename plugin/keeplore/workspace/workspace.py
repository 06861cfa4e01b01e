"""A workspace in use: store, index, plugins and capture, built together and closed together."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.capture.open_sessions import Sessions
from keeplore.config.machine import Machine, redaction_key
from keeplore.config.places import Places
from keeplore.config.settings import Settings, load_settings
from keeplore.index import DeferredEmbedder, Embedder, EmbeddingModels, Index
from keeplore.index.embedding.capabilities import is_loaded
from keeplore.memory import Memory
from keeplore.recall.answer import Watch, recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import Answer, RecallRequest, SearchScope
from keeplore.recall.weights import WEIGHTS, Weights
from keeplore.store import Store
from keeplore.workspace.embedding_model import capture_model, check_consent, full_name
from keeplore.workspace.identity import Identity, denied, identify, save_project
from keeplore.workspace.machine_trust import MachineTrust
from keeplore.workspace.note_writer import NoteWriter
from keeplore.workspace.search_backend import engine_of
from keeplore.workspace.sync_status import SyncLog
from keeplore_hooks.events import HostEvent, Origin

if TYPE_CHECKING:
    from keeplore.capture.capture_deps import MemoryPlace
    from keeplore.capture.plugin import Capture
    from keeplore.redact import Redactor
    from keeplore.sync import SyncResult
    from keeplore.workspace.lifecycle.local_purge import PurgeTraces
    from keeplore.workspace.plugin_manager import PluginManager
    from keeplore.workspace.recording.recorder import Recorder

HEAL_S = 2.0  # of reading what changed, where nobody asked for it
IDENTITY_SECONDS = (
    30.0  # a directory's project is looked up again after this long: a remote may have been added
)

_TROUBLES = (
    "conflict",
    "twice",
    "its id is that of",
)  # in what the index says of a file that a merge may have left so


class Workspace:
    """One workspace. Safe for several threads; several processes may have it open at once.

    Raises ConfigError where the directory is no workspace, or a setting is wrong.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        places: Places,
        machine: Machine,
        models: EmbeddingModels | None = None,
    ) -> None:
        self.name = name
        self.root = root
        self.machine = machine.id
        self.own_machines = frozenset(filter(None, (machine.id, machine.copied_from)))
        self.is_home = machine.home == name
        self.places = places
        self.models = models or EmbeddingModels(places.models)
        self.settings: Settings = load_settings(root)
        self._building = threading.RLock()
        self._plugins: PluginManager | None = None
        self._recorder: Recorder | None = None
        self.embedder = DeferredEmbedder(lambda: self._embedder(self.settings.embedding.model))
        self.capture_embedder = DeferredEmbedder(
            lambda: self._embedder(capture_model(self.settings.embedding.model))
        )
        branch = self.settings.branch
        self.store = Store(root, branch=branch, machine=machine.id, before_write=self.before_write)
        self._home = Path.home()
        self.changes = ChangeCounter()
        engine = engine_of(self.settings.index, root, places.state, lambda: self.plugins)
        directory = places.cache / "index" / name
        self.index = Index(directory, self.store, self.embedder, engine=engine, find=self._embedder)
        self.sessions = Sessions(places.state / "capture" / name)
        self.sync_log = SyncLog(places.state / "sync" / f"{name}.json", now)
        cache, state = (
            place / "machines" / f"{name}.json" for place in (places.cache, places.state)
        )
        self.machine_trust = MachineTrust(
            root, self.store.head, self.index.path_of, self.own_machines, cache=cache, state=state
        )
        self.notes = NoteWriter(
            self.store,
            self.index,
            machine=machine.id,
            now=now,
            redact=self.redact,
            guess=_category_of,
            written=self.written,
            is_foreign=self.machine_trust.is_foreign,
        )
        if self.settings.redaction.deny:
            _ = self._redactor  # a pattern that is wrong is told of at once
        self._identities: dict[str, tuple[float, Identity]] = {}
        self._writing = threading.RLock()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def plugins(self) -> PluginManager:
        """Keeplore's own steps and the installed ones; those of capture join them with the first
        event.
        """
        with self._building:
            if self._plugins is None:
                self._plugins = self._load_plugins()
            return self._plugins

    @property
    def capture(self) -> Capture:
        return self._recording().capture

    def redact(self, text: str, project: str = "") -> str:
        """The text without its secrets, and without what its project denies."""
        return self.plugins.redact(text, project)

    def redact_said(self, text: str, cwd: str) -> str:
        """The same for what was said in a directory."""
        return self.redact(text, self.identity(Path(cwd)).project if cwd else "")

    def secrets(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Start, end and kind of what must not stand in a memory file."""
        return self._redactor.spans(data)

    def written(self, memory_id: str, path: str) -> None:
        """Tell the plugins of a file that was written."""
        self.plugins.hook.keeplore_memory_written(memory_id=memory_id, path=path)

    def emit(self, event: HostEvent) -> None:
        """Hand one host event to the plugins; what it led to is on disk when this returns."""
        with self.capturing():
            self.plugins.emit(event)

    @contextlib.contextmanager
    def capturing(self) -> Iterator[None]:
        """Hold this workspace's capture while several events are handed over; all is on disk at the
        end.
        """
        with self._writing, self.sessions.locked():
            recorder = self._recording()
            recorder.begin()
            yield
            recorder.finish()

    def recall(
        self,
        request: RecallRequest | str,
        *,
        weights: Weights = WEIGHTS,
        watch: Watch | None = None,
    ) -> Answer:
        """Ranked memories for a question; a bare text is asked from the current directory.

        This workspace alone: ``Registry.recall`` also asks those that it inherits.
        """
        if isinstance(request, str):
            request = RecallRequest(request)
        if request.at_once and not self.is_warm:
            request = replace(request, text_only=True)
        deps = RecallDeps(
            self.index,
            self.store,
            self.embedder,
            self.machine_trust.trust_of,
            weights,
            graph=self.settings.recall.graph,
            feedback=self.settings.recall.feedback,
        )
        return recall(deps, request, self.here(request.cwd), watch=watch)

    @property
    def is_warm(self) -> bool:
        """Whether a recall need not load the model or the vectors first."""
        return self.index.is_warm and is_loaded(self.index.answering())

    def warm_up(self) -> None:
        """Load both. Raises ModelUnavailable, IndexUnavailable."""
        (self.index.answering() or self.embedder).embed(["warm"])
        self.index.warm_up()

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

    def forget_identities(self) -> None:
        """Look again which directory belongs to which project."""
        self._identities.clear()

    def here(self, directory: Path) -> SearchScope:
        """Which scopes apply in a directory."""
        identity = self.identity(directory)
        return SearchScope(identity.project, identity.also)

    def place(self, origin: Origin) -> MemoryPlace:
        """Where memory that is made there belongs; a project that is met for the first time gets
        its entry.
        """
        from keeplore.capture.capture_deps import MemoryPlace  # here, as below

        identity = self.identity(Path(origin.cwd)) if origin.cwd else Identity("", "no directory")
        if not identity.project:
            return MemoryPlace("workspace", branch=origin.branch)
        if identity.proposal is not None:
            save_project(self.store, identity.proposal)
        return MemoryPlace("project", identity.project, origin.branch)

    def commit(self, message: str = "") -> str:
        """Bring HEAD up to what is on disk; "" where nothing differs.

        Raises RepositoryBusy while git is busy with something of the user's: the files wait on
        disk.
        """
        with self._writing:
            self.store.recover()
            return self.store.commit(message).commit or ""

    def synchronise(self, *, is_unrelated: bool = False, quiet_s: float = 0.0) -> SyncResult:
        """Commit, fetch, merge and push. Raises RemoteError or RepositoryError; nothing is lost
        then.

        ``is_unrelated`` allows a remote that began as another workspace, ``quiet_s`` is that of
        ``heal``.
        """
        act = functools.partial(self._synchronise, is_unrelated=is_unrelated, quiet_s=quiet_s)
        return self.sync_log.noted(act)

    def erase(self, remains: PurgeTraces) -> None:
        """Remove the copies of purged memories that this machine has outside of git."""
        # here, as the next ones: a prompt may wait for this module
        from keeplore.workspace.lifecycle.local_purge import erase_copies

        erase_copies(self.places, self.root, self.index, self.sessions, remains)

    def close(self) -> None:
        self.index.close()

    def heal(self, quiet_s: float = 0.0) -> tuple[str, ...]:
        """Mend what merges by git, an IDE or a forge left: the paths that were written. Raises
        RepositoryError.

        With ``quiet_s`` a merge that a person may still be working on is left alone.
        """
        with self._writing:
            concluded = self.store.conclude(quiet_s)
            if quiet_s and self.store.is_held_up():
                return concluded
            # in a worker, which holds up what is said meanwhile: the rest of a new clone is looked
            # at the next time
            self.index.refresh(within_s=HEAL_S if quiet_s else None)
            troubled = [
                path
                for path, problem in self.index.problems()
                if any(word in problem for word in _TROUBLES)
            ]
            return (*concluded, *self.store.heal(troubled))

    def _synchronise(self, *, is_unrelated: bool, quiet_s: float) -> SyncResult:
        from keeplore.sync import synchronise  # here, as above
        from keeplore.workspace.lifecycle.local_purge import PurgeTraces

        self.heal(quiet_s)
        synced = synchronise(self.store, self._redactor.scan, is_unrelated=is_unrelated)
        if synced.purged:  # the text is gone, but the index still knows where it came from
            rows = self.index.memories(synced.purged).values()
            sessions = tuple(dict.fromkeys((row.host, row.session) for row in rows if row.session))
            self.erase(PurgeTraces(synced.purged, sessions, tuple(row.title for row in rows)))
        return synced

    @functools.cached_property
    def _redactor(self) -> Redactor:
        # here, because its patterns cost as much as a search, and whoever only asks needs none
        from keeplore.redact import Redactor

        wishes = self.settings.redaction
        return Redactor(
            redaction_key(self.places),
            deny=wishes.deny,
            allow=wishes.allow,
            home=self._home,
            denied=functools.partial(denied, self.store),
        )

    def _load_plugins(self) -> PluginManager:
        # here, as above: pluggy takes 10 ms
        from keeplore.index.builtin_plugins import BuiltinEmbedders, BuiltinEngines
        from keeplore.llm.builtin_models import BuiltinModels
        from keeplore.workspace.change_counter import Noting
        from keeplore.workspace.plugin_manager import PluginManager

        plugins = PluginManager()
        plugins.register(self._redactor)
        plugins.register(BuiltinEmbedders(self.models))
        plugins.register(BuiltinModels())
        plugins.register(BuiltinEngines())
        plugins.load_installed()
        plugins.register(Noting(self.changes))
        return plugins

    def _recording(self) -> Recorder:
        # here, because its patterns cost a tenth of a second, and whoever only asks needs none
        from keeplore.workspace.recording.recorder import Recorder

        with self._building:
            if self._recorder is None:
                self._recorder = Recorder(self)
            return self._recorder

    def _embedder(self, model: str) -> Embedder:
        """The embedder of a model that may be used here. Raises ModelUnavailable."""
        name = full_name(model, self.root)
        check_consent(name, self.root, self.places.state)
        found: Embedder = self.plugins.hook.keeplore_embedder(model=name)
        return found

    def before_write(self, memory: Memory) -> Memory:
        """A memory as it may be written: without secrets, and as the plugins want it."""
        meta = {**memory.meta, "title": self.redact(memory.title, memory.project)}
        return Memory(meta, self.plugins.before_write(meta, memory.body))


class ChangeCounter:
    """How many files were written, so that index and commit need to look only after a change.

    Also which sessions their hosts were about to shorten.
    """

    def __init__(self) -> None:
        self.count = 0
        self._shortened: set[tuple[str, str]] = set()

    def shorten(self, origin: Origin) -> None:
        self._shortened.add((origin.host, origin.session))

    def was_shortened(self, origin: Origin) -> bool:
        """Whether the session's context was shortened since this was asked last."""
        key = (origin.host, origin.session)
        was = key in self._shortened
        self._shortened.discard(key)
        return was


def _category_of(text: str) -> str:
    # here, because its patterns cost as much as a search
    from keeplore.capture.notes.note_candidates import category_of

    return category_of(text)


def now() -> str:
    """This moment as memories write it: RFC 3339, UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
