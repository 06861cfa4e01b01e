"""Small JSON files as dataclasses."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from keeplore_hooks.typed_json import MALFORMED, decoded, load


@dataclass(frozen=True)
class Place:
    name: str
    depth: int = 0


@dataclass(frozen=True)
class Trip:
    start: Place
    stops: tuple[Place, ...] = ()
    told: dict[str, list[str]] = field(default_factory=dict)
    end: Place | None = None


TRIP = Trip(Place("Oslo", 2), (Place("Lom"),), {"ann": ["far"]}, Place("Moss"))


def test_what_was_written_is_read_again():
    assert decoded(Trip, asdict(TRIP)) == TRIP
    assert decoded(dict[str, Trip], {"one": asdict(TRIP)}) == {"one": TRIP}
    assert decoded(list[int], ["1", 2]) == [1, 2]


def test_a_field_of_another_version_is_left_out_or_has_its_default():
    data = {"start": {"name": "Oslo", "colour": "red"}, "mood": "good"}
    assert decoded(Trip, data) == Trip(Place("Oslo"))


@pytest.mark.parametrize("data", [None, 3, [], {}, {"start": "Oslo"}, {"start": {}}])
def test_another_shape_is_refused(data):
    with pytest.raises(MALFORMED):
        decoded(Trip, data)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"start": 1}', '"\ud800"'])
def test_a_file_that_holds_something_else_counts_as_none(tmp_path: Path, text: str):
    file = tmp_path / "trip.json"
    assert load(file, Trip) is None
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert load(file, Trip) is None


def test_a_file_is_read(tmp_path: Path):
    file = tmp_path / "place.json"
    file.write_text('{"name": "Lom"}')
    assert load(file, Place) == Place("Lom")
