"""Entities that a person writes down: read with care, and merged without loss on whichever
machine.
"""

from __future__ import annotations

import itertools

import pytest

from keeplore.errors import Corrupt
from keeplore.memory.entity_file import parse_entity, serialise_entity
from keeplore.store.merge.merge_plan import merge_versions

PATH = "entities/fastembed.yaml"
BASE = "name: fastembed\ntype: tool\naliases:\n- fast-embed\n- FE\n"


def both_ways(base: str | None, one: str, other: str) -> tuple[str, dict[str, str]]:
    before = None if base is None else base.encode()
    results = [
        merge_versions(PATH, before, a.encode(), b.encode())
        for a, b in ((one, other), (other, one))
    ]
    assert results[0] == results[1]
    data, beside = results[0]
    return data.decode(), {path: text.decode() for path, text in beside.items()}


def test_aliases_that_two_machines_added_are_united_whoever_merges() -> None:
    one, other = (
        "name: fastembed\ntype: unknown\naliases: [fe, FastEmbed]\n",
        "name: Fastembed\ntype: tool\naliases: [fe]\n",
    )
    text, beside = both_ways(None, one, other)
    assert (text, beside) == (
        "name: Fastembed\ntype: tool\naliases:\n- FastEmbed\n- fe\n",
        {},
    )


def test_an_alias_that_one_machine_took_away_stays_away_and_comments_stay() -> None:
    one = BASE.replace("- FE\n", "")
    other = f"# the embedder of the index\n{BASE}note: kept as it is\n".replace(
        "- FE\n", "- FE\n- the embedder\n"
    )
    text, beside = both_ways(BASE, one, other)
    assert parse_entity(text).aliases == ("fast-embed", "the embedder")
    assert parse_entity(text).meta["note"] == "kept as it is"
    assert beside == {}


def test_three_machines_come_to_the_same_in_any_order() -> None:
    texts = [
        f"name: fastembed\ntype: {kind}\naliases: [{alias}]\n"
        for kind, alias in (("tool", "a"), ("system", "b"), ("unknown", "C"))
    ]
    results = {
        merge_versions(
            PATH,
            None,
            merge_versions(PATH, None, *(t.encode() for t in (a, b)))[0],
            c.encode(),
        )[0]
        for a, b, c in itertools.permutations(texts)
    }
    assert results == {b"name: fastembed\ntype: system\naliases:\n- a\n- b\n- C\n"}


def test_another_entity_or_a_broken_file_at_the_same_path_stays_beside() -> None:
    for other in ("name: flashembed\n", "name: [fastembed\n"):
        text, beside = both_ways(None, BASE, other)
        assert sorted([text, *beside.values()]) == sorted([BASE, other])
        assert all(place.startswith("entities/fastembed.conflict-") for place in beside)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("aliases: [a]\n", "`name`"),
        ("name: 3.10\n", "`name`"),
        (f"name: {'x' * 101}\n", "`name`"),
        ("name: a\naliases: b\n", "`aliases`"),
        ("name: a\naliases: [1]\n", "`aliases`"),
        (f"name: a\naliases: {[str(n) for n in range(300)]}\n", "`aliases`"),
        ("name: a\ntype: [tool]\n", "`type`"),
        ("name: &a b\naliases: [*a]\n", "aliases are not allowed"),
        ("name: a\nname: b\n", "stands twice"),
        ("- a\n", "no mapping"),
        ("name: a\naliases: " + "[" * 50_000, "nests too deeply"),
        ("name: a\n" + "# \n" * 40_000, "larger"),
        ("<<<<<<< HEAD\nname: a\n=======\nname: b\n>>>>>>> x\n", "conflict"),
        ("name: a\x07\n", "control character"),
    ],
)
def test_a_file_that_is_no_entity_says_why(text: str, said: str) -> None:
    with pytest.raises(Corrupt, match=said) as failure:
        parse_entity(text)
    assert "front matter" not in str(failure.value) and failure.value.remedy


def test_what_is_written_reads_the_same() -> None:
    said = {
        "name": 'yes: "no"',
        "type": "tool",
        "aliases": ["12", "Zoë", "a"],
        "since": "2026-02-09",
    }
    text = serialise_entity(said)
    assert parse_entity(text).said == {**said, "aliases": ["12", "a", "Zoë"]}
    assert serialise_entity(parse_entity(text).said) == text


@pytest.mark.parametrize(
    ("more", "written"),
    [
        ({}, ""),
        ({"aliases": ["b", "Zoë", "B", "a", "b"]}, "aliases:\n- a\n- B\n- b\n- Zoë\n"),
        # its name is no other name of it
        ({"aliases": ["fastembed"]}, ""),
        ({"aliases": ["FastEmbed"]}, "aliases:\n- FastEmbed\n"),
        # whatever else was said stays, though it says nothing
        (
            {"note": "", "level": 0, "tags": [], "since": None, "is_ours": False},
            "note: ''\nlevel: 0\ntags: []\nsince: null\nis_ours: false\n",
        ),
        ({"note": "x", "aliases": ["fe"]}, "aliases:\n- fe\nnote: x\n"),
    ],
)
def test_a_file_is_written_in_one_form(more: dict[str, object], written: str) -> None:
    said = {"aliases": [], "type": "tool", "name": "fastembed", **more}
    assert serialise_entity(said) == f"name: fastembed\ntype: tool\n{written}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: a\n", {"name": "a", "type": "unknown", "aliases": []}),
        ("\ufeffname: a\ntype:\n", {"name": "a", "type": "unknown", "aliases": []}),
        ("name: a\naliases:\n", {"name": "a", "type": "unknown", "aliases": []}),
        (
            "name: ' a  b '\ntype: tool\naliases: [' c  d', c d, B, b]\nnote: ''\n",
            {"name": "a b", "type": "tool", "aliases": ["B", "b", "c d"], "note": ""},
        ),
        (
            f"name: {'x' * 100}\naliases: {[str(n) for n in range(100, 300)]}\n",
            {
                "name": "x" * 100,
                "type": "unknown",
                "aliases": [str(n) for n in range(100, 300)],
            },
        ),
    ],
)
def test_what_a_file_says_is_filled_in(text: str, said: dict[str, object]) -> None:
    assert parse_entity(text).said == said


@pytest.mark.parametrize(
    "text",
    [f"name: a\naliases: {[str(n) for n in range(201)]}\n", "name: a\naliases: ['']\n"],
)
def test_too_many_names_and_empty_ones_are_refused(text: str) -> None:
    with pytest.raises(Corrupt, match="`aliases`"):
        parse_entity(text)


def test_an_entity_has_200_aliases_at_most() -> None:
    names = [f"name {number}" for number in range(201)]
    sound = serialise_entity({"name": "x", "type": "tool", "aliases": names[:200]})
    assert parse_entity(sound).aliases == tuple(sorted(names[:200]))
    with pytest.raises(Corrupt, match="no list of at most 200 names"):
        parse_entity(serialise_entity({"name": "x", "type": "tool", "aliases": names}))
