from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keeplore.index import Index, PassageMatch, ScopeFilter
from keeplore.index.vectors.hnsw import HnswGraph
from keeplore.index.vectors.quantization import width
from keeplore.index.vectors.vector_search import VectorIndex
from keeplore.memory import Memory

EVERYTHING = ScopeFilter()
NOTES = 120  # of ``many``
DIM = 16


def unit_vectors(count: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float32]]:
    vectors = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def nearest(
    index: Index, embedder: Any, text: str, allowed: ScopeFilter = EVERYTHING
) -> list[PassageMatch]:
    return index.vector_search(embedder.embed([text])[0], allowed, 5)


def vectors_of(index: Index, embedder: Any) -> VectorIndex:
    return index._engine.vectors(embedder)  # type: ignore[attr-defined]


def same(one: list[PassageMatch], other: list[PassageMatch]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(abs(a.score - b.score) < 1e-4 for a, b in pairs)


def with_graph(many: Any, directory: Path, embedder: Any) -> Index:
    index = Index(directory, many, embedder, graph_from=50)
    index.refresh()
    index.embed_pending()
    return index


def test_a_graph_finds_what_exact_search_finds(
    many: Any, tmp_path: Path, embedder: Any
) -> None:
    exact = Index(tmp_path / "exact", many, embedder)
    exact.refresh()
    exact.embed_pending()
    graph = with_graph(many, tmp_path / "graph", embedder)
    assert [index._engine._vectors.uses_graph for index in (exact, graph)] == [
        False,
        True,
    ]
    kasha = ScopeFilter((("project", "kasha"),))
    for text in ("word7", "note 99 word100", "word3 and word4"):
        for allowed in (EVERYTHING, kasha):
            assert same(
                nearest(exact, embedder, text, allowed),
                nearest(graph, embedder, text, allowed),
            )
    exact.close()
    graph.close()


def test_a_graph_follows_changed_and_deleted_files(
    many: Any, tmp_path: Path, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    index = with_graph(many, tmp_path / "graph", embedder)
    many.put(make_note("Late", "zebra"))
    gone = next(file.path for file in many.indexed() if "note-7-" in file.path)
    (many.root / gone).unlink()
    index.refresh()
    index.embed_pending()
    paths = [
        row.path
        for row in index.passages(
            [match.passage for match in nearest(index, embedder, "late zebra")]
        )
    ]
    assert "late" in paths[0]
    everything = index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES)
    assert gone not in {
        row.path for row in index.passages([match.passage for match in everything])
    }
    assert len(everything) == NOTES
    assert vectors_of(index, embedder).uses_graph
    index.close()


def test_a_saved_graph_is_used_by_the_next_process_without_building(
    many: Any, tmp_path: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = with_graph(many, tmp_path / "graph", embedder)
    before = nearest(first, embedder, "word7")
    first.close()
    added: list[int] = []
    monkeypatch.setattr(
        HnswGraph, "add", lambda self, vectors: added.append(len(vectors))
    )
    second = Index(tmp_path / "graph", many, embedder, graph_from=50)
    second.warm_up()
    assert same(nearest(second, embedder, "word7"), before)
    assert vectors_of(second, embedder).uses_graph
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
    files = list((tmp_path / "graph").glob("*.hnsw"))
    assert len(files) == 2
    for file in files:
        damage(file)
    second = Index(tmp_path / "graph", many, embedder, graph_from=50)
    second.warm_up()
    assert same(nearest(second, embedder, "word7"), before)
    assert not vectors_of(second, embedder).uses_graph
    second._engine.bring_vectors(None, 1)
    assert vectors_of(second, embedder).uses_graph
    assert same(nearest(second, embedder, "word7"), before)
    second.close()


def test_without_hnswlib_exact_search_serves(
    many: Any, tmp_path: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    index = with_graph(many, tmp_path / "graph", embedder)
    assert len(nearest(index, embedder, "word7")) == 5
    assert not vectors_of(index, embedder).uses_graph
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
    graph = HnswGraph(DIM)
    graph.add(unit_vectors(10))
    graph.save(tmp_path / "x.hnsw", {})
    before = (tmp_path / "x.hnsw").read_bytes()
    graph.add(unit_vectors(10))
    monkeypatch.setattr(graph, "_index", FullDisk(before))
    with pytest.raises(OSError, match="is the disk full"):
        graph.save(tmp_path / "x.hnsw", {})
    assert (tmp_path / "x.hnsw").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.hnsw", "x.hnsw.json"]


def test_a_graph_that_grew_after_it_was_saved_is_loaded_as_it_was(
    tmp_path: Path,
) -> None:
    graph = HnswGraph(DIM)
    vectors = unit_vectors(3000)
    graph.add(vectors[:2000])
    graph.save(tmp_path / "x.hnsw", {"database": "a"})
    graph.add(vectors[2000:])
    loaded = HnswGraph.load(tmp_path / "x.hnsw", {"database": "a"}, DIM)
    assert loaded is not None
    assert (graph.count, loaded.count) == (3000, 2000)
    assert graph.nearest(vectors[2500], 1)[0].tolist() == [2500]
    assert loaded.nearest(vectors[50], 1)[0].tolist() == [50]
    assert len(loaded.nearest(vectors[50], 5000)[0]) in (
        0,
        2000,
    )  # never fewer, in silence


def test_rows_that_a_graph_does_not_have_yet_are_found(
    many: Any, tmp_path: Path, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    index = with_graph(many, tmp_path / "graph", embedder)
    other = Index(tmp_path / "graph", many, embedder)  # another process
    many.put(make_note("Late", "zebra", scope="project", project="kasha"))
    other.refresh()
    other.embed_pending()
    assert vectors_of(index, embedder).uses_graph
    [found, *_] = index.passages([nearest(index, embedder, "late zebra")[0].passage])
    assert found.title == "Late"
    index.close()
    other.close()


def test_what_a_graph_cannot_reach_is_gone_over(
    many: Any, tmp_path: Path, embedder: Any
) -> None:
    index = with_graph(many, tmp_path / "graph", embedder)
    assert (
        len(index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES))
        == NOTES
    )
    for file in list(many.indexed())[:100]:
        (many.root / file.path).unlink()
    index.refresh()
    assert (
        len(index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES))
        == NOTES - 100
    )
    assert vectors_of(index, embedder).uses_graph
    index.close()


def test_rows_that_a_graph_got_meanwhile_are_passed_over(
    many: Any, tmp_path: Path, embedder: Any
) -> None:
    index = with_graph(many, tmp_path / "graph", embedder)
    asked = embedder.embed(["word7"])[0]
    before = index.vector_search(asked, EVERYTHING, 5)
    for graph in vectors_of(index, embedder)._graphs.values():
        graph.add(asked[None])
    found = index.vector_search(asked, EVERYTHING, 5)
    assert found[:3] == before[:3]
    index.close()


def blocks_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("vectors-*.rows"))


def test_a_block_is_made_anew_without_what_is_gone(
    many: Any,
    index: Index,
    index_directory: Path,
    embedder: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("keeplore.index.vectors.block_files.WORN_FROM", 10)
    index.refresh()
    index.embed_pending()
    before = blocks_in(index_directory)
    lore = [file for file in many.indexed() if "/lore/" in file.path]
    for file in lore[:20]:
        (many.root / file.path).unlink()
    index.refresh()
    assert (
        len(index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES))
        == NOTES - 20
    )
    index.embed_pending()
    after = blocks_in(index_directory)
    assert len(before) == len(after) == 2
    assert len(set(before) & set(after)) == 1  # that of the other project is left alone
    sizes = sorted((index_directory / name).stat().st_size for name in after)
    assert sizes == [40 * width(embedder.dim), 60 * width(embedder.dim)]
    assert (
        len(index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES))
        == NOTES - 20
    )
    assert index.state().vectors == NOTES - 20


def unlink_all(file: Path) -> None:
    file.unlink()


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("suffix", ["rows", "ids"])
@pytest.mark.parametrize("damage", [unlink_all, cut_off])
def test_a_block_that_is_not_whole_costs_no_result_and_is_made_anew(
    damage: Callable[[Path], None],
    suffix: str,
    many: Any,
    index: Index,
    index_directory: Path,
    embedder: Any,
) -> None:
    index.refresh()
    index.embed_pending()
    before = nearest(index, embedder, "word7")
    for file in index_directory.glob(f"*.{suffix}"):
        damage(file)
    assert same(nearest(index, embedder, "word7"), before)
    assert index.embed_pending() == 0
    assert list(index.flaws()) == []
    assert same(nearest(index, embedder, "word7"), before)
    assert len(blocks_in(index_directory)) == 2
    # no text was embedded again but those of the questions and the proof
    assert len(embedder.texts) < 2 * NOTES


def test_rows_behind_those_that_count_are_written_over(
    many: Any,
    index: Index,
    index_directory: Path,
    embedder: Any,
    make_note: Callable[..., Memory],
) -> None:
    index.refresh()
    index.embed_pending()
    for file in index_directory.glob(
        "vectors-*"
    ):  # a writer was killed before its commit
        file.write_bytes(file.read_bytes() + b"\x7f" * 1000)
    many.put(make_note("Late", "zebra", scope="project", project="kasha"))
    index.refresh()
    index.embed_pending()
    assert list(index.flaws()) == []
    [found, *_] = index.passages([nearest(index, embedder, "late zebra")[0].passage])
    assert found.title == "Late"
    assert (
        len(index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, 2 * NOTES))
        == NOTES + 1
    )


def test_a_vector_that_is_no_vector_hides_no_other_and_is_made_again(
    many: Any, index: Index, embedder: Any
) -> None:
    index.refresh()
    index.embed_pending()

    def spoil(connection: Any) -> None:
        connection.execute("UPDATE embeddings SET vector = x'00' WHERE rowid = 2")
        connection.execute("UPDATE models SET is_placed = 0")

    index._database.write(spoil)
    assert (
        len(index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES))
        == NOTES - 1
    )
    index.warm_up()
    index._engine.bring_vectors(None, 1)
    assert index.embed_pending() == 0
    assert (
        len(index.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES))
        == NOTES
    )
