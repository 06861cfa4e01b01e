"""Keeplore's own engines as a plugin."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from keeplore_hooks.specs import hookimpl_last

if TYPE_CHECKING:
    from keeplore.index.backends.base import EngineMaker, EngineServer

EMBEDDED = "embedded"
QDRANT_KEY = "QDRANT_API_KEY"


class Builtin:
    @hookimpl_last
    def keeplore_engine(self, backend: str, url: str, name: str) -> EngineMaker | None:
        # here, because each is only needed where a workspace names it
        from keeplore.index.backends.embedded_engine import EmbeddedEngine
        from keeplore.index.backends.shared_engine import SharedEngine

        if backend == EMBEDDED:
            return EmbeddedEngine
        connect = {"postgres": _postgres, "qdrant": _qdrant}.get(backend)
        return (
            partial(SharedEngine, name, f"{backend} {url} {name}", partial(connect, url, name))
            if connect
            else None
        )


def _postgres(url: str, name: str, layout: str, dim: int) -> EngineServer:
    from keeplore.index.backends.postgres import Postgres  # here, as above

    return Postgres(url, name, layout, dim)


def _qdrant(url: str, name: str, layout: str, dim: int) -> EngineServer:
    from keeplore.index.backends.qdrant import Qdrant  # here, as above

    return Qdrant(url.split(","), os.environ.get(QDRANT_KEY, ""), name, layout, dim)
