"""Keeplore: a note for each file, written into a workspace at which it looks itself."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from peer_protocol import MODEL, Hits, serve, text_of

from keeplore.index import Index, embedder_for
from keeplore.memory import new_id, serialise
from keeplore.memory.note import NoteDraft, note_of
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import RecallRequest, SearchScope
from keeplore.store import Store

NOW = datetime.fromisoformat("2026-06-01T00:00:00Z")


class KeeplorePeer:
    def __init__(self, home: Path, url: str) -> None:
        self.notes = home / "workspace" / "memory" / "facts"
        self.notes.mkdir(parents=True, exist_ok=True)
        self.store = Store(home / "workspace")
        self.embedder = embedder_for(f"{url}#{MODEL}", home / "models")
        self.index = Index(home / "index", self.store, self.embedder)

    def put(self, folder: Path, changed: list[str]) -> None:
        for name in changed:
            text = text_of(folder, name)
            draft = NoteDraft(text, id=new_id("benchmark", name))
            note = note_of(draft, f"{text[:10]}T12:00:00Z")
            (self.notes / f"{name}.md").write_text(serialise(note), encoding="utf-8")
        self.index.refresh()
        self.index.embed_pending()

    def ask(self, question: str, limit: int) -> Hits:
        answer = recall(
            RecallDeps(self.index, self.store, embedder=self.embedder),
            RecallRequest(question, limit=limit),
            SearchScope(),
            now=NOW,
        )
        return [(Path(hit.path).stem, hit.passage) for hit in answer.hits]


if __name__ == "__main__":
    serve(KeeplorePeer)
