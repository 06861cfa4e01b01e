"""The engine that a workspace's settings name, and whether this machine's person lets it be
used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.config.consent import Consents, ConsentUse
from keeplore.config.engine_settings import EngineSettings
from keeplore.errors import ConfigError
from keeplore.index.backends.embedded_engine import EmbeddedEngine

if TYPE_CHECKING:
    from keeplore.workspace.plugin_manager import PluginManager
    from keeplore_hooks.contracts import EngineMaker

ACCEPT = "keeplore engine accept"
UNACCEPTED = (
    f"searched on this machine: the engine that the workspace names is not accepted here; "
    f"`{ACCEPT}` does that"
)


def is_shared(settings: EngineSettings) -> bool:
    return settings.backend != EngineSettings().backend


def subject(settings: EngineSettings) -> str:
    """How its acceptance is kept: another server, or another name there, is asked for again."""
    return f"{settings.backend} {settings.url} {settings.name}"


def is_accepted(settings: EngineSettings, root: Path, state: Path) -> bool:
    """Whether this machine may use the engine that is set; the embedded one needs no consent."""
    return not is_shared(settings) or Consents(state).has(
        root, ConsentUse.INDEX, subject(settings)
    )


def engine_of(
    settings: EngineSettings,
    root: Path,
    state: Path,
    plugins: Callable[[], PluginManager],
) -> EngineMaker:
    """What makes the engine: the embedded one where no other is set, or may be used here.

    Raises ConfigError where no plugin knows it.
    """
    if not is_shared(settings):
        return EmbeddedEngine
    if not is_accepted(settings, root, state):
        return functools.partial(EmbeddedEngine, note=UNACCEPTED)
    found: EngineMaker | None = plugins().hook.keeplore_engine(
        backend=settings.backend, url=settings.url, name=settings.name
    )
    if found is None:
        raise ConfigError(
            f"there is no engine called {settings.backend}",
            "Mend `index: backend:` in keeplore.yaml",
        )
    return found
