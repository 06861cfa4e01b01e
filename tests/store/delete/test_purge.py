"""A purge takes the text out of every corner of the repository, and leaves everything else as it
was.
"""

from __future__ import annotations

import shutil
import subprocess
import zlib
from dataclasses import replace

import pytest
from refusals import refused

from keeplore.errors import Forgotten, NotFound, RepositoryBusy, RepositoryError
from keeplore.memory import new_id
from keeplore.store import Store
from keeplore.store.delete.purge import CLEAN, PENDING, adopt
from keeplore.store.tombstones import Tombstone, path_of

AT = "2026-03-01T10:00:00Z"
SECRET = "the-password-is-" + "swordfish-9431"


def purge(store, title="Leaked"):
    return store.purge([new_id(title)], "studio", AT)


def leak(store, note, title="Leaked", words=SECRET):
    path = store.save(note(title, body=f"{words}\n"))
    store.commit()
    return path


def blob_of(git, root, path, commit="HEAD"):
    return git("rev-parse", f"{commit}:{path}", cwd=root)


def expect_gone(root, git, blobs, words=SECRET):
    """Neither reachable nor unreachable, in no pack, no loose object, no log, no index, no other
    file below .git.
    """
    listed = git("rev-list", "--objects", "--all", "--reflog", cwd=root)
    for blob in blobs:
        assert blob not in listed
        assert subprocess.run(
            ["git", "cat-file", "-e", blob], cwd=root, capture_output=True
        ).returncode
    for pack in (root / ".git" / "objects").glob("pack/*.pack"):
        scratch = root.parent / "unpacked"
        shutil.rmtree(scratch, ignore_errors=True)
        git("init", "-q", str(scratch), cwd=root.parent)
        subprocess.run(
            ["git", "unpack-objects", "-q"],
            cwd=scratch,
            input=pack.read_bytes(),
            check=True,
        )
        assert not holding(scratch / ".git", words)
    assert not holding(root / ".git", words)
    assert git("fsck", "--no-dangling", "--no-progress", cwd=root) == ""


def holding(folder, words):
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if "objects" in path.parts and len(path.name) == 38:
                data += zlib.decompress(data)
            if words.encode() in data:
                found.append(path)
    return found


def test_every_version_in_every_commit_is_gone_and_all_else_is_as_it_was(
    store, note, git, person
):
    leak(store, note, words=f"{SECRET} one")
    store.save(note("Innocent"))
    store.commit()
    path = leak(store, note, words=f"{SECRET} two")
    blobs = [blob_of(git, store.root, path, commit) for commit in ("HEAD", "HEAD~1")]
    innocent = blob_of(git, store.root, store.find(new_id("Innocent")))
    messages = git("log", "--format=%an %ae %ad %cd %B", cwd=store.root)
    before = person()
    plan = store.purge_plan([new_id("Leaked")])
    assert plan.paths == (path,) and plan.blobs == tuple(sorted(blobs))
    done = purge(store)
    assert done.ids == (new_id("Leaked"),) and done.blobs == plan.blobs
    assert done.commits == plan.commits + 1 == 4  # the purge itself made one
    expect_gone(store.root, git, blobs)
    assert person() == before
    assert git("log", "--format=%an %ae %ad %cd %B", cwd=store.root).endswith(messages)
    assert blob_of(git, store.root, store.find(new_id("Innocent"))) == innocent
    assert store.commit().commit is None
    (tombstone,) = store.tombstones
    assert tombstone == Tombstone(new_id("Leaked"), AT, "studio", is_purged=True)
    assert purge(store).commits == 0


def test_where_there_is_nothing_to_purge_nothing_happens(store, note):
    head = store.head()
    said = (
        f"there is no memory {new_id('Leaked')!r}. "
        "`keeplore list` and `keeplore recall` print ids"
    )
    with refused(NotFound, said):
        purge(store)
    assert store.purge_plan([new_id("Leaked")]).commits == 0
    assert store.head() == head and not (store.root / "forgotten").exists()
    assert store.follow_purges().ids == ()


@pytest.mark.parametrize(
    "state",
    [
        "never committed",
        "forgotten before",
        "archived",
        "renamed by hand",
        "not readable",
    ],
)
def test_wherever_the_text_is(store, note, git, state):
    path = store.save(note("Leaked", body=f"{SECRET}\n"))
    data = (store.root / path).read_bytes()
    if state != "never committed":
        store.commit()
    if state == "forgotten before":
        (store.root / path).write_bytes(data + b"more\n")  # kept by a ref alone
        store.forget(new_id("Leaked"), "studio", AT)
        store.commit()
    elif state == "archived":
        store.move(path, path.replace("memory/", "memory/archive/", 1))
        store.commit()
    elif state == "renamed by hand":
        (store.root / "memory" / "mine.md").write_bytes(
            data.replace(b"\n---\n", b"\nmy: key\n---\n", 1)
        )
        (store.root / path).unlink()
        store.commit()
    elif state == "not readable":
        (store.root / path).write_bytes(b"<<<<<<< ours\n" + data)
        store.commit()
        (store.root / path).write_bytes(data)
    purge(store)
    expect_gone(store.root, git, [])
    assert list(store.scan()) == []
    leaked = new_id("Leaked")
    said = f"{leaked} was forgotten. `keeplore restore {leaked}` brings it back"
    with refused(Forgotten, said):
        store.save(note("Leaked"))
    said = (
        f"{leaked} was purged, its text is gone. "
        "Write it anew, or take it from a backup"
    )
    with refused(NotFound, said):
        store.restore(leaked)


def test_branches_tags_stashes_notes_and_logs_follow(store, note, git):
    root = store.root
    path = leak(store, note)
    blob = blob_of(git, root, path)
    git("branch", "side", cwd=root)
    git("tag", "light", cwd=root)
    git(
        "tag",
        "-a",
        "-m",
        "Signed\n-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----",
        "heavy",
        cwd=root,
    )
    git("tag", "the-text", blob, cwd=root)
    git("update-ref", "refs/original/refs/heads/main", "HEAD", cwd=root)
    git("notes", "add", "-m", "A note of mine", cwd=root)
    for number in (1, 2):
        (root / "README.md").write_text(f"stashed {number}\n")
        git("stash", "push", "-q", "-m", f"stash {number}", cwd=root)
    store.save(note("Later"))
    store.commit()
    git("commit", "-q", "--amend", "-m", "Amended by hand", cwd=root)
    (root / ".git" / "lost-found" / "other").mkdir(parents=True)
    (root / ".git" / "lost-found" / "other" / blob).write_text(SECRET)
    (root / ".git" / "rr-cache" / "0a").mkdir(parents=True)
    (root / ".git" / "rr-cache" / "0a" / "preimage").write_text(
        f"{new_id('Leaked')} {SECRET}"
    )
    log = git("reflog", "--format=%gs", cwd=root).splitlines()
    assert store.purge_plan([new_id("Leaked")]).signed == ("refs/tags/heavy",)
    purge(store)
    expect_gone(root, git, [blob])
    assert (
        git("stash", "list", "--format=%gs", cwd=root)
        == "On main: stash 2\nOn main: stash 1"
    )
    git("stash", "pop", "-q", "stash@{1}", cwd=root)
    assert (root / "README.md").read_text() == "stashed 1\n"
    assert git("reflog", "--format=%gs", cwd=root).splitlines()[-len(log) :] == log
    assert "Amended by hand" in git("log", "--format=%s", "HEAD", cwd=root)
    assert (
        git("rev-parse", "side", "light", "heavy^{}", cwd=root).split()
        == [git("rev-parse", "side", cwd=root)] * 3
    )
    assert git("notes", "show", "side", cwd=root) == "A note of mine"
    assert "SIGNATURE" not in git("cat-file", "tag", "heavy", cwd=root)
    assert git("tag", cwd=root) == "heavy\nlight"


def test_the_same_purge_of_the_same_history_gives_the_same_commits(
    store, note, git, tmp_path
):
    store.save(note("Before"))
    store.commit()
    before = store.head()
    leak(store, note)
    git("config", "i18n.commitEncoding", "ISO-8859-1", cwd=store.root)
    git("commit", "-q", "--allow-empty", "-m", "Ümläut", cwd=store.root)
    data = git("cat-file", "commit", "HEAD", cwd=store.root) + "\n"
    signed = data.replace(
        "\n\n",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n",
        1,
    )
    commit = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=store.root,
        input=signed.encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    git("reset", "-q", commit.strip(), cwd=store.root)
    last = store.head()
    assert store.purge_plan([new_id("Leaked")]).signed == (last,)
    git("clone", "-q", str(store.root), str(tmp_path / "second"), cwd=tmp_path)
    second = Store(tmp_path / "second", branch="main")
    purge(store)
    second.purge([new_id("Leaked")], "attic", "2026-04-01T10:00:00Z")
    here, there = (
        git("rev-parse", "HEAD~1", cwd=machine.root) for machine in (store, second)
    )
    assert here == there != last
    assert git("merge-base", "--is-ancestor", before, here, cwd=store.root) == ""
    new = git("cat-file", "commit", here, cwd=store.root)
    assert (
        new.splitlines()[2:] == data.rstrip("\n").splitlines()[2:]
        and "encoding ISO-8859-1" in new
    )


def test_the_tombstone_names_only_what_others_can_have(store, note, git, tmp_path):
    path = leak(store, note, words=f"{SECRET} pushed")
    pushed = blob_of(git, store.root, path)
    git(
        "clone",
        "-q",
        "--bare",
        str(store.root),
        str(tmp_path / "remote.git"),
        cwd=tmp_path,
    )
    git("remote", "add", "origin", str(tmp_path / "remote.git"), cwd=store.root)
    git("fetch", "-q", "origin", cwd=store.root)
    leak(store, note, words=f"{SECRET} private")
    plan = store.purge_plan([new_id("Leaked")])
    assert plan.remote_refs == ("refs/remotes/origin/main",) and plan.is_pushed
    assert plan.refs == (("refs/heads/main", 2),)
    purge(store)
    (tombstone,) = store.tombstones
    assert tombstone.blobs == (pushed,) and tombstone.content == tombstone.path == ""
    expect_gone(store.root, git, [pushed])


def test_a_tombstone_of_another_machine_takes_away_nothing_but_its_own_memory(
    store, note, git
):
    path = leak(store, note, "Innocent", "an honest text")
    blob, readme = blob_of(git, store.root, path), blob_of(git, store.root, "README.md")
    head = store.head()
    store.tombstones.write(
        Tombstone(new_id("Leaked"), is_purged=True, blobs=(blob, readme))
    )
    assert store.follow_purges().ids == ()
    assert store.head() == head and store.find(new_id("Innocent")) == path


def test_copies_that_a_person_keeps_elsewhere_stop_the_purge_before_it_begins(
    store, note, git
):
    path = leak(store, note)
    shutil.copy(store.root / path, store.root / "mine.md")
    git("add", "mine.md", cwd=store.root)
    head = store.head()
    said = (
        "the same text is in files outside the memory folders: mine.md. "
        "Remove these copies with `git rm`, commit that, and purge again"
    )
    with refused(RepositoryError, said):
        purge(store)
    assert (
        store.head() == head
        and (store.root / path).exists()
        and not store.is_forgotten(new_id("Leaked"))
    )
    git("commit", "-qm", "Mine", cwd=store.root)
    git("rm", "-q", "mine.md", cwd=store.root)
    git("commit", "-qm", "Not mine", cwd=store.root)
    purge(store)
    expect_gone(store.root, git, [])


def test_text_that_is_staged_under_the_memory_folders_goes_too(store, note, git):
    path = store.save(note("Leaked", body=f"{SECRET}\n"))
    git("add", path, cwd=store.root)
    purge(store)
    expect_gone(store.root, git, [])
    assert git("status", "--porcelain", cwd=store.root) == ""


@pytest.mark.parametrize("state", ["merge", "other branch", "detached", "unmerged"])
def test_while_the_person_is_busy_nothing_changes(store, note, git, state):
    path = leak(store, note)
    head = store.head()
    if state == "merge":
        (store.root / ".git" / "MERGE_HEAD").write_text(f"{head}\n")
    elif state == "other branch":
        git("checkout", "-qb", "other", cwd=store.root)
    elif state == "detached":
        git("checkout", "-q", "--detach", cwd=store.root)
    else:
        lines = "".join(
            f"100644 {blob_of(git, store.root, path)} {stage}\tREADME.md\n"
            for stage in (1, 2, 3)
        )
        removed = f"0 {'0' * 40}\tREADME.md\n"
        subprocess.run(
            ["git", "update-index", "--index-info"],
            cwd=store.root,
            input=(removed + lines).encode(),
            check=True,
        )
    with pytest.raises((RepositoryBusy, RepositoryError)):
        purge(store)
    assert store.tip("refs/heads/main") == head


REWRITING = (
    "the text cannot be taken out of this repository's history: {}. Keeplore cannot rewrite such a "
    "repository; `git filter-repo` can, see docs/forgetting.md"
)
NOT_REWRITTEN = {
    "sparse": REWRITING.format("sparse or partial"),
    "partial": REWRITING.format("sparse or partial"),
    "worktree": (
        "the workspace has several worktrees, each with files of its own. Remove the other "
        "worktrees of the workspace first: `git worktree list` shows them"
    ),
    "shallow": (
        "this clone has only a part of the history. Run `git fetch --unshallow` first"
    ),
    "alternates": REWRITING.format("it takes objects from another repository"),
    "filter": REWRITING.format("a filter encodes its memory files"),
    "replaced": REWRITING.format("it replaces commits by others"),
}


@pytest.mark.parametrize("kind", NOT_REWRITTEN)
def test_what_cannot_be_rewritten_is_refused_with_the_way_out(
    store, note, git, tmp_path, kind
):
    path = leak(store, note)
    root = store.root
    if kind == "sparse":
        git("sparse-checkout", "set", "--no-cone", "/*", cwd=root)
    elif kind == "partial":
        partial = ("--filter=blob:none", f"file://{root}", str(tmp_path / "partial"))
        git("clone", "-q", *partial, cwd=tmp_path)
        root = tmp_path / "partial"
    elif kind == "worktree":
        git("worktree", "add", "-q", "--detach", str(tmp_path / "second"), cwd=root)
    elif kind == "shallow":
        git(
            "clone",
            "-q",
            "--depth",
            "1",
            f"file://{root}",
            str(tmp_path / "shallow"),
            cwd=tmp_path,
        )
        root = tmp_path / "shallow"
    elif kind == "alternates":
        git(
            "clone", "-q", "--shared", str(root), str(tmp_path / "shared"), cwd=tmp_path
        )
        root = tmp_path / "shared"
    elif kind == "filter":
        git("config", "filter.turn.clean", "cat", cwd=root)
        (root / ".git" / "info" / "attributes").write_text("memory/** filter=turn\n")
    else:
        git("replace", "HEAD", "HEAD~1", cwd=root)
    here = Store(root, branch="main")
    head = here.tip("refs/heads/main")
    for act in (lambda: here.purge_plan([new_id("Leaked")]), lambda: purge(here)):
        with refused(RepositoryError, NOT_REWRITTEN[kind]):
            act()
    assert here.tip("refs/heads/main") == head and (root / path).exists()
    assert not here.is_forgotten(new_id("Leaked"))


def test_objects_that_git_keeps_are_reported_until_they_are_gone(store, note, git):
    leak(store, note)
    git("gc", "-q", cwd=store.root)
    (pack,) = (store.root / ".git" / "objects" / "pack").glob("*.pack")
    pack.with_suffix(".keep").touch()
    said = (
        "git still keeps 1 of 1 versions of the text. Look for `.keep` files in "
        ".git/objects/pack, delete them, and run the same command again"
    )
    with refused(RepositoryError, said):
        purge(store)
    assert (store.root / ".git" / PENDING).exists()
    pack.with_suffix(".keep").unlink()
    store.follow_purges()
    expect_gone(store.root, git, [])
    assert not (store.root / ".git" / PENDING).exists()


def test_history_that_was_found_clean_is_not_read_again_and_a_merge_of_old_history_is_noticed(
    store, note, git
):
    leak(store, note)
    git("clone", "-q", str(store.root), str(store.root.parent / "old"), cwd=store.root)
    purge(store)
    assert store.follow_purges().ids == ()
    assert (store.root / ".git" / CLEAN).exists()
    git(
        "pull",
        "-q",
        "--no-rebase",
        "--no-edit",
        str(store.root.parent / "old"),
        "main",
        cwd=store.root,
    )
    store.commit()
    assert store.follow_purges().ids == (new_id("Leaked"),)
    expect_gone(store.root, git, [])
    assert store.follow_purges().ids == ()
    assert not (store.root / path_of(new_id("x"))).exists()


def test_the_persons_settings_for_git_log_hide_nothing(store, note, git):
    settings = {
        "log.showRoot": "false",
        "log.showSignature": "true",
        "log.diffMerges": "off",
        "log.follow": "true",
        "diff.renames": "copies",
        "diff.relative": "true",
        "diff.mnemonicPrefix": "true",
        "core.abbrev": "7",
    }
    for key, value in settings.items():
        git("config", key, value, cwd=store.root)
    path = leak(store, note)
    blob = blob_of(git, store.root, path)
    git("checkout", "-q", "--orphan", "island", cwd=store.root)
    git("commit", "-qm", "The text in a first commit", cwd=store.root)
    git("checkout", "-q", "main", cwd=store.root)
    store.move(path, path.replace("memory/", "memory/archive/", 1))
    store.commit()
    assert {ref for ref, _ in store.purge_plan([new_id("Leaked")]).refs} == {
        "refs/heads/main",
        "refs/heads/island",
    }
    purge(store)
    expect_gone(store.root, git, [blob])


def test_a_merge_that_brought_the_text_itself_is_found(store, note, git):
    path = leak(store, note)
    text = (store.root / path).read_bytes()
    git("checkout", "-qb", "side", cwd=store.root)
    (store.root / path).write_bytes(text + b"one side\n")
    git("commit", "-qam", "One", cwd=store.root)
    git("checkout", "-q", "main", cwd=store.root)
    (store.root / path).write_bytes(text + b"other side\n")
    git("commit", "-qam", "Other", cwd=store.root)
    subprocess.run(["git", "merge", "-q", "side"], cwd=store.root, capture_output=True)
    (store.root / path).write_bytes(text + b"only in the merge\n")
    git("commit", "-qam", "Merged by hand", cwd=store.root)
    blob = blob_of(git, store.root, path)
    (store.root / path).write_bytes(text)
    git("commit", "-qam", "And put back", cwd=store.root)
    assert blob in store.purge_plan([new_id("Leaked")]).blobs
    purge(store)
    expect_gone(store.root, git, [blob], words="only in the merge")


def test_what_another_machine_purged_is_adopted_and_nothing_else_of_it(
    store: Store,
) -> None:
    known = Tombstone("", AT, "studio", "c0" * 32, ("t1", "prompt:2f"), path="a.md")
    told = Tombstone("", "2030-03-01T10:00:00Z", "laptop", turns=("t2",))
    own, same, forgotten, new, unknown = (
        new_id(name) for name in ("own", "same", "forgotten", "new", "unknown")
    )
    purged = replace(known, id=same, content="", path="", turns=("t1",), is_purged=True)
    tombstones = {
        own: replace(known, id=own),
        same: purged,
        forgotten: replace(known, id=forgotten),
    }
    for tombstone in tombstones.values():
        store.tombstones.write(tombstone)
    before = (store.root / path_of(same)).stat()
    theirs = [
        replace(told, id=own, is_purged=True, blobs=("ab" * 20,)),
        purged,
        replace(told, id=forgotten),
        replace(known, id=new, is_purged=True),
        replace(told, id=unknown),
    ]
    adopt(store.tombstones, theirs)
    blobs = ("ab" * 20,)
    assert {tombstone.id: tombstone for tombstone in store.tombstones} == {
        own: Tombstone(
            own, AT, "studio", "", ("t1", "t2"), is_purged=True, blobs=blobs
        ),
        same: purged,
        forgotten: tombstones[forgotten],
        new: Tombstone(new, AT, "studio", "", ("t1",), is_purged=True),
    }
    after = (store.root / path_of(same)).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
