"""Another model is chosen: the one before answers until the new one has every vector, and stays for
the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keeplore.errors import ModelUnavailable
from keeplore.index import Index, ScopeFilter, model_switch

PASSAGES = 6


class House:
    """One index directory that is opened with one model after the other."""

    def __init__(
        self, directory: Path, files: Any, make_embedder: Callable[[str], Any]
    ) -> None:
        self.directory = directory
        self.files = files
        self.made: dict[str, Any] = {}
        self._make = make_embedder
        self._opened: list[Index] = []

    def embedder(self, name: str) -> Any:
        if name not in self.made:
            self.made[name] = self._make(f"{name}:1:256")
            self.made[name].model = name
        return self.made[name]

    def opened(self, name: str) -> Index:
        index = Index(
            self.directory, self.files, self.embedder(name), find=self.embedder
        )
        self._opened.append(index)
        index.refresh()
        return index

    def close(self) -> None:
        for index in self._opened:
            index.close()


@pytest.fixture
def house(
    files: Any,
    index_directory: Path,
    make_embedder: Callable[[str], Any],
    make_note: Callable[..., Any],
) -> Iterator[House]:
    for n in range(PASSAGES):
        files.put(make_note(f"Subject {n}", f"The word{n} is what this one tells."))
    house = House(index_directory, files, make_embedder)
    index = house.opened("old")
    assert index.embed_pending() == 0
    yield house
    house.close()


def test_the_model_before_answers_until_the_new_one_has_every_vector(
    house: House,
) -> None:
    index = house.opened("new")
    for done in range(PASSAGES):
        answering = index.answering()
        assert answering is not None and answering.model == "old"
        stamp = index.state()
        assert str(stamp.switch) == (
            f"the embedding model new has {done} of {PASSAGES} vectors; until it has all, old "
            f"answers"
        )
        assert (stamp.vectors, stamp.model) == (PASSAGES, "old:1:256")
        [best, *_] = index.vector_search(
            answering.embed(["word3"])[0],
            ScopeFilter(),
            PASSAGES,
            model=answering.fingerprint,
        )
        assert "word3" in index.passages([best.passage])[0].text
        assert index.embed_pending(limit=1) == PASSAGES - done - 1
    answering = index.answering()
    assert answering is not None and answering.model == "new"
    assert index.state().switch is None and index.state().model == "new:1:256"
    # a question that was embedded a moment before the switch is still answered by the vectors of
    # its model
    old = house.embedder("old")
    [best, *_] = index.vector_search(
        old.embed(["word4"])[0], ScopeFilter(), PASSAGES, model=old.fingerprint
    )
    assert "word4" in index.passages([best.passage])[0].text
    assert house.opened("new").answering().model == "new"  # type: ignore[union-attr]


def test_the_way_back_makes_no_vector_again(house: House) -> None:
    assert house.opened("new").embed_pending() == 0
    house.embedder("old").texts.clear()
    index = house.opened("old")
    assert index.embed_pending() == 0 and house.embedder("old").texts == []
    answering = index.answering()
    assert (
        answering is not None
        and answering.model == "old"
        and index.state().vectors == PASSAGES
    )
    assert [(one.name, one.vectors) for one in index.kept_vectors()] == [
        ("old", PASSAGES),
        ("new", PASSAGES),
    ]


def test_what_is_written_meanwhile_is_no_reason_to_fall_back(
    house: House, make_note: Callable[..., Any]
) -> None:
    index = house.opened("new")
    index.embed_pending()
    house.files.put(make_note("Another subject", "Written later."))
    index.refresh()
    answering = index.answering()
    assert (
        answering is not None
        and answering.model == "new"
        and index.state().switch is None
    )


def test_a_third_model_takes_the_place_of_the_first(house: House) -> None:
    for name in ("new", "third"):
        house.opened(name).embed_pending()
    assert [one.name for one in house.opened("third").kept_vectors()] == [
        "third",
        "new",
    ]


@pytest.mark.parametrize(("room", "kept"), [(0, ["new", "old"]), (-1, ["new"])])
def test_vectors_that_take_too_much_room_are_not_kept(
    house: House, monkeypatch: pytest.MonkeyPatch, room: int, kept: list[str]
) -> None:
    index = house.opened("new")
    index.embed_pending(limit=PASSAGES - 1)
    (size,) = {one.bytes for one in index.kept_vectors() if one.name == "old"}
    monkeypatch.setattr(model_switch, "KEPT_BYTES", size + room)
    assert len(index.kept_vectors()) == 2  # they answer
    index.embed_pending()
    assert [one.name for one in index.kept_vectors()] == kept


def test_a_model_before_that_is_gone_or_another_one_now_is_not_asked(
    house: House,
) -> None:
    house.embedder("old").fingerprint = "old:2:256"
    answering = house.opened("new").answering()
    assert answering is not None and answering.model == "new"

    def gone(_: str) -> Any:
        raise ModelUnavailable("its directory is gone")

    index = Index(house.directory, house.files, house.embedder("new"), find=gone)
    answering = index.answering()
    assert (
        answering is not None
        and answering.model == "new"
        and index.state().switch is None
    )
    index.close()


def test_a_new_model_that_cannot_be_reached_leaves_the_answers_to_the_one_before(
    house: House,
) -> None:
    class Unreachable:
        model = "ollama:nobody"

        @property
        def fingerprint(self) -> str:
            raise ModelUnavailable("nobody answers")

    index = Index(house.directory, house.files, Unreachable(), find=house.embedder)  # type: ignore[arg-type]
    answering = index.answering()
    assert answering is not None and answering.model == "old"
    assert "ollama:nobody has 0 of 6 vectors" in str(index.state().switch)
    with pytest.raises(ModelUnavailable):
        index.embed_pending()
    index.close()
