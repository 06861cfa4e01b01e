"""mem0 without a language model: a memory for each note, told which ones changed."""

from __future__ import annotations

import os
from pathlib import Path

from peer_protocol import DIM, KEY, MODEL, Hits, serve, text_of

OWNER = "benchmark"
os.environ["MEM0_TELEMETRY"] = "False"


class Mem0Peer:
    def __init__(self, home: Path, url: str) -> None:
        os.environ["MEM0_DIR"] = str(home)
        # here, because it writes to its directory as it is imported
        from mem0 import Memory

        server = {"openai_base_url": url, "api_key": KEY, "model": MODEL}
        store = {
            "path": str(home / "qdrant"),
            "on_disk": True,
            "embedding_model_dims": DIM,
        }
        self.memory = Memory.from_config(
            {
                "embedder": {"provider": "openai", "config": server},
                "llm": {"provider": "openai", "config": server},
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(home / "history.db"),
            }
        )
        self.ids: dict[str, str] = {}

    def put(self, folder: Path, changed: list[str]) -> None:
        for name in changed:
            text = text_of(folder, name)
            if name in self.ids:
                self.memory.update(self.ids[name], text=text)
                continue
            made = self.memory.add(
                text, user_id=OWNER, metadata={"name": name}, infer=False
            )
            self.ids[name] = made["results"][0]["id"]

    def ask(self, question: str, limit: int) -> Hits:
        found = self.memory.search(question, top_k=limit, filters={"user_id": OWNER})
        return [(hit["metadata"]["name"], hit["memory"]) for hit in found["results"]]


if __name__ == "__main__":
    serve(Mem0Peer)
