"""What every engine must do, asked of the embedded one and of real servers through the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keeplore.index import Index, ScopeFilter
from keeplore.memory import new_id
from keeplore_hooks.contracts import EngineMaker

EVERYTHING = ScopeFilter()
WORKSPACE = ("workspace", "")
Make = Callable[..., Any]
Open = Callable[..., Index]


@pytest.fixture
def opened(tmp_path: Path, files: Any, embedder: Any) -> Iterator[Open]:
    """Opens the index of one more machine, with files of its own if it is given some."""
    indexes: list[Index] = []

    def open_(engine: EngineMaker, store: Any = files, model: Any = embedder) -> Index:
        indexes.append(
            Index(tmp_path / f"index-{len(indexes)}", store, model, engine=engine)
        )
        return indexes[-1]

    yield open_
    for index in indexes:
        index.close()


def brought(index: Index) -> Index:
    index.refresh()
    assert index.embed_pending() == 0
    return index


def by_words(index: Index, query: str, allowed: ScopeFilter = EVERYTHING) -> list[str]:
    found = index.text_search(query, allowed, 10, is_patient=True)
    assert index.note == ""
    return [row.memory_id for row in index.passages([match.passage for match in found])]


def by_vector(
    index: Index,
    embedder: Any,
    text: str,
    allowed: ScopeFilter = EVERYTHING,
    limit: int = 3,
) -> list[str]:
    found = index.vector_search(
        embedder.embed([text])[0], allowed, limit, is_patient=True
    )
    return [row.memory_id for row in index.passages([match.passage for match in found])]


def test_what_is_written_changed_moved_and_deleted_is_found_as_it_is_now(
    files: Any, embedder: Any, opened: Open, engine: EngineMaker, make_note: Make
) -> None:
    tabs = files.put(make_note("Tabs", "Indent with tabs."))
    queue = files.put(make_note("Queue", "Postgres with skip locked."))
    index = brought(opened(engine))
    assert by_words(index, "indented") == [new_id("Tabs")]
    assert by_vector(index, embedder, "skip locked queue")[0] == new_id("Queue")
    files.put(make_note("Tabs", "Use four blanks instead."))
    (files.root / queue).rename((files.root / queue).with_name("elsewhere.md"))
    brought(index)
    assert (by_words(index, "indented"), by_words(index, "blanks")) == (
        [],
        [new_id("Tabs")],
    )
    assert by_words(index, "locked") == [new_id("Queue")]
    (files.root / tabs).unlink()
    brought(index)
    assert (by_words(index, "blanks"), by_vector(index, embedder, "tabs")) == (
        [],
        [new_id("Queue")],
    )
    assert index.state().vectors == index.state().passages == 1


def test_a_search_stays_within_its_scopes_whatever_their_names_are(
    files: Any, embedder: Any, opened: Open, engine: EngineMaker, make_note: Make
) -> None:
    hostile = "x'; DROP TABLE passages; --\N{NULL}\n\"%_"
    for project in ("api", hostile):
        note = make_note(
            f"Deploy {len(project)}",
            "on Fridays never",
            scope="project",
            project=project,
        )
        files.put(note, f"deploy-{len(project)}.md")
    files.put(make_note("Deploy", "on Fridays never"))
    index = brought(opened(engine))
    projects = [project for scope, project in index.scopes() if scope == "project"]
    assert len(projects) == 2
    for project in projects:
        allowed = ScopeFilter((("project", project),))
        assert by_words(index, "fridays", allowed) == by_vector(
            index, embedder, "fridays", allowed
        )
        assert len(by_words(index, "fridays", allowed)) == 1
    assert by_words(index, "fridays", ScopeFilter((WORKSPACE,))) == [new_id("Deploy")]
    assert by_words(index, "fridays", ScopeFilter((("user", ""),))) == []
    assert len(by_words(index, "fridays")) == 3


def test_any_text_is_a_question(
    files: Any, opened: Open, engine: EngineMaker, make_note: Make
) -> None:
    files.put(make_note("Tabs", "Indent with tabs."))
    index = brought(opened(engine))
    for query in (
        "",
        "''; --",
        '"',
        "\N{NULL}",
        "NOT AND (",
        "the",
        "zzz",
        "{1:2}/3",
        "🦊 \ud83e",
    ):
        assert by_words(index, query) == []


def test_the_order_is_that_of_the_embedded_engine(
    files: Any, embedder: Any, opened: Open, shared_engine: EngineMaker, make_note: Make
) -> None:
    for n in range(60):
        said = " ".join(
            ["queue", "cache"][: 1 + n % 2] * (1 + n % 5)
            + [f"word{n % 9}", f"other{n}"] * (1 + n % 3)
        )
        files.put(make_note(f"Note {n} about theme{n % 4}", said))
    own, there = (
        brought(opened(Index.__init__.__kwdefaults__["engine"])),
        brought(opened(shared_engine)),
    )
    for query in (
        "queue word3",
        "themes cache other17",
        "note word5 theme2",
        "other59",
    ):
        wanted, found = (
            index.text_search(query, EVERYTHING, 5, is_patient=True)
            for index in (own, there)
        )
        assert by_words(own, query)[0] == by_words(there, query)[0]
        assert len(wanted) == len(found)
    for text in ("queue cache word1", "note 31 about theme3"):
        vector = embedder.embed([text])[0]
        wanted, found = (
            index.vector_search(vector, EVERYTHING, 9, is_patient=True)
            for index in (own, there)
        )
        assert [m.score for m in found] == pytest.approx(
            [m.score for m in wanted], abs=2e-3
        )


def test_two_machines_share_points_and_vectors_and_delete_only_what_they_lost(
    files: Any,
    embedder: Any,
    opened: Open,
    shared_engine: EngineMaker,
    make_note: Make,
    make_embedder: Any,
    tmp_path: Path,
) -> None:
    elsewhere = type(files)(tmp_path / "clone")
    for store in (files, elsewhere):
        for title in ("Tabs", "Queue", "Cache"):
            store.put(make_note(title, f"said about {title}"))
    one = brought(opened(shared_engine))
    embedder.texts.clear()
    second_model = make_embedder()
    two = brought(opened(shared_engine, elsewhere, second_model))
    assert second_model.texts == []  # the first machine has made every vector
    assert two.state().vectors == two.state().passages == 3
    assert sorted(by_words(two, "said")) == sorted(by_words(one, "said"))
    # the first pulls a commit that deletes a file; the second is still at the one before
    [tabs] = [path for path in files.root.rglob("*.md") if "tabs" in path.name]
    tabs.unlink()
    brought(one)
    assert new_id("Tabs") not in by_words(one, "said")
    assert new_id("Tabs") not in by_words(two, "said")
    two.mend(
        two.flaws()
    )  # what happens once an hour: the second puts again what its files still say
    brought(two)
    assert new_id("Tabs") in by_words(two, "said")
    brought(one)
    assert new_id("Tabs") not in by_words(one, "said")
    [again] = [path for path in elsewhere.root.rglob("*.md") if "tabs" in path.name]
    again.unlink()
    brought(two)
    assert [*two.flaws()] == [] == [*one.flaws()]
    assert (
        sorted(by_words(two, "said"))
        == sorted(by_words(one, "said"))
        == sorted([new_id("Queue"), new_id("Cache")])
    )


def test_a_rebuild_makes_everything_anew_from_the_text(
    files: Any, embedder: Any, opened: Open, shared_engine: EngineMaker, make_note: Make
) -> None:
    for title in ("Tabs", "Queue"):
        files.put(make_note(title, f"said about {title}"))
    index = brought(opened(shared_engine))
    index.rebuild()
    assert (by_words(index, "said"), index.state().vectors) == ([], 0)
    brought(index)
    assert sorted(by_words(index, "said")) == sorted([new_id("Tabs"), new_id("Queue")])
    assert by_vector(index, embedder, "queue")[0] == new_id("Queue")


def test_workspaces_on_one_server_have_nothing_in_common(
    files: Any,
    embedder: Any,
    opened: Open,
    neighbours: tuple[EngineMaker, EngineMaker],
    make_note: Make,
    tmp_path: Path,
) -> None:
    elsewhere = type(files)(tmp_path / "other")
    files.put(make_note("Tabs", "said about tabs"))
    elsewhere.put(make_note("Queue", "said about a queue"))
    one = brought(opened(neighbours[0]))
    other = brought(opened(neighbours[1], elsewhere))
    assert (by_words(one, "said"), by_words(other, "said")) == (
        [new_id("Tabs")],
        [new_id("Queue")],
    )
    assert by_vector(one, embedder, "queue") == [new_id("Tabs")]
    assert by_vector(other, embedder, "tabs") == [new_id("Queue")]
    assert [*one.flaws()] == [] == [*other.flaws()]
    other.rebuild()
    assert (by_words(one, "said"), by_words(other, "said")) == ([new_id("Tabs")], [])
