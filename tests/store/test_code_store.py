"""The notes kept with a project's code: their files, what stands for them in the person's workspace,
and what may not be done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from hashlib import sha1
from pathlib import Path

import pytest
from sample_note import note

from keeplore.errors import (
    NotFound,
    RepositoryBusy,
    RepositoryError,
    StoreError,
    UnsafePath,
)
from keeplore.memory import Memory, parse, relative_path, serialise
from keeplore.memory.merge.memory_merge import contradicting
from keeplore.memory.note import hash_of
from keeplore.store import Store
from keeplore.store.code_store import CodeStore
from keeplore.store.merge.merge_driver import main
from keeplore.store.tombstones import Tombstone

AT = "2026-02-10T00:00:00Z"
PLACE = "memory/gotchas/2026-02-09-{}-{}.md"
Git = Callable[..., str]
ELSEWHERE = note("Elsewhere").id


def own(title: str, body: str = "It is so.\n", **fields: object) -> Memory:
    return note(title, body, scope="project", project="shop", **fields)


def place(memory: Memory) -> str:
    return PLACE.format(memory.title.lower(), memory.id[4:12])


@pytest.fixture
def code(store: Store, tmp_path: Path, git: Git) -> CodeStore:
    top = tmp_path / "shop"
    (top / ".keeplore").mkdir(parents=True)
    git("init", "-q", "-b", "main", cwd=top)
    (top / "app.py").write_text("print()\n")
    _commit(git, top)
    return CodeStore(
        top,
        "shop",
        store,
        lambda memory: replace(memory, body=memory.body.replace("s3cret", "***")),
        is_elsewhere=lambda id_: id_ == ELSEWHERE,
    )


def _commit(git: Git, top: Path) -> None:
    git("add", "-A", cwd=top)
    git("commit", "-qm", "Change", cwd=top)


def texts(code: CodeStore) -> dict[str, str]:
    return {
        path.relative_to(code.root).as_posix(): path.read_text()
        for path in code.root.rglob("*.md")
    }


def told(error: pytest.ExceptionInfo[StoreError]) -> tuple[str, str]:
    return error.value.message, error.value.remedy


def test_a_note_is_written_moved_and_removed_below_the_folder_of_the_code(
    code: CodeStore, store: Store
) -> None:
    first, second = own("One", "A s3cret.\n"), own("Two")
    assert (code.save(first), code.save(second)) == (place(first), place(second))
    written = replace(first, body="A ***.\n")
    assert texts(code) == {
        place(first): serialise(written),
        place(second): serialise(second),
    }
    assert code.load(place(first)) == written
    changed = own("Two", "It was so.\n")
    assert code.save(changed, place(second)) == place(second)
    code.move(place(second), "memory/archive/two.md")
    code.remove(place(first))
    assert texts(code) == {"memory/archive/two.md": serialise(changed)}
    code.record("laptop", {"at": AT, "event": "again"})
    assert [*code.records()] == [*store.records()] == [{"at": AT, "event": "again"}]
    assert (code.recover(), code.is_held_up(), code.remote_in_full()) == (
        False,
        False,
        None,
    )
    assert [*code.deleted(first.id)] == []
    assert code.history == store.history


def test_whose_a_memory_is_the_store_says_and_not_its_file(code: CodeStore) -> None:
    (code.root / "memory").mkdir()
    (code.root / "memory" / "a.md").write_text(serialise(note("Theirs")))
    loaded = code.load("memory/a.md")
    assert loaded == note("Theirs", scope="project", project="shop")
    (code.root / "memory" / "b.md").write_text(serialise(note("Elsewhere")))
    with pytest.raises(NotFound) as error:
        code.load("memory/b.md")
    assert told(error) == (f"{ELSEWHERE} is in the workspace", "`keeplore show` has it")
    with pytest.raises(StoreError) as refused:
        code.save(note("Mine"))
    assert told(refused) == (
        f"{note('Mine').id} is kept with the code of shop",
        "Write it with `keeplore remember --scope`, then forget this one",
    )
    assert len(texts(code)) == 2


def test_the_index_reads_notes_and_the_names_of_the_workspace(
    code: CodeStore, store: Store
) -> None:
    code.save(own("One"))
    (code.root / "memory" / "a.txt").write_text("no note")
    for folder in ("entities", "projects/shop/entities", "projects/bank/entities"):
        (store.root / folder).mkdir(parents=True, exist_ok=True)
        (store.root / folder / "gateway.yaml").write_text(f"name: {folder}\n")
    found = sorted(file.path for file in code.indexed())
    assert found == [
        "entities/gateway.yaml",
        place(own("One")),
        "projects/shop/entities/gateway.yaml",
    ]
    assert [code.read_text(path, 99) for path in (found[0], found[2])] == [
        "name: entities\n",
        "name: projects/shop/entities\n",
    ]
    assert code.read_text(found[1], 9999) == serialise(own("One"))


def test_what_is_forgotten_is_kept_for_the_person_alone(
    code: CodeStore, store: Store, git: Git
) -> None:
    one, two = own("One"), own("Two")
    paths = [code.save(one), code.save(two)]
    copy = code.root / "memory" / "copy.md"
    copy.write_text((code.root / paths[0]).read_text())
    tombstones = code.forget_all([one.id, two.id], "laptop", AT)
    tombstone = Tombstone(
        one.id, AT, "laptop", content=hash_of(one), path=relative_path(one)
    )
    assert tombstones[0] == tombstone
    assert (texts(code), tombstones) == (
        {},
        [*map(store.tombstones.get, (one.id, two.id))],
    )
    # again, and a copy that another branch brings: the first time counts
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(serialise(one))
    with pytest.raises(NotFound) as error:
        code.load("memory/copy.md")
    assert told(error) == (
        f"{one.id} is forgotten",
        f"`keeplore restore {one.id}` brings it back",
    )
    assert code.forget_all([one.id], "studio", "2026-03-01T00:00:00Z") == [tombstone]
    assert code.forget_all([one.id], "studio", "2026-03-01T00:00:00Z") == [tombstone]
    assert texts(code) == {}
    data = serialise(one).encode()
    blob = sha1(b"blob %d\0%s" % (len(data), data)).hexdigest()
    kept = git("for-each-ref", "--format=%(objectname) %(refname)", cwd=store.root)
    assert f"{blob} refs/keeplore/forgotten/{one.id}" in kept
    assert code.forgotten(one.id) == one
    assert code.restore(one.id) == str(store.root / relative_path(one))
    assert (store.root / relative_path(one)).read_bytes() == data
    with pytest.raises(NotFound) as missing:
        code.forget_all(["mem_none"], "laptop", AT)
    assert told(missing) == (
        "there is no memory 'mem_none'",
        "`keeplore list` and `keeplore recall` print ids",
    )


def test_a_purge_counts_the_commits_of_the_team_and_leaves_them(
    code: CodeStore, store: Store, git: Git
) -> None:
    one, two = own("One"), own("Two")
    code.save(one), code.save(two)
    namesake = code.top / Path(place(one)).name  # no note
    namesake.write_text("Something else.\n")
    _commit(git, code.top)
    code.move(place(one), "memory/archive/one.md")
    _commit(git, code.top)
    code.save(own("Three"))
    _commit(git, code.top)
    head = code.head()
    assert head == git("rev-parse", "HEAD", cwd=code.top)
    plan = code.purge_plan([one.id])
    paths = (".keeplore/memory/archive/one.md", f".keeplore/{place(one)}")
    assert astuple(plan) == astuple(
        replace(store.purge_plan([one.id]), paths=paths, kept=2)
    )
    nothing = own("Nobody").id
    assert code.purge_plan([nothing]) == replace(store.purge_plan([nothing]), kept=0)
    code.purge([one.id], "laptop", AT)
    assert texts(code).keys() == {place(two), place(own("Three"))}
    tombstone = store.tombstones.get(one.id)
    assert tombstone == Tombstone(one.id, AT, "laptop", is_purged=True)
    assert (code.head(), git("status", "--porcelain", cwd=code.top)) == (
        head,
        " D .keeplore/memory/archive/one.md",
    )


def test_a_conflict_is_merged_by_fields_unless_somebody_was_at_it(
    code: CodeStore, git: Git
) -> None:
    one, two, three = own("One", "Base.\n"), own("Two", "Base.\n"), own("Three")
    clash(code, git, one, two)
    stages = code.unmerged()
    assert {path: sorted(by) for path, by in stages.items()} == {
        place(one): ["1", "2", "3"],
        place(two): ["1", "2", "3"],
    }
    blob = git("cat-file", "blob", stages[place(one)]["3"], cwd=code.top)
    assert f"{blob}\n" == serialise(replace(one, body="Theirs.\n"))
    code.save(three)
    (code.root / place(two)).write_text("A person writes here.\n")
    before = texts(code)
    mended = code.repair_merges(
        [place(two), place(one), place(three), "memory/none.md"]
    )
    assert "<<<<" in before[place(one)] and mended == (*both_versions(one),)
    assert texts(code) == before | both_versions(one)
    assert code.unmerged() == stages
    assert {*mended} < {file.path for file in code.indexed()}
    assert code.repair_merges([place(one)]) == ()


def test_git_merges_as_told_with_both_versions_where_notes_are_looked_for(
    code: CodeStore, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = own("One", "Base.\n")
    clash(code, git, one)
    for stage, blob in code.unmerged()[place(one)].items():
        data = git("cat-file", "blob", blob, cwd=code.top)
        (code.top / stage).write_text(f"{data}\n")
    monkeypatch.chdir(code.top)
    assert main(["1", "2", "3", f".keeplore/{place(one)}"]) == 0
    (code.root / place(one)).write_bytes(Path("2").read_bytes())
    assert texts(code) == both_versions(one)


def clash(code: CodeStore, git: Git, *notes: Memory) -> None:
    """Let git stop in the middle of a merge of two branches that changed notes."""
    for memory in notes:
        code.save(memory)
    _commit(git, code.top)
    git("branch", "side", cwd=code.top)
    for branch, words in (("side", "Theirs.\n"), ("main", "Ours.\n")):
        git("checkout", "-q", branch, cwd=code.top)
        (code.top / "app.py").write_text(words)
        for memory in notes:
            code.save(replace(memory, body=words), place(memory))
        _commit(git, code.top)
    assert code.unmerged() == {}
    with pytest.raises(AssertionError, match="CONFLICT"):
        git("merge", "side", cwd=code.top)


def both_versions(memory: Memory) -> dict[str, str]:
    """What a clash leaves of a note: its words here, and those of the others as a second one."""
    ours = serialise(replace(memory, body="Ours.\n"))
    second = contradicting(ours, serialise(replace(memory, body="Theirs.\n")))
    return {place(parse(second)): second, place(memory): ours}


def test_while_git_is_busy_no_file_that_is_there_changes(code: CodeStore) -> None:
    one = own("One")
    code.save(one)
    before = texts(code)
    (code.top / ".git" / "MERGE_HEAD").write_text("0" * 40 + "\n")
    for change in (
        lambda: code.save(replace(one, body="Other.\n"), place(one)),
        lambda: code.move(place(one), "memory/archive/one.md"),
        lambda: code.remove(place(one)),
        lambda: code.forget_all([one.id], "laptop", AT),
    ):
        with pytest.raises(RepositoryBusy):
            change()
        assert texts(code) == before
    assert code.save(own("Two")) == place(own("Two"))


def test_nothing_is_written_where_the_folder_is_no_longer_the_codes(
    code: CodeStore, tmp_path: Path
) -> None:
    one = own("One")
    code.save(one)
    changes: list[Callable[[], object]] = [
        lambda: code.save(own("Two")),
        lambda: code.move(place(one), "memory/archive/one.md"),
        lambda: code.remove(place(one)),
        lambda: code.forget_all([one.id], "laptop", AT),
        lambda: code.repair_merges([place(one)]),
    ]
    outside = tmp_path / "outside"
    code.root.rename(outside)
    code.root.symlink_to(outside)
    for change in changes:
        with pytest.raises(UnsafePath) as linked:
            change()
        assert told(linked) == (
            f"{code.root} is a symbolic link",
            "Put the folder itself there",
        )
    code.root.unlink()
    outside.rename(code.root)
    (code.top / ".git").rename(tmp_path / "gone")
    for change in changes:
        with pytest.raises(RepositoryError) as gone:
            change()
        assert told(gone) == (f"{code.top} is no work tree any more", "Run it again")
    assert texts(code) == {place(one): serialise(one)}
