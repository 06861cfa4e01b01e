"""memsearch: it looks at all files and embeds the parts that are new."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memsearch import MemSearch
from peer_protocol import KEY, MODEL, Hits, serve


class MemsearchPeer:
    def __init__(self, home: Path, url: str) -> None:
        self.home, self.url = home, url
        self.held: MemSearch | None = None
        # one loop for all, to which its client of the model stays bound
        self.loop = asyncio.Runner()

    def _opened(self, folder: Path | None) -> MemSearch:
        if folder or not self.held:
            if self.held:
                self.held.close()
            self.held = MemSearch(
                [str(folder)] if folder else None,
                embedding_provider="openai",
                embedding_model=MODEL,
                embedding_base_url=self.url,
                embedding_api_key=KEY,
                milvus_uri=str(self.home / "milvus.db"),
            )
        return self.held

    def put(self, folder: Path, changed: list[str]) -> None:  # noqa: ARG002  # it looks itself
        self.loop.run(self._opened(folder).index())

    def ask(self, question: str, limit: int) -> Hits:
        found = self.loop.run(self._opened(None).search(question, top_k=limit))
        return [(Path(hit["source"]).stem, hit["content"]) for hit in found]


if __name__ == "__main__":
    serve(MemsearchPeer)
