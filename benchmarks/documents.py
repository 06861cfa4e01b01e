"""How well a document is found by its passages, and by windows of other sizes: `python
benchmarks/documents.py`.

The pages of docs/ stand for documents. A question is a sentence of one with more than half of its
words left out; counted is how often the first hit is of that page, and how often the first, or one
of five, holds that sentence. Vectors alone: full text does not mind how long a window is, a model
that reads 256 tokens does.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from keeplore.config.places import Places
from keeplore.index import Embedder, EmbeddingModels
from keeplore.index.builtin_plugins import BuiltinEmbedders
from keeplore.index.passages import embedded_text, passages_of
from keeplore.memory import Memory
from keeplore.workspace.plugin_manager import PluginManager

DOCS = Path(__file__).resolve().parent.parent / "docs"
QUESTIONS, KEPT, SEED = 400, 0.45, 7
WINDOWS = ((2_000, 200), (1_000, 100))  # characters, of which that many stand in two
BATCH = 8

Piece = tuple[str, str, str]  # page, what is shown, what is embedded


def main() -> None:
    pages = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted(DOCS.rglob("*.md"))
    }
    plugins, models = (
        PluginManager(),
        EmbeddingModels(Places.from_environment({}).models),
    )
    plugins.register(BuiltinEmbedders(models))
    embedder: Embedder = plugins.hook.keeplore_embedder(model="packaged")
    asked = questions(pages)
    vectors = np.vstack([embedder.embed([question])[0] for _, _, question in asked])
    print(
        "| pieces | how many | characters | page first | sentence first | among five | CPU |"
    )
    print("|---|---|---|---|---|---|---|")
    measure(
        "passages of 190 tokens",
        [piece for page in pages.items() for piece in passages(*page)],
        asked,
        vectors,
        embedder,
    )
    for size, overlap in WINDOWS:
        pieces = [
            (name, w, embedded_text(name, w, ""))
            for name, text in pages.items()
            for w in cut(text, size, overlap)
        ]
        measure(
            f"windows of {size} characters, {overlap} twice",
            pieces,
            asked,
            vectors,
            embedder,
        )


def questions(pages: dict[str, str]) -> list[tuple[str, str, str]]:
    """Page, sentence, and what is left of it."""
    rng = random.Random(SEED)
    sentences = [
        (name, sentence)
        for name, text in pages.items()
        for paragraph in text.split("\n\n")
        for sentence in re.split(r"(?<=[.!?])\s+", paragraph.replace("\n", " "))
        if 60 < len(sentence) < 260 and "|" not in sentence
    ]
    return [
        (name, said, _shortened(said, rng))
        for name, said in rng.sample(sentences, QUESTIONS)
    ]


def _shortened(sentence: str, rng: random.Random) -> str:
    words = re.findall(r"[\w'-]+", sentence)
    left = sorted(
        rng.sample(range(len(words)), min(len(words), max(4, int(len(words) * KEPT))))
    )
    return " ".join(words[n] for n in left)


def passages(name: str, text: str) -> Iterator[Piece]:
    meta = {"kind": "document", "title": name, "created_at": "2026-01-01T00:00:00Z"}
    for passage in passages_of(Memory(meta, text)):
        yield name, passage.body, passage.embedded


def cut(text: str, size: int, overlap: int) -> Iterator[str]:
    """Windows that end at a paragraph, else at a line, where there is one in their second half."""
    start = 0
    while start < len(text):
        end = min(len(text), start + size)
        if end < len(text):
            ends = (text.rfind(mark, start + size // 2, end) for mark in ("\n\n", "\n"))
            end = next((found for found in ends if found > 0), end)
        yield text[start:end]
        if end == len(text):
            return
        line = text.find("\n", max(end - overlap, start + 1), end)
        start = line + 1 if line > 0 else end


def measure(
    label: str,
    pieces: Sequence[Piece],
    asked: Sequence[tuple[str, str, str]],
    vectors: np.ndarray,
    embedder: Embedder,
) -> None:
    began = time.process_time()
    order = sorted(range(len(pieces)), key=lambda n: len(pieces[n][2]))
    made = np.zeros((len(pieces), vectors.shape[1]), np.float32)
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        made[some] = np.vstack(list(embedder.embed([pieces[n][2] for n in some])))
    cpu = time.process_time() - began
    page = first = five = 0
    for (name, sentence, _), scores in zip(asked, vectors @ made.T, strict=True):
        best = [pieces[n] for n in np.argsort(-scores)[:5]]
        holds = [_plain(sentence)[:50] in _plain(shown) for _, shown, _ in best]
        page, first, five = (
            page + (best[0][0] == name),
            first + holds[0],
            five + any(holds),
        )
    length = round(sum(len(shown) for _, shown, _ in pieces) / len(pieces))
    shares = " | ".join(
        f"{100 * count / len(asked):.0f} %" for count in (page, first, five)
    )
    print(
        f"| {label} | {len(pieces)} | {length} | {shares} | {cpu:.0f} s |", flush=True
    )


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).lower()


if __name__ == "__main__":
    main()
