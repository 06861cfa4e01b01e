"""Notes in a code repository: who may have them read and written, and what git may do with them."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from code_repository import DEPLOY, GATEWAY, CodeRepository, Git, note

from keeplore.errors import Forgotten, NotFound, RepositoryBusy, StoreError
from keeplore.index.rows import EVERYWHERE
from keeplore.memory.note import NoteDraft
from keeplore.workspace.in_repo.code_memories import TOP
from keeplore.workspace.lifecycle.code_switch import switch_off
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.entity_writer import add as add_entity
from keeplore.workspace.writing.entity_writer import remove as remove_entity
from keeplore.workspace.writing.forget import forget, restore


def test_what_a_clone_says_makes_nobody_read_or_write(
    repository: CodeRepository,
) -> None:
    repository.write("project.yaml", "memory: in-repo\n")
    repository.write("memory/gotchas/a.md", note())
    repository.commits()
    assert repository.registry.code_memory(repository.top) is None
    assert repository.recalls("gateway") == [] and GATEWAY not in repository.brief()
    outcome = repository.remembers(DEPLOY)
    assert outcome.path.startswith("projects/shop/memory/")
    assert repository.git("status", "--porcelain") == ""


def test_settings_of_a_clone_are_not_the_persons(repository: CodeRepository) -> None:
    hostile = "memory: in-repo\nllm: {provider: openai}\nredaction: {allow: ['.*']}\n"
    repository.write("project.yaml", hostile)
    opened = repository.agrees()
    assert opened.settings is repository.registry.for_directory(repository.top).settings
    repository.remembers("The key is ghp_" + "a1B2" * 9)
    (path,) = repository.memory.rglob("*.md")
    assert "ghp_a1B2" not in path.read_text()


def test_names_of_the_persons_workspace_find_notes_of_the_code(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    note_id = repository.remembers("Terraform builds the network.").memory.id
    own = repository.registry.for_directory(repository.top)

    def about_the_gardener() -> list[str]:
        index = repository.code.index
        index.refresh()
        until = time.monotonic() + 60
        return [*index.graph.boosted("ask the gardener", EVERYWHERE, until)]

    for project in ("", "shop"):
        assert about_the_gardener() == []
        add_entity(own, "Terraform", aliases=["the gardener"], project=project)
        assert about_the_gardener() == [note_id]
        remove_entity(own, "Terraform", project=project)
    assert repository.code.index.problems() == []


def test_nothing_of_git_is_touched(repository: CodeRepository) -> None:
    repository.agrees()
    repository.commits("Agree")
    (repository.top / "app.py").write_text("print(1)\n")
    (repository.top / "new.py").write_text("staged\n")
    repository.git("add", "new.py")
    git_dir = repository.top / ".git"
    seen = {name: (git_dir / name).read_bytes() for name in ("index", "HEAD", "config")}
    refs = repository.git("for-each-ref")
    repository.remembers(GATEWAY)
    found = repository.remembers(DEPLOY)
    forget(repository.code, found.memory.id)
    repository.registry.commit_all("Write")
    assert repository.recalls("gateway") == [GATEWAY]
    assert {name: (git_dir / name).read_bytes() for name in seen} == seen
    assert repository.git("for-each-ref") == refs
    status = repository.git("status", "--porcelain")
    assert status.splitlines() == [
        " M app.py",
        "A  new.py",
        "?? .keeplore/memory/",
    ]


def test_another_branch_has_its_own_notes_and_nothing_is_forgotten(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    repository.remembers(GATEWAY)
    repository.commits("One")
    repository.git("checkout", "-qb", "other")
    repository.remembers(DEPLOY)
    repository.commits("Two")
    assert repository.recalls("deploy") == [DEPLOY]
    repository.git("checkout", "-q", "main")
    assert repository.recalls("deploy") == []
    assert repository.recalls("gateway") == [GATEWAY]
    own = repository.registry.for_directory(repository.top)
    assert list(own.store.tombstones) == []
    repository.git("checkout", "-q", "other")
    assert repository.recalls("deploy") == [DEPLOY]


def test_a_branch_that_keeps_no_notes_gets_none(repository: CodeRepository) -> None:
    repository.git("branch", "old")
    repository.agrees()
    repository.remembers(GATEWAY)
    repository.commits("Keep notes")
    repository.git("checkout", "-q", "old")
    assert repository.remembers(DEPLOY).path.startswith("projects/shop/memory/")
    assert repository.git("status", "--porcelain") == ""
    repository.git("checkout", "-q", "main")
    assert sorted(repository.recalls("gateway deploy")) == [GATEWAY, DEPLOY]


def test_a_linked_work_tree_has_the_notes_of_its_branch(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    repository.commits("Agree")
    linked = repository.top.parent / "feature"
    repository.git("worktree", "add", "-q", linked, "-b", "feature")
    repository.remembers(DEPLOY, cwd=linked)
    assert [path.is_relative_to(linked) for path in linked.rglob("*tuesdays*")] == [
        True
    ]
    assert repository.recalls("deploy", cwd=linked) == [DEPLOY]
    assert repository.recalls("deploy") == []
    # what capture writes knows the branch alone
    own = repository.registry.for_directory(repository.top)
    source = {"branch": "feature"}
    own.notes.write(NoteDraft(GATEWAY, scope="project", project="shop", source=source))
    assert len(list((linked / ".keeplore").rglob("*gateway*"))) == 1
    index = repository.registry.places.cache / "index"
    tops = {(one / TOP).read_text() for one in index.glob("code-*")}
    assert tops == {str(repository.top), str(linked)}
    repository.git("worktree", "remove", "--force", linked)
    assert repository.recalls("gateway") == []
    # what was made of a work tree that is gone goes with the next one that comes; other folders stay
    for name in ("code-unread", "other"):
        (index / name).mkdir()
    (index / "other" / TOP).write_text(str(linked))
    repository.git("worktree", "add", "-q", linked.with_name("next"), "-b", "next")
    repository.remembers(DEPLOY, cwd=linked.with_name("next"))
    left = {one.name: one / TOP for one in index.glob("code-*")}
    assert {place.read_text() for place in left.values() if place.exists()} == {
        str(repository.top),
        str(linked.with_name("next")),
    }
    assert (index / "code-unread").is_dir() and (index / "other").is_dir()


def test_what_is_forgotten_comes_back_with_no_branch(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    outcome = repository.remembers(GATEWAY)
    repository.commits("Keep")
    repository.git("branch", "other")
    forget(repository.code, outcome.memory.id)
    assert repository.git("status", "--porcelain").startswith(" D .keeplore/memory/")
    repository.commits("Forget")
    repository.git("checkout", "-q", "other")
    assert len(list(repository.memory.rglob("*.md"))) == 1
    assert repository.recalls("gateway") == [] and GATEWAY not in repository.brief()
    with pytest.raises(Forgotten):
        repository.code.store.save(outcome.memory)
    own = repository.registry.for_directory(repository.top)
    restore(own, outcome.memory.id)
    assert repository.recalls("gateway") == [GATEWAY]


def test_a_note_that_was_never_committed_can_be_restored(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    outcome = repository.remembers(GATEWAY)
    forget(repository.code, outcome.memory.id)
    assert list(repository.memory.rglob("*.md")) == []
    own = repository.registry.for_directory(repository.top)
    (path,) = restore(own, outcome.memory.id).paths
    assert GATEWAY in (own.root / path).read_text()


def test_versions_stay_beside_one_another(repository: CodeRepository) -> None:
    repository.agrees()
    first = repository.remembers(GATEWAY).memory
    notes = repository.code.notes
    notes.revise(first.id, body="# The gateway waits 40 s for the ledger.\n")
    repository.code.index.refresh()
    assert [one.memory.version for one in notes.history(first.id)] == [1, 2]
    with pytest.raises(StoreError, match="kept with the code"):
        notes.revise(first.id, scope="workspace", project=None)
    assert len(list(repository.memory.rglob("*.md"))) == 2
    assert not list(repository.own.rglob("*.md"))


def test_the_same_words_are_one_note_in_whichever_place(
    repository: CodeRepository,
) -> None:
    before = repository.remembers(GATEWAY)
    repository.agrees()
    assert not repository.remembers(GATEWAY).is_new
    assert repository.remembers(DEPLOY).is_new
    assert not repository.remembers(DEPLOY).is_new
    assert len(list(repository.memory.rglob("*.md"))) == 1
    # a file of the same id is the workspace's
    own = repository.registry.for_directory(repository.top)
    text = (own.root / before.path).read_text()
    repository.write("memory/facts/copy.md", text)
    assert repository.recalls("gateway") == [GATEWAY]


def test_files_are_left_alone_while_git_is_busy(repository: CodeRepository) -> None:
    repository.agrees()
    outcome = repository.remembers(GATEWAY)
    repository.commits("Keep")
    (repository.top / ".git" / "MERGE_HEAD").write_text("0" * 40 + "\n")
    with pytest.raises(RepositoryBusy):
        forget(repository.code, outcome.memory.id)
    # a new file stands in nobody's way
    assert DEPLOY in Path(repository.remembers(DEPLOY).path).read_text()


@pytest.mark.parametrize("place", [".keeplore", ".keeplore/memory"])
def test_a_link_in_the_place_of_a_folder_leads_nowhere(
    repository: CodeRepository, place: str
) -> None:
    repository.agrees()
    outside = repository.top.parent / "outside"
    (outside / "memory" / "gotchas").mkdir(parents=True)
    (outside / "project.yaml").write_text("memory: in-repo\n")
    (outside / "memory" / "gotchas" / "a.md").write_text(note())
    (outside / "gotchas").mkdir()
    (outside / "gotchas" / "a.md").write_text(note())
    before = sorted(outside.rglob("*"))
    repository.remembers(GATEWAY)
    link = repository.top / place
    shutil.rmtree(repository.memory)
    if place == ".keeplore":
        shutil.rmtree(link)
    link.symlink_to(outside)
    # the note is not lost: the workspace takes it
    assert repository.remembers(DEPLOY).path.startswith("projects/shop/memory/")
    assert repository.recalls("gateway") == []
    assert sorted(outside.rglob("*")) == before


def test_hostile_files_hide_no_other(repository: CodeRepository) -> None:
    repository.agrees()
    repository.write("memory/gotchas/sound.md", note())
    bomb = "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]"
    repository.write("memory/gotchas/bomb.md", f"---\n{bomb}\n---\n\nbomb\n")
    repository.write("memory/gotchas/deep.md", f"---\na: {'[' * 60_000}\n---\n\nx\n")
    repository.write("memory/gotchas/large.md", note("2", "Large") + "x" * 40_000_000)
    secret = repository.top.parent / "secret.md"
    secret.write_text(note("3", "A secret of the gateway"))
    (repository.memory / "gotchas" / "link.md").symlink_to(secret)
    (repository.memory / "gotchas" / "pipe.md").touch()
    (repository.memory / "gotchas" / "pipe.md").unlink()
    os.mkfifo(repository.memory / "gotchas" / "pipe.md")
    nested = repository.memory / "nested"
    (nested / ".git").mkdir(parents=True)
    (nested / "b.md").write_text(note("4", "Nested gateway"))
    id_ = "mem_../../../../../../evil"
    repository.write("memory/gotchas/id.md", note("5", "Wrong id", id=id_))
    assert repository.recalls("gateway") == [GATEWAY]
    with pytest.raises(NotFound):
        repository.code.store.get(id_)


def test_a_file_cannot_claim_another_place(repository: CodeRepository) -> None:
    repository.agrees()
    repository.write("memory/a.md", note("1", scope="user", project=None))
    repository.write("memory/b.md", note("2", DEPLOY, project="bank"))
    repository.write("projects/bank/memory/c.md", note("3", "The bank's gateway"))
    repository.write("user/memory/d.md", note("4", "The person's gateway"))
    repository.code.index.refresh()
    assert repository.code.index.scopes() == (("project", "shop"),)
    elsewhere = repository.top.parent
    assert repository.recalls("gateway", cwd=elsewhere) == []
    assert sorted(repository.recalls("gateway deploy")) == [GATEWAY, DEPLOY]


def test_a_note_cannot_replace_one_of_the_workspace(repository: CodeRepository) -> None:
    mine = repository.remembers(GATEWAY).memory
    repository.agrees()
    evil = note("2", "The gateway never waits.", supersedes=mine.id)
    repository.write("memory/gotchas/evil.md", evil)
    repository.write("memory/gotchas/same.md", note("3", "Gateway", id=mine.id))
    assert GATEWAY in repository.recalls("gateway")
    assert repository.registry.find(mine.id, repository.top).memory.title == GATEWAY


def test_off_leaves_the_files_and_reads_them_no_more(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    repository.remembers(GATEWAY)
    switch_off(repository.registry, repository.top)
    assert repository.recalls("gateway") == []
    assert len(list(repository.memory.rglob("*.md"))) == 1
    assert repository.remembers(DEPLOY).path.startswith("projects/")
    assert not list((repository.registry.places.cache / "index").glob("code-*"))
    with pytest.raises(NotFound):
        switch_off(repository.registry, repository.top)


def test_another_repository_at_that_place_was_not_agreed_to(
    repository: CodeRepository, git: Git
) -> None:
    repository.agrees()
    repository.commits("Agree")
    shutil.rmtree(repository.top)
    repository.top.mkdir()
    repository.git("init", "-q")
    repository.write("project.yaml", "memory: in-repo\n")
    repository.write("memory/gotchas/a.md", note())
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Another")
    with Registry(repository.registry.places) as registry:
        assert registry.code_memory(repository.top) is None
