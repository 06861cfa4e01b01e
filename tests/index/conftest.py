"""A store on real files and a model that counts words, so that what is found can be reasoned
about.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from keeplore.errors import Corrupt, NotFound
from keeplore.index import Index
from keeplore.memory import (
    Conversation,
    Exchange,
    Memory,
    as_memory,
    new_id,
    new_meta,
    relative_path,
    serialise,
)


@dataclass(frozen=True, slots=True)
class File:
    path: str
    mtime_ns: int
    size: int
    inode: int


class Files:
    """The part of a store that the index uses, without git: the commit is whatever a test says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commit = "c0"
        self.loaded: list[str] = []

    def put(self, memory: Memory, path: str = "") -> str:
        path = path or relative_path(memory)
        self.write(path, serialise(memory).encode())
        return path

    def write(self, path: str, data: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_suffix(".tmp")
        aside.write_bytes(data)
        aside.replace(target)

    def indexed(self) -> Iterator[File]:
        for file in sorted(
            path
            for path in self.root.rglob("*")
            if path.suffix in (".md", ".yaml", ".json")
        ):
            at = file.stat()
            yield File(
                file.relative_to(self.root).as_posix(),
                at.st_mtime_ns,
                at.st_size,
                at.st_ino,
            )

    def read_text(self, path: str, _limit_bytes: int) -> str:
        return (self.root / path).read_text()

    def load(self, path: str) -> Memory:
        self.loaded.append(path)
        try:
            return as_memory((self.root / path).read_bytes().decode(), path)
        except FileNotFoundError as e:
            raise NotFound(f"no file {path}") from e
        except UnicodeDecodeError as e:
            raise Corrupt(f"{path} is not UTF-8", "Save it as UTF-8") from e

    def head(self) -> str:
        return self.commit

    def settle(self) -> None:
        """Make all files older than the clock's tick, so that an index need not read them twice."""
        for file in self.root.rglob("*.md"):
            at = file.stat().st_mtime_ns - 10_000_000_000
            os.utime(file, ns=(at, at))


class WordEmbedder:
    """Texts that share words are near to one another; counts what it was asked for."""

    model = "words"
    dim = 64
    floor = 0.3

    def __init__(self, name: str = "words:1:256") -> None:
        self.fingerprint = name
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        vectors = np.full((len(texts), self.dim), 1e-4, np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                vectors[row, hashlib.sha256(word.encode()).digest()[0] % self.dim] += 1
        return np.asarray(
            vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32
        )


def note(title: str, body: str = "", **meta: object) -> Memory:
    fields = {
        "id": new_id(title),
        "kind": "note",
        "title": title,
        "created_at": "2026-02-09T14:00:00Z",
        "scope": "workspace",
        "trust": "user",
        **meta,
    }
    return Memory(new_meta(**fields), f"# {title}\n\n{body}\n")


def conversation(title: str, *said: tuple[str, str], **meta: object) -> Memory:
    exchanges = tuple(
        Exchange(
            f"{new_id(title)[4:12]}-{n}", f"2026-02-09T14:{n:02}:00Z", user, (reply,)
        )
        for n, (user, reply) in enumerate(said)
    )
    made = note(title, kind="conversation", **meta)
    return Memory(made.meta, Conversation(title, exchanges).to_markdown())


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "workspace")


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def make_note() -> Callable[..., Memory]:
    return note


@pytest.fixture
def make_conversation() -> Callable[..., Memory]:
    return conversation


@pytest.fixture
def make_embedder() -> type[WordEmbedder]:
    return WordEmbedder


@pytest.fixture
def index_directory(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(
    files: Files, embedder: WordEmbedder, index_directory: Path
) -> Iterator[Index]:
    opened = Index(index_directory, files, embedder)
    yield opened
    opened.close()


@pytest.fixture
def many(files: Files, make_note: Callable[..., Memory]) -> Files:
    """120 notes, by turns in one of two projects."""
    for n in range(120):
        project = "kasha" if n % 2 else "lore"
        text = f"word{n} and word{n + 1}"
        files.put(make_note(f"Note {n}", text, scope="project", project=project))
    return files
