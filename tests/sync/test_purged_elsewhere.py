"""What one machine purges is gone from every machine and from the remote, whatever the others did
meanwhile.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from sample_note import note

from keeplore.errors import RepositoryError
from keeplore.memory import new_id
from keeplore.store import Store
from keeplore.sync import SyncError, synchronise

AT = "2026-03-01T10:00:00Z"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(sys.modules["keeplore.sync.synchronise"], "PAUSE_S", 0.001)


def titles(store):
    return sorted(store.load(file.path).title for file in store.scan())


def leak(store, *names):
    """Write memories with secrets, share them, and return the blobs."""
    for name in names or ("Leaked",):
        store.save(note(name, f"secret of {name}\n"))
    store.save(note("Innocent"))
    synchronise(store)


def purge(store, title="Leaked", machine="studio"):
    return store.purge([new_id(title)], machine, AT)


def words_in(repository):
    """The files with secrets that a repository has, reachable or not."""
    return secrets_among(repository, "--batch-all-objects")


def reachable_words(remote, git):
    names = git("rev-list", "--objects", "--no-object-names", "--all", cwd=remote)
    return secrets_among(remote, names=names)


def secrets_among(repository, *options, names=""):
    """Of objects of a repository, the files with secrets."""
    told = subprocess.run(
        ["git", "cat-file", "--batch", *options],
        cwd=repository,
        input=names.encode(),
        capture_output=True,
        check=True,
    ).stdout
    found = []
    while told:
        head, _, told = told.partition(b"\n")
        _, kind, size = head.split()
        text, told = told[: int(size)], told[int(size) + 1 :]
        if kind == b"blob" and b"secret of" in text:
            found.append(text)
    return found


def expect_same_and_clean(network, git, *stores, expected):
    for _ in range(2):
        for store in stores:
            synchronise(store)
    assert {store.head() for store in stores} == {
        git("rev-parse", "main", cwd=network.remote)
    }
    assert reachable_words(network.remote, git) == []
    for store in stores:
        assert titles(store) == sorted(expected)
        assert words_in(store.root) == []
        assert git("status", "--porcelain", cwd=store.root) == ""
        assert git("fsck", "--no-dangling", "--no-progress", cwd=store.root) == ""
        assert synchronise(store).note == "nothing new"


def test_the_purging_machine_replaces_what_the_remote_has(network, first, git):
    leak(first)
    second = network.machine("second")
    assert purge(first).commits
    result = synchronise(first)
    assert result.purged == (new_id("Leaked"),) and "1 memory purged" in result.note
    assert git("rev-parse", "main", cwd=network.remote) == first.head()
    result = synchronise(second)
    assert result.purged == (new_id("Leaked"),)
    expect_same_and_clean(network, git, first, second, expected=["Innocent"])


def test_nothing_is_forced_where_nothing_was_purged(network, first, git):
    leak(first)
    second = network.machine("second")
    git("config", "receive.denyNonFastForwards", "true", cwd=network.remote)
    first.forget(new_id("Leaked"), "studio", AT)
    second.save(note("Of the second"))
    assert synchronise(first).purged == synchronise(second).purged == ()
    synchronise(first)
    assert titles(first) == titles(second) == ["Innocent", "Of the second"]
    first.restore(new_id("Leaked"))
    synchronise(first)
    synchronise(second)
    assert titles(second) == ["Innocent", "Leaked", "Of the second"]


def test_machines_that_were_away_for_long_bring_nothing_back_and_lose_nothing(
    network, first, git
):
    leak(first)
    second, third = network.machine("second"), network.machine("third")
    second.save(note("Of the second"))
    second.commit()
    second.save(note("Leaked", "secret of Leaked, edited while away\n"))
    second.commit()
    third.save(note("Of the third"))
    third.commit()
    purge(first)
    first.save(note("Of the first"))
    synchronise(first)
    # a person pulls on the third machine before Keeplore does
    git("pull", "-q", "--no-rebase", "--no-edit", cwd=third.root)
    git("push", "-q", cwd=third.root)
    assert reachable_words(network.remote, git)
    assert synchronise(second).purged == (new_id("Leaked"),)
    expect_same_and_clean(
        network,
        git,
        third,
        second,
        first,
        expected=["Innocent", "Of the first", "Of the second", "Of the third"],
    )


def test_two_machines_that_purge_different_memories_at_once_agree(network, first, git):
    leak(first, "One", "Two", "Three")
    second = network.machine("second")
    purge(first, "One")
    purge(second, "Two", "attic")
    first.save(note("Of the first"))
    second.save(note("Of the second"))
    synchronise(first)
    synchronise(second)
    for store in (first, second):
        purge(store, "Three")  # both the same one
    expect_same_and_clean(
        network,
        git,
        first,
        second,
        expected=["Innocent", "Of the first", "Of the second"],
    )
    for store in (first, second):
        assert {
            tombstone.id for tombstone in store.tombstones if tombstone.is_purged
        } == {new_id(title) for title in ("One", "Two", "Three")}


def test_a_purge_wins_over_forgetting_and_restoring(network, first, git):
    leak(first)
    second = network.machine("second")
    first.forget(new_id("Leaked"), "studio", AT)
    synchronise(first)
    synchronise(second)
    second.restore(new_id("Leaked"))
    second.commit()
    purge(first)
    synchronise(first)
    expect_same_and_clean(network, git, second, first, expected=["Innocent"])
    assert [tombstone.is_purged for tombstone in first.tombstones] == [True]


def test_a_remote_that_keeps_the_text_is_reported_and_nothing_is_pushed(
    network, first, git
):
    leak(first)
    git("config", "receive.denyNonFastForwards", "true", cwd=network.remote)
    before = git("rev-parse", "main", cwd=network.remote)
    purge(first)
    for _ in range(2):
        with pytest.raises(SyncError, match="still has purged text") as caught:
            synchronise(first)
        assert caught.value.kind == "refused"
        assert "force pushes to main" in caught.value.remedy and "--force" not in str(
            caught.value
        )
    assert git("rev-parse", "main", cwd=network.remote) == before
    git("config", "receive.denyNonFastForwards", "false", cwd=network.remote)
    expect_same_and_clean(network, git, first, expected=["Innocent"])


def test_what_another_machine_pushed_meanwhile_is_never_overwritten(
    network, first, git
):
    leak(first)
    second = network.machine("second")
    second.save(note("Just in time"))
    second.commit()
    network.git_hook(
        "pre-receive",
        f"unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_DIR\n"
        f"if [ ! -e '{network.folder}/raced' ]; then touch '{network.folder}/raced'; "
        f"git -C '{second.root}' push -q origin main; fi",
    )
    purge(first)
    synchronise(first)
    assert (network.folder / "raced").exists()
    expect_same_and_clean(
        network, git, second, first, expected=["Innocent", "Just in time"]
    )


def test_a_machine_whose_history_cannot_be_rewritten_stops_and_says_so(
    network, first, git
):
    leak(first)
    second = network.machine("second")
    git("sparse-checkout", "set", "--no-cone", "/*", cwd=second.root)
    purge(first)
    synchronise(first)
    second.save(note("Of the second"))
    with pytest.raises(RepositoryError) as caught:
        synchronise(second)
    assert "filter-repo" in caught.value.remedy
    assert reachable_words(network.remote, git) == []
    third = network.machine("third")
    git("sparse-checkout", "set", "--no-cone", "/*", cwd=third.root)
    third.save(note("Of the third"))
    assert synchronise(third).pushed == 1  # it never had the text


def test_other_branches_of_the_person_follow_too(network, first, git):
    leak(first)
    git("branch", "mine", cwd=first.root)
    second = network.machine("second")
    git("branch", "idea", cwd=second.root)
    git("tag", "v1", cwd=second.root)
    purge(first)
    synchronise(first)
    synchronise(second)
    for store, ref in ((first, "mine"), (second, "idea"), (second, "v1")):
        assert (
            git("ls-tree", "-r", "--name-only", ref, "memory", cwd=store.root).count(
                "\n"
            )
            == 0
        )
        assert words_in(store.root) == []


def test_a_purge_beside_a_workspace_that_is_used_by_plain_git_alone(
    network, first, git
):
    leak(first)
    clone = network.folder / "plain"
    git("clone", "-q", str(network.remote), str(clone), cwd=network.folder)
    (clone / "README.md").write_text("By hand\n")
    git("commit", "-qam", "By hand", cwd=clone)
    purge(first)
    synchronise(first)
    git("pull", "-q", "--no-rebase", "--no-edit", cwd=clone)
    assert list(clone.glob("memory/**/*leaked*")), "plain git brings it back"
    git("push", "-q", cwd=clone)
    synchronise(first)
    assert (first.root / "README.md").read_text() == "By hand\n"
    expect_same_and_clean(
        network, git, first, Store(clone, branch="main"), expected=["Innocent"]
    )


def test_a_remote_that_purges_most_of_what_is_here_is_not_followed_unasked(
    network, first, git
):
    names = [f"Note {number}" for number in range(12)]
    leak(first, *names)
    second = network.machine("second")
    for name in names:
        purge(second, name, "attic")
    synchronise(second)
    head = first.head()
    with pytest.raises(RepositoryError, match="purged 12 of 13") as caught:
        synchronise(first)
    assert "git merge" in caught.value.remedy
    assert first.head() == head and len(titles(first)) == 13
    git("merge", "-q", "origin/main", cwd=first.root)  # the person means it
    expect_same_and_clean(network, git, first, second, expected=["Innocent"])
