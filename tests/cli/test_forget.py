"""Forgetting and bringing back, by hand: what is shown before, what is asked, what the files and
git say after.
"""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Callable
from pathlib import Path

import pytest
from new_workspace import lay_down
from ready import Started, keeplore

from keeplore.config.places import Places
from keeplore.memory.note import NoteDraft
from keeplore.workspace.registry import Registry

SECRET_WORDS = "the launch code is aubergine"


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.from_environment(os.environ)
    lay_down(places, home / "memory")
    return places


@pytest.fixture
def root(places: Places, home: Path) -> Path:
    return home / "memory"


def typed(answer: str, *arguments: str) -> tuple[int, str]:
    """Run a command with a person at the terminal who types one line."""
    ours, theirs = pty.openpty()
    printed, prints = os.pipe()
    streams = (theirs, prints, prints)
    process = Started(arguments, streams, Path.home(), os.environ)
    os.close(theirs)
    os.close(prints)
    os.write(ours, f"{answer}\n".encode())
    with os.fdopen(printed, encoding="utf-8") as stream:
        out = stream.read()
    os.close(ours)
    return process.wait(), out


def remember(places: Places, text: str) -> str:
    with Registry(places) as registry:
        workspace = registry.named("memory")
        memory = workspace.notes.write(NoteDraft(text)).memory
        workspace.commit()
    return memory.id


def two_versions(places: Places) -> tuple[str, str]:
    old = remember(places, "Timeout is 30 s")
    with Registry(places) as registry:
        workspace = registry.named("memory")
        new = workspace.notes.revise(
            old, body="# Timeout is 60 s\n", title="Timeout is 60 s"
        ).memory.id
        workspace.commit()
    return old, new


def test_a_memory_goes_with_its_versions_and_comes_back_with_them(
    places: Places, root: Path, git
) -> None:
    old, new = two_versions(places)
    texts = {path.name: path.read_bytes() for path in root.rglob("*timeout*.md")}
    done = keeplore("forget", "--yes", new[4:12])
    assert done.returncode == 0, done.stderr
    assert "Timeout is 30 s" in done.stdout and "Timeout is 60 s" in done.stdout
    assert f"keeplore restore {new[4:12]}" in done.stdout
    assert (
        list(root.rglob("*timeout*.md")) == []
        and git("status", "--porcelain", cwd=root) == ""
    )
    assert keeplore("recall", "--text", "Timeout").returncode in (4, 5)
    back = keeplore("restore", old[4:12])
    assert back.returncode == 0 and back.stdout.count("Restored ") == 2
    assert {
        path.name: path.read_bytes() for path in root.rglob("*timeout*.md")
    } == texts
    assert git("status", "--porcelain", cwd=root) == ""
    assert keeplore("recall", "--text", "Timeout").returncode == 0


def test_what_was_forgotten_is_listed_with_its_title(places: Places) -> None:
    assert "nothing is forgotten" in keeplore("restore", "--list").stderr
    ids = [remember(places, text) for text in ("Use pnpm", "Use yarn")]
    gone = json.loads(keeplore("forget", "--json", "--yes", *ids).stdout)
    assert [entry["ids"] for entry in gone] == [[id_] for id_ in ids]
    rows = [
        line.split("\t") for line in keeplore("restore", "--list").stdout.splitlines()
    ]
    assert sorted((row[0], row[3]) for row in rows) == sorted(
        (id_[4:12], title)
        for id_, title in zip(ids, ("Use pnpm", "Use yarn"), strict=True)
    )
    told = json.loads(keeplore("restore", "--list", "--json").stdout)
    assert all(entry["can_return"] and not entry["is_purged"] for entry in told)


def test_a_person_is_asked_and_no_is_no(places: Places, root: Path) -> None:
    id_ = remember(places, "Use pnpm")
    code, out = typed("n", "forget", id_)
    assert (
        code == 130
        and "Forget this?" in out
        and len(list(root.rglob("*pnpm*.md"))) == 1
    )
    code, out = typed("y", "forget", id_)
    assert code == 0 and list(root.rglob("*pnpm*.md")) == []


def test_where_nobody_can_be_asked_nothing_goes_without_yes(
    places: Places, root: Path
) -> None:
    id_ = remember(places, "Use pnpm")
    for arguments in ((id_,), ("--json", id_)):
        done = keeplore("forget", *arguments)
        assert done.returncode == 2 and len(list(root.rglob("*pnpm*.md"))) == 1
        assert done.stderr.splitlines()[-2:] == [
            "keeplore: nobody is here to be asked, so nothing was forgotten",
            "  → Add --yes to go on",
        ]
    assert keeplore("forget", "--yes", id_).returncode == 0
    assert list(root.rglob("*pnpm*.md")) == []


def test_what_is_forgotten_already_is_said_to_be_and_nothing_else(
    places: Places,
) -> None:
    id_ = remember(places, "Use pnpm")
    assert keeplore("forget", "--yes", id_).returncode == 0
    again = keeplore("forget", id_[4:12])
    assert (again.returncode, again.stdout, again.stderr) == (
        0,
        f"{id_} is forgotten already\n",
        "",
    )


def test_one_unknown_name_stops_before_anything_goes(
    places: Places, root: Path
) -> None:
    id_ = remember(places, "Use pnpm")
    done = keeplore("forget", id_, "deadbeef")
    assert done.returncode == 1 and "there is no memory 'deadbeef'" in done.stderr
    assert len(list(root.rglob("*pnpm*.md"))) == 1


def test_a_purge_shows_its_plan_and_wants_to_be_told_twice(
    places: Places, root: Path, git, home: Path
) -> None:
    git("init", "-q", "--bare", str(home / "remote.git"), cwd=home)
    git("remote", "add", "origin", str(home / "remote.git"), cwd=root)
    id_ = remember(places, SECRET_WORDS)
    remember(places, "Use pnpm")
    assert keeplore("sync").returncode == 0
    refused = keeplore("forget", "--purge", id_)
    assert refused.returncode == 2 and "nothing was purged" in refused.stderr
    for words in (
        "2 commits get other ids",
        "force-push",
        "Other machines",
        "git reset --hard",
        "forge",
        "password",
    ):
        assert words in refused.stderr
    assert "of the code" not in refused.stderr  # which no repository of code has
    code, out = typed("nonsense", "forget", "--purge", id_)
    assert code == 130 and f"Type {id_[4:12]} to purge it" in out
    assert SECRET_WORDS in git("log", "--all", "-p", cwd=root)
    code, out = typed(id_[4:12], "forget", "--purge", id_)
    assert code == 0 and "written anew" in out, out
    assert SECRET_WORDS not in git("log", "--all", "-p", cwd=root)
    assert "there is no memory" not in keeplore("recall", "pnpm").stdout
    refused = keeplore("restore", id_)
    assert refused.returncode == 1 and "was purged" in refused.stderr
    assert keeplore("restore", "--list").stdout.rstrip().endswith("(purged)")
    assert keeplore("sync").returncode == 0
    assert SECRET_WORDS not in git("log", "--all", "-p", cwd=home / "remote.git")


def forgotten_elsewhere(
    places: Places, root: Path, git: Callable[..., str], home: Path
) -> str:
    """The id of a memory that is shared, and that another machine has forgotten since."""
    git("init", "-q", "--bare", str(home / "remote.git"), cwd=home)
    git("remote", "add", "origin", str(home / "remote.git"), cwd=root)
    id_ = remember(places, "Use pnpm")
    assert keeplore("sync").returncode == 0
    other = home / "other"
    git("clone", "-q", str(home / "remote.git"), str(other), cwd=home)
    (path,) = other.rglob("*pnpm*.md")
    (other / "forgotten").mkdir(exist_ok=True)
    (other / "forgotten" / f"{id_}.json").write_text(f'{{"id": "{id_}"}}\n')
    path.unlink()
    git("add", "--all", cwd=other)
    git("commit", "-qm", "Forget", cwd=other)
    git("push", "-q", cwd=other)
    return id_


def test_a_sync_that_only_takes_away_promises_nothing_to_be_found(
    places: Places, root: Path, git: Callable[..., str], home: Path
) -> None:
    forgotten_elsewhere(places, root, git, home)
    assert keeplore("sync").stdout.endswith("\n0 memories new or changed, 1 gone.\n")


def test_a_version_that_was_made_while_the_first_was_forgotten_elsewhere_is_told_at_a_sync(
    places: Places, root: Path, git: Callable[..., str], home: Path
) -> None:
    id_ = forgotten_elsewhere(places, root, git, home)
    assert keeplore("edit", id_, "--title", "Use pnpm 9").returncode == 0
    assert keeplore("sync").stderr == (
        "note: 1 memory is a newer version of what was forgotten meanwhile: "
        "`keeplore doctor` says which, and how to forget that too\n"
    )
    doctor = keeplore("doctor").stdout
    assert f"is a newer version of {id_[4:12]}, which was forgotten" in doctor
    assert f"`keeplore restore {id_[4:12]}` brings back" in doctor
    (tombstone,) = root.glob("forgotten/*.json")
    tombstone.write_text(f'{{"id": "{id_}", "is_purged": true}}\n')
    doctor = keeplore("doctor").stdout
    (path,) = root.rglob("*pnpm-9*.md")
    assert f"`keeplore forget {path.relative_to(root)} --purge` takes" in doctor
    assert "keeplore restore" not in doctor


def test_what_was_forgotten_can_still_be_purged(
    places: Places, root: Path, git: Callable[..., str]
) -> None:
    id_ = remember(places, SECRET_WORDS)
    remember(places, "Use pnpm")
    assert keeplore("forget", "--yes", id_).returncode == 0
    assert SECRET_WORDS in git("log", "--all", "-p", cwd=root)
    done = keeplore("forget", "--purge", "--yes", id_[4:12])
    assert done.returncode == 0, done.stderr
    assert SECRET_WORDS not in git("log", "--all", "-p", cwd=root)


def test_restore_says_what_is_wrong_with_what_it_is_given(places: Places) -> None:
    id_ = remember(places, "Use pnpm")
    done = keeplore("restore", id_)
    assert (
        done.returncode == 1
        and "is not forgotten" in done.stderr
        and "restore --list" in done.stderr
    )
    assert keeplore("restore").returncode == 2
    assert keeplore("restore", "--list", "x").returncode == 2
    assert keeplore("restore", "../../etc/passwd").returncode == 1


def test_a_note_whose_front_matter_is_broken_is_not_said_to_be_deleted(
    memory: Path, run
) -> None:
    told = run("remember", "--json", "Prices are in cents.").stdout
    path = Path(json.loads(told)["path"])
    run("doctor")  # it commits what is on disk
    path.write_text(path.read_text().replace("kind: note", "kind: [note"))
    for asked in (path.stem[-8:], str(path)):
        shown = run("show", asked)
        name = path.relative_to(memory)
        assert (shown.returncode, shown.stdout) == (1, "")
        first, remedy = shown.stderr.splitlines()
        assert first.startswith(f"keeplore: {name} cannot be read, line ")
        assert remedy.startswith("  → ")


def test_a_note_that_was_deleted_with_rm_is_told_of_and_comes_back(
    memory: Path, run
) -> None:
    path = Path(
        json.loads(run("remember", "--json", "Prices are in cents.").stdout)["path"]
    )
    digits = path.stem[-8:]
    text = path.read_text()
    path.unlink()
    assert run("doctor").returncode == 0  # it commits what is on disk
    for asked in (digits, str(path)):
        told = run("show", asked)
        assert told.returncode == 1 and "was deleted in commit" in told.stderr
    assert f"keeplore restore mem_{digits}" in run("history", digits).stderr
    assert f"Restored {path.relative_to(memory)}" in run("restore", digits).stdout
    assert path.read_text() == text and run("show", digits).returncode == 0


def test_what_is_forgotten_is_said_to_be_so_where_it_is_asked_for(
    places: Places,
) -> None:
    old, new = two_versions(places)
    assert keeplore("forget", "--yes", new).returncode == 0
    for command, digits in (("show", old[4:12]), ("history", old), ("pin", old[:9])):
        done = keeplore(command, digits)
        assert (done.returncode, done.stderr.splitlines()) == (
            1,
            [
                f"keeplore: {old} was forgotten",
                f"  → `keeplore restore {old}` brings it back",
            ],
        )
