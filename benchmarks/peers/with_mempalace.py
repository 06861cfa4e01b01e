"""MemPalace: it looks at all files and mines those that are new, into Chroma."""

from __future__ import annotations

import os
from pathlib import Path

from peer_protocol import KEY, MODEL, Hits, serve


class MempalacePeer:
    def __init__(self, home: Path, url: str) -> None:
        os.environ |= {
            "MEMPALACE_CONFIG_DIR": str(home / "config"),
            "MEMPALACE_EMBEDDING_MODEL": "openai-compat",
            "MEMPALACE_EMBEDDING_API_URL": url,
            "MEMPALACE_EMBEDDING_API_MODEL": MODEL,
            "MEMPALACE_EMBEDDING_API_KEY": KEY,
        }
        self.palace = str(home / "palace")

    def put(self, folder: Path, changed: list[str]) -> None:  # noqa: ARG002  # it looks itself
        # here and below, because they read the environment as they are imported
        from mempalace.miner import mine

        mine(str(folder), self.palace, wing_override="notes")

    def ask(self, question: str, limit: int) -> Hits:
        from mempalace.searcher import search_memories

        found = search_memories(question, self.palace, n_results=limit)
        return [
            (Path(hit["source_file"]).stem, hit["text"]) for hit in found["results"]
        ]


if __name__ == "__main__":
    serve(MempalacePeer)
