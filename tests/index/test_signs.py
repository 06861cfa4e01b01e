from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from keeplore.index import Index, PassageMatch, ScopeFilter
from keeplore.index.vectors import vector_search
from keeplore.index.vectors.signs import Signs, differences, signs_of
from keeplore.memory import Memory

NOTES = 120  # of ``many``
EVERYTHING = ScopeFilter()
KASHA = ScopeFilter((("project", "kasha"),))


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 20), st.integers(1, 150)),
        elements=st.floats(-1, 1, width=32),
    )
)
def test_differences_are_the_numbers_with_another_sign(vectors: Any) -> None:
    asked = vectors[0]
    counted = differences(signs_of(vectors), asked)
    expected = [int(np.sum((row < 0) != (asked < 0))) for row in vectors]
    assert counted.tolist() == expected


def test_signs_of_no_vectors_have_the_width_of_others() -> None:
    none, some = signs_of(np.empty((0, 100))), signs_of(np.ones((3, 100)))
    assert (none.shape, some.shape) == ((0, 2), (3, 2))


def test_the_rows_most_like_a_vector_are_among_the_few_with_the_fewest_differences() -> (
    None
):
    """As in a model's space, vectors have directions in common, and the nearest are near."""
    chance = np.random.default_rng(3)
    subjects = chance.normal(size=(200, 384))
    rows = subjects[chance.integers(0, 200, 20_000)] + chance.normal(size=(20_000, 384))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    asked = (subjects[7] + chance.normal(size=384)).astype(np.float32)
    best = np.argsort(-(rows @ asked))[:10]
    chosen = np.argsort(differences(signs_of(rows), asked), kind="stable")[:500]
    assert set(best) <= set(chosen)


@pytest.fixture
def signed(
    many: Any, tmp_path: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Index]:
    """An index that asks the signs where a question meets both scopes."""
    monkeypatch.setattr(vector_search, "CHOSEN", 30)
    index = Index(tmp_path / "signed", many, embedder, graph_from=NOTES - 20)
    index.refresh()
    index.embed_pending()
    yield index
    index.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many signs were compared, one entry a block."""
    compared: list[int] = []

    def spied(signs: Signs, vector: Any) -> Any:
        compared.append(len(signs))
        return differences(signs, vector)

    monkeypatch.setattr(vector_search, "differences", spied)
    return compared


def nearest(
    index: Index, embedder: Any, text: str, allowed: ScopeFilter = EVERYTHING
) -> list[PassageMatch]:
    return index.vector_search(embedder.embed([text])[0], allowed, 3)


def titles(index: Index, found: list[PassageMatch]) -> list[str]:
    return [row.title for row in index.passages([match.passage for match in found])]


def test_signs_find_what_exact_search_finds(
    signed: Index, asked: list[int], many: Any, tmp_path: Path, embedder: Any
) -> None:
    exact = Index(tmp_path / "exact", many, embedder)
    exact.refresh()
    exact.embed_pending()
    for text in ("word7", "note 99 word100", "word3 and word4"):
        (found, *_), (expected, *_) = (
            nearest(index, embedder, text) for index in (signed, exact)
        )
        assert found.score == pytest.approx(expected.score, abs=1e-5)
    assert asked == [60, 60] * 3
    exact.close()


def test_a_question_in_one_small_scope_is_answered_exactly(
    signed: Index, asked: list[int], embedder: Any
) -> None:
    assert (
        titles(signed, nearest(signed, embedder, "word7 word8", KASHA))[0] == "Note 7"
    )
    assert asked == []


def test_what_another_process_added_after_the_signs_is_found(
    signed: Index,
    asked: list[int],
    many: Any,
    tmp_path: Path,
    embedder: Any,
    make_note: Callable[..., Memory],
) -> None:
    many.put(make_note("Late", "zebra", scope="project", project="kasha"))
    other = Index(tmp_path / "signed", many, embedder)
    other.refresh()
    other.embed_pending()
    other.close()
    assert titles(signed, nearest(signed, embedder, "late zebra"))[0] == "Late"
    assert asked == [60, 60]


def test_signs_follow_what_was_added_and_deleted(
    signed: Index,
    asked: list[int],
    many: Any,
    embedder: Any,
    make_note: Callable[..., Memory],
) -> None:
    many.put(make_note("Late", "zebra", scope="project", project="kasha"))
    for file in list(many.indexed())[:40]:
        if "late" not in file.path:
            (many.root / file.path).unlink()
    signed.refresh()
    signed.embed_pending()
    left = {file.path for file in many.indexed()}
    everything = signed.vector_search(embedder.embed(["word7"])[0], EVERYTHING, NOTES)
    rows = signed.passages([match.passage for match in everything])
    assert {row.path for row in rows} == left
    assert titles(signed, nearest(signed, embedder, "late zebra"))[0] == "Late"
    assert sum(asked[-2:]) > 60


def test_a_new_process_has_the_signs_once_it_is_warm(
    signed: Index, asked: list[int], many: Any, tmp_path: Path, embedder: Any
) -> None:
    before = nearest(signed, embedder, "word7")
    asked.clear()
    second = Index(tmp_path / "signed", many, embedder, graph_from=NOTES - 20)
    assert nearest(second, embedder, "word7")[0].passage == before[0].passage
    assert asked == []
    second.warm_up()
    assert nearest(second, embedder, "word7") == before
    assert asked == [60, 60]
    second.close()


@pytest.mark.parametrize("kept", [0, 1000])
def test_a_block_that_was_cut_is_answered_from_the_table_and_mended(
    kept: int, signed: Index, asked: list[int], tmp_path: Path, embedder: Any
) -> None:
    before = nearest(signed, embedder, "word7")
    for file in (tmp_path / "signed").glob("*.rows"):
        file.write_bytes(file.read_bytes()[:kept])
    assert nearest(signed, embedder, "word7")[0] == pytest.approx(before[0], abs=1e-5)
    signed._engine.bring_vectors(None, 1)
    asked.clear()
    assert nearest(signed, embedder, "word7") == before
    assert asked == [60, 60]


def test_signs_of_rows_that_came_meanwhile_are_passed_over(
    signed: Index, asked: list[int], embedder: Any
) -> None:
    before = nearest(signed, embedder, "word7")
    vectors = signed._engine.vectors(embedder)  # type: ignore[attr-defined]
    vectors._signs = {
        name: np.concatenate([signs, signs[:5]])
        for name, signs in vectors._signs.items()
    }
    assert nearest(signed, embedder, "word7") == before
    assert asked == [60, 60] * 2
