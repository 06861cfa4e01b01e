"""``keeplore import auto-memory``: Claude Code's own notes become memories of the right project,
once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keeplore.memory import Memory, parse

MORTAR = """---
name: mortar-tests
description: How the tests of Mortar are run
metadata:
  node_type: memory
  type: feedback
---

Run the tests of Mortar with `make check`, because pytest alone skips the fixtures.
"""
LOOSE = """---
name: deploys
description: Deploys: they go out on Tuesdays, never before noon
type: project
---
The release train leaves on Tuesdays.
"""
INDEX = """# Memory Index

- [Mortar tests](mortar.md): how the tests are run
- [Deploys](deploys.md): when they go out
"""


def slug(directory: Path) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in str(directory))


def claude(home: Path) -> Path:
    return home / ".claude"


@pytest.fixture
def noted(home, shop):
    """A function that writes a note of a directory, the shop's if none is named."""

    def note(name: str, text: str, directory: Path = shop) -> Path:
        path = claude(home) / "projects" / slug(directory) / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return note


def memories(root: Path) -> dict[str, Memory]:
    """Title → memory of everything that is in the workspace."""
    found = [
        parse(path.read_text())
        for path in root.rglob("memory/**/*.md")
        if ".git" not in path.parts
    ]
    return {memory.title: memory for memory in found}


def snapshot(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def recalled(run, query: str, cwd: Path) -> list[str]:
    """What is shown of each hit, best first."""
    return [
        json.dumps(hit)
        for hit in json.loads(run("recall", query, "--json", cwd=cwd).stdout)["hits"]
    ]


def test_notes_become_memories_of_their_project_that_are_recalled_there(
    memory, shop, home, noted, run, git
):
    for name, text in (
        ("MEMORY.md", INDEX),
        ("mortar.md", MORTAR),
        ("deploys.md", LOOSE),
    ):
        noted(name, text)
    before = snapshot(claude(home))
    done = run("import", "auto-memory")
    assert done.returncode == 0, done.stderr
    assert "auto-memory: 2 new, 0 updated of 3 notes." in done.stdout
    found = memories(memory)
    assert found.keys() == {
        "mortar tests",
        "deploys",
    }  # the index points to both, and says nothing more
    mortar = found["mortar tests"]
    assert (mortar.kind, mortar.category, mortar.trust) == (
        "note",
        "corrections",
        "assistant",
    )
    assert (mortar.scope, mortar.project, mortar.meta["trigger"]) == (
        "project",
        "shop",
        "import",
    )
    assert mortar.source["host"] == "claude-code"
    assert mortar.source["path"] == f"~/.claude/projects/{slug(shop)}/memory/mortar.md"
    assert "never before noon" in found["deploys"].body
    assert "make check" in recalled(run, "How are the tests of Mortar run?", shop)[0]
    assert snapshot(claude(home)) == before
    assert git("status", "--porcelain", cwd=memory) == ""
    assert "Import 2 notes" in git("log", "-1", "--format=%s", cwd=memory)


def test_again_changes_nothing_and_an_updated_note_is_a_new_version(
    memory, shop, noted, run
):
    noted("mortar.md", MORTAR)
    run("import", "auto-memory")
    before = snapshot(memory)
    again = run("import", "auto-memory")
    assert "0 new, 0 updated of 1 note." in again.stdout
    assert snapshot(memory) == before
    old = memories(memory)["mortar tests"]
    noted("mortar.md", MORTAR.replace("make check", "make verify"))
    assert "0 new, 1 updated of" in run("import", "auto-memory").stdout
    assert "0 new, 0 updated of" in run("import", "auto-memory").stdout
    versions = [parse(path.read_text()) for path in memory.rglob("corrections/*.md")]
    new = next(version for version in versions if version.supersedes)
    assert len(versions) == 2 and new.supersedes == old.id and new.version == 2
    hits = recalled(run, "How are the tests of Mortar run?", shop)
    assert "make verify" in hits[0] and "make check" not in "".join(hits)
    noted("mortar.md", MORTAR)  # it says again what it said first
    assert "0 new, 1 updated of" in run("import", "auto-memory").stdout
    assert "make check" in recalled(run, "How are the tests of Mortar run?", shop)[0]


@pytest.mark.parametrize("text", [MORTAR, MORTAR.replace("make check", "make verify")])
def test_what_was_forgotten_or_deleted_by_hand_does_not_come_back(
    memory, noted, run, git, text
):
    noted("mortar.md", MORTAR)
    noted("deploys.md", LOOSE)
    run("import", "auto-memory")
    assert run("forget", "--yes", memories(memory)["mortar tests"].id).returncode == 0
    path = next(memory.rglob("*deploys*.md"))
    git("rm", "-q", str(path), cwd=memory)
    git("commit", "-qm", "Not that", cwd=memory)
    noted("mortar.md", text)
    assert "0 new, 0 updated of" in run("import", "auto-memory").stdout
    assert memories(memory) == {}


def test_words_of_a_person_are_not_replaced_by_what_the_agent_notes_later(
    memory, noted, run
):
    noted("mortar.md", MORTAR)
    run("import", "auto-memory")
    path = next(memory.rglob("*mortar*.md"))
    path.write_text(path.read_text().replace("make check", "make by-hand"))
    assert "0 new, 0 updated of" in run("import", "auto-memory").stdout
    noted("mortar.md", MORTAR.replace("make check", "make verify"))
    done = run("import", "auto-memory")
    assert "0 new, 0 updated of" in done.stdout and "keeplore edit" in done.stderr
    assert [path.name for path in memory.rglob("*mortar*.md")] == [path.name]
    assert "make by-hand" in path.read_text()


def test_the_directory_is_told_by_sessions_before_the_name_of_the_folder(
    memory, home, shop, run
):
    folder = claude(home) / "projects" / "chosen-by-a-variable"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "mortar.md").write_text(MORTAR)
    line = {
        "type": "user",
        "sessionId": "s",
        "cwd": str(shop),
        "timestamp": "2026-02-09T14:00:00Z",
        "message": {},
    }
    (folder / "s.jsonl").write_text(json.dumps(line) + "\n")
    run("import", "auto-memory")
    assert memories(memory)["mortar tests"].project == "shop"


def test_notes_of_a_directory_that_nothing_tells_are_left_out_with_the_way_to_take_them(
    memory, home, shop, noted, run
):
    noted("mortar.md", MORTAR, home / "gone" / "away")
    one, other = home / "code" / "two-words", home / "code" / "two" / "words"
    one.mkdir()
    other.mkdir(parents=True)
    note = noted("deploys.md", LOOSE, one)
    listed = run("import", "auto-memory")
    assert listed.returncode == 0 and memories(memory) == {}
    assert (
        "no directory that is here" in listed.stderr
        and f"{other} or {one}" in listed.stderr
    )
    assert f"--from {note.parent}" in listed.stderr
    assert (
        run("import", "auto-memory", "--from", str(note.parent), cwd=other).returncode
        == 0
    )
    assert memories(memory)["deploys"].project == "words"


def test_all_lists_and_reads_them_and_a_dry_run_writes_nothing(memory, noted, run):
    noted("mortar.md", MORTAR)
    for arguments in (("--all", "--dry-run"), (), ("auto-memory", "--dry-run")):
        row = run("import", *arguments).stdout.splitlines()[0].split("\t")
        assert row[:2] == ["auto-memory", "1 note"] and row[5:] == ["shop", ""]
    assert memories(memory) == {}
    assert "1 new" in run("import", "--all", "--yes").stdout
    assert (
        "No notes of Claude Code"
        in run("import", "auto-memory", "--since", "2200-01-01").stdout
    )


def test_what_a_note_claims_of_itself_is_not_believed(memory, home, noted, run):
    secret = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    claims = (
        "kind: conversation\nid: mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d\ntrust: "
        "user\nscope: user\n"
    )
    noted(
        "claims.md",
        f"---\nschema: 1\ntitle: Claims\n{claims}permanent: true\nproject: other\n---\nIt is "
        f"{secret}.\n",
    )
    noted("hidden.md", "Visible words.\x1b[31m\u202e <private>not this</private>\n")
    noted("broken.md", "---\nname: [unclosed\nother: &a *a\n---\nWords below.\n")
    noted(".dot.md", "Hidden file.")
    target = home / "key.md"
    target.write_text("The private key.")
    noted("empty.md", "").with_name("link.md").symlink_to(target)
    done = run("import", "auto-memory")
    assert done.returncode == 0
    found = memories(memory)
    text = "".join(path.read_text() for path in memory.rglob("projects/**/*.md"))
    for left_out in (
        secret,
        "not this",
        "private key",
        "Hidden file",
        "\x1b",
        "\u202e",
    ):
        assert left_out not in text
    claimed = found["Claims"]
    assert (claimed.trust, claimed.scope, claimed.project, claimed.is_permanent) == (
        "assistant",
        "project",
        "shop",
        False,
    )
    assert (
        claimed.kind == "document"
        and claimed.id != "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d"
    )
    assert "Words below." in text and "empty.md" in done.stderr
    assert {one.project for one in found.values()} == {"shop"} and len(found) == 3


def test_prose_in_the_index_is_a_document_of_its_own(memory, noted, run):
    noted("MEMORY.md", INDEX + "\n## Build\n\nThe kiln needs Java 21.\n")
    run("import", "auto-memory")
    found = memories(memory)["Memory Index"]
    assert (
        found.kind == "document"
        and "Java 21" in found.body
        and "mortar.md" not in found.body
    )


def test_notes_that_lie_in_the_workspace_are_memories_there_already(memory, home, run):
    folder = memory / "user" / "memory" / "claude-code"
    folder.mkdir(parents=True)
    (folder / "mortar.md").write_text(MORTAR)
    done = run("import", "auto-memory", "--from", str(folder))
    assert "0 new, 0 updated of" in done.stdout
    assert len(list(memory.rglob("*mortar*.md"))) == 1


def test_the_configuration_directory_may_be_elsewhere(memory, home, shop, noted, run):
    noted("mortar.md", MORTAR)
    moved = claude(home).rename(home / "elsewhere")
    for arguments, environment in (
        ((), {"CLAUDE_CONFIG_DIR": str(moved)}),
        (("--from", str(moved)), {}),
        (("--from", str(moved / "projects")), {}),
    ):
        assert (
            "of 1 note"
            in run("import", "auto-memory", *arguments, **environment).stdout
        )
    assert len(memories(memory)) == 1
    assert run("import", "auto-memory", "--from", str(shop)).returncode == 1
    assert os.environ["CLAUDE_CONFIG_DIR"] == str(claude(home))
