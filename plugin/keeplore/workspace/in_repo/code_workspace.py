"""The memory of one work tree, as a workspace beside that of the person, from which it takes all
that is not text: settings, models, redaction, plugins, and where tombstones go.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.config.project_file import NAME
from keeplore.config.settings import Settings
from keeplore.errors import IndexUnavailable
from keeplore.index import Embedder
from keeplore.index.backends.embedded_engine import EmbeddedEngine
from keeplore.store import Store
from keeplore.store.code_store import CodeStore
from keeplore.store.git.work_trees import WorkTree
from keeplore.text.slugs import slugify
from keeplore.workspace.capture_policy import CapturePolicy
from keeplore.workspace.identity import IdentityResolver
from keeplore.workspace.in_repo.author_trust import AuthorTrust
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.contracts import EngineMaker

if TYPE_CHECKING:
    from keeplore.redact import Redactor
    from keeplore.workspace.plugin_manager import PluginManager
    from keeplore.workspace.recording.recorder import Recorder

PREFIX = "code-"


class CodeWorkspace(Workspace):
    """``host`` is the workspace of the person that has the project; its settings hold here, never
    those of the repository.
    """

    def __init__(self, host: Workspace, tree: WorkTree, project: str) -> None:
        self.host = host
        self.tree = tree
        self.project = project
        name, root = name_of(tree.top), tree.top / NAME
        super().__init__(name, root, host.places, host.machine_record, host.models)
        self.sessions = host.sessions

    @property
    def plugins(self) -> PluginManager:
        return self.host.plugins

    @property
    def recorder(self) -> Recorder:
        return self.host.recorder

    @property
    def is_home(self) -> bool:
        return False

    @cached_property
    def redactor(self) -> Redactor:
        return self.host.redactor

    @cached_property
    def capture_policy(self) -> CapturePolicy:
        return self.host.capture_policy

    @cached_property
    def machine_trust(self) -> AuthorTrust:
        # one answer for all work trees of a repository
        store, name = self.code_store, name_of(self.tree.main)
        return AuthorTrust(
            store,
            self.index.path_of,
            self.own_machines,
            cache=self.places.cache / "machines" / f"{self.name}.json",
            state=self.places.state / "machines" / f"{name}.json",
        )

    @cached_property
    def code_store(self) -> CodeStore:
        assert isinstance(self.store, CodeStore)  # noqa: S101  # made by _open_store
        return self.store

    def committing(self) -> contextlib.AbstractContextManager[object]:
        return self.host.committing()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        with self.host.writing():
            yield

    def commit(self, message: str = "") -> str:
        """Commit what the person's workspace holds of it; the rest is the person's to commit."""
        return self.host.commit(message)

    def _read_settings(self, _root: Path) -> Settings:
        return self.host.settings

    def _open_store(self, _root: Path) -> Store:
        return CodeStore(
            self.tree.top,
            self.project,
            self.host.store,
            self._before_write,
            is_elsewhere=self._is_in_host,
        )

    def _is_in_host(self, memory_id: str) -> bool:
        with contextlib.suppress(IndexUnavailable):  # then both are found
            return self.host.index.path_of(memory_id) is not None
        return False

    def _open_identities(self) -> IdentityResolver:
        return self.host.identities

    def _open_engine(self, _root: Path) -> EngineMaker:
        return EmbeddedEngine  # no server was accepted for this text

    def embedder_of(self, model: str) -> Embedder:
        return self.host.embedder_of(model)


def name_of(top: Path) -> str:
    """The name under which this machine keeps its index and what was said of it."""
    digest = sha256(str(top).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{PREFIX}{slugify(top.name, 40)}-{digest[:8]}"
