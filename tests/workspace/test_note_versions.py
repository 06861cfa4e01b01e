"""Notes over a real workspace: written once, changed by versions, forked by two machines, found by
any name.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import NotFound, StoreError
from keeplore.index import MemoryFilter
from keeplore.memory import Memory, new_id
from keeplore.memory.note import NoteDraft, session_note_id, statement_of
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    places = Places(tmp_path / "state", tmp_path / "cache")
    initialise(places, tmp_path / "memory")
    with Registry(places) as registry:
        yield registry


@pytest.fixture
def workspace(registry: Registry, tmp_path: Path) -> Workspace:
    return registry.for_directory(tmp_path)


def heads(workspace: Workspace) -> list[str]:
    workspace.index.refresh()
    return [row.title for row in workspace.index.listed(MemoryFilter(kind="note"))]


def test_a_note_is_written_where_its_category_says(workspace: Workspace) -> None:
    outcome = workspace.notes.write(
        NoteDraft(
            "Use pnpm, never npm.", category="project-conventions", permanent=True
        )
    )
    assert outcome.is_new
    assert outcome.path.startswith("memory/conventions/")
    memory = workspace.store.load(outcome.path)
    assert (memory.title, memory.is_permanent, memory.scope) == (
        "Use pnpm, never npm.",
        True,
        "workspace",
    )
    assert memory.body == "# Use pnpm, never npm.\n"


def test_a_version_has_the_times_that_it_is_given(workspace: Workspace) -> None:
    id_ = workspace.notes.write(NoteDraft("Use pnpm, never npm.")).memory.id
    times = {"created_at": "2026-02-05T02:40:00Z", "updated_at": "2026-02-06T02:40:00Z"}
    for title in ("pnpm", "No npm"):  # also those of the version before
        made = workspace.notes.revise(id_, title=title, **times).memory
        assert times.items() <= made.meta.items()
    assert not workspace.notes.revise(id_, **times).is_new
    later = workspace.notes.revise(id_, title="pnpm").memory
    assert later.created_at == later.updated_at > times["updated_at"]


def test_an_exact_duplicate_adds_provenance_instead_of_a_file(
    workspace: Workspace,
) -> None:
    first = workspace.notes.write(NoteDraft("Use pnpm, never npm."))
    source = {"host": "claude-code", "session": "s1", "turns": ["t1"]}
    again = workspace.notes.write(NoteDraft("use  pnpm, never npm", source=source))
    workspace.notes.write(
        NoteDraft("use pnpm, never npm!", source=source)
    )  # the same words of the same session
    assert (again.is_new, again.path) == (False, first.path)
    assert heads(workspace) == ["Use pnpm, never npm."]
    [entry] = workspace.store.records()
    assert (entry["event"], entry["id"], entry["source"]["turns"]) == (
        "again",
        first.memory.id,
        ["t1"],
    )


def test_where_a_note_was_said_again_stands_without_its_secrets(
    registry: Registry, tmp_path: Path
) -> None:
    settings = tmp_path / "memory" / "keeplore.yaml"
    settings.write_text("redaction: {deny: ['acme-[a-z]+']}\n")
    workspace = registry.for_directory(tmp_path)
    workspace.notes.write(NoteDraft("Use pnpm, never npm."))
    secret = "ghp_" + "a1B2" * 9
    source = {"host": "emit", "session": secret, "branch": "acme-zeppelin/login"}
    for _ in range(2):
        workspace.notes.write(NoteDraft("Use pnpm, never npm", source=source))
    [entry] = workspace.store.records()
    assert entry["source"]["session"].startswith("[REDACTED:github-token:")
    assert entry["source"]["branch"].startswith("[REDACTED:denied:")
    assert workspace.store.commit().held_back == ()


def test_the_same_words_elsewhere_are_another_note(workspace: Workspace) -> None:
    workspace.notes.write(NoteDraft("Use pnpm"))
    assert workspace.notes.write(NoteDraft("Use pnpm", project="shop")).is_new


def test_what_is_said_again_as_permanent_becomes_permanent(
    workspace: Workspace,
) -> None:
    workspace.notes.write(NoteDraft("Use pnpm"))
    outcome = workspace.notes.write(NoteDraft("Use pnpm", permanent=True))
    assert (outcome.is_new, outcome.memory.is_permanent, outcome.memory.version) == (
        False,
        True,
        2,
    )
    assert heads(workspace) == ["Use pnpm"]


def test_a_near_duplicate_is_written_and_named(workspace: Workspace) -> None:
    first = workspace.notes.write(NoteDraft("The staging database runs on port 5433"))
    workspace.notes.write(NoteDraft("Prices are kept in cents"))
    outcome = workspace.notes.write(NoteDraft("Staging database port is 5434"))
    assert outcome.is_new
    assert [near.row.id for near in outcome.similar] == [first.memory.id]
    assert workspace.notes.similar(NoteDraft("Nothing like that at all")) == ()


def test_a_change_is_a_version_and_the_history_tells_them_all(
    workspace: Workspace,
) -> None:
    first = workspace.notes.write(
        NoteDraft("Timeout is 30 s", category="infrastructure")
    )
    before = (workspace.root / first.path).read_bytes()
    second = workspace.notes.revise(
        first.memory.id, body="# Timeout is 60 s\n", title="Timeout is 60 s"
    )
    third = workspace.notes.revise(first.memory.id, permanent=True)
    assert (workspace.root / first.path).read_bytes() == before
    assert third.memory.supersedes == second.memory.id
    workspace.index.refresh()
    told = workspace.notes.history(second.memory.id)
    assert [
        (version.memory.version, version.memory.title, version.is_head)
        for version in told
    ] == [
        (1, "Timeout is 30 s", False),
        (2, "Timeout is 60 s", False),
        (3, "Timeout is 60 s", True),
    ]
    assert heads(workspace) == ["Timeout is 60 s"]


def test_what_changes_nothing_is_no_version(workspace: Workspace) -> None:
    first = workspace.notes.write(NoteDraft("Timeout is 30 s"))
    assert not workspace.notes.revise(first.memory.id, permanent=None).is_new
    assert len(workspace.notes.history(first.memory.id)) == 1


def test_a_fork_has_one_head_everywhere_and_the_next_version_mends_it(
    workspace: Workspace,
) -> None:
    first = workspace.notes.write(NoteDraft("Timeout is 30 s"))
    ends = [
        _sibling(
            workspace,
            first.memory,
            f"Timeout is {s} s",
            f"2026-12-0{s // 30}T00:00:00Z",
        )
        for s in (60, 90)
    ]
    assert heads(workspace) == ["Timeout is 90 s"]
    assert [v.is_leaf for v in workspace.notes.history(first.memory.id)] == [
        False,
        True,
        True,
    ]
    mended = workspace.notes.revise(
        ends[0], body="# Timeout is 75 s\n", title="Timeout is 75 s"
    )
    assert mended.memory.supersedes == ends[1]
    assert mended.memory.meta["related"] == [
        {"id": ends[0], "relationship": "supersedes"}
    ]
    assert heads(workspace) == ["Timeout is 75 s"]
    [chain] = workspace.index.chains()
    assert chain.leaves == (mended.memory.id,)


def test_a_conversation_in_the_making_is_not_changed(workspace: Workspace) -> None:
    memory = Memory(
        {
            **workspace.notes.write(NoteDraft("x y z")).memory.meta,
            "id": new_id("o"),
            "status": "open",
        },
        "# x\n",
    )
    workspace.store.save(memory)
    with pytest.raises(StoreError, match="still being written"):
        workspace.notes.revise(memory.id, permanent=True)


def test_a_statement_of_a_session_is_one_file_however_often_it_is_read(
    workspace: Workspace,
) -> None:
    id_ = session_note_id("claude-code", "s1", "Always use pnpm")
    paths = {
        workspace.notes.write(NoteDraft("Always use pnpm", id=id_)).path
        for _ in range(3)
    }
    assert len(paths) == 1


def test_many_threads_write_and_nothing_is_lost_or_doubled(
    workspace: Workspace,
) -> None:
    def write(number: int) -> None:
        for n in range(5):
            workspace.notes.write(NoteDraft(f"Fact {n} of {number}"))
            workspace.notes.write(NoteDraft(f"Shared {n}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(heads(workspace)) == sorted(
        [
            *(f"Fact {n} of {k}" for n in range(5) for k in range(4)),
            *(f"Shared {n}" for n in range(5)),
        ]
    )


def test_secrets_do_not_enter_a_note_by_hand(workspace: Workspace) -> None:
    secret = "ghp_" + "a1B2" * 9
    outcome = workspace.notes.write(
        NoteDraft(f"The deploy token is {secret}", title=f"Token {secret}")
    )
    assert secret not in (workspace.root / outcome.path).read_text()


@pytest.mark.parametrize("empty", ["", "  \n", "# \n"])
def test_nothing_is_not_remembered(workspace: Workspace, empty: str) -> None:
    with pytest.raises(StoreError, match="nothing to remember"):
        workspace.notes.write(NoteDraft(empty))


def test_a_long_text_keeps_all_its_words_below_a_short_title(
    workspace: Workspace,
) -> None:
    text = (
        "We decided to keep prices in cents. Floats lost a cent in the March invoices.\n\n- "
        "one\n- two"
    )
    memory = workspace.notes.write(NoteDraft(text)).memory
    assert memory.title == "We decided to keep prices in cents."
    assert statement_of(memory) == text


def test_a_memory_is_found_by_id_beginning_path_and_name(
    registry: Registry, workspace: Workspace, tmp_path: Path
) -> None:
    outcome = workspace.notes.write(NoteDraft("Use pnpm"))
    file = workspace.root / outcome.path
    for reference in (
        outcome.memory.id,
        outcome.memory.id[4:10],
        outcome.path,
        str(file),
        file.name,
    ):
        assert registry.find(reference, tmp_path).memory == outcome.memory
    assert (
        registry.find(f"decisions/{file.name}", workspace.root / "memory").memory
        == outcome.memory
    )
    for unknown in (
        "deadbeef",
        "",
        "mem_",
        "../../etc/passwd",
        "100%",
        "no such thing",
    ):
        with pytest.raises(NotFound, match="there is no memory"):
            registry.find(unknown, tmp_path)


def _sibling(workspace: Workspace, old: Memory, title: str, at: str) -> str:
    meta = {
        **old.meta,
        "id": new_id(),
        "supersedes": old.id,
        "title": title,
        "created_at": at,
        "updated_at": at,
    }
    workspace.store.save(Memory(meta, f"# {title}\n"))
    return str(meta["id"])


def test_what_is_told_besides_is_added_as_a_version(workspace: Workspace) -> None:
    uses = {"source": "shop", "relationship": "uses", "target": "pnpm"}
    calls = {"source": "shop", "relationship": "calls", "target": "till"}
    aspect = {"entity": "pnpm", "type": "tool", "aspect": "speed", "kind": "attribute"}
    other = workspace.notes.write(NoteDraft("Prices are kept in cents")).memory.id
    link = {"id": other, "relationship": "relates-to"}
    told = {"entities": [{**uses, "confidence": 1.0}]}
    first = workspace.notes.write(NoteDraft("Use pnpm", told=told))
    more = {"entities": [{**uses, "confidence": 0.5}, calls], "aspects": [aspect]}
    again = workspace.notes.write(NoteDraft("Use pnpm", told=more, related=(link,)))
    assert (again.is_new, again.has_more, again.memory.version) == (False, True, 2)
    assert again.memory.supersedes == first.memory.id
    about = {key: again.memory.meta[key] for key in ("entities", "aspects", "related")}
    assert about == {
        "entities": [{**uses, "confidence": 1.0}, calls],
        "aspects": [aspect],
        "related": [link],
    }
    once_more = workspace.notes.write(NoteDraft("Use pnpm", told=more, related=(link,)))
    assert (once_more.has_more, once_more.memory.id) == (False, again.memory.id)
    changed = workspace.notes.revise(again.memory.id, permanent=True).memory
    assert {key: changed.meta[key] for key in about} == about
    assert sorted(heads(workspace)) == ["Prices are kept in cents", "Use pnpm"]


def test_what_the_person_says_too_is_the_persons_from_then_on(
    workspace: Workspace,
) -> None:
    of_agent = {"host": "codex", "session": "one"}
    first = workspace.notes.write(
        NoteDraft("Use pnpm", trust="assistant", source=of_agent)
    )
    of_person = {"host": "codex", "session": "two"}
    again = workspace.notes.write(NoteDraft("Use pnpm", source=of_person))
    machine = {"machine": first.memory.source["machine"]}
    assert (again.is_new, again.has_more, again.memory.trust) == (False, True, "user")
    assert again.memory.source == {**of_person, **machine, "from": first.memory.id}
    repeated = workspace.notes.write(
        NoteDraft("Use pnpm", trust="assistant", source=of_agent)
    )
    assert (repeated.has_more, repeated.memory.trust) == (False, "user")


def test_an_agent_says_nothing_more_of_what_the_person_said(
    workspace: Workspace,
) -> None:
    first = workspace.notes.write(NoteDraft("Use pnpm"))
    told = {"entities": [{"source": "shop", "relationship": "uses", "target": "npm"}]}
    again = workspace.notes.write(NoteDraft("Use pnpm", told=told, trust="assistant"))
    assert (again.has_more, again.memory.id) == (False, first.memory.id)
