"""A small written workspace (corpus.yaml), and builders for others."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from keeplore.index import Embedder, Index, embedder_for
from keeplore.memory import (
    Conversation,
    Exchange,
    Memory,
    Quote,
    new_id,
    new_meta,
    relative_path,
    serialise,
)
from keeplore.store import Store

CORPUS = Path(__file__).with_name("corpus.yaml")


def conversation(
    key: str,
    date: str,
    title: str,
    talk: Sequence[Sequence[str]],
    *,
    decided: str = "",
    options: Sequence[str] = (),
    open_questions: Sequence[str] = (),
    **meta: Any,
) -> Memory:
    """A closed conversation; ``decided`` is quoted from its last reply, ``options`` from its
    first.
    """
    exchanges = tuple(
        Exchange(f"{key}-turn-{n}", f"{date}T10:{n * 7:02d}:00Z", user, (reply,))
        for n, (user, reply) in enumerate(talk)
    )
    talked = Conversation(
        title,
        exchanges,
        projects=(str(meta.get("project", "")),),
        options=tuple(Quote(text, "assistant", exchanges[0].id) for text in options),
        decision=(Quote(decided, "assistant", exchanges[-1].id),) if decided else (),
        open_questions=tuple(
            Quote(text, "user", exchanges[-1].id) for text in open_questions
        ),
    )
    return _memory(key, "conversation", date, title, talked.to_markdown(), **meta)


def note(key: str, date: str, title: str, text: str, **meta: Any) -> Memory:
    return _memory(key, "note", date, title, f"# {title}\n\n{text}\n", **meta)


def memory_id(key: str) -> str:
    return new_id("test", key)


def _memory(
    key: str, kind: str, date: str, title: str, body: str, **meta: Any
) -> Memory:
    """``supersedes`` is given as a key; a memory of a project is in its scope unless said
    otherwise.
    """
    fields = {
        "id": memory_id(key),
        "kind": kind,
        "title": title,
        "created_at": f"{date}T10:00:00Z",
        "updated_at": f"{date}T10:00:00Z",
        "version": 1,
        "scope": "project",
        "trust": "user",
        "source": {
            "host": "claude-code",
            "session": meta.pop("session", f"session-{key}"),
        },
        **meta,
    }
    if "supersedes" in meta:
        fields["supersedes"] = memory_id(meta["supersedes"])
    return Memory(new_meta(**fields), body)


def corpus() -> list[Memory]:
    entries = yaml.load(CORPUS.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [
        {"note": note, "conversation": conversation}[entry.pop("kind")](**entry)
        for entry in entries
    ]


def repository(root: Path) -> Store:
    subprocess.run(["git", "init", "-q", root], check=True, stdin=subprocess.DEVNULL)
    return Store(root)


def write(root: Path, memories: Sequence[Memory]) -> dict[str, str]:
    """Lay memory files down as a person would; id → path."""
    paths = {}
    for memory in memories:
        path = root / relative_path(memory)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(serialise(memory), encoding="utf-8")
        paths[memory.id] = relative_path(memory)
    return paths


def indexed(
    folder: Path, memories: Sequence[Memory], embedder: Embedder | None = None
) -> tuple[Index, Store]:
    """Written and read, without vectors."""
    (folder / "w").mkdir()
    store = repository(folder / "w")
    write(folder / "w", memories)
    index = Index(folder / "index", store, embedder)
    index.refresh()
    return index, store


@pytest.fixture(scope="session")
def memory_builders() -> SimpleNamespace:
    """``note``, ``conversation``, ``corpus``, ``write``, ``indexed``, ``memory_id`` and ``paths``
    for tests that lay down memories of their own.
    """
    return SimpleNamespace(
        note=note,
        conversation=conversation,
        corpus=corpus,
        write=write,
        indexed=indexed,
        memory_id=memory_id,
        paths=lambda memories: {
            memory.id: relative_path(memory) for memory in memories
        },
    )


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return embedder_for("packaged", tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def written(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[tuple[Index, Store]]:
    """The corpus, indexed with vectors; tests only ask it."""
    root = tmp_path_factory.mktemp("written")
    store = repository(root)
    write(root, corpus())
    index = Index(tmp_path_factory.mktemp("index"), store, embedder)
    index.refresh()
    assert index.embed_pending() == 0
    yield index, store
    index.close()


@pytest.fixture
def workspace_of(tmp_path: Path) -> Iterator[Callable[..., tuple[Index, Store]]]:
    """``workspace_of(memories, embedder=None)`` writes memories and gives an index that has not
    looked at them yet.
    """
    opened = []

    def build(
        memories: Sequence[Memory], embedder: Embedder | None = None
    ) -> tuple[Index, Store]:
        root = tmp_path / f"workspace-{len(opened)}"
        root.mkdir()
        store = repository(root)
        write(root, memories)
        opened.append(Index(tmp_path / f"index-{len(opened)}", store, embedder))
        return opened[-1], store

    yield build
    for index in opened:
        index.close()
