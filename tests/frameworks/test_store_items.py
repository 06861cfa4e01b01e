"""Values of a store as notes, and what a filter asks of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sample_note import note

from keeplore.errors import StoreError
from keeplore.frameworks.store_items import (
    Value,
    draft_of,
    is_fitting,
    memory_value,
    value_of,
)
from keeplore.memory.note import NoteDraft

SECRET = "gh" + "p_" + "a1B2" * 9
CONTENT = {
    "rank": 3,
    "name": "Ada",
    "likes": ["tea", "", {"when": "noon"}],
    "none": None,
}


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({}, True),
        ({"rank": 3}, True),
        ({"rank": 4}, False),
        ({"rank": 3, "name": "Bob"}, False),
        ({"name": {"$eq": "Ada"}}, True),
        ({"name": {"$eq": "Bob"}}, False),
        ({"name": {"$ne": "Ada"}}, False),
        ({"other": {"$ne": "Ada"}}, True),
        ({"rank": {"$gt": 3}}, False),
        ({"rank": {"$gt": 2}}, True),
        ({"rank": {"$gte": 3}}, True),
        ({"rank": {"$gte": 4}}, False),
        ({"rank": {"$lt": 3}}, False),
        ({"rank": {"$lt": 4}}, True),
        ({"rank": {"$lte": 3}}, True),
        ({"rank": {"$lte": 2}}, False),
        ({"rank": {"$gt": 2, "$lt": 3}}, False),
        ({"rank": {"$gt": "2"}}, False),  # a number is not more than a text
        ({"missing": {"$gt": 2}}, False),
        ({"rank": {"$gt": 2, "plain": 1}}, False),  # a value, and not an operator
        ({"rank": {}}, False),
    ],
)
def test_what_a_filter_asks_for(wanted: dict[str, Any], fits: bool) -> None:
    assert is_fitting(CONTENT, wanted) is fits


def test_a_value_is_told_in_words_and_read_from_its_last_block() -> None:
    content = {"about": "Ada " + "x" * 80, **CONTENT, "text": "<b>é\u200b\n```"}
    value = Value(("users", "ada"), "b", content, "2026-02-09T10:00:00Z")

    def draft(value: Value) -> NoteDraft:
        return draft_of(
            value,
            lambda text: text.replace("Ada", "***"),
            scope="project",
            project="shop",
            id_="mem_1",
        )

    kept = {**content, "about": "*** " + "x" * 80, "name": "***"}
    words = (
        f"about: {kept['about']}\nrank: 3\nname: ***\nlikes: tea\nlikes.when: noon\n"
    )
    block = (
        '```json\n{"namespace": ["users", "ada"], "key": "b", "value": {"about": "'
        + kept["about"]
        + '", "rank": 3, "name": "***", "likes": ["tea", "", {"when": "noon"}], "none": null, '
        '"text": "<b>é\\u200b\\n```"}, "since": "2026-02-09T10:00:00Z"}\n```'
    )
    made = draft(value)
    assert made == NoteDraft(
        f"{words}text: <b>é\u200b\n```\n\n{block}",
        title="about: *** " + "x" * 69,
        scope="project",
        project="shop",
        trust="assistant",
        source={"host": "langgraph", "session": "users.ada"},
        id="mem_1",
    )
    older = made.text.replace('"key": "b"', '"key": "a"')
    last = replace(value, content=kept)
    assert (
        value_of(note("x", f"{older}\n\n{made.text}\n\nMore:\n\n```\nx\n```\n")) == last
    )
    for damaged in (
        words,
        made.text.replace('"since"', '"until"'),
        made.text.replace('"key": "b",', '"key": "b"'),
        made.text.replace('{"about"', '[{"about"').replace('}, "since', '}], "since'),
    ):
        assert value_of(note("x", damaged)) is None
    # what has no words is named for its place
    for nothing, said in (({}, "b"), ({"x": "…"}, "…"), ({"x": None}, "b")):
        bare = draft(replace(value, content=nothing))
        assert bare.text.partition("\n\n")[0] == said
        assert bare.title == ("b" if said == "b" else "users.ada b")


@pytest.mark.parametrize(
    ("namespace", "key", "message"),
    [
        (("a", "b\nc"), "k", "'a.b\\nc' cannot be the name of a namespace"),
        (("a", SECRET), "k", "A secret is the name of an item or of its namespace"),
        (("a",), SECRET, "A secret is the name of an item or of its namespace"),
    ],
)
def test_what_can_be_no_name(
    namespace: tuple[str, ...], key: str, message: str
) -> None:
    with pytest.raises(StoreError) as error:
        draft_of(Value(namespace, key, {}, ""), str, scope="user", project="", id_="")
    assert error.value.message == message


def test_a_memory_that_no_store_wrote_is_told_by_its_fields() -> None:
    body = "# T\n\nIt is so.\n"
    told = {"title": "T", "text": "It is so.", "kind": "note", "category": "gotchas"}
    assert memory_value(note("T", body), "user") == {**told, "trust": "user"}
    words = {**told, "text": "Words.", "trust": "foreign"}
    assert memory_value(note("T", body), "foreign", "Words.") == words
    document = note("T", body, kind="document", category="")
    whole = {"title": "T", "text": body, "kind": "document", "trust": "user"}
    assert memory_value(document, "user") == whole
