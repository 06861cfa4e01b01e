"""What goes to the archive, what never does, and that what went is still found."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ready import keeplore

from keeplore.config.places import Places
from keeplore.index import MemoryRow
from keeplore.memory import (
    CATEGORIES,
    KINDS,
    Conversation,
    Exchange,
    Memory,
    new_id,
    new_meta,
)
from keeplore.memory.note import KEPT_CATEGORIES, NoteDraft
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.archive import (
    ArchiveRules,
    archive_plan,
    archived_path,
    unarchived_path,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)
ROW = MemoryRow(
    id=new_id("x"), path="memory/conversations/2025/01/x.md", title="x", kind="conversation", scope="workspace",
    project="", category="", created_at="2025-01-01T00:00:00Z", updated_at="2025-01-01T00:00:00Z", permanent=False,
    trust="user", session="", host="", is_open=False, is_archived=False,
)  # fmt: skip


def goes(row: MemoryRow, rules: ArchiveRules | None = None, size: int = 1000) -> bool:
    return bool(archive_plan([row], {row.path: size}, rules or ArchiveRules(), NOW))


def test_conversations_of_more_than_a_year_go_by_themselves_and_younger_ones_stay() -> (
    None
):
    assert goes(ROW)
    assert not goes(replace(ROW, updated_at="2026-01-01T00:00:00Z"))
    assert not goes(replace(ROW, kind="note", category="patterns"))
    assert goes(
        replace(ROW, kind="note", category="patterns", superseded_by=new_id("y"))
    )


@given(
    st.builds(
        replace,
        st.just(ROW),
        kind=st.sampled_from(KINDS),
        category=st.sampled_from(("", *CATEGORIES)),
        permanent=st.booleans(),
        is_open=st.booleans(),
        is_archived=st.booleans(),
        superseded_by=st.sampled_from(("", new_id("y"))),
        updated_at=st.sampled_from(
            (
                "",
                "yesterday",
                "2020-01-01T00:00:00Z",
                "2020-01-01",
                "2026-11-30T00:00:00Z",
            )
        ),
    ),
    st.builds(
        ArchiveRules,
        older_than=st.sampled_from((None, timedelta(0), timedelta(days=180))),
        larger_than=st.sampled_from((0, 500)),
        categories=st.sampled_from(((), CATEGORIES)),
        kinds=st.sampled_from(((), KINDS)),
    ),
)
def test_what_is_always_kept_never_goes_whatever_the_rules_say(
    row: MemoryRow, rules: ArchiveRules
) -> None:
    moves = archive_plan([row], {row.path: 1000}, rules, NOW)
    if (
        row.permanent
        or row.is_open
        or row.is_archived
        or row.category in KEPT_CATEGORIES
        or row.kind == "digest"
    ):
        assert moves == []
    for move in moves:
        assert move.reason and unarchived_path(move.to) == row.path


def test_every_rule_that_is_given_has_to_hold() -> None:
    old = ArchiveRules(older_than=timedelta(days=180))
    assert goes(ROW, old) and not goes(
        replace(ROW, updated_at="2026-11-01T00:00:00Z"), old
    )
    assert not goes(replace(ROW, updated_at="no time"), old)
    large = ArchiveRules(larger_than=50_000)
    assert goes(ROW, large, size=50_001) and not goes(ROW, large, size=50_000)
    assert not goes(ROW, replace(old, larger_than=50_000)) and not goes(
        ROW, replace(old, project="ledgerly")
    )
    assert not goes(ROW, replace(old, kinds=("note",))) and not goes(
        ROW, replace(old, categories=("patterns",))
    )


@pytest.mark.parametrize(
    ("path", "archived"),
    [
        ("memory/facts/a.md", "memory/archive/facts/a.md"),
        ("user/memory/a.md", "user/memory/archive/a.md"),
        (
            "projects/p/memory/conversations/2025/01/a.md",
            "projects/p/memory/archive/conversations/2025/01/a.md",
        ),
    ],
)
def test_the_place_in_the_archive_is_the_same_below_it(
    path: str, archived: str
) -> None:
    assert archived_path(path) == archived == archived_path(archived)
    assert unarchived_path(archived) == path == unarchived_path(path)


@pytest.fixture
def root(home: Path) -> Path:
    """A workspace with two old conversations, a fact and a permanent fact."""
    places = Places.from_environment(os.environ)
    initialise(places, home / "memory")
    with Registry(places) as registry:
        workspace = registry.named("memory")
        for title in ("Kafka retention", "Invoice rounding"):
            at = "2024-03-01T10:00:00Z"
            meta = new_meta(
                id=new_id(title),
                kind="conversation",
                title=title,
                created_at=at,
                updated_at=at,
                scope="workspace",
            )
            exchange = Exchange(
                f"t-{title[:3]}",
                at,
                f"How do we do {title}?",
                (f"{title} is done by the book.",),
            )
            workspace.store.save(
                Memory(meta, Conversation(title, (exchange,)).to_markdown())
            )
        for text, permanent in (
            ("Anna owns the billing service", False),
            ("Berta owns the ledger", True),
        ):
            workspace.notes.write(
                NoteDraft(
                    text,
                    category="user-facts",
                    permanent=permanent,
                    created_at="2024-03-01T10:00:00Z",
                )
            )
        workspace.commit()
    return home / "memory"


def test_it_is_shown_first_then_done_in_one_commit_and_found_after(
    root: Path, git
) -> None:
    before = {path.name: path.read_bytes() for path in root.rglob("*.md")}
    head = git("rev-parse", "HEAD", cwd=root)
    dry = keeplore("archive", "--json")
    planned = json.loads(dry.stdout)
    assert not planned["is_applied"] and {
        move["title"] for move in planned["moves"]
    } == {
        "Kafka retention",
        "Invoice rounding",
    }
    assert (
        git("rev-parse", "HEAD", cwd=root) == head
        and not (root / "memory" / "archive").exists()
    )
    assert "--apply" in keeplore("archive").stderr
    done = keeplore("archive", "--apply")
    assert done.returncode == 0 and "2 memories archived" in done.stdout
    assert {path.name: path.read_bytes() for path in root.rglob("*.md")} == before
    assert len(list((root / "memory" / "archive").rglob("*.md"))) == 2
    assert git("rev-list", "--count", f"{head}..HEAD", cwd=root) == "1"
    assert git("log", "-1", "--format=%s", cwd=root) == "Archive 2 memories"
    assert git("status", "--porcelain", cwd=root) == ""
    found = json.loads(keeplore("recall", "--json", "--text", "Kafka retention").stdout)
    assert found["status"] == "found" and "/archive/" in found["hits"][0]["path"]
    assert "nothing to archive" in keeplore("archive", "--apply").stderr


def test_a_long_plan_is_cut_and_counted(root: Path) -> None:
    with Registry(Places.from_environment(os.environ)) as registry:
        store = registry.named("memory").store
        for number in range(30):
            meta = new_meta(
                id=new_id(), kind="conversation", title=f"Talk "
                                                        f"{number}", created_at="2024-03-01T10:00:00Z",
                scope="workspace",
            )  # fmt: skip
            store.save(Memory(meta, f"# Talk {number}\n"))
    plan = keeplore("archive")
    assert len(plan.stdout.splitlines()) == 20
    assert (
        "the first 20 of 32; --json lists all" in plan.stderr
        and "32 memories, " in plan.stderr
    )
    assert len(json.loads(keeplore("archive", "--json").stdout)["moves"]) == 32


def test_a_permanent_memory_stays_even_when_asked_for_by_name(root: Path) -> None:
    moves = json.loads(
        keeplore("archive", "--older-than", "1d", "-c", "user-facts", "--json").stdout
    )["moves"]
    assert [move["title"] for move in moves] == ["Anna owns the billing service"]


def test_a_category_that_is_always_kept_cannot_be_named(root: Path) -> None:
    done = keeplore("archive", "--category", "architectural-decisions")
    assert done.returncode == 2 and "user-facts" in done.stderr


def test_one_comes_back_from_the_archive(root: Path, git) -> None:
    (path,) = root.rglob("*kafka*.md")
    assert keeplore("archive", "--apply").returncode == 0
    assert not path.exists()
    done = keeplore("archive", "--undo", new_id("Kafka retention")[4:12])
    assert (
        done.returncode == 0
        and path.exists()
        and git("status", "--porcelain", cwd=root) == ""
    )
    again = keeplore("archive", "--undo", new_id("Kafka retention"))
    assert again.returncode == 1 and "is not archived" in again.stderr


def test_what_cannot_be_moved_stays_with_the_next_step_and_the_others_go(
    root: Path, git
) -> None:
    planned = json.loads(keeplore("archive", "--json").stdout)["moves"]
    blocked, other = sorted(
        planned, key=lambda move: move["title"] != "Kafka retention"
    )
    place = root / blocked["to"]
    place.parent.mkdir(parents=True)
    place.write_text("theirs\n")
    done = keeplore("archive", "--apply")
    way = f"{blocked['to']} is there already. Move one of them away"
    assert (done.returncode, done.stderr) == (
        1,
        f"note: {blocked['path']} stays: {way}\n",
    )
    assert "1 memory archived, " in done.stdout
    assert (root / blocked["path"]).exists() and (root / other["to"]).exists()
    assert git("log", "-1", "--format=%s", cwd=root) == "Archive 1 memory"
    place.unlink()
    assert keeplore("archive", "--apply").returncode == 0
    (root / other["path"]).write_text("theirs\n")
    both = [move["id"].removeprefix("mem_")[:8] for move in (other, blocked)]
    undone = keeplore("archive", *(f"--undo={digits}" for digits in both))
    assert (undone.returncode, undone.stdout) == (1, f"Back at {blocked['path']}\n")
    assert f"{other['path']} is there already" in undone.stderr


def test_a_file_in_place_of_the_archive_is_named_and_nothing_moves(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.md")}
    (root / "memory" / "archive").write_text("theirs\n")
    done = keeplore("archive", "--apply")
    assert done.returncode == 1 and "0 memories archived, 0 kB" in done.stdout
    for line in done.stderr.splitlines():
        assert line.startswith("note: memory/conversations/") and line.endswith(
            ": Not a directory. "
            "Something is in the way of that path: move it away, and run it again"
        )
    assert len(done.stderr.splitlines()) == 2
    assert {path: path.read_bytes() for path in root.rglob("*.md")} == before


def test_while_git_is_busy_files_move_and_are_committed_later(root: Path, git) -> None:
    before = {path.name: path.read_bytes() for path in root.rglob("*.md")}
    busy = root / ".git" / "MERGE_HEAD"
    busy.write_text(git("rev-parse", "HEAD", cwd=root))
    later = "note: it is on disk and not committed yet; `keeplore doctor` says why\n"
    done = keeplore("archive", "--apply")
    told = (
        "2 memories archived, 1 kB; `keeplore archive --undo ID` brings one back",
        later,
    )
    assert (done.stdout.splitlines()[-1], done.stderr) == told
    (path,) = root.rglob("*kafka*.md")
    back = keeplore("archive", "--undo", new_id("Kafka retention"))
    home = path.relative_to(root).as_posix().replace("archive/", "")
    assert (back.stdout, back.stderr) == (f"Back at {home}\n", later)
    assert len([*(root / "memory" / "archive").rglob("*.md")]) == 1
    assert {path.name: path.read_bytes() for path in root.rglob("*.md")} == before


def test_what_is_wrong_with_an_age_or_a_size_is_said(root: Path) -> None:
    for option, value, words in (
        ("--older-than", "soon", "180d"),
        ("--larger-than", "-3", "50kB"),
    ):
        done = keeplore("archive", option, value)
        assert done.returncode == 2 and words in done.stderr
