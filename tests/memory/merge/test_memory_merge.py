"""Merging: both orders give the same, nothing that was written is lost, and what clashes stands
beside.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeplore.memory import Memory, new_id, new_meta, parse, serialise
from keeplore.memory.merge.line_merge import merge_by_lines
from keeplore.memory.merge.memory_merge import (
    FileMerge,
    contradicting,
    merge_bytes,
    merge_log,
    merge_memory,
    merge_project,
    merge_text,
)
from keeplore.memory.model import least_trusted

ID = new_id("merging", "test")
PATH = "memory/decisions/2026-02-09-we-use-sqlite-00000000.md"
BODY = "# We use SQLite\n\nBecause it is enough.\n\nNobody runs a server.\n"
BASE_META = new_meta(
    id=ID,
    kind="note",
    title="We use SQLite",
    created_at="2026-02-09T10:00:00Z",
    updated_at="2026-02-09T10:00:00Z",
    version=1,
    scope="workspace",
    category="architectural-decisions",
    trust="user",
)

lines = st.lists(st.sampled_from("abcdefgh"), max_size=12).map("\n".join)


def note(body: str = BODY, **changes: object) -> str:
    return serialise(Memory(BASE_META, body).with_meta(**changes))


def both_ways(
    base: str | None, one: str, other: str, path: str = PATH
) -> tuple[str, dict[str, str]]:
    merge = merge_memory(path, base, one, other)
    again = merge_memory(path, base, other, one)
    assert merge == again
    return merge.text, dict(merge.beside)


@given(lines, lines, lines)
def test_the_order_of_the_two_sides_does_not_matter_and_every_added_line_survives(
    base: str, one: str, other: str
) -> None:
    text, beside = both_ways(base, one, other, "memory/notes.md")
    everything = "\n".join([text, *beside.values()]).split("\n")
    for side in (one, other):
        assert {
            line for line in side.split("\n") if line not in base.split("\n")
        } <= set(everything)


@given(lines, lines)
def test_without_a_common_version_nothing_of_either_is_lost(
    one: str, other: str
) -> None:
    text, beside = both_ways(None, one, other, "memory/notes.md")
    everything = set("\n".join([text, *beside.values()]).split("\n"))
    assert set(one.split("\n")) | set(other.split("\n")) <= everything


@given(lines, lines)
def test_a_side_that_changed_nothing_gives_way(base: str, changed: str) -> None:
    assert both_ways(base, base, changed, "memory/notes.md") == (changed, {})


@given(lines, lines, lines)
def test_what_was_merged_can_be_merged_again_with_what_it_was_made_of(
    base: str, one: str, other: str
) -> None:
    text, _ = both_ways(base, one, other, "memory/notes.md")
    assert both_ways(one, one, text, "memory/notes.md") == (text, {})


@given(lines, lines, lines)
def test_a_line_that_one_side_removed_and_the_other_left_stays_away(
    head: str, tail: str, added: str
) -> None:
    base = f"{head}\nGONE\n{tail}"
    joined = merge_by_lines(base, f"{head}\n{tail}", f"{base}\n{added.upper()}END")
    assert joined.is_clash or "GONE" not in joined.text.split("\n")


def test_changes_in_different_places_become_one_text_without_a_second_file() -> None:
    one = note(BODY.replace("enough", "small"), updated_at="2026-03-01T10:00:00Z")
    other = note(BODY + "\nIt is one file.\n", permanent=True)
    text, beside = both_ways(note(), one, other)
    memory = parse(text)
    assert beside == {}
    assert "small" in memory.body and "one file" in memory.body
    assert memory.is_permanent and memory.updated_at == "2026-03-01T10:00:00Z"


def test_of_two_changes_of_one_line_the_later_wins_and_the_other_stands_beside_as_a_contradiction() -> (
    None
):
    one = note(BODY.replace("enough", "small"), updated_at="2026-03-02T10:00:00Z")
    other = note(BODY.replace("enough", "fast"), updated_at="2026-03-01T10:00:00Z")
    text, beside = both_ways(note(), one, other)
    assert "small" in text and "fast" not in text
    # the other has this id on every machine, whichever version of Keeplore it has
    id_ = "mem_5489adb7-a284-5526-a569-66692fc6507d"
    copy = parse(other).with_meta(
        id=id_,
        related=[{"id": ID, "relationship": "contradicts"}],
        trigger="merge",
    )
    path = f"memory/decisions/2026-02-09-we-use-sqlite-{id_[4:12]}.md"
    assert {path: parse(text) for path, text in beside.items()} == {path: copy}


def test_of_two_digests_one_stays_whole_since_it_is_made_anew() -> None:
    digest = {"kind": "digest", "category": None}
    base, one, other = (
        note(f"# February\n\n{line}\n", **digest) for line in ("a", "b", "c")
    )
    text, beside = both_ways(base, one, other)
    assert text in (one, other) and beside == {}


def test_a_status_that_one_side_removed_stays_away() -> None:
    base = note(status="open")
    text, _ = both_ways(base, note(title="Changed"), note(status="done"))
    assert "status" not in parse(text).meta


def test_two_titles_cannot_both_stay() -> None:
    one, other = note(title="We use Postgres"), note(title="We use DuckDB")
    text, beside = both_ways(note(), one, other)
    assert {parse(text).title, *(parse(copy).title for copy in beside.values())} == {
        "We use Postgres",
        "We use DuckDB",
    }


def test_links_and_unknown_lists_are_joined_and_what_a_side_removed_stays_away() -> (
    None
):
    link = [
        {"id": new_id("x"), "relationship": "refines"},
        {"id": new_id("y"), "relationship": "relates-to"},
    ]
    base = note(related=link, labels=["a", "b"])
    one = note(related=link[:1], labels=["a", "b", "c"])
    other = note(
        related=[*link, {"id": new_id("z"), "relationship": "refines"}],
        labels=["b", "d"],
    )
    text, beside = both_ways(base, one, other)
    memory = parse(text)
    assert beside == {}
    assert [item["id"] for item in memory.meta["related"]] == [new_id("x"), new_id("z")]
    assert set(memory.meta["labels"]) == {"b", "c", "d"}


def test_trust_never_grows_and_a_closed_conversation_stays_closed() -> None:
    base = note(trust="tool", status="open")
    text, beside = both_ways(
        base,
        note(trust="user", status=None),
        note(trust="document", status="open", version=2),
    )
    assert parse(text).trust == "document" and not parse(text).is_open and beside == {}


def test_of_several_trusts_the_lowest_counts() -> None:
    falling = ("user", "assistant", "tool", "document", "foreign")
    for one, other in itertools.product(range(len(falling)), repeat=2):
        assert least_trusted(falling[one], falling[other]) == falling[max(one, other)]


@pytest.mark.parametrize(
    "other", ["no memory", note(id=new_id("another")), note(schema=None, kind=None)]
)
def test_what_is_no_memory_of_ours_contradicts_none(other: str) -> None:
    assert (contradicting(note(), other), contradicting(other, note())) == ("", "")


def test_a_field_that_one_side_removed_and_the_other_changed_keeps_the_change() -> None:
    text, beside = both_ways(note(owner="ann"), note(), note(owner="bob"))
    assert parse(text).meta["owner"] == "bob" and beside == {}


def test_true_and_one_are_two_values() -> None:
    text, _ = both_ways(note(flag=1), note(flag=True), note(flag=1, permanent=True))
    assert parse(text).meta["flag"] is True


def test_two_memories_of_different_ids_at_one_path_both_stay_as_they_are() -> None:
    one, other = note(), note(id=new_id("another"))
    text, beside = both_ways(None, one, other)
    assert {text, *beside.values()} == {one, other}


def test_a_version_that_cannot_be_read_gives_way_and_stays_beside_byte_for_byte() -> (
    None
):
    broken = note().replace("kind: note", "kind: [note")
    text, beside = both_ways(note(), note(permanent=True), broken)
    assert parse(text).is_permanent
    assert list(beside.values()) == [broken]


def test_line_ends_of_another_system_are_no_change() -> None:
    text, beside = both_ways(
        BODY,
        BODY.replace("\n", "\r\n"),
        BODY.replace("enough", "small"),
        "memory/notes.md",
    )
    assert text == BODY.replace("enough", "small") and beside == {}


def test_a_very_long_text_clashes_as_a_whole_and_in_no_time() -> None:
    base = "a\n" * 30_000
    text, beside = both_ways(base, base + "b", base + "c", "memory/notes.md")
    assert {text, *beside.values()} == {base + "b", base + "c"}


@pytest.mark.parametrize("path", ["README.md", ".gitignore", "memory/a.b/LICENSE"])
def test_a_name_beside_says_which_file_it_was_and_depends_on_its_content(
    path: str,
) -> None:
    merge = merge_text(path, "a", "b", "c")
    [name] = merge.beside
    assert ".conflict-" in name and name.startswith(path.rpartition(".")[0] or path)
    data, beside = merge_bytes(path, b"\0b", b"\0c")
    assert {data, *beside.values()} == {b"\0b", b"\0c"}


def test_which_of_two_texts_keeps_the_place_is_the_same_on_every_machine() -> None:
    texts = ("two\n", "three\n")
    for one, other in (texts, texts[::-1]):
        merged = merge_text("notes.txt", "one\n", one, other)
        assert merged == FileMerge("three\n", {"notes.conflict-27dd8ed4.txt": "two\n"})
        assert merge_bytes("logo.png", one.encode(), other.encode()) == (
            b"three\n",
            {"logo.conflict-27dd8ed4.png": b"two\n"},
        )


def test_two_additions_at_one_place_stay_whole() -> None:
    one, other = (
        BODY + f"\n```\n{command}\n```\n" for command in ("pytest", "ruff check")
    )
    text, beside = both_ways(BODY, one, other, "memory/notes.md")
    assert beside == {}
    assert "```\npytest\n```\n" in text and "```\nruff check\n```\n" in text


def test_what_stands_beside_supersedes_nothing() -> None:
    links = [
        {"id": new_id(name), "relationship": kind}
        for name, kind in (("x", "supersedes"), ("y", "refines"))
    ]
    clashing = [
        note(title=title, related=links, supersedes=new_id("z"))
        for title in ("This", "That")
    ]
    _, beside = both_ways(note(), *clashing)
    [copy] = map(parse, beside.values())
    assert copy.links == (("refines", new_id("y")), ("contradicts", ID))


def test_a_name_beside_is_never_too_long() -> None:
    [name] = merge_text(f"memory/{'ä' * 126}.md", "a", "b", "c").beside
    assert len(name.removeprefix("memory/").encode()) <= 255 and name.endswith(".md")


def test_an_audit_line_with_an_odd_line_end_in_its_text_stays_one() -> None:
    lines = [
        json.dumps({"at": f"2026-01-0{n}", "why": "a\u2028b\x85c"}, ensure_ascii=False)
        for n in (1, 2, 3)
    ]
    merged = merge_log(
        "audit/studio/2026-02.jsonl",
        f"{lines[0]}\n",
        f"{lines[0]}\n{lines[2]}\n",
        f"{lines[0]}\n{lines[1]}\n",
    ).text
    assert merged.split("\n") == [*lines, ""]


def test_audit_lines_of_both_sides_stand_once_and_in_time() -> None:
    first, second, third = (
        json.dumps({"at": f"2026-01-0{day}T00:00:00Z", "n": day}) for day in (1, 2, 3)
    )
    base = f"{first}\n"
    late = [
        json.dumps({"n": 9 - hour, "at": f"2026-01-04T0{hour}:00:00Z"})
        for hour in range(9)
    ]
    untimed = ["no JSON", json.dumps({"at": 7}), json.dumps({"n": 1})]
    one = "\n".join((first, third, *late[::2], untimed[1], ""))
    other = "\n".join((first, second, third, *late[1::2], untimed[0], untimed[2], ""))
    expected = "\n".join((first, *sorted(untimed), second, third, *late, ""))
    assert (
        merge_log("audit/studio/2026-02.jsonl", base, one, other).text
        == merge_log("audit/studio/2026-02.jsonl", base, other, one).text
        == expected
    )


def test_a_projects_remotes_of_both_sides_are_kept() -> None:
    base = json.dumps({"schema": 1, "name": "a", "remotes": ["x"]})
    one = json.dumps({"schema": 1, "name": "a", "remotes": ["x", "y"]})
    other = json.dumps(
        {"schema": 1, "name": "a", "remotes": ["x", "z"], "root_commit": "c"}
    )
    merged = merge_project("projects/a/project.json", base, one, other)
    assert merged == merge_project("projects/a/project.json", base, other, one)
    said = {"schema": 1, "name": "a", "remotes": ["x", "z", "y"], "root_commit": "c"}
    assert merged == FileMerge(json.dumps(said, indent=2) + "\n", {})
    assert merge_project("projects/a/project.json", base, one, "no json").text == one


@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        # what one side takes away is gone, and what it changes is changed
        ({"a": 1, "b": 1}, {"a": 1}, {"a": 1, "b": 1}, {"a": 1}),
        ({"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}),
        ({"r": ["x", "y"]}, {"r": ["x"]}, {"r": ["x", "y", "z"]}, {"r": ["x", "z"]}),
        # without a base both sides stay
        (None, {"a": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 1}),
        (None, {"r": ["x"]}, {"r": ["x", "y"]}, {"r": ["x", "y"]}),
        # a directory that one machine knows the project by goes on being it
        (None, {"path": "~/a"}, {"path": "/b"}, {"path": "~/a", "paths": ["/b"]}),
        (
            {"path": "~/a"},
            {"path": "/b", "paths": ["~/c"]},
            {"path": "/d"},
            {"path": "/d", "paths": ["~/c", "/b"]},
        ),
        ({"path": "~/a"}, {"path": "/b"}, {"path": "~/a"}, {"path": "/b"}),
        ({"path": "~/a"}, {}, {"path": "~/a"}, {}),
    ],
)
def test_a_project_is_merged_key_by_key(
    base: dict[str, Any] | None,
    one: dict[str, Any],
    other: dict[str, Any],
    merged: dict[str, Any],
) -> None:
    path, known = "projects/a/project.json", json.dumps(base) if base else None
    sides = (json.dumps(one), json.dumps(other))
    for texts in (sides, sides[::-1]):
        assert json.loads(merge_project(path, known, *texts).text) == merged


def test_comments_and_quotes_in_the_front_matter_stay_where_the_lines_of_both_can_be_joined() -> (
    None
):
    base = note()
    commented = base.replace(
        "category:", "# settled in the meeting\ncategory:"
    ).replace("2026-02-09T10:00:00Z", "'2026-02-09T10:00:00Z'")
    text, beside = both_ways(base, commented, note(f"{BODY}More.\n", labels=["db"]))
    assert (
        text == commented.replace("\n---\n", "\nlabels:\n- db\n---\n", 1) + "More.\n"
        and not beside
    )


def test_two_values_in_one_mapping_clash_but_for_the_source() -> None:
    base, one, other = (
        note(place={"room": room}) for room in ("here", "there", "elsewhere")
    )
    text, beside = both_ways(base, one, other)
    assert {parse(told).meta["place"]["room"] for told in (text, *beside.values())} == {
        "there",
        "elsewhere",
    }
    base, one, other = (
        note(source={"machine": machine}) for machine in ("a", "b", "c")
    )
    assert both_ways(base, one, other)[1] == {}


def test_front_matters_that_are_too_large_together_stand_beside_each_other() -> None:
    one, other = (note(**{key: key * 40_000}) for key in "xy")
    text, beside = both_ways(note(), one, other)
    found = [parse(told) for told in (text, *beside.values())]
    assert {key for memory in found for key in "xy" if key in memory.meta} == {"x", "y"}
    assert len({memory.id for memory in found}) == 2
