"""What people and other programs do to files: the index follows, recall and lists show it, nothing
is written back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.index import MemoryFilter, MemoryRow
from keeplore.memory import Memory, new_id, new_meta, serialise
from keeplore.recall.request import RecallRequest
from keeplore.workspace import Registry
from keeplore.workspace.workspace import Workspace

SAID = "We keep the ledger append-only, because auditors ask for every state.\n"
PLACE = "memory/decisions/2026-02-09-append-only-ledger"


@pytest.fixture
def write(workspace: Workspace) -> Callable[..., Path]:
    def write(path: str, text: str | bytes = SAID) -> Path:
        target = workspace.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    return write


def ours(title: str = "Append-only ledger", body: str = SAID, **meta: object) -> str:
    fields = {
        "id": new_id(title),
        "kind": "note",
        "title": title,
        "created_at": "2026-02-09T14:03:11Z",
        "scope": "workspace",
        "category": "architectural-decisions",
        "trust": "user",
        **meta,
    }
    return serialise(Memory(new_meta(**fields), f"# {title}\n\n{body}"))


def texts(workspace: Workspace) -> dict[str, bytes]:
    folders = ("memory", "projects", "user")
    found = (
        path
        for folder in folders
        for path in (workspace.root / folder).rglob("*")
        if path.is_file()
    )
    return {
        path.relative_to(workspace.root).as_posix(): path.read_bytes() for path in found
    }


def listed(workspace: Workspace, **wanted: object) -> dict[str, MemoryRow]:
    """What a list shows, by path; and proof that looking, recalling and committing writes into no
    file.
    """
    before = texts(workspace)
    workspace.index.refresh()
    rows = {row.path: row for row in workspace.index.listed(MemoryFilter(**wanted))}  # type: ignore[arg-type]
    workspace.recall(RecallRequest("ledger", workspace.root, text_only=True))
    workspace.commit()
    assert texts(workspace) == before
    return rows


def recalled(
    workspace: Workspace, query: str = "append-only ledger auditors"
) -> list[str]:
    answer = workspace.recall(
        RecallRequest(query, workspace.root, wide=True, text_only=True)
    )
    assert not any("left out" in note for note in answer.notes), answer.notes
    return sorted(hit.path for hit in answer.hits)


PLAIN = {
    "plain markdown": ("memory/ledger.md", SAID),
    "a project's": ("projects/ledgerly/memory/ledger.md", SAID),
    "the person's": ("user/memory/ledger.md", SAID),
    "in the archive": ("memory/archive/decisions/ledger.md", SAID),
    "a README": ("memory/README.md", f"# Ledger\n\n{SAID}"),
    "a name with spaces": ("memory/decisions/the ledger (final), größe.md", SAID),
    "another program's": (
        "memory/mem_3F0C9A2E-6F0B-4D55-9C5E-0F5F6A1B2C3D.md",
        f"---\ncreated: 1770645791\ntype: decision\ntags: [ledger]\n---\n\n{SAID}",
    ),
    "Claude Code's": (
        "projects/ledgerly/memory/project_ledger.md",
        (
            f"---\nname: ledger\ndescription: How the ledger is kept\nmetadata:\n  type: "
            f"project\n---\n\n{SAID}"
        ),
    ),
}


@pytest.mark.parametrize(("path", "text"), PLAIN.values(), ids=PLAIN)
def test_a_file_without_front_matter_of_ours_is_listed_recalled_and_found_by_its_id(
    path: str, text: str, workspace: Workspace, write: Callable[..., Path]
) -> None:
    write(path, text)
    rows = listed(workspace, archived="with")
    assert [*rows] == [path] and recalled(workspace) == [path]
    assert rows[path].title and rows[path].trust == "document"
    assert workspace.store.find(rows[path].id) == path
    assert workspace.store.get(rows[path].id)[1].body.endswith(SAID)
    assert workspace.index.problems() == []


def test_claude_codes_folder_counts_each_note_once(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    folder = "projects/ledgerly/memory"
    write(
        f"{folder}/MEMORY.md",
        "# Index\n\n- [Ledger](project_ledger.md) — append-only ledger for auditors\n",
    )
    write(
        f"{folder}/project_ledger.md",
        f"---\nname: ledger\ndescription: kept\ntype: project\n---\n\n{SAID}",
    )
    assert {path.rpartition("/")[2] for path in listed(workspace)} == {
        "MEMORY.md",
        "project_ledger.md",
    }
    assert recalled(workspace) == [f"{folder}/project_ledger.md"]


def test_a_body_that_was_edited_is_found_by_what_it_says_now(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    write(f"{PLACE}-x.md", ours())
    assert recalled(workspace) == [f"{PLACE}-x.md"]
    write(
        f"{PLACE}-x.md",
        ours(body="Entries may be changed for a day, says the bookkeeper.\n"),
    )
    assert recalled(workspace, "bookkeeper") == [f"{PLACE}-x.md"]
    assert recalled(workspace, "auditors") == []


def test_front_matter_that_was_edited_counts_at_once(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    write(f"{PLACE}-x.md", ours())
    write(f"{PLACE}-x.md", ours(permanent=True, category="gotchas", scope="user"))
    row = listed(workspace)[f"{PLACE}-x.md"]
    assert (row.permanent, row.category, row.scope) == (True, "gotchas", "user")


def test_a_file_that_was_renamed_and_moved_is_the_same_memory(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    id_ = new_id("Append-only ledger")
    source = write(f"{PLACE}-{id_[4:12]}.md", ours())
    listed(workspace)
    target = workspace.root / "projects" / "ledgerly" / "memory" / "My ledger.md"
    target.parent.mkdir(parents=True)
    source.rename(target)
    [(path, row)] = listed(workspace).items()
    assert (path, row.id, row.scope) == (
        "projects/ledgerly/memory/My ledger.md",
        id_,
        "workspace",
    )
    assert recalled(workspace) == [path]
    assert workspace.store.find(id_) == path


def test_a_plain_file_that_was_moved_to_a_project_is_that_projects(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    source = write("memory/ledger.md")
    assert listed(workspace)["memory/ledger.md"].scope == "workspace"
    target = (
        workspace.root / "projects" / "ledgerly" / "memory" / "gotchas" / "ledger.md"
    )
    target.parent.mkdir(parents=True)
    source.rename(target)
    [(path, row)] = listed(workspace).items()
    assert (row.scope, row.project, row.category) == ("project", "ledgerly", "gotchas")
    assert recalled(workspace) == [path] and workspace.store.find(row.id) == path


def test_a_plain_file_keeps_its_id_in_the_archive(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    source = write("memory/facts/ledger.md")
    before = listed(workspace)["memory/facts/ledger.md"].id
    target = workspace.root / "memory" / "archive" / "facts" / "ledger.md"
    target.parent.mkdir(parents=True)
    source.rename(target)
    row = listed(workspace, archived="only")["memory/archive/facts/ledger.md"]
    assert (row.id, row.is_archived) == (before, True)
    assert workspace.store.find(before) == "memory/archive/facts/ledger.md"


def test_a_file_that_was_deleted_is_gone(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    path = write(f"{PLACE}-x.md", ours())
    assert recalled(workspace)
    path.unlink()
    assert recalled(workspace) == [] and listed(workspace) == {}


@pytest.mark.parametrize(
    "change", [lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\xef\xbb\xbf" + b]
)
@pytest.mark.parametrize("text", [ours(), SAID], ids=["ours", "plain"])
def test_line_ends_and_byte_order_marks_change_nothing(
    text: str,
    change: Callable[[bytes], bytes],
    workspace: Workspace,
    write: Callable[..., Path],
) -> None:
    path = "memory/decisions/ledger.md"
    write(path, text)
    before = listed(workspace)[path]
    write(path, change(text.encode()))
    after = listed(workspace)[path]
    assert (after.id, after.title, after.scope) == (
        before.id,
        before.title,
        before.scope,
    )
    assert recalled(workspace) == [path]
    assert workspace.index.problems() == []


BROKEN = {
    "another encoding": ours(body="Größe des Hauptbuchs\n").encode("latin-1"),
    "UTF-16": SAID.encode("utf-16"),
    "emptied": b"",
    "half saved": ours().encode()[:60],
    "zeroed by a crash": b"\0" * 300,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_listed_and_hides_nothing_else(
    data: bytes, workspace: Workspace, write: Callable[..., Path]
) -> None:
    write("memory/decisions/a.md", data)
    write("memory/decisions/b.md")
    assert [*listed(workspace)] == ["memory/decisions/b.md"] and recalled(
        workspace
    ) == ["memory/decisions/b.md"]
    assert [path for path, _ in workspace.index.problems()] == ["memory/decisions/a.md"]
    write("memory/decisions/a.md", ours())
    assert len(listed(workspace)) == 2 and workspace.index.problems() == []


@pytest.mark.parametrize(
    "name",
    [
        "ledger.md~",
        ".ledger.md.swp",
        ".#ledger.md",
        "#ledger.md#",
        "4913",
        "ledger.md.orig",
        ".ledger.md",
        "x.txt",
    ],
)
def test_what_editors_leave_is_no_memory(
    name: str, workspace: Workspace, write: Callable[..., Path]
) -> None:
    write(f"memory/decisions/{name}")
    write("memory/decisions/ledger.md", ours())
    assert [*listed(workspace)] == ["memory/decisions/ledger.md"]
    assert recalled(workspace) == ["memory/decisions/ledger.md"]


def test_a_copy_with_the_same_id_is_listed_as_a_problem_and_counts_once(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    write("memory/decisions/ledger.md", ours())
    write("memory/decisions/Copy of ledger.md", ours(updated_at="2026-02-10T14:03:11Z"))
    assert [*listed(workspace)] == ["memory/decisions/Copy of ledger.md"]
    assert [path for path, _ in workspace.index.problems()] == [
        "memory/decisions/ledger.md"
    ]
    assert len(recalled(workspace)) == 1


def test_a_directory_named_like_a_file_is_looked_into(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    write("memory/decisions/x.md/ledger.md", ours())
    assert (
        [*listed(workspace)]
        == ["memory/decisions/x.md/ledger.md"]
        == recalled(workspace)
    )


def test_links_are_not_followed(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    outside = Path.home() / "elsewhere"
    outside.mkdir()
    (outside / "secret.md").write_text(SAID)
    write("memory/decisions/own.md", ours())
    (workspace.root / "memory" / "decisions" / "link.md").symlink_to(
        outside / "secret.md"
    )
    (workspace.root / "memory" / "linked").symlink_to(outside)
    assert [*listed(workspace)] == ["memory/decisions/own.md"] == recalled(workspace)


def test_a_name_that_is_no_text_does_not_stop_the_others(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    write("memory/decisions/ledger.md", ours())
    folder = os.fsencode(workspace.root / "memory" / "decisions")
    try:
        Path(os.fsdecode(folder + b"/gr\xf6sse.md")).write_text(SAID)
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    assert [*listed(workspace)] == ["memory/decisions/ledger.md"] == recalled(workspace)


def test_a_fresh_machine_comes_to_the_same(
    workspace: Workspace, write: Callable[..., Path]
) -> None:
    for path, text in PLAIN.values():
        write(path, text)
    rows = listed(workspace, archived="with")
    for path in workspace.root.rglob("*.md"):
        os.utime(path, (0, 0))
    workspace.close()
    shutil.rmtree(Path(os.environ["KEEPLORE_CACHE_DIR"]))
    with Registry(Places.from_environment(os.environ)) as registry:
        assert listed(registry.named("memory"), archived="with") == rows
