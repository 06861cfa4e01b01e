from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from keeplore.index.chains import MAX_CHAIN, Link, Place, places

IDS = "abcdef"


def link(id_: str, supersedes: str) -> Link:
    return Link(id_, supersedes, (id_, id_))


def test_of_two_successors_the_newer_one_is_the_head() -> None:
    found = places([link("b", "a"), link("c", "a")], set("abc"))
    assert found == {"a": Place("c", 0), "b": Place("", 1), "c": Place("", 1)}


def test_what_supersedes_something_unknown_is_no_chain() -> None:
    assert places([link("b", "gone")], {"b"}) == {}


def test_a_very_long_chain_is_walked_only_so_far() -> None:
    names = [f"{n:06}" for n in range(3 * MAX_CHAIN)]
    found = places([link(new, old) for old, new in pairwise(names)], set(names))
    assert found[names[-1]] == Place("", MAX_CHAIN - 1)


@given(st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)), max_size=8))
def test_whatever_people_write_every_chain_has_a_head(pairs: list[tuple[str, str]]) -> None:
    links = {new: link(new, old) for new, old in pairs}
    found = places(links.values(), set(IDS))
    for id_, place in found.items():
        assert place.superseded_by != id_
        head = place.superseded_by or id_
        assert found[head].superseded_by == ""
