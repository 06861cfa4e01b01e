"""Two machines and a remote between them: what arrives, and what happens when it cannot."""

from __future__ import annotations

import sys

import pytest
from sample_note import note

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store import Store, create
from keeplore.sync import SyncError, synchronise

FAST = 0.001


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    # the package's function of this name hides the module
    monkeypatch.setattr(sys.modules["keeplore.sync.synchronise"], "PAUSE_S", FAST)


def titles(store):
    return {store.load(file.path).title for file in store.scan()}


def test_the_first_push_sets_what_the_branch_follows(network, first, git):
    assert (
        git("rev-parse", "--abbrev-ref", "main@{upstream}", cwd=first.root)
        == "origin/main"
    )
    assert git("rev-parse", "main", cwd=network.remote) == first.head()


def test_what_one_machine_wrote_is_on_the_other(network, first, git):
    second = network.machine("second")
    second.save(note("From the second"))
    first.save(note("From the first"))
    assert synchronise(second).pushed == 1
    result = synchronise(first)
    assert (result.fetched, result.merged, result.pushed) == (1, 1, 2)
    assert synchronise(second).merged == 1
    assert titles(first) == titles(second) == {"From the first", "From the second"}
    assert first.head() == second.head()
    assert synchronise(first).note == synchronise(second).note == "nothing new"
    for store in (first, second):
        assert git("status", "--porcelain", cwd=store.root) == ""


@pytest.mark.parametrize("state", ["on disk", "staged", "committed", "broken"])
def test_settings_that_both_changed_stop_no_sync(network, first, git, state):
    second = network.machine("second")
    settings = first.root / "keeplore.yaml"
    mine, theirs = ("automatic: true", "automatic: false"), ("0.95", "0.55")
    if state == "broken":
        mine = ("redaction:", "redaction: [")
    settings.write_text(settings.read_text().replace(*mine))
    if state != "on disk" and state != "broken":
        git("add", "keeplore.yaml", cwd=first.root)
    if state == "committed":
        git("commit", "-qm", "Mine", cwd=first.root)
    edited = second.root / "keeplore.yaml"
    edited.write_text(edited.read_text().replace(*theirs))
    git("commit", "-qam", "Theirs", cwd=second.root)
    for machine in (second, first, second):
        machine.save(note(f"Of {machine.root.name} {state}"))
        synchronise(machine)
    text = settings.read_text()
    assert mine[1] in text and (theirs[1] in text) == (state != "broken")
    assert theirs[1] in edited.read_text()
    assert (mine[1] in edited.read_text()) == (state == "committed")
    assert len([*first.scan()]) >= 2
    status = git("status", "--porcelain", cwd=first.root)
    assert status.strip() == ("" if state == "committed" else "M keeplore.yaml")


def test_a_race_for_the_push_is_run_again(network, first, git):
    second = network.machine("second")
    second.save(note("Faster"))
    second.commit()
    # the remote takes the other machine's push while ours is on the way
    network.git_hook(
        "pre-receive",
        f"unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_DIR\n"
        f"if [ ! -e '{network.folder}/raced' ]; then touch '{network.folder}/raced'; "
        f"git -C '{second.root}' push -q origin main; fi",
    )
    first.save(note("Slower"))
    synchronise(first)
    assert (network.folder / "raced").exists()
    assert titles(first) == {"Faster", "Slower"}
    assert git("rev-parse", "main", cwd=network.remote) == first.head()


def test_a_race_that_is_lost_every_time_ends(network, first, git):
    first.save(note("Never"))
    network.git_hook("update", "echo 'error: cannot lock ref' >&2; exit 1")
    with pytest.raises(SyncError) as caught:
        synchronise(first)
    assert caught.value.kind == "moved"


def test_a_push_that_the_remote_forbids_is_refused_with_a_next_step(network, first):
    network.git_hook(
        "pre-receive", "echo 'GH013: push protection: a secret' >&2; exit 1"
    )
    first.save(note("Forbidden"))
    with pytest.raises(SyncError, match="a secret") as caught:
        synchronise(first)
    assert caught.value.kind == "refused" and caught.value.remedy
    assert titles(first) == {"Forbidden"}


def test_without_a_remote_the_command_that_adds_one_is_named(network, first, git):
    git("remote", "remove", "origin", cwd=first.root)
    first.save(note("Written here"))
    with pytest.raises(SyncError, match="remote add origin") as caught:
        synchronise(first)
    assert caught.value.kind == "no remote"
    assert not git(
        "status", "--porcelain", cwd=first.root
    )  # it is committed all the same


def test_a_remote_that_is_gone_is_told_from_one_that_cannot_be_reached(
    network, first, git
):
    first.save(note("Waiting"))
    network.remote.rename(network.folder / "elsewhere")
    with pytest.raises(SyncError) as caught:
        synchronise(first)
    assert caught.value.kind == "missing"
    git(
        "remote",
        "set-url",
        "origin",
        "http://user:hunter2@127.0.0.1:9/x",
        cwd=first.root,
    )
    with pytest.raises(SyncError) as caught:
        synchronise(first)
    assert caught.value.kind == "offline"
    assert "hunter2" not in str(caught.value)
    assert first.remote() == "http://127.0.0.1:9/x"
    (network.folder / "elsewhere").rename(network.remote)
    git("remote", "set-url", "origin", str(network.remote), cwd=first.root)
    assert synchronise(first).pushed == 1


@pytest.mark.parametrize(
    "url",
    [
        "ext::touch ran",
        "--upload-pack=touch ran",
        "ftp://example.invalid/x",
        "http://example.invalid/x",
    ],
)
def test_an_address_in_the_configuration_that_is_not_followed(network, first, git, url):
    git("config", "remote.origin.url", url, cwd=first.root)
    git("config", "protocol.ext.allow", "always", cwd=first.root)
    with pytest.raises(SyncError) as caught:
        synchronise(first)
    assert caught.value.kind == "blocked"
    assert not (first.root / "ran").exists()


def test_two_edits_of_one_line_end_as_two_memories_on_both_machines(network, first):
    second = network.machine("second")
    path = first.save(note("Argued", "first\n"))
    second.save(note("Argued", "second\n"))
    synchronise(first)
    synchronise(second)
    synchronise(first)
    texts = [
        {file.path: store.load(file.path).body for file in store.scan()}
        for store in (first, second)
    ]
    assert texts[0] == texts[1]
    assert sorted(texts[0].values()) == ["first\n", "second\n"] and path in texts[0]


def test_while_the_person_is_in_a_merge_nothing_is_exchanged(network, first, git):
    first.save(note("Later"))
    (first.root / ".git" / "MERGE_HEAD").write_text(f"{first.head()}\n")
    before = git("rev-parse", "main", cwd=network.remote)
    with pytest.raises(RepositoryBusy):
        synchronise(first)
    assert git("rev-parse", "main", cwd=network.remote) == before


def test_a_wiped_remote_is_filled_again_and_a_rewritten_one_loses_nothing(
    network, first, git
):
    second = network.machine("second")
    first.save(note("Kept"))
    synchronise(first)
    git("update-ref", "-d", "refs/heads/main", cwd=network.remote)
    assert synchronise(first).pushed == 2
    git("push", "-qf", "origin", "main", cwd=second.root)  # back to before
    assert synchronise(first).pushed == 1
    assert titles(first) == {"Kept"}
    assert git("rev-parse", "main", cwd=network.remote) == first.head()


def test_the_branch_of_the_person_is_what_is_exchanged(network, first, git):
    git("checkout", "-qb", "memories", cwd=first.root)
    store = Store(first.root, branch="memories")
    store.save(note("On a branch"))
    assert synchronise(store).pushed >= 1
    assert git("rev-parse", "memories", cwd=network.remote) == store.head()
    assert git("rev-parse", "main", cwd=network.remote) != store.head()


def test_three_machines_that_write_offline_come_to_the_same(network, first):
    stores = [first, network.machine("second"), network.machine("third")]
    for round_ in range(3):
        for number, store in enumerate(stores):
            store.save(note(f"Round {round_} machine {number}"))
            store.commit()
        for store in (*stores, *stores):
            synchronise(store)
    assert len({store.head() for store in stores}) == 1
    assert all(len(titles(store)) == 9 for store in stores)
    head = first.head()
    for store in (*stores, *stores):
        assert synchronise(store).note == "nothing new"
    assert first.head() == head


def test_what_a_rewritten_remote_had_is_kept_in_a_branch(network, first, git):
    second = network.machine("second")
    second.save(note("Only there"))
    synchronise(second)
    git("fetch", "-q", cwd=first.root)
    former = git("rev-parse", "main", cwd=network.remote)
    git(
        "update-ref", "refs/heads/main", first.head(), cwd=network.remote
    )  # somebody forced it back
    done = synchronise(first)
    assert git("rev-parse", done.rescued, cwd=first.root) == former
    assert done.rescued in done.note
    assert synchronise(first).rescued == ""
    done = synchronise(second)
    assert (done.pushed, done.rescued) == (1, "main")  # where it is anyway


def test_a_shallow_clone_is_completed_before_anything_is_merged(network, first, git):
    for title in ("One", "Two", "Three"):
        first.save(note(title))
        synchronise(first)
    root = network.folder / "shallow"
    git(
        "clone",
        "-q",
        "--depth=1",
        f"file://{network.remote}",
        str(root),
        cwd=network.folder,
    )
    shallow = Store(root, branch="main")
    shallow.save(note("Shallow"))
    first.save(note("Four"))
    synchronise(first)
    assert synchronise(shallow).pushed == 2
    assert git("rev-parse", "--is-shallow-repository", cwd=root) == "false"
    assert titles(shallow) == {"One", "Two", "Three", "Four", "Shallow"}


def test_a_remote_that_holds_something_else_is_not_taken_in(network, first, git):
    code = network.folder / "code"
    git("init", "-q", str(code), cwd=network.folder)
    (code / "app.py").write_text("print()\n")
    git("add", "app.py", cwd=code)
    git("commit", "-qm", "Code", cwd=code)
    git("config", "remote.origin.url", str(code), cwd=first.root)
    first.save(note("Private"))
    with pytest.raises(SyncError) as caught:
        synchronise(first)
    assert caught.value.kind == "foreign"
    assert not (first.root / "app.py").exists()
    assert git("log", "--format=%s", cwd=code) == "Code"


def test_two_workspaces_that_were_begun_apart_are_joined_only_when_asked(
    network, first, git, template
):
    first.save(note("Here"))
    synchronise(first)
    apart = create(network.folder / "apart", template)
    git(
        "commit", "-q", "--amend", "-m", "Begun apart", cwd=apart.root
    )  # in one second both began alike
    (apart.root / "README.md").write_text("Mine\n")
    git("commit", "-qam", "Say so", cwd=apart.root)
    git("remote", "add", "origin", str(network.remote), cwd=apart.root)
    apart.save(note("There"))
    with pytest.raises(RepositoryError, match="no history in common") as caught:
        synchronise(apart)
    assert "--join" in caught.value.remedy
    synchronise(apart, is_unrelated=True)
    synchronise(first)
    assert titles(apart) == titles(first) == {"Here", "There"}
    readmes = sorted(path.read_text() for path in first.root.glob("README*.md"))
    assert "Mine\n" in readmes and len(readmes) == 2
