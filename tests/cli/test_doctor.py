"""Each thing that can break is broken: doctor names exactly that, and mends what may be mended.

All that it finds is compared with what is written down (support/written_down.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import written_down
from new_workspace import lay_down
from ready import keeplore

from keeplore import __version__
from keeplore.cli import doctor
from keeplore.cli.commands.machine.doctor_ import show_findings
from keeplore.cli.connect_dialog import surroundings
from keeplore.cli.doctor import DoctorFinding, DoctorOptions, check_machine, examine
from keeplore.cli.doctor import finding as made
from keeplore.config import installation
from keeplore.config.places import Places
from keeplore.memory import Memory, new_id
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.note import NoteDraft
from keeplore.workspace.lifecycle.lint import lint
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore.workspace.registry import Registry
from keeplore_hooks.spool import Spool

FOUND = "doctor.yaml"
SOUND = "a sound machine has nothing wrong"
CHANGING = {
    r"\d+ minutes": "<some> minutes",
    r"\b[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b": "<id>",
    r"20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?": "<date>",
    r"%\S*%state": "<state>",
    r"(damaged objects: ).*": r"\1<what git says>",
    r"(not that of the passages: ).*(?= →)": r"\1<what SQLite says>",
}
# what depends on the person's umask, and on how soon after a commit a file was changed
MAYBE = re.compile("others may look into|differed from HEAD although nothing showed it")
_findings: list[DoctorFinding] = []


@pytest.fixture(autouse=True)
def _as_written_down(request: pytest.FixtureRequest, home: Path) -> Iterator[None]:
    """What all looks of a test find wrong or to be noted, and a sound machine has not, is what
    stands below the name of the test.
    """
    _findings.clear()
    yield
    told = {
        _settled(f"{one.level} {one.part}: {one.message} → {one.remedy}", home)
        for one in _findings
        if one.level != "ok" and not MAYBE.search(one.message)
    }
    name = request.node.name.removeprefix("test_").replace("_", " ")
    if name != SOUND:
        told -= {*written_down.lines_of(FOUND, SOUND)}
    seen = sorted(told)
    assert seen == written_down.lines_of(FOUND, name, seen)


def _settled(text: str, home: Path) -> str:
    """Without what differs from run to run."""
    text = text.replace(str(home), "~")
    for pattern, name in CHANGING.items():
        text = re.sub(pattern, name, text)
    return text


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.from_environment(os.environ)
    lay_down(places, home / "memory")
    return places


@pytest.fixture
def root(places: Places, home: Path) -> Path:
    """A workspace of three notes, indexed with vectors and committed."""
    with Registry(places) as registry:
        workspace = registry.named("memory")
        for text in (
            "Use pnpm, never npm.",
            "The ledger is append-only.",
            "Deploys happen on Tuesdays.",
        ):
            workspace.notes.write(NoteDraft(text, category="project-conventions"))
        settle(home / "memory")
        workspace.index.refresh()
        workspace.index.embed_pending()
        workspace.commit()
    return home / "memory"


def settle(root: Path) -> None:
    for file in root.rglob("*.md"):
        at = file.stat().st_mtime_ns - 60_000_000_000
        os.utime(file, ns=(at, at))


def look(
    places: Places, *, deep: bool = False, fix: bool = False
) -> list[DoctorFinding]:
    options = DoctorOptions(surroundings(places), is_deep=deep, is_mending=fix)
    found = examine(places, options)
    _findings.extend(found)
    return found


def wrong(findings: list[DoctorFinding]) -> list[str]:
    return [
        f"{finding.part}: {finding.message}"
        for finding in findings
        if finding.level == "wrong"
    ]


def names_and_mends(places: Places, *words: str, deep: bool = False) -> None:
    """Exactly one thing is wrong and is named with these words; ``--fix`` mends it."""
    found = [finding for finding in look(places, deep=deep) if finding.level == "wrong"]
    assert len(found) == 1, found
    assert all(word in f"{found[0].part}: {found[0].message}" for word in words), found
    assert found[0].remedy
    assert wrong(look(places, deep=deep, fix=True)) == []
    assert wrong(look(places, deep=deep)) == []


def names(places: Places, *words: str, deep: bool = False) -> DoctorFinding:
    """Exactly one thing is wrong, named with these words, and a fix leaves it to the person."""
    before = texts()
    for fix in (False, True):
        found = [
            finding
            for finding in look(places, deep=deep, fix=fix)
            if finding.level == "wrong"
        ]
        assert len(found) == 1, found
        assert all(word in f"{found[0].part}: {found[0].message}" for word in words), (
            found
        )
        assert found[0].remedy
    assert texts() == before
    return found[0]


def texts() -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in (Path.home() / "memory").rglob("*.md")
    }


@contextlib.contextmanager
def database(places: Places) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(
        sqlite3.connect(
            places.cache / "index" / "memory" / "index.sqlite3", isolation_level=None
        )
    ) as connection:
        yield connection


def note_in(root: Path, title: str, **meta: object) -> Memory:
    """A note written by another hand, with links as given."""
    with Registry(Places.from_environment(os.environ)) as registry:
        workspace = registry.named("memory")
        base = workspace.store.load(
            next(file.path for file in workspace.store.scan() if "pnpm" in file.path)
        )
        at = {
            "created_at": "2026-12-01T00:00:00Z",
            "updated_at": "2026-12-01T00:00:00Z",
        }
        memory = Memory(
            {**base.meta, **at, "title": title, "id": new_id(title), **meta},
            f"# {title}\n",
        )
        workspace.store.save(memory)
    return memory


def id_of(root: Path, word: str) -> str:
    (path,) = root.rglob(f"*{word}*.md")
    return next(
        line.split(": ")[1]
        for line in path.read_text().splitlines()
        if line.startswith("id: ")
    )


def test_a_sound_machine_has_nothing_wrong(root: Path, places: Places) -> None:
    assert wrong(look(places)) == []
    proved = [
        finding.message
        for finding in look(places, deep=True)
        if finding.message.startswith("proved")
    ]
    assert len(proved) == 2


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "UPDATE memories SET title = 'x' WHERE path LIKE '%pnpm%'",
            ("pnpm", "front matter"),
        ),
        ("DELETE FROM passages_fts_data WHERE id > 10", ("full-text",)),
        (
            "UPDATE embeddings SET vector = zeroblob(386) WHERE rowid = 1",
            ("a vector has changed",),
        ),
        ("DELETE FROM memories WHERE path LIKE '%pnpm%'", ("pnpm",)),
    ],
)
def test_a_damaged_row_is_named_and_mended(
    root: Path, places: Places, sql: str, words: tuple[str, ...]
) -> None:
    with database(places) as connection:
        connection.execute(sql)
    found = wrong(look(places, deep=True))
    assert any(all(word in message for word in words) for message in found), found
    assert wrong(look(places, deep=True, fix=True)) == []
    assert wrong(look(places, deep=True)) == []


def test_an_edit_that_keeps_time_and_size_is_found_by_the_deep_look_alone(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    before = path.stat()
    with path.open("r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data.replace(b"never npm", b"never bun"))
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert wrong(look(places)) == []
    names_and_mends(
        places, "pnpm", "although its time and size are the same", deep=True
    )


def test_a_file_that_is_no_memory_is_named_with_its_line(
    root: Path, places: Places
) -> None:
    (root / "memory" / "facts").mkdir(exist_ok=True)
    (root / "memory" / "facts" / "broken.md").write_text(
        "---\nid: mem_x\ntitle: [\n---\n# x\n"
    )
    finding = names(places, "memory/facts/broken.md:")
    assert ":1: " not in finding.message


def test_a_fork_is_named_with_both_files(root: Path, places: Places) -> None:
    old = id_of(root, "pnpm")
    for title in ("Use yarn", "Use bun"):
        note_in(root, title, supersedes=old)
    finding = names(
        places, "two versions replace the same memory", "use-yarn", "use-bun"
    )
    assert "keeplore edit" in finding.remedy


def test_a_circle_is_named(root: Path, places: Places) -> None:
    one = note_in(root, "Use yarn", supersedes=new_id("Use bun"))
    note_in(root, "Use bun", supersedes=one.id)
    names(places, "in a circle", "use-yarn", "use-bun")


def test_a_link_to_nothing_is_told_and_one_to_what_was_forgotten_is_not(
    root: Path, places: Places
) -> None:
    note_in(
        root, "Use yarn", related=[{"id": new_id("nowhere"), "relationship": "refines"}]
    )
    told = [
        f.message
        for f in look(places)
        if f.level == "note" and "which is not here" in f.message
    ]
    assert len(told) == 1 and "use-yarn" in told[0] and "refines" in told[0]
    gone = id_of(root, "ledger")
    note_in(root, "Use yarn", related=[{"id": gone, "relationship": "refines"}])
    with Registry(places) as registry:
        registry.named("memory").store.forget(gone, "here", "2026-12-01T00:00:00Z")
    assert [f.message for f in look(places) if "which is not here" in f.message] == []


def test_a_version_that_was_made_elsewhere_while_all_were_forgotten_is_named(
    root: Path, places: Places
) -> None:
    gone = id_of(root, "ledger")
    with Registry(places) as registry:
        registry.named("memory").store.forget(gone, "here", "2026-12-01T00:00:00Z")
    link = {"id": gone, "relationship": "supersedes"}
    note_in(root, "The ledger may be edited", related=[link])
    found = names(places, "ledger-may-be-edited", f"version of {gone[4:12]}, which")
    assert "`keeplore forget memory/" in found.remedy
    assert f"`keeplore restore {gone[4:12]}`" in found.remedy


def test_an_id_that_two_files_have_is_named(root: Path, places: Places) -> None:
    (path,) = root.rglob("*pnpm*.md")
    for name in ("copy.md", "zz.md"):
        path.with_name(name).write_bytes(path.read_bytes())
        found = names(
            places,
            f"memory file: {path.with_name(name).relative_to(root).as_posix()}:",
            "which is used",
        )
        assert f"its id is that of {path.relative_to(root).as_posix()}" in found.message
        in_lint = [
            one for one in lint(root).findings if "its id is that of" in one.message
        ]
        assert [one.path for one in in_lint] == [
            path.with_name(name).relative_to(root).as_posix()
        ]
        with Registry(places) as registry:
            workspace = registry.named("memory")
            (row,) = workspace.index.find(path.stem[-8:])
            assert root / row.path == root / workspace.store.find(row.id) == path
        path.with_name(name).unlink()


def test_a_file_that_was_moved_to_another_project_is_told_with_what_makes_it_count_there(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    moved = root / "projects" / "shop" / "memory" / "conventions" / path.name
    moved.parent.mkdir(parents=True)
    path.rename(moved)
    (told,) = [
        finding for finding in look(places) if "front matter says" in finding.message
    ]
    assert (told.level, "counts for workspace scope" in told.message) == ("note", True)
    command = told.remedy.split("`")[5].split(" ")
    assert keeplore(*command[1:], cwd=root).returncode == 0
    done = keeplore("list", "--project", "shop", cwd=root)
    assert (
        "Use pnpm, never npm." in done.stdout
        and not (root / "projects" / "shop" / "project.json").exists()
    )


def test_a_link_in_a_memory_folder_is_named_with_what_to_do(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    path.with_name("link.md").symlink_to(path)
    assert "Move it out" in names(places, "link.md", "a link").remedy
    path.with_name("link.md").unlink()
    path.with_name("aux.md").write_text("# Words\n")
    assert "Rename it" in names(places, "aux.md", "not every system").remedy


def left_out(places: Places, name: str, of: str = "commits") -> tuple[str, str]:
    """Why a file is left out, which is told once, and what to do."""
    (found,) = [one for one in look(places) if name in one.message]
    start = f"{name} is left out of {of}: "
    assert (found.level, start in found.message) == ("wrong", True)
    return found.message.partition(start)[2], found.remedy.partition("; `keeplore")[0]


def test_a_file_that_is_too_large_is_left_out_as_that(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    huge = path.with_name("2026-02-09-huge.md")
    huge.touch()
    os.truncate(huge, MAX_FILE + 1)
    assert left_out(places, huge.name, "recall and commits") == (
        "it is larger than 32 MB",
        "Split it, or move it out of the memory folders",
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_in_a_memory_folder_is_named_as_that(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    closed = path.with_name("2026-02-09-closed.md")
    closed.write_text("# Words\n")
    folder = root / "memory" / "gotchas"
    folder.mkdir(exist_ok=True)
    try:
        for place, of in ((closed, "recall and commits"), (folder, "commits")):
            place.chmod(0)
            rights = f"Give yourself the rights: `chmod u+rwX {place}`"
            assert left_out(places, place.name, of) == ("you may not read it", rights)
    finally:
        folder.chmod(0o700)


def test_what_git_is_told_to_ignore_beside_memories_is_no_finding(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    (root / ".git" / "info" / "exclude").write_text("*.log\n")
    path.with_name("build.log").write_text("of a program\n")
    path.with_name("2026-02-09-new.md").write_text("# Words\n")
    assert not [one for one in look(places) if "build.log" in one.message]


def test_a_memory_that_git_is_told_to_ignore_is_named_as_one(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    new = path.with_name("2026-02-09-by-hand.md")
    new.write_text(re.sub(r"mem_[0-9a-f]{8}", "mem_00000000", path.read_text()))
    path.with_name("2026-02-09-by-hand.md~").write_text("an editor's\n")
    (root / ".git" / "info" / "exclude").write_text("*by-hand*\n")
    found = [one for one in look(places) if "told to ignore" in one.message]
    assert [one.level for one in found] == ["note"]
    assert found[0].message.startswith(new.relative_to(root).as_posix())
    assert "check-ignore -v" in found[0].remedy


def test_what_came_back_is_named_and_the_commit_takes_it_away(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*pnpm*.md")
    text = path.read_bytes()
    with Registry(places) as registry:
        workspace = registry.named("memory")
        workspace.store.forget(id_of(root, "pnpm"), "here", "2026-12-01T00:00:00Z")
        workspace.commit()
    path.write_bytes(text)
    assert [
        "forgotten and came back" in message for message in wrong(look(places))
    ] == [True]
    assert not path.exists() and wrong(look(places)) == []


def test_a_lock_that_a_killed_git_left_is_named_and_never_removed(
    root: Path, places: Places
) -> None:
    lock = root / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    finding = names(places, "index.lock is")
    assert f"rm {lock}" in finding.remedy and lock.exists()


def test_the_mark_of_a_killed_writer_is_told_and_taken_away(
    root: Path, places: Places
) -> None:
    mark = places.cache / "index" / "memory" / "writing"
    mark.touch()
    assert any(
        "a writer of it was killed" in finding.message for finding in look(places)
    )
    look(places, fix=True)
    assert not mark.exists()


def test_an_entry_that_was_set_aside_is_named_with_its_reason_and_tried_again(
    root: Path, places: Places
) -> None:
    spool = Spool(places.spool)
    spool.add("claude-code", "Stop", b"{}")
    spool.quarantine(
        spool.claim(spool.pending()[0]), "this is no payload of claude-code"
    )
    names_and_mends(
        places, "1 host events could not be read: this is no payload of claude-code (1)"
    )
    assert spool.counts() == {"new": 1, "claimed": 0, "dead": 0}


def test_what_never_was_an_entry_stays_wrong_until_it_is_removed(
    root: Path, places: Places
) -> None:
    spool = Spool(places.spool)
    spool.add("claude-code", "Stop", b"{}")
    bogus = places.spool / "new" / "bogus name.json"
    bogus.write_text("{not json")
    spool.quarantine(
        spool.claim(spool.pending()[0]), "this is no payload of claude-code"
    )
    assert (
        len(
            [
                words
                for words in wrong(look(places))
                if "1 host events could not be read: this is no" in words
            ]
        )
        == 1
    )
    for _ in range(2):
        (left,) = [
            finding for finding in look(places, fix=True) if finding.level == "wrong"
        ]
        assert "bogus name.json is no host event: not an entry" in left.message
    subprocess.run(left.remedy.split("`")[1], shell=True, check=True)
    assert wrong(look(places)) == []
    assert list((places.spool / "dead").iterdir()) == []


def test_entries_that_a_dead_worker_had_are_named_and_put_back(
    root: Path, places: Places
) -> None:
    spool = Spool(places.spool)
    spool.add("claude-code", "Stop", b"{}")
    spool.claim(spool.pending()[0])
    names_and_mends(places, "1 host events were being read when a worker died")
    assert spool.counts()["new"] == 1


def test_a_worker_that_does_not_answer_is_named(root: Path, places: Places) -> None:
    (places.state / "worker.pid").write_text("4711")
    with (places.state / "worker.lock").open("ab") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert names(places, "process 4711 holds the lock").remedy == "`kill 4711`"


def test_a_python_that_is_gone_is_registered_anew(root: Path, places: Places) -> None:
    (places.state / "python").write_text(f"/nowhere/python\n{__version__}\n")
    names_and_mends(places, "hosts cannot start a worker", "/nowhere/python")
    assert installation.registered(places.state) == installation.own()


def test_vectors_that_are_missing_are_no_fault_and_are_made(
    root: Path, places: Places
) -> None:
    with database(places) as connection:
        connection.execute("DELETE FROM embeddings")
    assert any(
        "vectors that the model packaged has yet to make: 3" in f.message
        and f.level == "note"
        for f in look(places)
    )
    look(places, fix=True)
    assert not any("has yet to make" in finding.message for finding in look(places))


def test_an_index_that_is_gone_is_never_taken_for_an_empty_memory(
    root: Path, places: Places
) -> None:
    with database(places) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = places.cache / "index" / "memory" / "index.sqlite3"
    file.write_bytes(b"\xff" * 9000)
    assert any(f.message.startswith("3 memories") for f in look(places))


def test_an_unreadable_tombstone_is_named(root: Path, places: Places) -> None:
    (root / "forgotten").mkdir(exist_ok=True)
    (root / "forgotten" / f"{new_id('x')}.json").write_text("{")
    names(places, "cannot be read", "stays forgotten")


def test_a_sync_that_failed_is_remembered_and_a_remote_is_asked_by_the_deep_look(
    root: Path, places: Places, home: Path, git: Callable[..., str]
) -> None:
    git("remote", "add", "origin", str(home / "nowhere.git"), cwd=root)
    with Registry(places) as registry, contextlib.suppress(Exception):
        synchronise(registry.named("memory"))
    names(places, "memory sync: the sync at ", "failed")
    git("init", "-q", "--bare", str(home / "nowhere.git"), cwd=home)
    with Registry(places) as registry:
        synchronise(registry.named("memory"))
    assert wrong(look(places, deep=True)) == []
    (home / "nowhere.git").rename(home / "moved.git")
    assert wrong(look(places)) == []
    names(places, "memory sync: ", deep=True)


def test_a_damaged_object_is_found_by_the_deep_look(
    root: Path, places: Places, git: Callable[..., str]
) -> None:
    (path,) = root.rglob("*ledger*.md")
    blob = git("hash-object", str(path), cwd=root)
    stored = root / ".git" / "objects" / blob[:2] / blob[2:]
    stored.chmod(0o600)
    stored.write_bytes(b"garbage")
    names(places, "git finds damaged objects", deep=True)


def test_a_file_that_no_commit_brings_to_head_is_named(
    root: Path, places: Places
) -> None:
    (path,) = root.rglob("*ledger*.md")
    path.chmod(0o755)
    names(places, "differs from HEAD", deep=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ('{"enabledPlugins": {"keeplore@keeplore": true}}', "nothing was heard yet"),
        ('{"enabledPlugins": {"other@x": true}}', "is not connected"),
        ("[", "is not connected"),
        ("[]", "is not connected"),
    ],
)
def test_it_is_told_whether_the_plugin_is_connected(
    root: Path, places: Places, settings: str, words: str
) -> None:
    (Path.home() / ".claude" / "settings.json").write_text(settings)
    told = [finding for finding in look(places) if finding.part == "host claude-code"]
    assert [
        words in finding.message and finding.level == "note" for finding in told
    ] == [True]


def test_a_state_directory_that_others_may_read_is_told_and_closed(
    root: Path, places: Places
) -> None:
    assert root.is_dir()
    places.state.chmod(0o755)
    (told,) = [
        finding for finding in look(places) if str(places.state) in finding.remedy
    ]
    assert told.level == "note" and "others may look into" in told.message
    look(places, fix=True)
    assert not [finding for finding in look(places) if "others may" in finding.message]
    assert places.state.stat().st_mode & 0o777 == 0o700


def test_events_that_no_disk_had_room_for_are_counted(
    root: Path, places: Places
) -> None:
    assert root.is_dir()
    for number in range(6):
        name = f"20260209T140311Z.123456789.{number}-1f0c9a2e.0.host.Stop"
        (places.state / f"dropped-{name}").touch()
    names_and_mends(places, "6 host events were lost")


def test_events_in_a_second_place_are_counted_and_it_is_named(
    root: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert root.is_dir()
    runtime = places.state.parent / "runtime"
    aside = runtime / f"keeplore-{os.geteuid()}"
    box = aside / str(places.state).replace("/", "%") / "spool"
    box.mkdir(parents=True)
    for folder in (runtime, aside):
        folder.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    Spool(places.spool).add("own", "turn", b"{}")
    Spool(box).add("own", "turn", b"{}")
    told = {f.message for f in look(places) if f.part == "spool"}
    assert told == {
        "2 host events wait",
        f"1 of them in {box / 'new'}: no room in {places.state}",
    }


def test_a_merge_that_is_under_way_is_told_and_nothing_is_lost(
    root: Path, places: Places
) -> None:
    (root / ".git" / "MERGE_HEAD").write_text("0" * 40)
    note_in(root, "Use yarn")
    (told,) = [
        finding for finding in look(places) if "a merge is under way" in finding.message
    ]
    assert told.level == "note" and "1 file waits" in told.message


def test_a_rebase_that_only_memory_stopped_is_finished_by_a_fix(
    root: Path, places: Places, git: Callable[..., str]
) -> None:
    git("branch", "upstream", cwd=root)
    git("checkout", "-q", "upstream", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "Theirs", cwd=root)
    git("checkout", "-q", "main", cwd=root)
    path = note_in(root, "Use yarn")
    look(places)  # commits it
    (place,) = root.rglob("*use-yarn*.md")
    hook = root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f"#!/bin/sh\ngit show main:./{place.relative_to(root)} > '{place}'\n"
    )
    hook.chmod(0o755)
    with pytest.raises(AssertionError, match="would be overwritten"):
        git("rebase", "upstream", cwd=root)
    hook.unlink()
    assert path
    (told,) = [
        finding for finding in look(places) if "a rebase is under" in finding.message
    ]
    assert told.level == "note" and "keeplore doctor --fix" in told.remedy
    (done,) = [
        finding for finding in look(places, fix=True) if "a rebase" in finding.message
    ]
    assert done.level == "ok" and done.message.endswith(
        "it is finished and committed: 0 files"
    )
    assert git("log", "-2", "--format=%s", cwd=root).splitlines()[1] == "Theirs"


def test_what_it_prints_cannot_speak_to_the_terminal(
    root: Path, places: Places
) -> None:
    (root / "memory" / "facts").mkdir(exist_ok=True)
    (root / "memory" / "facts" / "a\x1b[31mred\u202e.md").write_text(
        "---\nid: [\n---\n"
    )
    done = keeplore("doctor")
    assert done.returncode == 1 and "red.md" in done.stdout
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    assert (
        done.stdout.splitlines()[0].startswith("!!")
        and " you, " in done.stdout.splitlines()[-1]
    )


@pytest.mark.parametrize(
    ("found", "summed_up"),
    [
        (
            [made.wrong("git", "x", "y")] * 2
            + [made.note("hosts", "x")]
            + [made.well("disk", "x")] * 4,
            "2 findings need you, 1 is for your information, 4 are in order",
        ),
        ([made.wrong("git", "x", "y")], "1 finding needs you"),
        ([made.well("disk", "x")], "nothing needs you, 1 is in order"),
    ],
)
def test_what_was_found_is_summed_up_in_plain_words(
    found: list[DoctorFinding], summed_up: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_findings(found)
    assert capsys.readouterr().out.splitlines()[-1] == summed_up


def test_programs_get_json_and_a_status(root: Path) -> None:
    done = keeplore("doctor", "--deep", "--json")
    findings = json.loads(done.stdout)
    assert done.returncode == 0 and {f["level"] for f in findings} <= {"note", "ok"}
    assert all(
        finding.keys() == {"part", "level", "message", "remedy"} for finding in findings
    )


def test_a_workspace_that_was_moved_is_not_made_anew(home: Path, run) -> None:
    assert run("init", "memory").returncode == 0
    (home / "memory").rename(home / "moved")
    done = run("recall", "x")
    assert done.returncode == 1 and "not in" in done.stderr
    assert (
        "keeplore init NEW-DIR --name memory" in done.stderr
        and "workspaces remove memory" in done.stderr
    )
    assert "NEW-DIR" in run("doctor").stdout
    assert run("init", "moved", "--name", "memory").returncode == 0
    assert "not in" not in run("doctor").stdout
    assert not (home / "memory").exists()


def test_a_place_that_cannot_be_written_is_a_finding(
    home: Path, run, monkeypatch
) -> None:
    assert run("init", "memory").returncode == 0
    box = Places.from_environment(os.environ).spool / "new"
    box.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path) != box
    )  # root may write everywhere
    found = [
        finding
        for finding in check_machine.findings(Places.from_environment(os.environ))
        if finding.level == "wrong"
    ]
    assert [finding.part for finding in found] == ["permissions"] and str(box) in found[
        0
    ].message


@pytest.mark.parametrize(
    ("total", "free", "told"),
    [
        (10**12, 0, 0),
        (10**12, (200 << 20) - 1, 199),
        (10**12, 200 << 20, None),
        (10**9, 10**8 - 1, 95),  # of a small one a tenth
        (10**9 + 5, 10**8, None),
    ],
)
def test_a_full_disk_is_a_finding_wherever_a_workspace_lies(
    places: Places,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    total: int,
    free: int,
    told: int | None,
) -> None:
    usage = shutil._ntuple_diskusage(total, total - free, free)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    found = [one for one in check_machine.findings(places) if one.part == "disk"]
    seen = {(one.level, one.message.split(" where")[0], one.remedy) for one in found}
    message = f"{told} MB are free"
    assert seen == (
        {("wrong", message, "Make room there")} if told is not None else set()
    )


def test_settings_that_are_not_committed_are_named_and_committed_if_asked(
    places: Places, root: Path, git: Callable[..., str]
) -> None:
    file = root / "keeplore.yaml"
    text = file.read_text()
    file.write_text(f"{text}# by hand\n")
    message = "keeplore.yaml is not committed as it is here: no other machine gets it"
    found = [one for one in look(places) if "keeplore.yaml" in one.message]
    assert [(one.level, one.message, one.remedy) for one in found] == [
        ("note", message, "Commit it, or let `keeplore doctor --fix` do so")
    ]
    assert git("diff", "--name-only", "HEAD", cwd=root) == "keeplore.yaml"
    found = [
        one for one in look(places, fix=True) if one.message.startswith("keeplore.yaml")
    ]
    assert [(one.level, one.message) for one in found] == [
        ("ok", f"{message}: now it is")
    ]
    assert git("show", "HEAD:keeplore.yaml", cwd=root) == file.read_text().rstrip()


def test_before_the_first_workspace_only_that_is_missing(home: Path) -> None:
    found = look(Places.from_environment(os.environ))
    assert [
        (one.part, one.message, one.remedy) for one in found if one.level == "wrong"
    ] == [
        ("workspace", "none is set up on this machine", "Run `keeplore init DIR`"),
    ]


@pytest.mark.parametrize(
    ("repositories", "parts"), [((), []), ((Path("shop"),), ["notes with the code"])]
)
def test_notes_with_the_code_are_looked_at_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch, repositories: tuple[Path, ...], parts: list[str]
) -> None:
    monkeypatch.setattr(doctor.check_code, "findings", lambda *_, **__: [])
    registry: Any = SimpleNamespace(code_repositories=lambda: repositories)
    options = DoctorOptions(surroundings(Places.from_environment(os.environ)))

    found = doctor._code(registry, options)

    assert [one.part for one in found] == parts
