from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from keeplore.memory.chains import Chain, ChainPosition, chain_positions, chains

IDS = "abcdef"
AGES = {id_: (f"2026-01-0{at}", id_) for at, id_ in enumerate(IDS, 1)}


def test_a_chain_is_told_from_the_oldest_to_the_newest() -> None:
    [chain] = chains({"b": ["a"], "c": ["b"]}, AGES)
    assert chain == Chain(("a", "b", "c"), ("c",), "c", has_cycle=False)
    assert chain_positions([chain]) == {
        "a": ChainPosition("c", 0),
        "b": ChainPosition("c", 1),
        "c": ChainPosition("", 2),
    }


def test_a_clock_that_ran_behind_does_not_turn_a_chain_round() -> None:
    ages = {"old": ("2026-05-01", "old"), "new": ("2026-01-01", "new")}
    [chain] = chains({"new": ["old"]}, ages)
    assert (chain.members, chain.head) == (("old", "new"), "new")


def test_of_two_successors_the_newer_one_is_the_head_of_all() -> None:
    [chain] = chains({"b": ["a"], "c": ["a"]}, AGES)
    assert (chain.leaves, chain.head) == (("b", "c"), "c")
    assert chain_positions([chain])["b"] == ChainPosition("c", 1)


def test_a_version_that_supersedes_both_ends_of_a_fork_mends_it() -> None:
    [chain] = chains({"b": ["a"], "c": ["a"], "d": ["c", "b"]}, AGES)
    assert (chain.leaves, chain.head, chain.has_cycle) == (("d",), "d", False)


def test_in_a_cycle_the_newest_memory_is_the_head() -> None:
    [chain] = chains({"a": ["c"], "b": ["a"], "c": ["b"]}, AGES)
    assert (chain.leaves, chain.head, chain.has_cycle) == ((), "c", True)


def test_what_supersedes_itself_or_something_unknown_is_no_chain() -> None:
    assert chains({"a": ["a"], "b": ["gone"], "gone": ["b"]}, AGES) == []


def test_a_very_long_chain_is_walked_to_its_end() -> None:
    names = [f"{n:06}" for n in range(5000)]
    [chain] = chains(
        {new: [old] for old, new in pairwise(names)},
        {name: (name, name) for name in names},
    )
    assert (chain.head, len(chain.members)) == (names[-1], 5000)


@given(
    st.lists(
        st.tuples(st.sampled_from(IDS), st.sampled_from([*IDS, "gone"])), max_size=12
    ),
    st.randoms(),
)
def test_whatever_people_write_every_machine_finds_the_same_heads(
    pairs: list[tuple[str, str]], chance: random.Random
) -> None:
    def found(links: list[tuple[str, str]]) -> list[Chain]:
        supersedes: dict[str, list[str]] = {}
        for new, old in links:
            supersedes.setdefault(new, []).append(old)
        return chains(supersedes, AGES)

    first = found(pairs)
    shuffled = list(pairs)
    chance.shuffle(shuffled)
    assert found(shuffled) == first
    members = [id_ for chain in first for id_ in chain.members]
    assert len(members) == len(set(members))
    for chain in first:
        assert chain.head == chain.members[-1]
        assert all(
            place.superseded_by in ("", chain.head)
            for place in chain_positions([chain]).values()
        )


def test_the_newest_of_a_cycle_is_told_by_its_age_and_not_by_its_id() -> None:
    ages = {
        "a": ("2026-03-01", "a"),
        "b": ("2026-01-01", "b"),
        "c": ("2026-02-01", "c"),
    }
    [chain] = chains({"a": ["c"], "b": ["a"], "c": ["b"]}, ages)
    assert (chain.head, chain.members[-1]) == ("a", "a")
    assert chain.has_cycle
