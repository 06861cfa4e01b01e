from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keeplore.errors import ModelUnavailable
from keeplore.index import Index, MemoryFilter, ScopeFilter
from keeplore.memory import Memory, new_id

EVERYTHING = ScopeFilter()


def found(index: Index, query: str, allowed: ScopeFilter = EVERYTHING) -> list[str]:
    rows = index.passages(
        [match.passage for match in index.text_search(query, allowed, 10)]
    )
    return list(dict.fromkeys(row.memory_id for row in rows))


def near(
    index: Index, embedder: Any, text: str, allowed: ScopeFilter = EVERYTHING
) -> list[str]:
    matches = index.vector_search(embedder.embed([text])[0], allowed, 3)
    return [
        row.memory_id for row in index.passages([match.passage for match in matches])
    ]


def test_what_a_file_says_is_found_by_its_words_and_by_its_vector(
    files: Any, index: Index, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    files.put(make_note("Vectors are derived", "The text is the truth."))
    files.put(make_note("Tabs", "Indent with tabs."))
    assert index.lag() == 2
    assert index.refresh().changed == 2
    assert index.lag() == 0
    assert index.embed_pending() == 0
    assert found(index, "which text is the truth") == [new_id("Vectors are derived")]
    assert near(index, embedder, "tabs")[0] == new_id("Tabs")


def test_the_stamp_names_the_commit_and_counts_what_is_there(
    files: Any, index: Index, make_conversation: Callable[..., Memory]
) -> None:
    assert index.state().updated_at == ""
    files.put(
        make_conversation("Cache", ("Why Redis?", "Speed."), ("And now?", "SQLite."))
    )
    files.commit = "abc"
    index.refresh()
    index.embed_pending(limit=1)
    stamp = index.state()
    assert (stamp.commit, stamp.memories, stamp.passages, stamp.vectors) == (
        "abc",
        1,
        2,
        1,
    )
    assert stamp.model == "words:1:256"
    files.commit = "def"
    assert index.refresh().changed == 0
    assert index.state().commit == "def"


def test_only_changed_files_are_read_and_only_new_text_is_embedded(
    files: Any, index: Index, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    for n in range(5):
        files.put(make_note(f"Note {n}", f"body {n}"))
    files.settle()
    index.refresh()
    index.embed_pending()
    files.loaded.clear()
    embedder.texts.clear()
    path = files.put(make_note("Note 3", "another body"))
    assert index.refresh().changed == 1
    assert index.embed_pending() == 0
    assert files.loaded == [path]
    assert embedder.texts == ["Note 3\nanother body\n2026-02-09"]


def test_a_file_that_was_only_touched_is_read_but_keeps_its_passages(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    files.put(make_note("Tabs", "Indent with tabs."))
    index.refresh()
    before = index.text_search("tabs", EVERYTHING, 5)
    files.settle()
    assert index.lag() == 1
    assert index.refresh().changed == 0
    assert index.lag() == 0
    assert index.text_search("tabs", EVERYTHING, 5) == before


def test_a_renamed_file_is_found_under_its_new_path_without_embedding_again(
    files: Any, index: Index, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    old = files.put(make_note("Tabs", "Indent with tabs."))
    index.refresh()
    index.embed_pending()
    embedder.texts.clear()
    (files.root / old).rename(files.root / "memory/facts/renamed.md")
    assert index.refresh().removed == 1
    assert index.embed_pending() == 0
    assert embedder.texts == []
    assert (
        index.memories([new_id("Tabs")])[new_id("Tabs")].path
        == "memory/facts/renamed.md"
    )
    assert index.vector_search(embedder.embed(["tabs"])[0], EVERYTHING, 5) != []


def test_a_deleted_file_is_found_no_more(
    files: Any, index: Index, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    path = files.put(make_note("Tabs", "Indent with tabs."))
    files.put(make_note("Spaces", "Indent with spaces."))
    index.refresh()
    index.embed_pending()
    assert new_id("Tabs") in near(index, embedder, "tabs")
    (files.root / path).unlink()
    index.refresh()
    assert found(index, "tabs") == []
    assert near(index, embedder, "tabs") == [new_id("Spaces")]
    assert index.memories([new_id("Tabs")]) == {}


BAD = {
    "not-utf8": b"---\nid: x\n---\n\xff\xfe",
    "nul": b"---\nid: a\x00b\n---\nbody",
    "empty": b"",
    "no-end": b"---\nid: x\n",
    "two-keys": b"---\nid: x\nid: y\n---\n",
    "tabs": b"---\n\tid: x\n---\n",
    "wikilink": b"---\n[[wikilink]]\n---\n",
    "nested": b"---\na: " + b"[" * 50_000 + b"\n---\n",
    "conflict": b"---\n<<<<<<< ours\nid: x\n=======\nid: y\n>>>>>>> theirs\n---\n",
    "no-mapping": b"---\njust text\n---\n",
}


@pytest.mark.parametrize("kind", BAD)
def test_one_bad_file_is_listed_left_alone_and_does_not_hide_the_rest(
    kind: str, files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    path = f"memory/facts/{kind}.md"
    files.write(path, BAD[kind])
    files.put(make_note("Tabs", "Indent with tabs."))
    index.refresh()
    assert [problem[0] for problem in index.problems()] == [path]
    assert found(index, "tabs") == [new_id("Tabs")]
    assert (files.root / path).read_bytes() == BAD[kind]


@pytest.mark.parametrize(
    "front",
    [b"\xef\xbb\xbf---\nid: ID\ntitle: Tabs\n---\n", b"---\r\nid: ID\r\n---\r\n"],
)
def test_a_byte_order_mark_or_crlf_does_not_keep_a_file_from_being_found(
    front: bytes, files: Any, index: Index
) -> None:
    memory_id = new_id("Tabs")
    files.write(
        "memory/facts/a.md",
        front.replace(b"ID", memory_id.encode()) + b"Indent with tabs.\r\n",
    )
    index.refresh()
    assert found(index, "indent") == [memory_id]


def test_text_that_sqlite_cannot_store_does_not_stop_the_others(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    files.write(
        "memory/facts/a.md",
        b'---\nid: mem_x\ntitle: "lone \\ud800 surrogate"\n---\nIndent.\n',
    )
    files.put(make_note("Tabs", "Tabs."))
    index.refresh()
    assert found(index, "tabs") == [new_id("Tabs")]


def test_a_mended_file_is_no_problem_any_more(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    path = files.put(make_note("Tabs", "Indent with tabs."))
    files.write(path, b"---\nbroken")
    index.refresh()
    assert found(index, "tabs") == []
    files.put(make_note("Tabs", "Indent with tabs."))
    index.refresh()
    assert index.problems() == []
    assert found(index, "tabs") == [new_id("Tabs")]


def test_two_files_with_one_id_are_listed_and_the_newer_one_counts(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    files.put(
        make_note("Tabs", "Old.", updated_at="2026-02-09T14:00:00Z"),
        "memory/facts/a.md",
    )
    files.put(
        make_note("Tabs", "New.", updated_at="2026-02-10T14:00:00Z"),
        "memory/facts/b.md",
    )
    files.put(
        make_note("Tabs", "Put away.", updated_at="2026-02-11T14:00:00Z"),
        "memory/archive/facts/c.md",
    )
    index.refresh()
    assert index.memories([new_id("Tabs")])[new_id("Tabs")].path == "memory/facts/b.md"
    assert [path for path, _ in index.problems()] == [
        "memory/archive/facts/c.md",
        "memory/facts/a.md",
    ]
    assert [row.path for row in index.listed(MemoryFilter(EVERYTHING, limit=5))] == [
        "memory/facts/b.md"
    ]
    assert index.state().memories == 1


def test_only_what_is_allowed_is_found(
    files: Any, index: Index, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    files.put(make_note("Own", "tabs", scope="project", project="kasha"))
    files.put(make_note("Other", "tabs", scope="project", project="lore"))
    files.put(make_note("All", "tabs"))
    index.refresh()
    index.embed_pending()
    allowed = ScopeFilter((("project", "kasha"), ("workspace", "")))
    wanted = {new_id("Own"), new_id("All")}
    assert set(found(index, "tabs", allowed)) == wanted
    assert set(near(index, embedder, "tabs", allowed)) == wanted
    assert {row.id for row in index.listed(MemoryFilter(allowed, limit=5))} == wanted
    assert found(index, "tabs", ScopeFilter((("project", "none"),))) == []


def test_a_superseded_note_names_the_newest_version(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    days = {"First": "01", "Second": "02", "Third": "03"}
    before = ""
    for title, day in days.items():
        files.put(
            make_note(title, created_at=f"2026-02-{day}T00:00:00Z", supersedes=before)
        )
        before = new_id(title)
    index.refresh()
    rows = index.memories([new_id(title) for title in days])
    assert [rows[new_id(title)].superseded_by for title in days] == [
        new_id("Third"),
        new_id("Third"),
        "",
    ]
    assert [rows[new_id(title)].changes for title in days] == [0, 1, 2]


def test_who_names_a_memory_is_known(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    first, second = make_note("One"), make_note("Two")
    second = second.with_meta(related=[{"id": first.id, "relationship": "refines"}])
    for memory in (first, second):
        files.put(memory)
    index.refresh()
    assert index.linking(first.id) == [("refines", second.id)]
    assert index.linking(second.id) == []


def test_a_cycle_made_by_hand_has_its_newest_memory_as_head(
    files: Any, index: Index, make_note: Callable[..., Memory]
) -> None:
    files.put(make_note("A", created_at="2026-02-01T00:00:00Z", supersedes=new_id("B")))
    files.put(make_note("B", created_at="2026-02-02T00:00:00Z", supersedes=new_id("A")))
    files.put(make_note("Self", supersedes=new_id("Self")))
    index.refresh()
    rows = index.memories([new_id("A"), new_id("B"), new_id("Self")])
    assert (rows[new_id("A")].superseded_by, rows[new_id("B")].superseded_by) == (
        new_id("B"),
        "",
    )
    assert (rows[new_id("Self")].superseded_by, rows[new_id("Self")].changes) == ("", 0)


def test_recent_is_newest_first_and_can_be_narrowed(
    files: Any,
    index: Index,
    make_note: Callable[..., Memory],
    make_conversation: Callable[..., Memory],
) -> None:
    files.put(make_note("Old", updated_at="2026-02-10T14:00:00Z"))
    files.put(make_note("New", updated_at="2026-02-11T14:00:00Z"))
    talk = make_conversation(
        "Talk",
        ("hi", "ho"),
        source={"session": "s1", "host": "claude-code"},
        status="open",
    )
    files.put(talk)
    files.put(
        make_note("Put away", updated_at="2026-02-12T14:00:00Z"),
        "memory/archive/facts/x.md",
    )
    index.refresh()
    assert [row.title for row in index.listed(MemoryFilter(EVERYTHING, limit=2))] == [
        "New",
        "Old",
    ]
    [open_one] = index.listed(MemoryFilter(EVERYTHING, session="s1", limit=5))
    assert (open_one.title, open_one.host, open_one.is_open) == (
        "Talk",
        "claude-code",
        True,
    )
    assert [
        row.title
        for row in index.listed(MemoryFilter(EVERYTHING, kind="conversation", limit=5))
    ] == ["Talk"]
    assert index.memories([new_id("Put away")])[new_id("Put away")].is_archived


def test_known_turns_says_which_conversation_holds_a_turn(
    files: Any, index: Index, make_conversation: Callable[..., Memory]
) -> None:
    memory = make_conversation("Talk", ("hi", "ho"))
    files.put(memory)
    index.refresh()
    turn = f"{memory.id[4:12]}-0"
    assert index.known_turns([turn, "unknown", *(f"x{n}" for n in range(1200))]) == {
        turn: memory.id
    }


def test_search_works_without_a_model(
    files: Any, index_directory: Path, make_note: Callable[..., Memory]
) -> None:
    files.put(make_note("Tabs", "Indent with tabs."))
    index = Index(index_directory, files, None)
    index.refresh()
    assert found(index, "tabs") == [new_id("Tabs")]
    assert index.state().model == ""
    with pytest.raises(ModelUnavailable, match="no embedding model"):
        index.embed_pending()
    index.close()


def test_another_model_embeds_everything_again_and_never_mixes(
    files: Any,
    index: Index,
    index_directory: Path,
    make_note: Callable[..., Memory],
    make_embedder: Any,
) -> None:
    files.put(make_note("Tabs", "Indent with tabs."))
    index.refresh()
    index.embed_pending()
    other = make_embedder("other:2:256")
    second = Index(index_directory, files, other)
    assert second.state().vectors == 0
    assert second.vector_search(other.embed(["tabs"])[0], EVERYTHING, 5) == []
    assert second.embed_pending() == 0
    assert second.state().vectors == index.state().vectors == 1
    second.close()


def test_embedding_can_be_interrupted_and_goes_on_where_it_was(
    files: Any, index: Index, embedder: Any, make_note: Callable[..., Memory]
) -> None:
    for n in range(20):
        files.put(make_note(f"Note {n}", f"body {n}"))
    index.refresh()

    def interrupt(done: int, _: int) -> None:
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.embed_pending(progress=interrupt)
    assert index.state().vectors == 8
    steps: list[tuple[int, int]] = []
    assert (
        index.embed_pending(progress=lambda done, total: steps.append((done, total)))
        == 0
    )
    assert steps[-1] == (12, 12) and steps == sorted(steps)
    assert len(embedder.texts) == 20


def test_a_refresh_with_little_time_reads_rules_and_the_newest_talks_first_and_goes_on_later(
    files: Any,
    index: Index,
    embedder: Any,
    make_note: Callable[..., Memory],
    make_conversation: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("keeplore.index.refresh.FILES_AT_ONCE", 2)
    for month in (3, 1, 4, 2):
        talk = make_conversation(f"Talk {month}", ("Tabs?", f"Word {month}."))
        at = f"2026-0{month}-01T10:00:00Z"
        files.put(Memory({**talk.meta, "created_at": at, "updated_at": at}, talk.body))
    files.put(make_note("Rule", "Indent with tabs."))
    assert index.refresh(within_s=0.0).left == 3
    assert set(found(index, "tabs")) == {new_id("Rule"), new_id("Talk 4")}
    assert (index.state().updated_at, index.lag()) == ("", 3)
    files.put(make_note("Late", "No tabs."))
    assert index.refresh(within_s=0.0).left == 1
    assert index.refresh(within_s=60.0).left == 0
    assert (len(found(index, "tabs")), index.lag()) == (6, 0)
    index.embed_pending()
    order = [word for text in embedder.texts for word in re.findall(r"Word \d", text)]
    assert list(dict.fromkeys(order)) == ["Word 4", "Word 3", "Word 2", "Word 1"]


def test_vectors_that_no_text_needs_do_not_pile_up(
    files: Any,
    index: Index,
    make_note: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("keeplore.index.vectors.embedding_rows.ORPHANS", 3)
    for n in range(10):
        files.put(make_note("Tabs", f"version {n}"))
        index.refresh()
        index.embed_pending()
    kept = index._database.read(
        lambda c: c.execute("SELECT count(*) FROM embeddings").fetchone()[0]
    )
    assert kept <= 5
    assert index.state().vectors == 1


def test_a_vector_of_another_dimension_is_refused(
    files: Any, index: Index, embedder: Any
) -> None:
    with pytest.raises(ValueError, match="shape"):
        index.vector_search(embedder.embed(["x"])[0][:10], EVERYTHING, 5)


def test_a_directory_deleted_while_open_is_noticed_and_filled_again(
    files: Any,
    index: Index,
    index_directory: Path,
    embedder: Any,
    make_note: Callable[..., Memory],
) -> None:
    files.put(make_note("Tabs", "Indent with tabs."))
    index.refresh()
    index.embed_pending()
    assert near(index, embedder, "tabs") == [new_id("Tabs")]
    shutil.rmtree(index_directory)
    assert found(index, "tabs") == []
    assert near(index, embedder, "tabs") == []
    assert index.lag() == 1
    assert index.refresh().changed == 1
    assert index.embed_pending() == 0
    assert found(index, "tabs") == near(index, embedder, "tabs") == [new_id("Tabs")]


def test_a_directory_deleted_in_the_middle_of_a_refresh_leaves_no_half_index(
    files: Any,
    index: Index,
    index_directory: Path,
    make_note: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("keeplore.index.refresh.FILES_AT_ONCE", 2)
    for n in range(6):
        files.put(make_note(f"Note {n}", "tabs"))

    def delete(done: int, _: int) -> None:
        if done == 4:
            shutil.rmtree(index_directory)

    index.refresh(progress=delete)
    index.refresh()
    assert index.lag() == 0
    assert len(found(index, "tabs")) == 6


def test_a_file_that_vanishes_between_scan_and_reading_is_no_problem(
    files: Any,
    index: Index,
    make_note: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = files.put(make_note("Tabs", "Indent with tabs."))
    seen = list(files.indexed())
    (files.root / path).unlink()
    monkeypatch.setattr(files, "indexed", lambda: iter(seen))
    index.refresh()
    assert index.problems() == []
    assert found(index, "tabs") == []


def test_a_look_that_takes_long_is_left_out_only_where_nothing_is_told_of(
    files: Any,
    index: Index,
    make_note: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files.put(make_note("Tabs", "Indent with tabs."))
    files.commit = "abc"
    index.refresh()
    index.listen(lambda: True)
    assert not index.is_in_step()  # it takes no time
    monkeypatch.setattr("keeplore.index.refresh.DEAR_S", 0.0)
    assert index.is_in_step()
    files.commit = "def"
    assert not index.is_in_step()
    index.refresh()
    assert index.is_in_step()
    index.listen(lambda: False)
    assert not index.is_in_step()
