"""Chroma: a document for each note, told which ones changed."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from peer_protocol import MODEL, Hits, serve, text_of

AT_ONCE = 100  # documents


class Served(chromadb.EmbeddingFunction[Any]):
    """The model on loopback, by the way that Chroma has for functions of one's own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(self, input: list[str]) -> Any:  # noqa: A002  # Chroma's name
        asked = urllib.request.Request(
            f"{self.url}/embeddings",
            json.dumps({"model": MODEL, "input": input}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answer:
            return [row["embedding"] for row in json.load(answer)["data"]]


class ChromaPeer:
    def __init__(self, home: Path, url: str) -> None:
        client = chromadb.PersistentClient(
            str(home / "chroma"), Settings(anonymized_telemetry=False)
        )
        self.notes = client.get_or_create_collection(
            "notes", embedding_function=Served(url), metadata={"hnsw:space": "cosine"}
        )

    def put(self, folder: Path, changed: list[str]) -> None:
        for start in range(0, len(changed), AT_ONCE):
            names = changed[start : start + AT_ONCE]
            self.notes.upsert(
                ids=names, documents=[text_of(folder, name) for name in names]
            )

    def ask(self, question: str, limit: int) -> Hits:
        found = self.notes.query(query_texts=[question], n_results=limit)
        return list(zip(found["ids"][0], found["documents"][0], strict=True))


if __name__ == "__main__":
    serve(ChromaPeer)
