"""What tidies memory or looks at all of it does so with the notes kept with the code."""

from __future__ import annotations

import json

from code_repository import DEPLOY, GATEWAY, CodeRepository, note
from ready import keeplore

OLD = "2024-02-09T14:03:11Z"
TALKS = {"source": "gateway", "relationship": "talks-to", "target": "ledgerd"}


def asked(repository: CodeRepository, *words: str, code: int = 0) -> str:
    done = keeplore(*words, cwd=repository.top)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_old_notes_go_to_the_archive_of_the_code_and_come_back(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    place = repository.write(
        "memory/patterns/old.md",
        note(category="patterns", created_at=OLD, updated_at=OLD),
    )
    repository.write("memory/gotchas/kept.md", note("2", DEPLOY, created_at=OLD))
    repository.commits("Notes")
    aside = repository.memory / "archive" / "patterns" / "old.md"
    plan = json.loads(asked(repository, "archive", "--older-than", "1y", "--json"))
    (move,) = plan["moves"]
    assert (move["path"], move["to"]) == (str(place), str(aside))
    text = place.read_bytes()
    asked(repository, "archive", "--older-than", "1y", "--apply")
    assert aside.read_bytes() == text and not place.exists()
    assert repository.git("status", "--porcelain").splitlines() == [
        " D .keeplore/memory/patterns/old.md",
        "?? .keeplore/memory/archive/",
    ]
    assert repository.recalls("gateway") == [GATEWAY]
    assert asked(repository, "archive", "--undo", "11111111") == f"Back at {place}\n"
    assert place.read_bytes() == text and not aside.exists()


def test_lint_names_files_as_the_code_has_them(repository: CodeRepository) -> None:
    repository.agrees()
    repository.write("memory/gotchas/sound.md", note())
    bad = repository.write("memory/gotchas/bad.md", "---\nkind: note\n---\n\nx\n")
    bad.write_bytes("größe\n".encode("latin-1"))
    found = ".keeplore/memory/gotchas/bad.md:1: error: the bytes here are no UTF-8"
    for words in (["lint"], ["lint", "."], ["lint", ".keeplore/memory"]):
        assert asked(repository, *words, code=1).splitlines()[0] == found
    # the workspace is looked at for itself
    own = repository.registry.for_directory(repository.top).root
    assert asked(repository, "lint", str(own)) == "1 file, nothing wrong\n"


def test_git_looks_at_staged_notes_of_the_code(repository: CodeRepository) -> None:
    repository.agrees()
    wrote = asked(repository, "lint", "--install")
    hook = repository.top / ".git" / "hooks" / "pre-commit"
    assert f"wrote {hook}:" in wrote
    repository.write("memory/gotchas/a.md", note(title="The key is ghp_" + "a1B2" * 9))
    repository.git("add", "-A")
    found = asked(repository, "lint", "--staged", code=1)
    assert found.startswith(".keeplore/memory/gotchas/a.md:") and "a1B2" not in found
    asked(repository, "lint", "--uninstall")
    assert not hook.exists()


def test_lint_needs_no_workspace_where_a_team_checks_its_notes(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    repository.write("memory/gotchas/a.md", note())
    nobody = repository.top.parent / "nobody"
    done = keeplore(
        *("lint", "--strict"), cwd=repository.top, KEEPLORE_STATE_DIR=str(nobody)
    )
    assert (done.returncode, done.stdout) == (0, "1 file, nothing wrong\n")


def test_the_graph_has_both_the_workspace_and_the_code(
    repository: CodeRepository,
) -> None:
    asked(repository, "entity", "add", "gateway", "--alias", "gw", "--type", "system")
    repository.agrees()
    repository.write("memory/gotchas/a.md", note(entities=[TALKS]))
    repository.write("memory/gotchas/b.md", note("2", "The gateway restarts at night."))
    picture = json.loads(asked(repository, "graph", "gw", "--format", "json"))
    nodes = {node["name"]: node for node in picture["entities"]}
    assert nodes["gateway"]["mentions"] == 2
    titles = [picture["memories"][id_]["title"] for id_ in nodes["gateway"]["memories"]]
    assert titles == ["The gateway restarts at night.", GATEWAY]
    (edge,) = picture["relations"]
    ends = [picture["entities"][edge[end]]["name"] for end in ("source", "target")]
    assert (ends, edge["relationship"]) == (["gateway", "ledgerd"], "talks-to")
    listed = json.loads(asked(repository, "graph", "--format", "json"))
    assert {"gateway", "ledgerd"} <= {node["name"] for node in listed["entities"]}


def test_a_purge_leaves_no_word_of_a_note_that_was_never_committed(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    repository.commits("Agree")
    memory = repository.remembers("The vault opens with heliotrope.").memory
    repository.remembers(GATEWAY)
    done = keeplore("forget", "--purge", "--yes", memory.id[4:12], cwd=repository.top)
    assert done.returncode == 0, done.stderr
    assert "No object of git and no file of Keeplore on this machine" in done.stdout
    assert "commits of the code" not in done.stderr
    assert repository.recalls("heliotrope") == []
    assert repository.recalls("gateway") == [GATEWAY]
    held = [
        path
        for path in repository.top.parents[1].rglob("*")
        if path.is_file() and b"heliotrope" in path.read_bytes()
    ]
    assert held == []


def test_a_purge_says_which_commits_of_the_team_keep_the_note(
    repository: CodeRepository,
) -> None:
    repository.agrees()
    memory = repository.remembers("The vault opens with heliotrope.").memory
    repository.commits("Keep")
    before = repository.git("rev-parse", "HEAD")
    own = repository.registry.for_directory(repository.top)
    done = keeplore("forget", "--purge", "--yes", memory.id[4:12], cwd=repository.top)
    assert done.returncode == 0, done.stderr
    assert "It stays in 1 commit of the code" in done.stderr
    (path,) = repository.git(
        "ls-tree", "-r", "--name-only", "HEAD", "--", ".keeplore/memory"
    ).splitlines()
    assert f"git filter-repo --invert-paths --path {path}`" in done.stderr
    # the team's history is as it was, and the removal is theirs to commit
    assert repository.git("rev-parse", "HEAD") == before
    assert repository.git("status", "--porcelain") == f" D {path}"
    tombstone = own.store.tombstones.get(memory.id)
    assert tombstone is not None and tombstone.is_purged and not tombstone.content
    repository.git("checkout", "-q", "--", ".keeplore")
    assert repository.recalls("heliotrope") == []
