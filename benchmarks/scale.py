"""Workspaces of any size, and vectors for them at no cost, for the benchmarks that ask what size
does.

Conversations have three exchanges. Their sentences are those of recorded sessions and chats about
code where ``KEEPLORE_DATA`` or ../shared/data is there, else words drawn by their frequency; a
conversation keeps to one session's sentences, and every exchange names two things that no other one
does, so that the vocabulary grows with the text.

``Resampled`` gives vectors that lie as those of the packaged model do: a vector that it made of
such a text, moved by the difference of two others that are near to each other, so that
neighbourhoods stay as dense as they are.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import keeplore.index
from keeplore.index import Embedder
from keeplore.memory import (
    Conversation,
    Exchange,
    Memory,
    new_id,
    new_meta,
    parse,
    relative_path,
    serialise,
)

VOCABULARY = 8000
EXCHANGES = 3
PROJECTS = 10
SENTENCE = re.compile(r"[^.!?\n]{25,240}[.!?\n]")
DATA = Path(os.environ.get("KEEPLORE_DATA", Path(__file__).parents[2] / "shared/data"))
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class File:
    path: str
    mtime_ns: int
    size: int
    inode: int


class Folder:
    """A store without git."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def indexed(self) -> Iterator[File]:
        for file in self.root.rglob("*.md"):
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
        return parse((self.root / path).read_text(encoding="utf-8"))

    def head(self) -> str:
        return "head"


class Words:
    """Text in which few words are common and most are rare (Zipf)."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        vocabulary = json.loads(
            (
                Path(keeplore.index.__file__).parent / "embedding/model/tokenizer.json"
            ).read_text()
        )
        words = [
            word
            for word in vocabulary["model"]["vocab"]
            if word.isascii() and word.isalpha() and len(word) > 2
        ]
        self.words = self.random.sample(words, VOCABULARY)
        self.weights = list(
            itertools.accumulate(1 / (n + 10) for n in range(VOCABULARY))
        )

    def text(self, count: int) -> str:
        return (
            " ".join(self.random.choices(self.words, cum_weights=self.weights, k=count))
            + "."
        )


class Talk:
    """The text of conversation number n, always the same."""

    def __init__(self, data: Path = DATA) -> None:
        self.sessions = [
            found for texts in _sessions(data) if len(found := _sentences(texts)) >= 40
        ]
        self.words = None if self.sessions else Words(1)

    def conversation(self, number: int, version: int = 0) -> Memory:
        draw = random.Random(f"{number} {version}")
        exchanges = tuple(self._exchange(draw, number, n) for n in range(EXCHANGES))
        title = (
            f"{number}: "
            f"{' '.join(self._exchange(random.Random(number), number, 0).user.split()[:8])}"
        )
        at = f"2026-{number % 12 + 1:02}-{number // 12 % 28 + 1:02}T14:00:00Z"
        meta = new_meta(
            id=new_id(str(number)), kind="conversation", title=title, created_at=at
        )
        meta |= {"scope": "project", "project": f"project-{number % PROJECTS}"}
        return Memory(meta, Conversation(title, exchanges).to_markdown())

    def question(self, number: int) -> str:
        """Some words of a conversation, in their order."""
        draw = random.Random(f"question {number}")
        said = self.conversation(number).body.split("## Exchanges")[-1].split()
        start = draw.randrange(max(1, len(said) - 12))
        return " ".join(said[start : start + 12])

    def _exchange(self, draw: random.Random, number: int, n: int) -> Exchange:
        said = [
            *self._some(draw, number, 2),
            f"See item{number}x{n} and {draw.getrandbits(32):08x}.",
        ]
        return Exchange(
            f"t{number}-{n}",
            "2026-02-09T14:00:00Z",
            " ".join(said),
            (" ".join(self._some(draw, number, 5)),),
        )

    def _some(self, draw: random.Random, number: int, count: int) -> list[str]:
        if self.words is not None:
            self.words.random = draw
            return [self.words.text(14) for _ in range(count)]
        return draw.choices(self.sessions[number % len(self.sessions)], k=count)


def write(folder: Folder, words: Words, number: int) -> None:
    """A conversation in words drawn by their frequency."""
    exchanges = tuple(
        Exchange(
            f"turn-{number}-{n}",
            "2026-02-09T14:00:00Z",
            words.text(20),
            (words.text(80),),
        )
        for n in range(EXCHANGES)
    )
    title = words.text(6)
    meta = new_meta(
        id=new_id(str(number)),
        kind="conversation",
        title=title,
        created_at="2026-02-09T14:00:00Z",
    )
    meta |= {"scope": "project", "project": f"project-{number % PROJECTS}"}
    put(folder.root, Memory(meta, Conversation(title, exchanges).to_markdown()))


def put(root: Path, memory: Memory) -> int:
    """Write a memory's file; returns its bytes."""
    target = root / relative_path(memory)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.write_bytes(serialise(memory).encode())


class Recorder:
    """A model, and what it was asked to embed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model, self.fingerprint = embedder.model, embedder.fingerprint
        self.dim, self.floor = embedder.dim, embedder.floor
        self.texts: list[str] = []
        self.vectors: list[Vectors] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        self.vectors.append(self._embedder.embed(texts))
        return self.vectors[-1]


class Resampled:
    """Vectors like those of ``real``, the same for the same text."""

    def __init__(self, real: Vectors, embedder: Embedder) -> None:
        self.model, self.fingerprint = "resampled", embedder.fingerprint
        self.dim, self.floor = embedder.dim, embedder.floor
        self._real = real
        self._near = _neighbours(real)

    def embed(self, texts: Sequence[str]) -> Vectors:
        seeds = [
            int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
            for text in texts
        ]
        return self.draw(np.array(seeds, np.uint64))

    def draw(self, seeds: NDArray[np.uint64]) -> Vectors:
        """One vector for each seed: float32, (len(seeds), dim), L2-normalised."""
        count = np.uint64(len(self._real))
        base, other = (
            (seeds % count).astype(np.int64),
            (seeds // count % count).astype(np.int64),
        )
        near = self._near[
            other, (seeds >> np.uint64(40)) % np.uint64(self._near.shape[1])
        ]
        vectors = self._real[base] + (self._real[near] - self._real[other])
        normalised: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normalised


def embed_alone(embedder: Embedder, texts: list[str]) -> None:
    texts.sort(key=len)
    for start in range(0, len(texts), 8):
        embedder.embed(texts[start : start + 8])


def _neighbours(vectors: Vectors, count: int = 8) -> NDArray[np.int64]:
    found = np.empty((len(vectors), count), np.int64)
    for start in range(0, len(vectors), 500):
        scores = vectors[start : start + 500] @ vectors.T
        scores[np.arange(len(scores)), np.arange(start, start + len(scores))] = -1
        found[start : start + 500] = np.argpartition(-scores, count, axis=1)[:, :count]
    return found


def _sessions(data: Path) -> Iterator[list[str]]:
    """The texts of each recorded session, and of each chat."""
    for file in sorted((data / "transcripts/claude-code").rglob("*.jsonl")):
        yield [
            text
            for line in file.read_text("utf-8", "replace").splitlines()
            for text in _said(_json(line))
        ]
    chats = data / "retrieval/beam100k.jsonl"
    for line in chats.read_text("utf-8").splitlines() if chats.exists() else []:
        yield [item["text"] for item in json.loads(line)["items"]]


def _json(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _said(entry: Any) -> list[str]:
    message = entry.get("message") if isinstance(entry, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]


def _sentences(texts: Sequence[str]) -> list[str]:
    return list(
        dict.fromkeys(
            found[0].strip() for text in texts for found in SENTENCE.finditer(text)
        )
    )
