"""What every store promises, whatever kind of repository it stands on."""

from __future__ import annotations

import multiprocessing
import subprocess
import threading
from pathlib import Path

import pytest
from refusals import refused

from keeplore.errors import AlreadyExists, Corrupt, NotFound, UnsafePath
from keeplore.memory import Memory, new_id
from keeplore.memory.note import NoteDraft, note_of
from keeplore.store import Store

AT = "2026-03-01T10:00:00Z"


@pytest.fixture(params=["libgit2", "the user's git", "worktree"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A repository that libgit2 can use, one that it refuses, and one whose git directory lies
    elsewhere.
    """
    root = tmp_path / "workspace"
    options = ["--object-format=sha256"] if request.param == "the user's git" else []
    subprocess.run(["git", "init", "-q", "-b", "main", *options, str(root)], check=True)
    if request.param == "worktree":
        _git(root, "commit", "-q", "--allow-empty", "-m", "begin")
        _git(root, "worktree", "add", "-q", "-b", "memory", str(tmp_path / "other"))
        return Store(tmp_path / "other")
    return Store(root)


def test_what_was_added_can_be_had_by_its_id(store: Store) -> None:
    memory = note("Use pnpm")
    path = store.add(memory)
    assert store.get(memory.id) == (path, memory)
    assert [file.path for file in store.scan()] == [path]


def test_an_id_is_added_once(store: Store) -> None:
    memory = note("Use pnpm")
    path = store.add(memory)
    said = f"{memory.id} is there already: {path}. `keeplore edit` changes a memory"
    with refused(AlreadyExists, said):
        store.add(
            Memory({**memory.meta, "title": "Something else"}, "# Something else\n")
        )
    assert store.load(path) == memory


def test_an_id_that_is_not_there_is_not_found(store: Store) -> None:
    for unknown in (new_id(), "", "mem_", "../../etc/passwd", "mem_" + "0" * 36):
        with refused(NotFound, nowhere(unknown)):
            store.get(unknown)


def nowhere(memory_id: str) -> str:
    """What is said of an id that no memory has."""
    return f"there is no memory {memory_id!r}. `keeplore list` and `keeplore recall` print ids"


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "mem_x",
        "../escape",
        "mem_3F0C9A2E-6F0B-4D55-9C5E-0F5F6A1B2C3D",
        "con",
        "mem_\0",
        f"{new_id('x')}/x",
    ],
)
def test_an_id_that_is_no_name_is_never_written(store: Store, bad: str) -> None:
    with pytest.raises(UnsafePath):
        store.add(Memory({**note("Use pnpm").meta, "id": bad}, "# Use pnpm\n"))
    assert list(store.scan()) == []


@pytest.mark.parametrize(
    "project", ["..", "a/b", "CON", "nul.txt", "Shop", "a" * 64, "-rf", ".git", "a\nb"]
)
def test_a_project_that_is_no_name_is_never_written(store: Store, project: str) -> None:
    meta = {**note("Use pnpm").meta, "scope": "project", "project": project}
    said = (
        f"{project!r} cannot be a project's folder name. "
        "Use lower-case letters, digits, dots and dashes, 63 at most"
    )
    with refused(UnsafePath, said):
        store.add(Memory(meta, "# Use pnpm\n"))


def test_a_damaged_file_is_said_to_be_corrupt_and_left_alone(store: Store) -> None:
    path = store.add(note("Use pnpm"))
    (store.root / path).write_text("---\nid: [\n---\n")
    with pytest.raises(Corrupt):
        store.load(path)
    assert (store.root / path).read_text() == "---\nid: [\n---\n"


def test_a_moved_file_says_what_it_said(store: Store) -> None:
    memory = note("Use pnpm")
    path = store.add(memory)
    before = (store.root / path).read_bytes()
    to = path.replace("memory/", "memory/archive/", 1)
    store.move(path, to)
    assert (store.root / to).read_bytes() == before
    assert store.get(memory.id)[0] == to
    store.save(note("Another"))
    said = f"there is no {path}. Run `keeplore doctor` if a search named it"
    with refused(NotFound, said):
        store.move(path, to.replace("use", "abuse"))


def test_nothing_is_moved_over_another_file(store: Store) -> None:
    one, other = store.add(note("Use pnpm")), store.add(note("Use tabs"))
    with refused(AlreadyExists, f"{other} is there already. Move one of them away"):
        store.move(one, other)
    assert store.load(other).title == "Use tabs"


def test_nothing_is_moved_into_the_place_of_a_folder(store: Store) -> None:
    path = store.add(note("Use pnpm"))
    to = path.replace("memory/", "memory/archive/", 1)
    (store.root / to).mkdir(parents=True)
    with refused(UnsafePath, f"{to} is a folder. Move it out of the memory folders"):
        store.move(path, to)
    assert store.load(path).title == "Use pnpm"


def test_what_is_removed_is_gone_and_removing_it_again_is_no_error(
    store: Store,
) -> None:
    memory = note("Use pnpm")
    path = store.add(memory)
    store.remove(path)
    store.remove(path)
    with refused(NotFound, nowhere(memory.id)):
        store.get(memory.id)
    said = (
        "'../outside.md' is not a path inside the workspace. "
        "Give the id of a memory, or a path below the workspace"
    )
    with refused(UnsafePath, said):
        store.remove("../outside.md")


def test_of_many_threads_that_add_one_id_one_wins(store: Store) -> None:
    memory = note("Use pnpm")
    outcomes: list[str] = []

    def add() -> None:
        try:
            outcomes.append(store.add(memory))
        except AlreadyExists:
            outcomes.append("")

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 8
    assert len([path for path in outcomes if path]) == 1


def test_of_many_processes_that_write_nothing_is_lost(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    shared = note("What all of them add")
    workers = [
        context.Process(target=_write, args=(store.root, number, dict(shared.meta)))
        for number in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    titles = sorted(store.load(file.path).title for file in store.scan())
    assert titles == sorted(
        [
            *(f"Fact {n} of {k}" for n in range(10) for k in range(3)),
            "What all of them add",
        ]
    )
    again = [entry["n"] for entry in store.records()]
    assert sorted(again) == sorted([*range(10)] * 3)


def test_a_torn_or_foreign_line_of_an_audit_file_hides_no_other(store: Store) -> None:
    store.record("studio-1a2b", {"at": AT, "event": "again", "n": 1})
    file = store.root / "audit/studio-1a2b/2026-03.jsonl"
    file.write_bytes(file.read_bytes() + b'{"at": "2026-\n[1]\n' + b"[" * 100_000)
    store.record("studio-1a2b", {"at": AT, "event": "again", "n": 2})
    assert [entry["n"] for entry in store.records()] == [1, 2]


def note(text: str) -> Memory:
    return note_of(NoteDraft(text), AT)


def _write(root: Path, number: int, shared: dict[str, object]) -> None:
    store = Store(root)
    for n in range(10):
        store.add(note(f"Fact {n} of {number}"))
        store.record("studio-1a2b", {"at": AT, "event": "again", "n": n})
        try:
            store.add(Memory(shared, "# What all of them add\n"))
        except AlreadyExists:
            continue


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True)
