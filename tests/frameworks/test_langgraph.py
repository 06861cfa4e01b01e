"""LangGraph itself: a graph and its nodes use the store."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from example_count import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from late import Late
from refusals import refused

from keeplore.errors import NoWorkspace, StoreError
from keeplore.frameworks.store_items import Value, draft_of, value_of
from keeplore.host import PythonHost
from keeplore.memory import parse, serialise
from keeplore.memory.note import note_of
from keeplore.text.fences import sanitise

from .conftest import AGAIN, TOLD, Office

graphs, ours = Late("langgraph.graph"), Late("keeplore.frameworks.langgraph")
ADA = ("users", "ada", "tastes")
TEA = {
    "text": "Ada drinks green tea, never coffee.",
    "since": 2024,
    "tags": ["drink", "Grüner Tee"],
}
SECRET = "ghp_" + "x7Kq9ZtB2mVwR4sYdN8cLpF3hJ6gTa1eUo5i"


@pytest.fixture
def host(office: Office) -> PythonHost:
    return office.host()


@pytest.fixture
def store(host: PythonHost) -> Any:
    return ours.KeeploreStore(host)


def test_a_graph_finds_what_another_program_said_and_keeps_what_it_learns(
    office: Office, host: PythonHost
) -> None:
    office.tell()

    async def answer(state: Any, runtime: Any) -> dict[str, Any]:
        assert runtime.store is not None
        known = await runtime.store.asearch(
            ("keeplore",), query=state["messages"][-1].text, limit=1
        )
        await runtime.store.aput(ADA, "drink", TEA)
        return {"messages": [("ai", known[0].value["text"])]}

    builder = graphs.StateGraph(graphs.MessagesState)
    builder.add_node(answer).add_edge(graphs.START, "answer")
    graph = builder.compile(store=ours.KeeploreStore(host))
    said = asyncio.run(graph.ainvoke({"messages": [("user", AGAIN)]}))["messages"][
        -1
    ].text
    assert TOLD in said
    with PythonHost("another-agent", office.project) as other:
        item = ours.KeeploreStore(other).get(ADA, "drink")
        assert item is not None and item.value == TEA
        assert "never coffee" in "".join(
            hit.passage for hit in other.recall("What does Ada drink?").hits
        )


def test_a_value_comes_back_as_it_was_put_and_can_be_changed(
    store: Any, office: Office
) -> None:
    store.put(ADA, "drink", TEA)
    first = store.get(ADA, "drink")
    assert first is not None and (first.namespace, first.key, first.value) == (
        ADA,
        "drink",
        TEA,
    )
    store.put(ADA, "drink", TEA)
    assert len([*office.root.rglob("*-ada-*.md")]) == 1
    store.put(ADA, "drink", {"text": "Ada has changed to coffee."})
    second = store.get(ADA, "drink")
    assert second is not None and second.value == {"text": "Ada has changed to coffee."}
    assert second.created_at == first.created_at
    assert [item.value for item in store.search(ADA)] == [
        {"text": "Ada has changed to coffee."}
    ]


def test_a_note_is_by_the_assistant_and_says_where_it_is_from(
    store: Any, office: Office
) -> None:
    store.put(ADA, "drink", TEA)
    (path,) = office.root.rglob("*-ada-*.md")
    text = path.read_text(encoding="utf-8")
    assert "trust: assistant" in text and "session: users.ada.tastes" in text
    assert "text: Ada drinks green tea, never coffee.\n" in text


def test_what_is_deleted_is_forgotten_and_its_name_can_be_used_again(
    store: Any, office: Office
) -> None:
    store.delete(ADA, "drink")  # there is none yet
    store.put(ADA, "drink", TEA)
    store.delete(ADA, "drink")
    assert store.get(ADA, "drink") is None and store.search(ADA) == []
    assert len([*(office.root / "forgotten").glob("*.json")]) == 1
    store.put(ADA, "drink", {"text": "Ada drinks water."})
    again = store.get(ADA, "drink")
    assert again is not None and again.value == {"text": "Ada drinks water."}


def test_searching_ranks_filters_and_pages_within_a_namespace(
    store: Any,
) -> None:
    store.put(ADA, "drink", TEA)
    store.put(("users", "ada"), "home", {"text": "Ada lives in Trondheim.", "rank": 3})
    store.put(("users", "bob"), "home", {"text": "Bob lives in Ghent.", "rank": 5})
    assert [
        item.key
        for item in store.search(("users",), query="green tea or coffee for Ada?")
    ][:1] == ["drink"]
    assert store.search(("users", "bob"), query="Who lives in Trondheim?") == []
    assert [
        item.value["rank"]
        for item in store.search(("users",), filter={"rank": {"$gt": 3}})
    ] == [5]
    assert [
        item.key for item in store.search(("users", "ada"), filter={"rank": 3})
    ] == ["home"]
    pages = [store.search(("users",), limit=2, offset=offset) for offset in (0, 2)]
    assert len(pages[0]) == 2 and len(pages[1]) == 1
    assert {item.namespace for page in pages for item in page} == {
        ADA,
        ("users", "ada"),
        ("users", "bob"),
    }
    said = "$in is no operator of a filter; use one of $eq, $ne, $gt, $gte, $lt, $lte"
    with refused(ValueError, said):
        store.search(("users",), filter={"rank": {"$in": [3]}})


def test_namespaces_can_be_listed(store: Any) -> None:
    for namespace in (ADA, ("users", "bob", "tastes"), ("docs",)):
        store.put(namespace, "k", {"text": f"something about {namespace[-1]}"})
    assert store.list_namespaces() == [("docs",), ADA, ("users", "bob", "tastes")]
    assert store.list_namespaces(prefix=("users", "*"), max_depth=2) == [
        ("users", "ada"),
        ("users", "bob"),
    ]
    assert store.list_namespaces(suffix=("tastes",), limit=1, offset=1) == [
        ("users", "bob", "tastes")
    ]


def test_a_namespace_says_who_sees_the_item(
    store: Any, office: Office, tmp_path: Any
) -> None:
    store.put(ADA, "drink", TEA)
    store.put(
        ("keeplore", "user", "tastes"),
        "editor",
        {"text": "The person types on a Dvorak keyboard."},
    )
    store.put(
        ("keeplore", "workspace"),
        "queue",
        {"text": "All services use the queue in Postgres."},
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with PythonHost("another-agent", elsewhere) as other:
        seen = ours.KeeploreStore(other)
        assert seen.get(ADA, "drink") is None
        assert {item.key for item in seen.search(())} == {"editor", "queue"}
        assert [item.key for item in seen.search(("keeplore", "user"))] == ["editor"]
        assert [
            item.key
            for item in seen.search(("keeplore",), query="Which keyboard do I type on?")
        ] == ["editor"]
    said = (
        "('keeplore', 'project') is no place. "
        "After 'keeplore' comes one of user, workspace"
    )
    with refused(StoreError, said):
        store.put(("keeplore", "project"), "k", {"text": "no such place"})
    said = (
        "('keeplore',) is every memory that applies here. "
        "Put values into another namespace"
    )
    with refused(StoreError, said):
        store.put(("keeplore",), "k", {"text": "no such place"})


def test_any_memory_can_be_read_by_its_id(office: Office, store: Any) -> None:
    office.tell()
    (found,) = store.search(("keeplore",), query=AGAIN)
    item = store.get(("keeplore",), found.key)
    assert (
        item is not None and found.value["kind"] == item.value["kind"] == "conversation"
    )
    assert (
        TOLD in item.value["text"] and store.get(("keeplore",), "mem_nothing") is None
    )


def test_what_another_person_wrote_is_told_as_such_however_it_is_read(
    office: Office, host: PythonHost, store: Any
) -> None:
    office.tell()
    (path,) = office.root.rglob("conversations/**/*.md")
    text = path.read_text(encoding="utf-8")
    path.write_text(
        re.sub(r"(?m)^(  machine:) .*$", r"\1 of-another-person", text),
        encoding="utf-8",
    )
    host.workspace.machine_trust.refuse(["of-another-person"])
    (asked,), (listed,) = (
        store.search(("keeplore",), query=AGAIN),
        store.search(("keeplore",)),
    )
    read = store.get(("keeplore",), asked.key)
    assert read is not None and "trust: foreign" not in path.read_text(encoding="utf-8")
    assert [item.value["trust"] for item in (asked, listed, read)] == ["foreign"] * 3


def test_a_secret_in_a_value_reaches_no_file(store: Any, office: Office) -> None:
    store.put(ADA, "login", {"text": f"Ada's token is {SECRET}", "token": SECRET})
    assert not any(
        SECRET in path.read_text(encoding="utf-8") for path in office.root.rglob("*.md")
    )
    item = store.get(ADA, "login")
    assert (
        item is not None
        and item.value.keys() == {"text", "token"}
        and SECRET not in str(item.value)
    )


def test_each_field_of_a_value_is_looked_at_by_itself(store: Any) -> None:
    value = {
        "password": "falcon.winter7731",
        "ids": ["7f3a9c1e5b2d4860af17c3e9d5b8a642", {"session": "ses_1"}],
        "note": 'she said "password": "no"',
        "limits": {"max_tokens": 4096, "token": SECRET},
    }
    store.put(ADA, "login", value)
    item = store.get(ADA, "login")
    assert item is not None
    told = item.value.pop("limits"), item.value.pop("password")
    assert item.value == {"ids": value["ids"], "note": value["note"]}
    assert told[0]["max_tokens"] == 4096 and told[0]["token"].startswith("[REDACTED:")
    assert told[1] == "[REDACTED]"


def test_a_secret_as_the_name_of_an_item_is_refused(store: Any) -> None:
    for namespace, key in ((ADA, SECRET), (("users", SECRET), "login")):
        said = (
            "A secret is the name of an item or of its namespace. "
            "Name it for what it holds"
        )
        with refused(StoreError, said):
            store.put(namespace, key, TEA)


def test_what_the_person_made_permanent_is_not_changed(
    store: Any, host: PythonHost
) -> None:
    store.put(ADA, "drink", TEA)
    (row,) = [
        row
        for view in host.views()
        for row in view.index.memories([known(store)]).values()
    ]
    host.workspace.notes.revise(row.id, permanent=True)
    id_ = known(store)
    said = (
        f"{id_} is permanent: the person alone changes it. `keeplore edit {id_}` does"
    )
    for change in (
        lambda: store.put(ADA, "drink", {"text": "Coffee."}),
        lambda: store.delete(ADA, "drink"),
    ):
        with refused(StoreError, said):
            change()
    item = store.get(ADA, "drink")
    assert item is not None and item.value == TEA


def known(store: Any) -> str:
    """The id of the one note there is."""
    return next(row.id for _, row, _, _ in store._newest_values(()))


def test_without_a_workspace_searching_finds_nothing_and_writing_says_so(
    nowhere: PythonHost, caplog: pytest.LogCaptureFixture
) -> None:
    store = ours.KeeploreStore(nowhere)
    with caplog.at_level(logging.WARNING):
        assert store.search(ADA, query=AGAIN) == [] and store.list_namespaces() == []
    with pytest.raises(NoWorkspace, match="keeplore init") as error:
        store.put(ADA, "drink", TEA)
    told = f"Keeplore finds nothing: {error.value}"
    assert [(one.levelname, one.message) for one in caplog.records] == [
        ("WARNING", told)
    ]


def test_times_are_read_as_people_write_them(store: Any, office: Office) -> None:
    store.put(ADA, "drink", TEA)
    (path,) = office.root.rglob("*-ada-*.md")
    text = path.read_text(encoding="utf-8")
    moments = {
        "2026-02-09T10:00:00Z": datetime(2026, 2, 9, 10, tzinfo=UTC),
        "'2026-02-09T10:00:00+01:00'": datetime(2026, 2, 9, 9, tzinfo=UTC),
        "'2026-02-09T10:00'": datetime(2026, 2, 9, 10, tzinfo=UTC),
        "some day": datetime(1, 1, 1, tzinfo=UTC),
    }
    for told, moment in moments.items():
        edited = re.sub("(?m)^updated_at: .*", f"updated_at: {told}", text)
        path.write_text(edited, encoding="utf-8")
        assert store.get(ADA, "drink").updated_at == moment


def test_the_event_loop_goes_on_while_a_value_is_written(store: Any) -> None:
    async def write() -> int:
        ticks = 0
        writing = asyncio.create_task(store.aput(ADA, "drink", TEA))
        while not writing.done():
            ticks += 1
            await asyncio.sleep(0)
        await writing
        return ticks

    assert asyncio.run(write()) > 100


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
)
values = st.dictionaries(
    st.text(),
    st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ),
)


@settings(max_examples=examples(60))
@given(content=values, key=st.text())
def test_every_value_survives_in_a_note(content: dict[str, Any], key: str) -> None:
    value = Value(("users", "ada"), key, content, "2026-02-09T14:03:11Z")
    draft = draft_of(
        value, lambda text: text, scope="workspace", project="", id_="mem_1"
    )
    seen = dataclasses.replace(
        draft, text=sanitise(draft.text), title=sanitise(draft.title)
    )  # as every note is
    assert value_of(parse(serialise(note_of(seen, value.created_at)))) == value
