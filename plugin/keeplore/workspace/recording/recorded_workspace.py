"""What the recorder needs of the workspace that opens it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from keeplore.capture.open_sessions import Sessions
from keeplore.config.places import Places
from keeplore.config.settings import Settings
from keeplore.index import Embedder, Index
from keeplore.store import Store
from keeplore.workspace.capture_policy import CapturePolicy
from keeplore.workspace.identity import IdentityResolver
from keeplore.workspace.note_writer import NoteWriter
from keeplore.workspace.plugin_manager import PluginManager


class RecordedWorkspace(Protocol):
    name: str
    places: Places
    settings: Settings
    sessions: Sessions
    store: Store
    index: Index
    identities: IdentityResolver

    @property
    def root(self) -> Path: ...

    @property
    def machine(self) -> str: ...

    @property
    def plugins(self) -> PluginManager: ...

    @property
    def notes(self) -> NoteWriter: ...

    @property
    def capture_policy(self) -> CapturePolicy: ...

    @property
    def capture_embedder(self) -> Embedder: ...

    def writing(self) -> AbstractContextManager[None]: ...
