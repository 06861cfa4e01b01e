from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keeplore.index import Allowed, Index, Match
from keeplore.index.graph import Graph
from keeplore.index.vectors import Exact
from keeplore.memory import Memory

EVERYTHING = Allowed()
NOTES = 120
DIM = 16


def unit_vectors(count: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float32]]:
    vectors = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def many(files: Any, make_note: Callable[..., Memory]) -> Any:
    for n in range(NOTES):
        project = "kasha" if n % 2 else "lore"
        files.put(make_note(f"Note {n}", f"word{n} and word{n + 1}", scope="project", project=project))
    return files


def nearest(index: Index, embedder: Any, text: str, allowed: Allowed = EVERYTHING) -> list[Match]:
    return index.vector_search(embedder.embed([text])[0], allowed, 5)


def same(one: list[Match], other: list[Match]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(abs(a.score - b.score) < 1e-4 for a, b in pairs)


def with_graph(many: Any, directory: Path, embedder: Any) -> Index:
    index = Index(directory, many, embedder, graph_from=100)
    index.refresh()
    index.embed_pending()
    return index


def test_a_graph_finds_what_exact_search_finds(many: Any, tmp_path: Path, embedder: Any) -> None:
    exact = Index(tmp_path / "exact", many, embedder)
    exact.refresh()
    exact.embed_pending()
    graph = with_graph(many, tmp_path / "graph", embedder)
    assert [index._engine._vectors.uses_graph for index in (exact, graph)] == [False, True]
    kasha = Allowed((("project", "kasha"),))
    for text in ("word7", "note 99 word100", "word3 and word4"):
        for allowed in (EVERYTHING, kasha):
            assert same(nearest(exact, embedder, text, allowed), nearest(graph, embedder, text, allowed))
    exact.close()
    graph.close()


def test_a_graph_follows_changed_and_deleted_files(
    many: Any, tmp_path: Path, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    index = with_graph(many, tmp_path / "graph", embedder)
    many.put(make_note("Late", "zebra"))
    gone = next(file.path for file in many.scan() if "note-7-" in file.path)
    (many.root / gone).unlink()
    index.refresh()
    index.embed_pending()
    paths = [row.path for row in index.passages([match.passage for match in nearest(index, embedder, "late zebra")])]
    assert "late" in paths[0]
    everything = index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES)
    assert gone not in {row.path for row in index.passages([match.passage for match in everything])}
    assert len(everything) == NOTES
    assert index._engine._vectors is not None
    assert index._engine._vectors.uses_graph
    index.close()


def test_a_saved_graph_is_used_by_the_next_process_without_building(
    many: Any, tmp_path: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = with_graph(many, tmp_path / "graph", embedder)
    before = nearest(first, embedder, "word7")
    first.close()
    added: list[int] = []
    monkeypatch.setattr(Graph, "add", lambda self, ids, vectors: added.append(len(ids)))
    second = Index(tmp_path / "graph", many, embedder, graph_from=100)
    assert same(nearest(second, embedder, "word7"), before)
    assert second._engine._vectors is not None
    assert second._engine._vectors.uses_graph
    assert sum(added) == 0
    second.close()


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:1000])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[5] ^= 0xFF
    file.write_bytes(data)


def remove(file: Path) -> None:
    file.unlink()


def sidecar_of_another_database(file: Path) -> None:
    change_sidecar(file, database="another")


def sidecar_of_another_model(file: Path) -> None:
    change_sidecar(file, fingerprint="another")


def sidecar_of_another_dimension(file: Path) -> None:
    change_sidecar(file, dim=17)


def sidecar_with_another_count(file: Path) -> None:
    change_sidecar(file, count=3)


def sidecar_no_mapping(file: Path) -> None:
    Path(f"{file}.json").write_text("[]")


def change_sidecar(file: Path, **changes: object) -> None:
    sidecar = Path(f"{file}.json")
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **changes}))


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        flip,
        remove,
        sidecar_of_another_database,
        sidecar_of_another_model,
        sidecar_of_another_dimension,
        sidecar_with_another_count,
        sidecar_no_mapping,
    ],
)
def test_a_graph_file_that_is_not_exactly_what_was_saved_is_never_loaded(
    damage: Callable[[Path], None], many: Any, tmp_path: Path, embedder: Any
) -> None:
    first = with_graph(many, tmp_path / "graph", embedder)
    before = nearest(first, embedder, "word7")
    first.close()
    [file] = (tmp_path / "graph").glob("*.hnsw")
    damage(file)
    second = Index(tmp_path / "graph", many, embedder, graph_from=100)
    assert same(nearest(second, embedder, "word7"), before)
    assert second._engine._vectors is not None
    assert not second._engine._vectors.uses_graph
    second.embed_pending()
    assert second._engine._vectors.uses_graph
    assert same(nearest(second, embedder, "word7"), before)
    second.close()


def test_without_hnswlib_exact_search_serves(
    many: Any, tmp_path: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    index = with_graph(many, tmp_path / "graph", embedder)
    assert len(nearest(index, embedder, "word7")) == 5
    assert index._engine._vectors is not None
    assert not index._engine._vectors.uses_graph
    index.close()


class FullDisk:
    """hnswlib reports no error on a full disk: what it wrote is simply shorter."""

    def __init__(self, written: bytes) -> None:
        self.written = written

    def save_index(self, path: str) -> None:
        Path(path).write_bytes(self.written)

    def index_file_size(self) -> int:
        return len(self.written) + 1


def test_a_graph_that_was_not_written_whole_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph(DIM)
    graph.add(np.arange(10), unit_vectors(10))
    graph.save(tmp_path / "x.hnsw", {})
    before = (tmp_path / "x.hnsw").read_bytes()
    graph.add(np.arange(10, 20), unit_vectors(10))
    monkeypatch.setattr(graph, "_index", FullDisk(before))
    with pytest.raises(OSError, match="is the disk full"):
        graph.save(tmp_path / "x.hnsw", {})
    assert (tmp_path / "x.hnsw").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.hnsw", "x.hnsw.json"]


def test_a_graph_that_cannot_reach_enough_says_so_instead_of_failing() -> None:
    graph = Graph(DIM)
    graph.add(np.arange(10), unit_vectors(10))
    graph.remove(np.arange(8))
    assert graph.nearest(unit_vectors(1)[0], None, 5) is None
    assert graph.is_worn
    assert graph.ids.tolist() == [8, 9]


def test_removed_vectors_stay_removed_after_saving_and_loading(tmp_path: Path) -> None:
    graph = Graph(DIM)
    vectors = unit_vectors(3000)
    graph.add(np.arange(3000), vectors)
    graph.remove(np.arange(100))
    graph.save(tmp_path / "x.hnsw", {"database": "a"})
    loaded = Graph.load(tmp_path / "x.hnsw", {"database": "a"}, DIM)
    assert loaded is not None
    assert loaded.ids.tolist() == list(range(100, 3000))
    found = loaded.nearest(vectors[50], None, 10)
    assert found is not None
    assert not set(found[0].tolist()) & set(range(100))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.hnsw", "x.hnsw.json"]


def test_exact_search_keeps_ids_vectors_and_scopes_together() -> None:
    vectors = unit_vectors(6)
    exact = Exact(DIM)
    exact.add(np.array([4, 2]), vectors[[4, 2]], np.array([7, 8]))
    exact.add(np.array([3, 5, 1]), vectors[[3, 5, 1]], np.array([7, 7, 8]))
    exact.remove(np.array([2]))
    assert exact.ids.tolist() == [1, 3, 4, 5]
    for scopes, wanted in ((None, [1, 3, 4, 5]), ([7], [3, 4, 5]), ([8, 9], [1]), ([9], []), ([], [])):
        ids, scores = exact.nearest(vectors[4], scopes, 10)
        assert sorted(ids.tolist()) == wanted
        assert np.allclose(scores, vectors[ids] @ vectors[4], atol=1e-4)
    assert exact.nearest(vectors[4], [7], 1)[0].tolist() == [4]


def test_a_vector_with_wrong_bytes_is_passed_over(many: Any, index: Index, embedder: Any) -> None:
    index.refresh()
    index.embed_pending()
    nan = np.full(embedder.dim, np.nan, np.float32).tobytes()

    def spoil(connection: Any) -> None:
        connection.execute("UPDATE embeddings SET vector = ? WHERE rowid = 1", (nan,))
        connection.execute("UPDATE embeddings SET vector = x'00' WHERE rowid = 2")

    index._database.write(spoil)
    found = index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES)
    assert len(found) == NOTES - 2
    assert all(np.isfinite(match.score) for match in found)
