"""What is forgotten is gone, stays gone on every machine, and comes back only when a person says
so.
"""

from __future__ import annotations

import itertools
import random

import pytest
from refusals import refused
from unwritable import unwritable

from keeplore.errors import AlreadyExists, Corrupt, Forgotten, NotFound, StoreError
from keeplore.memory import Memory, new_id, serialise
from keeplore.memory.names import short_id
from keeplore.store import Store, create
from keeplore.store.tombstones import Tombstone, joined, merged_bytes, parse, path_of
from keeplore.store.tombstones import serialise as as_text

AT = "2026-03-01T10:00:00Z"
MERGED = tuple(itertools.permutations(range(3)))


def forget(store, title):
    return store.forget(new_id(title), "studio", AT)


def text_of(store, path):
    return (store.root / path).read_text()


def titles(store):
    return sorted(store.load(file.path).title for file in store.scan())


@pytest.fixture
def both(store, git, tmp_path):
    """A second clone, and a function by which each takes in what the other committed."""
    there = tmp_path / "there"
    git("clone", "-q", str(store.root), str(there), cwd=tmp_path)
    other = Store(there, branch="main")

    def exchange(one=store, two=other):
        for here, elsewhere in ((one, two), (two, one)):
            elsewhere.commit()
            here.commit()
            git("fetch", "-q", str(elsewhere.root), "main", cwd=here.root)
            here.merge(git("rev-parse", "FETCH_HEAD", cwd=here.root))

    return other, exchange


def test_the_file_goes_and_a_tombstone_stays_that_says_when_where_and_what(store, note):
    path = store.save(note("Old truth"))
    store.commit()
    tombstone = forget(store, "Old truth")
    assert not (store.root / path).exists()
    assert parse(text_of(store, path_of(tombstone.id)), tombstone.id) == tombstone
    assert (tombstone.at, tombstone.machine, tombstone.path, tombstone.is_purged) == (
        AT,
        "studio",
        path,
        False,
    )
    assert (
        len(tombstone.content) == 64 and tombstone.turns == () and tombstone.blobs == ()
    )
    assert text_of(store, path_of(tombstone.id)).startswith('{\n  "at": "2026-03-01')
    assert store.commit().paths == (path_of(tombstone.id), path)
    assert list(store.tombstones) == [tombstone] and store.is_forgotten(tombstone.id)


def test_archived_copies_and_duplicates_go_as_well(store, note):
    path = store.save(note("Twice"))
    archived = path.replace("memory/", "memory/archive/", 1)
    for copy in (archived, "memory/gotchas/by-hand.md"):
        (store.root / copy).parent.mkdir(parents=True, exist_ok=True)
        (store.root / copy).write_text(text_of(store, path))
    tombstone = forget(store, "Twice")
    assert list(store.scan()) == []
    assert forget(store, "Twice") == tombstone


def test_what_is_forgotten_cannot_be_written_again(store, note):
    store.save(note("Gone"))
    forget(store, "Gone")
    for write in (store.save, store.add):
        with refused(Forgotten, was_forgotten(new_id("Gone"))):
            write(note("Gone"))
    assert list(store.scan()) == []


def test_only_what_is_there_can_be_forgotten(store):
    for unknown in (new_id("never"), "mem_x", "../../etc/passwd"):
        said = (
            f"there is no memory {unknown!r}. "
            "`keeplore list` and `keeplore recall` print ids"
        )
        with refused(NotFound, said):
            store.forget(unknown, "studio", AT)
        assert not store.is_forgotten(unknown)


def test_a_file_that_the_disk_keeps_is_named_and_goes_when_it_can(store, note, git):
    path, other = store.save(note("Kept")), store.save(note("Elsewhere"))
    archived = other.replace("memory/", "memory/archive/", 1)
    store.move(other, archived)
    store.commit()
    ids = [new_id("Kept"), new_id("Elsewhere")]
    folder = (store.root / path).parent
    with unwritable(folder):
        with pytest.raises(StoreError) as error:
            store.forget_all(ids, "studio", AT)
        assert error.value.message.startswith(
            f"it is forgotten, but its text is still there: {store.root / path}: "
        )
        assert error.value.remedy == (
            "Make that folder writable, and run "
            f"`keeplore forget {short_id(ids[0])}` again"
        )
        # the other one went, and what is written meanwhile is committed
        assert [file.path for file in store.scan()] == [path]
        assert [*store.indexed()] == []
        assert sorted(tombstone.id for tombstone in store.tombstones) == sorted(ids)
        store.add(note("Meanwhile", scope="user"))
        assert any("meanwhile" in new for new in store.commit().paths)
        store.repair_merges([path])
    store.commit()
    assert titles(store) == ["Meanwhile"]
    assert git("status", "--porcelain", cwd=store.root) == ""


def test_none_is_forgotten_where_one_of_them_is_unknown(store, note):
    store.save(note("There"))
    with pytest.raises(NotFound):
        store.forget_all([new_id("There"), new_id("never")], "studio", AT)
    assert titles(store) == ["There"] and not store.is_forgotten(new_id("There"))


def was_forgotten(memory_id):
    return f"{memory_id} was forgotten. `keeplore restore {memory_id}` brings it back"


@pytest.mark.parametrize(
    "when", ["committed", "never committed", "edited since", "during a merge"]
)
def test_a_restored_memory_is_as_it_was(store, note, git, when):
    path = store.save(note("Back again"))
    if when != "never committed":
        store.commit()
    if when == "edited since":
        (store.root / path).write_text(text_of(store, path) + "\nBy hand.\n")
    if when == "during a merge":
        (store.root / ".git" / "MERGE_HEAD").write_text(f"{store.head()}\n")
    before = text_of(store, path)
    tombstone = forget(store, "Back again")
    (store.root / ".git" / "MERGE_HEAD").unlink(missing_ok=True)
    store.commit()
    assert store.forgotten(tombstone.id).title == "Back again"
    assert store.restore(tombstone.id) == path
    assert text_of(store, path) == before
    assert not store.is_forgotten(tombstone.id)
    store.commit()
    assert (store.root / path).exists() and git(
        "status", "--porcelain", cwd=store.root
    ) == ""
    assert git("for-each-ref", "refs/keeplore", cwd=store.root) == ""


def test_restoring_takes_the_text_that_was_forgotten_and_no_older_one(store, note):
    for body in ("first\n", "second\n"):
        path = store.save(note("Versions", body=body))
        store.commit()
    forget(store, "Versions")
    store.commit()
    assert store.load(store.restore(new_id("Versions"))).body == "second\n"
    (store.root / path).unlink()
    other = Memory({**note("Other").meta}, "other\n")
    (store.root / path).write_text(serialise(other))
    (store.root / path_of(new_id("Versions"))).write_text(
        as_text(Tombstone(new_id("Versions"), path=path))
    )
    said = (
        f"something else is at {path}. Move it away, then run `keeplore restore` again"
    )
    with refused(AlreadyExists, said):
        store.restore(new_id("Versions"))
    assert store.load(path).body == "other\n"


def test_what_was_not_forgotten_or_is_purged_cannot_be_restored(store, note):
    never = new_id("never")
    said = (
        f"{never!r} is not forgotten. The files of {store.root}/forgotten are named after the ids "
        "that can be restored"
    )
    with refused(NotFound, said):
        store.restore(never)
    purged = Tombstone(new_id("purged"), is_purged=True)
    store.tombstones.write(purged)
    said = (
        f"{purged.id} was purged, its text is gone. "
        "Write it anew, or take it from a backup"
    )
    with refused(NotFound, said):
        store.restore(purged.id)
    elsewhere = Tombstone(new_id("elsewhere"), machine="attic")
    store.tombstones.write(elsewhere)
    nameless = Tombstone(new_id("nameless"))
    store.tombstones.write(nameless)
    for tombstone, where in (
        (elsewhere, "`keeplore restore` can do it on attic"),
        (nameless, "Look on another machine"),
    ):
        said = (
            f"git here has no text of {tombstone.id}. "
            f"{where}, where it was forgotten before it was pushed"
        )
        with refused(NotFound, said):
            store.restore(tombstone.id)
        assert store.is_forgotten(tombstone.id)


def test_a_file_that_comes_back_by_itself_is_taken_away_at_the_next_commit_and_can_still_be_restored(
    store, note, git
):
    path = store.save(note("Undead"))
    store.commit()
    tombstone = forget(store, "Undead")
    store.commit()
    git("checkout", "-q", "HEAD~1", "--", path, cwd=store.root)
    (store.root / path).write_text(text_of(store, path) + "\nEdited in an old clone.\n")
    (store.root / "memory" / "mine.md").write_text(text_of(store, path))
    store.commit()
    assert list(store.scan()) == []
    assert git("status", "--porcelain", cwd=store.root) == ""
    assert store.restore(tombstone.id) == path


def test_a_person_who_reverts_the_commit_gets_it_back(store, note, git):
    path = store.save(note("Reverted"))
    store.commit()
    tombstone = forget(store, "Reverted")
    store.commit()
    git("revert", "--no-edit", "HEAD", cwd=store.root)
    assert store.commit().commit is None
    assert (store.root / path).exists() and not store.is_forgotten(tombstone.id)


def test_turns_of_forgotten_conversations_are_known_and_those_of_notes_are_not(
    store, note
):
    talk = Memory(
        {
            **note("Talk").meta,
            "kind": "conversation",
            "source": {"turns": ["t1", "t2"]},
        },
        "# Talk\n\n## Exchanges\n\n<!-- keeplore:turn t3 2026-02-09T14:03:11Z -->\n### User · "
        "14:03\n\nHello\n",
    )
    store.save(talk)
    store.save(note("Note", source={"turns": ["t9"]}))
    assert store.forgotten_turns() == {}
    forget(store, "Talk")
    forget(store, "Note")
    assert store.forgotten_turns() == dict.fromkeys(("t1", "t2", "t3"), new_id("Talk"))
    store.restore(new_id("Talk"))
    assert store.forgotten_turns() == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", ""),
        ("[]", "it is not for this memory"),
        ("{", ""),
        ("[" * 100_000, ""),
        ('{"id": "mem_x"}', "it is not for this memory"),
        ('{"id": "ID", "blobs": ["not a blob"]}', "blobs is not as it should be"),
        ('{"id": "ID", "turns": {"a": 1}}', "turns is not a list"),
        ('{"id": "ID", "turns": [1]}', "turns is not as it should be"),
        ('{"id": "ID", "content": "abc"}', "content is not as it should be"),
        ('{"id": "ID", "path": "a\\u0000b"}', "path is not as it should be"),
    ],
)
def test_a_tombstone_that_cannot_be_read_still_counts(store, note, text, why):
    memory = note("Hostile")
    text = text.replace("ID", memory.id)
    with pytest.raises(Corrupt) as caught:
        parse(text, memory.id)
    place = path_of(memory.id)
    assert caught.value.message.startswith(f"{place} is no tombstone: {why}")
    assert caught.value.remedy == (
        f"Delete {place} to allow this memory again, or bring it back with `git checkout`"
    )
    (store.root / "forgotten").mkdir()
    (store.root / path_of(memory.id)).write_text(text)
    assert list(store.tombstones) == [] and store.is_forgotten(memory.id)
    with refused(Forgotten, was_forgotten(memory.id)):
        store.save(memory)


def test_links_and_odd_names_are_no_tombstones(store, note, tmp_path):
    memory = note("Linked")
    (store.root / "forgotten").mkdir()
    (store.root / path_of(memory.id)).symlink_to(tmp_path)
    (store.root / "forgotten" / "mem_x.json").write_text("{}")
    store.save(memory)
    store.commit()
    assert titles(store) == ["Linked"] and list(store.tombstones) == []


def test_two_tombstones_are_joined_the_same_way_in_any_order():
    memory_id = new_id("x")
    tombstones = [
        Tombstone(
            memory_id,
            AT,
            "studio",
            content="a" * 64,
            turns=("t1", "prompt:p"),
            path="memory/facts/x.md",
        ),
        Tombstone(
            memory_id,
            "2026-03-02T10:00:00Z",
            "attic",
            is_purged=True,
            blobs=("b" * 40,),
        ),
        Tombstone(
            memory_id,
            "2026-03-03T10:00:00Z",
            "attic",
            turns=("t2",),
            is_purged=True,
            blobs=("c" * 40,),
        ),
    ]
    results = {
        joined(joined(tombstones[i], tombstones[j]), tombstones[k])
        for i, j, k in MERGED
    }
    (result,) = results
    assert result == Tombstone(
        memory_id,
        AT,
        "studio",
        turns=("t1", "t2"),
        is_purged=True,
        blobs=("b" * 40, "c" * 40),
    )
    good = as_text(tombstones[1]).encode()
    assert (
        merged_bytes(b"{", good, memory_id)
        == merged_bytes(good, b"{", memory_id)
        == good
    )
    assert merged_bytes(b"{b", b"{a", memory_id) == b"{a"


@pytest.mark.parametrize(
    "what", ["edited", "edited and pushed", "archived", "retitled", "forgotten too"]
)
def test_a_tombstone_beats_what_another_machine_did(store, both, note, what):
    other, exchange = both
    path = store.save(note("Argued"))
    exchange()
    forget(store, "Argued")
    if what == "archived":
        other.move(path, path.replace("memory/", "memory/archive/", 1))
    elif what == "retitled":
        other.save(note("Argued").with_meta(title="Under another name"))
    elif what == "forgotten too":
        other.forget(new_id("Argued"), "attic", "2026-02-28T10:00:00Z")
    else:
        other.save(note("Argued", body="A much better text.\n"))
    exchange()
    exchange()
    for machine in (store, other):
        assert titles(machine) == [] and machine.is_forgotten(new_id("Argued"))
    assert store.head() == other.head()
    machine = "attic" if what == "forgotten too" else "studio"
    assert next(iter(store.tombstones)).machine == machine


def test_what_one_machine_restores_comes_back_on_the_other(store, both, note):
    other, exchange = both
    store.save(note("Returns"))
    exchange()
    forget(store, "Returns")
    exchange()
    assert titles(other) == []
    other.restore(new_id("Returns"))
    store.save(note("Meanwhile"))
    exchange()
    assert titles(store) == titles(other) == ["Meanwhile", "Returns"]
    assert not store.is_forgotten(new_id("Returns"))


@pytest.mark.parametrize("seed", range(6))
def test_three_clones_that_forget_restore_and_edit_come_to_the_same(
    tmp_path, template, git, note, seed
):
    chance = random.Random(seed)
    first = create(tmp_path / "0", template)
    for number in range(6):
        first.save(note(f"Note {number}"))
    first.commit()
    machines = [first]
    for name in "12":
        git("clone", "-q", str(first.root), str(tmp_path / name), cwd=tmp_path)
        machines.append(Store(tmp_path / name, branch="main"))
    edited = [f"Note {number}" for number in range(6)]
    for _ in range(12):
        machine, title = chance.choice(machines), chance.choice(edited)
        deed = chance.choice(["forget", "restore", "edit", "sync"])
        if deed == "forget" and machine.find(new_id(title)):
            forget(machine, title)
        elif deed == "restore" and machine.is_forgotten(new_id(title)):
            machine.restore(new_id(title))
        elif (
            deed == "edit"
            and machine is machines[int(title[-1]) % 3]
            and machine.find(new_id(title))
        ):
            machine.save(note(title, body=f"{chance.random()}\n"))
        elif deed == "sync":
            take_in(machine, chance.choice(machines), git)
        machine.commit()
    for _ in range(3):
        for one, two in itertools.permutations(machines, 2):
            take_in(one, two, git)
    states = [
        {
            path.relative_to(m.root): path.read_bytes()
            for path in m.root.glob("[fm]*/**/*.*")
        }
        for m in machines
    ]
    assert states[0] == states[1] == states[2]
    gone = {tombstone.id for tombstone in first.tombstones}
    assert not gone & {new_id(title) for title in titles(first)}
    assert len(gone) + len(titles(first)) == 6


def take_in(here, there, git):
    there.commit()
    here.commit()
    if here is not there:
        git("fetch", "-q", str(there.root), "main", cwd=here.root)
        here.merge(git("rev-parse", "FETCH_HEAD", cwd=here.root))
        here.commit()


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_file_that_was_deleted_by_hand_is_known_and_comes_back_as_git_had_it(
    store, note, git, is_committed
):
    memory = note("Deleted")
    path = store.save(memory)
    store.commit()
    text = text_of(store, path)
    assert list(store.deleted(memory.id)) == []
    said = (
        f"{memory.id} is not forgotten, it is in {path}. "
        f"`keeplore show {memory.id}` shows it"
    )
    with refused(NotFound, said):
        store.restore(memory.id)
    (store.root / path).unlink()
    deletion = ["", ""]
    if is_committed:
        store.commit()
        deletion = git("log", "-1", "--format=%h %cs", cwd=store.root).split()
    for beginning in (memory.id, memory.id[4:12], memory.id[4:8]):
        (found,) = store.deleted(beginning)
        assert [*found] == [memory.id, path, *deletion]
    assert list(store.deleted("*")) == [] and list(store.deleted("0" * 8)) == []
    assert store.restore(memory.id) == path
    assert text_of(store, path) == text
