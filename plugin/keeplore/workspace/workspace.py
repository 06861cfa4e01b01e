"""A workspace in use: its parts, opened together and closed together."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from keeplore.capture.distill.held_statements import held_statements
from keeplore.capture.open_sessions import Sessions
from keeplore.config.frozen_watch import FrozenWatch
from keeplore.config.machine import Machine, redaction_key
from keeplore.config.places import Places
from keeplore.config.setting_layers import capture_layers, settings_here
from keeplore.config.settings import Settings
from keeplore.errors import IndexUnavailable, WorkspaceFrozen
from keeplore.index import DeferredEmbedder, Embedder, EmbeddingModels, Index
from keeplore.index.embedding.capabilities import is_loaded
from keeplore.memory import Memory
from keeplore.memory.wikilinks import with_wikilinks
from keeplore.recall.answer import Watch, recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import Answer, RecallRequest
from keeplore.recall.since.named_files import FilesSince, nothing_known
from keeplore.recall.weights import WEIGHTS, Weights
from keeplore.store import FreezableStore, Store
from keeplore.text.dates import now
from keeplore.workspace.embedding_model import capture_model, check_consent, full_name
from keeplore.workspace.identity import IdentityResolver, denied_patterns
from keeplore.workspace.machine_trust import MachineTrust
from keeplore.workspace.note_writer import NoteWriter
from keeplore.workspace.search_backend import engine_of
from keeplore.workspace.sync_status import SyncLog
from keeplore_hooks.contracts import EngineMaker
from keeplore_hooks.events import HostEvent

if TYPE_CHECKING:
    from keeplore.redact import Redactor
    from keeplore.workspace.capture_policy import CapturePolicy
    from keeplore.workspace.plugin_manager import PluginManager
    from keeplore.workspace.recording.recorder import Recorder

_Part = TypeVar("_Part")


class Workspace:
    """A workspace that is open. Safe for several threads; several processes may have it open at
    once.

    ``settings`` are others than those on disk. Raises ConfigError where the directory is no
    workspace, or a setting is wrong.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        places: Places,
        machine: Machine,
        models: EmbeddingModels | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.name = name
        self.places = places
        self.settings: Settings = settings or self._read_settings(root)
        self._machine = machine
        self._writing = threading.RLock()
        self._plugins = _Once(self._open_plugins)
        self._recorder = _Once(self._open_recorder)
        self.models = models or EmbeddingModels(places.models)
        self.sessions = Sessions(places.state / "capture" / name)
        self.store = self._open_store(root)
        self.store.cache.scan = self._scan
        self.identities = self._open_identities()
        self.index = Index(
            places.cache / "index" / name,
            self.store,
            self.embedder,
            engine=self._open_engine(root),
            find=self.embedder_of,
        )
        if self.settings.redaction.deny:
            _ = self.redactor  # a pattern that is wrong is told of at once

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.index.close()

    @property
    def root(self) -> Path:
        return self.store.root

    @property
    def machine_record(self) -> Machine:
        return self._machine

    @property
    def machine(self) -> str:
        """The id of this machine."""
        return self._machine.id

    @property
    def own_machines(self) -> frozenset[str]:
        """The ids that this machine has had."""
        return frozenset(filter(None, (self._machine.id, self._machine.copied_from)))

    @property
    def is_home(self) -> bool:
        return self._machine.home == self.name

    @property
    def plugins(self) -> PluginManager:
        """Keeplore's own steps and the installed ones; those of capture join them with the
        recorder.
        """
        return self._plugins()

    @property
    def recorder(self) -> Recorder:
        """What makes memory of host events."""
        return self._recorder()

    @cached_property
    def embedder(self) -> DeferredEmbedder:
        """The embedder of the model by which memories are found."""
        return DeferredEmbedder(lambda: self.embedder_of(self.settings.embedding.model))

    @cached_property
    def capture_embedder(self) -> DeferredEmbedder:
        """The embedder of the model by which conversations are cut into topics."""
        return DeferredEmbedder(
            lambda: self.embedder_of(capture_model(self.settings.embedding.model))
        )

    @cached_property
    def capture_policy(self) -> CapturePolicy:
        """What may be captured into this workspace."""
        # here, because whoever only asks needs none
        from keeplore.workspace.capture_policy import CapturePolicy

        own, shared = capture_layers(self.root, self.places.state)
        reason = ""
        if not self.settings.capture.enabled:
            reason = f"capture.enabled is false for {self.name}"
        if self.settings.frozen:
            reason = f"{self.name} is frozen"
        return CapturePolicy(
            self.places, self.identities, own, shared, switched_off=reason
        )

    @cached_property
    def notes(self) -> NoteWriter:
        return NoteWriter(
            self.store,
            self.index,
            machine=self.machine,
            plugins=lambda: self.plugins,
            is_foreign=self.machine_trust.is_foreign,
        )

    @cached_property
    def machine_trust(self) -> MachineTrust:
        cache, state = (
            place / "machines" / f"{self.name}.json"
            for place in (self.places.cache, self.places.state)
        )
        return MachineTrust(
            self.root,
            self.store.head,
            self.index.path_of,
            self.own_machines,
            cache=cache,
            state=state,
        )

    @cached_property
    def sync_log(self) -> SyncLog:
        return SyncLog(self.places.state / "sync" / f"{self.name}.json", now)

    @cached_property
    def weights(self) -> Weights:
        """The weights that decide the order of what is recalled here."""
        settings = self.settings.recall
        share = settings.threshold / WEIGHTS.nothing_below
        return replace(
            WEIGHTS,
            nothing_below=settings.threshold,
            unread_below=WEIGHTS.unread_below * share,
            hidden_below=min(WEIGHTS.hidden_below, settings.threshold),
            graph=settings.graph_boost,
            feedback=settings.feedback_boost,
            use=self.settings.feedback,
            half_life_days=settings.half_life_days,
        )

    @cached_property
    def redactor(self) -> Redactor:
        # here, because its patterns cost as much as a search, and whoever only asks needs none
        from keeplore.redact import Redactor

        settings = self.settings.redaction
        return Redactor(
            redaction_key(self.places),
            deny=settings.deny,
            allow=settings.allow,
            home=Path.home(),
            denied=partial(denied_patterns, self.store),
        )

    def emit(self, event: HostEvent) -> bool:
        """Hand one host event to the plugins, if it may be captured; what it led to is on disk when
        this returns.
        """
        return bool(self.recorder.take([event]))

    def recall(
        self,
        request: RecallRequest | str,
        *,
        weights: Weights | None = None,
        watch: Watch | None = None,
        freshness: FilesSince = nothing_known,
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
            weights or self.weights,
            sources=self.machine_trust.sources,
            graph=self.settings.recall.graph,
            feedback=self.settings.recall.feedback,
            freshness=freshness,
            held=held_statements,
        )
        return recall(
            deps, request, self.identities.here(request.cwd, request.agent), watch=watch
        )

    @property
    def is_warm(self) -> bool:
        """Whether a recall need not load the model or the vectors first."""
        return self.index.is_warm and is_loaded(self.index.answering())

    def warm_up(self) -> None:
        """Load the model and the vectors. Raises ModelUnavailable, IndexUnavailable."""
        (self.index.answering() or self.embedder).embed(["warm"])
        self.index.warm_up()

    def check_not_frozen(self) -> None:
        """Raise WorkspaceFrozen where nothing may be written."""
        if self.settings.frozen:
            raise WorkspaceFrozen(self.root)

    def committing(self) -> contextlib.AbstractContextManager[object]:
        """Keep other threads from capturing and committing meanwhile."""
        return self._writing

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes from capturing as well."""
        with self._writing, self.sessions.locked():
            yield

    def commit(self, message: str = "") -> str:
        """Bring HEAD up to what is on disk; "" where nothing differs.

        Raises RepositoryBusy while git is busy with something of the user's: the files wait on
        disk.
        """
        with self.committing():
            self.store.recover()
            said = self.plugins.redact(message) if message else ""
            return self.store.commit(said).commit or ""

    def _scan(self, data: bytes) -> Iterable[tuple[int, str]]:
        return self.redactor.scan(data)

    def _open_store(self, root: Path) -> Store:
        branch, machine = self.settings.branch, self._machine.id
        return FreezableStore(
            root,
            is_frozen=FrozenWatch(
                root, self.places.state, was_frozen=self.settings.frozen
            ),
            branch=branch,
            machine=machine,
            before_write=self._before_write,
        )

    def _before_write(self, memory: Memory) -> Memory:
        written = self.plugins.before_write(memory)
        if self.settings.wikilinks:
            return with_wikilinks(written, self._path_of)
        return written

    def _path_of(self, memory_id: str) -> str | None:
        """Where a memory lies, also one that was written a moment ago."""
        # the index is a cache: without it the files are looked through
        with contextlib.suppress(IndexUnavailable):
            if path := self.index.path_of(memory_id):
                return path
        return self.store.find(memory_id)

    def embedder_of(self, model: str) -> Embedder:
        """The embedder of a model that may be used here. Raises ModelUnavailable."""
        name = full_name(model, self.root)
        check_consent(name, self.root, self.places.state)
        found: Embedder = self.plugins.hook.keeplore_embedder(model=name)
        return found

    def _read_settings(self, root: Path) -> Settings:
        return settings_here(root, self.places.state)

    def _open_identities(self) -> IdentityResolver:
        return IdentityResolver(self.store, self._clean)

    def _clean(self, text: str) -> str:
        return self.redactor.keeplore_redact(text, "") or text

    def _open_engine(self, root: Path) -> EngineMaker:
        settings = self.settings.index
        return engine_of(settings, root, self.places.state, lambda: self.plugins)

    def _open_plugins(self) -> PluginManager:
        # here, because pluggy takes 10 ms
        from keeplore.workspace.plugin_manager import open_plugins

        return open_plugins(self.redactor, self.models, self.places.state)

    def _open_recorder(self) -> Recorder:
        # here, because its patterns cost a tenth of a second, and whoever only asks needs none
        from keeplore.workspace.recording.recorder import Recorder

        return Recorder(self)


class _Once(Generic[_Part]):
    """A part that is opened when it is first asked for, by one thread."""

    def __init__(self, make: Callable[[], _Part]) -> None:
        self._make = make
        self._made: _Part | None = None
        self._lock = threading.RLock()

    def __call__(self) -> _Part:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made
