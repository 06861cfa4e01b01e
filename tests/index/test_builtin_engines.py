"""Which engine serves a setting, and what it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keeplore.index.backends import postgres, qdrant
from keeplore.index.backends.embedded_engine import EmbeddedEngine
from keeplore.index.backends.shared_engine import SharedEngine
from keeplore.index.builtin_plugins import QDRANT_KEY, BuiltinEngines


@pytest.mark.parametrize(
    ("key", "given"), [({}, ""), ({QDRANT_KEY: "secret"}, "secret")]
)
def test_the_engine_of_each_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: dict[str, str], given: str
) -> None:
    for name, value in key.items():
        monkeypatch.setenv(name, value)
    told: list[tuple[Any, ...]] = []

    def server(*words: object) -> tuple[Any, ...]:
        told.append(words)
        return words

    monkeypatch.setattr(postgres, "Postgres", server)
    monkeypatch.setattr(qdrant, "Qdrant", server)
    engine = BuiltinEngines().keeplore_engine
    assert engine("embedded", "", "lore") is EmbeddedEngine
    assert engine("elsewhere", "http://a", "lore") is None
    for backend, url, words in (
        ("postgres", "postgresql://a,b/c", ("postgresql://a,b/c", "lore", "l1", 384)),
        ("qdrant", "http://a,http://b", (["http://a", "http://b"], given, "lore", "l1", 384)),
    ):  # fmt: skip
        maker: Any = engine(backend, url, "lore")
        shared = maker(None, None)
        assert isinstance(shared, SharedEngine) and shared.is_remote
        assert not shared.is_warm and shared.note == ""
        assert (shared._name, shared._server_place) == (
            "lore",
            f"{backend} {url} lore",
        )
        assert shared._connect("l1", 384) == words == told[-1]
