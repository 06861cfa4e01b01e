"""What anybody's git brings into a workspace while a worker runs is noticed, and just that is
indexed, in one batch.
"""

import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from hasty_worker import MOMENT_S
from quick_machine import WORKER
from waiting import until

from keeplore.config.places import Places
from keeplore.index import ScopeFilter
from keeplore.worker.server.protocol import ask
from keeplore.worker.tasks import git_tasks
from keeplore.workspace.registry import Registry

EVERYWHERE = ScopeFilter(())


def is_resting(state):
    told = ask(state, "status", timeout_s=30) or {}
    return bool(told) and not told["is_behind"] and not told["is_busy"]


class Shared:
    """A workspace on a machine with a worker, its remote, and another clone whose owner uses plain
    git.
    """

    def __init__(self, machine, folder):
        self.machine, self.root, self.other = (
            machine,
            machine.home / "memory",
            folder / "other",
        )
        remote = folder / "remote.git"
        (machine.home / ".gitconfig").write_text(
            "[user]\n\tname = Ann\n\temail = ann@example.invalid\n"
        )
        machine.run("git", "init", "-q", "--bare", "--initial-branch=main", str(remote))
        machine.keeplore("init", "memory")
        self.git("remote", "add", "origin", str(remote))
        # so that nothing but the person's own git pulls or pushes
        settings = self.root / "keeplore.yaml"
        text = settings.read_text()
        settings.write_text(text.replace("automatic: true", "automatic: false"))
        self.git("add", "keeplore.yaml")
        self.git("commit", "-qm", "Sync by hand")
        self.git("push", "-q", "--set-upstream", "origin", "main")
        machine.run("git", "clone", "-q", str(remote), str(self.other))
        self.registry = Registry(Places.from_environment(machine.environment))
        self.worker = None

    def git(self, *arguments, at=None):
        return (
            self.machine.run("git", *arguments, cwd=at or self.root)
            .stdout.decode()
            .strip()
        )

    def push(self, **texts):
        """Files of the other clone, by the stem of their names, committed and pushed; a text of
        None removes one.
        """
        for stem, text in texts.items():
            path = self.other / "memory" / "facts" / f"{stem}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(f"# {stem}\n\n{text}\n")
        self.git("add", "--all", at=self.other)
        self.git("commit", "-qm", "From afar", at=self.other)
        self.git("push", "-q", at=self.other)

    def start(self, program=WORKER, *arguments):
        self.worker = self.machine.begin(program, *arguments)
        until(lambda: is_resting(self.machine.state), "the worker rests")

    def start_limited(self, function, number, given):
        """A worker that is given so many watches or instances and then refused by this error."""
        program = self.machine.home / "limited.py"
        program.write_text(
            LIMITED.format(function=function, support=str(WORKER.parent))
        )
        often = ("config", "set", "--machine", "worker.look_seconds", "1")
        self.machine.keeplore(*often)
        self.start(program, str(number), str(given))

    def stop(self):
        if self.worker:
            ask(self.machine.state, "stop", timeout_s=30)
            assert self.worker.wait(timeout=120) == 0
            self.worker = None

    @property
    def index(self):
        return self.registry.named("memory").index

    def passages(self, words):
        """Ids of the passages with these words, as the index has them: nothing is refreshed."""
        return [
            match.passage for match in self.index.text_search(words, EVERYWHERE, 10)
        ]

    def batches(self):
        """(files indexed, files gone) of every time the worker had something to do."""
        log = (self.machine.state / "worker.log").read_text()
        return [
            (int(a), int(b))
            for a, b in re.findall(r"(\d+) files indexed, (\d+) gone", log)
        ]


@pytest.fixture
def shared(machine, tmp_path):
    shared = Shared(machine, tmp_path)
    yield shared
    shared.registry.close()
    shared.stop()


def test_what_a_person_pulls_can_be_recalled_without_a_command(shared):
    shared.push(ledger="The ledger is append-only because auditors ask for it.")
    shared.start()
    before = shared.git("rev-parse", "HEAD")
    shared.git("pull", "-q")
    until(lambda: shared.passages("auditors"), "it is indexed")
    project = shared.machine.home / "api"
    project.mkdir()
    until(lambda: is_resting(shared.machine.state), "it has its vector")
    prompt = {
        "session_id": "s-1",
        "cwd": str(project),
        "prompt": "Why is the ledger append-only, do auditors ask for it?",
    }
    told = []
    until(
        lambda: (
            told.append(
                shared.machine.send(
                    "UserPromptSubmit", json.dumps(prompt).encode(), project
                )
            )
            or told[-1]
        ),
        "told",
    )
    assert b"append-only because auditors ask" in told[-1]
    assert shared.index.state().commit == shared.git("rev-parse", "HEAD") != before


def test_exactly_the_difference_is_read_and_embedded(shared):
    shared.push(**{f"fact-{n}": f"Metal{n} is heavy." for n in range(30)})
    shared.git("pull", "-q")
    shared.start()
    before, kept = shared.index.state(), shared.passages("Metal7")
    assert before.memories == before.passages == before.vectors == 30
    assert len(kept) == 1
    seen = len(shared.batches())
    changed = {f"fact-{n}": f"Metal{n} is silver." for n in (1, 2, 3)}
    shared.push(
        **changed, **{"fact-0": None, "new-a": "Gold is new.", "new-b": "Tin is new."}
    )
    shared.git("pull", "-q")
    until(lambda: shared.passages("Tin"), "it is indexed")
    until(lambda: is_resting(shared.machine.state), "it rests")
    assert shared.batches()[seen:] == [(5, 1)]
    after = shared.index.state()
    assert after.memories == after.vectors == 31
    # a row that was made again would have another id
    assert shared.passages("Metal7") == kept
    assert len(shared.passages("silver")) == 3 and not shared.passages("Metal0")


@pytest.mark.parametrize("storm", [2_000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_thousands_of_files_are_indexed_once_each_and_make_no_commit(shared, storm):
    settings = shared.other / "keeplore.yaml"
    text = settings.read_text()
    settings.write_text(text.replace("model: packaged", "model: /nowhere"))
    shared.push(first="The first one.")
    shared.git("pull", "-q")
    shared.start()
    seen = len(shared.batches())
    shared.push(**{f"storm-{n}": f"Drop {n} of many." for n in range(storm)})
    shared.git("pull", "-q")
    head = shared.git("rev-parse", "HEAD")
    until(
        lambda: shared.index.state().memories == storm + 1,
        "all are indexed",
        seconds=240,
    )
    until(
        lambda: shared.index.lag() == 0 and shared.index.state().commit == head,
        "the stamp says so",
    )
    time.sleep(5 * MOMENT_S)
    assert [sum(counts) for counts in zip(*shared.batches()[seen:], strict=True)] == [
        storm,
        0,
    ]
    assert (
        shared.git("rev-parse", "HEAD") == head
        and shared.git("status", "--porcelain") == ""
    )


def test_files_of_another_branch_come_and_go_with_it_and_git_stays_as_it_is(shared):
    shared.push(ledger="The ledger is append-only.", tax="Tax is rounded per line.")
    shared.git("pull", "-q")
    shared.git("checkout", "-q", "--orphan", "bare")
    shared.git("rm", "-rqf", "memory")
    shared.git("commit", "-qm", "Without memory")
    shared.git("checkout", "-q", "main")
    shared.start()
    heads = shared.git("for-each-ref")
    assert shared.passages("append-only") and (shared.root / "memory").is_dir()
    shared.git("checkout", "-q", "bare")
    assert not (shared.root / "memory").exists()
    until(
        lambda: not shared.passages("append-only"), "the files are gone from the index"
    )
    project = shared.machine.home / "api"
    project.mkdir()
    said = json.dumps(
        {
            "session_id": "s-1",
            "cwd": str(project),
            "prompt": "Invoices are sent on Fridays",
        }
    ).encode()
    shared.machine.send("UserPromptSubmit", said, project)
    until(
        lambda: shared.machine.waiting() == 0 and shared.passages("Fridays"),
        "what is said meanwhile is kept",
    )
    time.sleep(5 * MOMENT_S)
    assert shared.git("for-each-ref") == heads
    shared.git("checkout", "-q", "main")
    until(
        lambda: shared.passages("append-only") and shared.passages("Tax"),
        "they are back",
    )
    by_hand = shared.root / "memory" / "facts" / "by-hand.md"
    by_hand.write_text(
        "# Discounts\n\nDiscounts end in June.\n"
    )  # the folder is a new one, and watched again
    until(lambda: shared.passages("June"), "the new folder is watched")
    shared.stop()
    assert "Invoices are sent on Fridays" in shared.git("show", "main")
    assert (
        shared.git("ls-tree", "-r", "--name-only", "bare", "memory", "projects") == ""
    )


# a worker on a system that gives so many watches or instances and then refuses, as the kernel does
LIMITED = """
import ctypes, errno, sys
from watchdog.observers import inotify_c
real, refusals, left = inotify_c.{function}, int(sys.argv.pop(1)), int(sys.argv.pop(1))
def limited(*arguments):
    global left
    left -= 1
    if left >= 0:
        return real(*arguments)
    ctypes.set_errno(refusals)
    return -1
inotify_c.{function} = limited
sys.path.insert(0, {support!r})
import hasty_worker
hasty_worker.hurry()
sys.exit(hasty_worker.main())
"""


@pytest.mark.skipif(
    not Path("/proc/sys/fs/inotify").is_dir(), reason="the limits are those of Linux"
)
def test_where_the_system_gives_no_watches_files_are_looked_at(shared):
    name = "max_user_watches"
    shared.push(tax="Tax is rounded per line.")
    shared.git("pull", "-q")
    # enough for all but the folder furthest down
    shared.start_limited("inotify_add_watch", 28, 3)
    assert name in shared.machine.status()["unwatched"]
    assert name in shared.machine.keeplore("worker", "status").stdout.decode()
    assert name in shared.machine.keeplore("doctor", check=False).stdout.decode()
    shared.push(ledger="The ledger is append-only because auditors ask for it.")
    shared.git("pull", "-q")
    until(lambda: shared.passages("auditors"), "it is indexed")
    project = shared.machine.home / "api"
    project.mkdir()
    said = json.dumps(
        {
            "session_id": "s-1",
            "cwd": str(project),
            "prompt": "Invoices are sent on Fridays",
        }
    ).encode()
    shared.machine.send("UserPromptSubmit", said, project)
    until(lambda: shared.passages("Fridays"), "events arrive")


@pytest.mark.skipif(
    not Path("/proc/sys/fs/inotify").is_dir(), reason="the limits are those of Linux"
)
def test_a_limit_that_is_reached_by_new_folders_is_noticed(shared):
    shared.start_limited("inotify_add_watch", 28, 4)
    assert not shared.machine.status()["unwatched"]
    shared.push(ledger="The ledger is append-only because auditors ask for it.")
    shared.git("pull", "-q")
    until(lambda: shared.passages("auditors"), "it is indexed")
    until(lambda: shared.machine.status()["unwatched"], "it is noticed")
    (shared.root / "memory" / "facts" / "by-hand.md").write_text(
        "# Discounts\n\nDiscounts end in June.\n"
    )
    until(lambda: shared.passages("June"), "it is looked for")


def test_a_merge_that_only_memory_holds_up_is_concluded_once_its_person_has_left_it(
    office, git, monkeypatch
):
    monkeypatch.setattr(git_tasks, "BUSY_S", 1.0)
    office.init()
    path = office.root / "memory" / "facts" / "ledger.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Ledger\n\nIt is kept in cents.\n")
    git("add", "memory", cwd=office.root)
    git("commit", "-qm", "Ledger", cwd=office.root)
    git("config", "--remove-section", "merge.keeplore", cwd=office.root)
    git("checkout", "-qb", "theirs", cwd=office.root)
    path.write_text("# Ledger\n\nIt is kept in pence.\n")
    git("commit", "-qam", "Pence", cwd=office.root)
    git("checkout", "-q", "main", cwd=office.root)
    path.write_text("# Ledger\n\nIt is kept in mills.\n")
    git("commit", "-qam", "Mills", cwd=office.root)
    assert (
        subprocess.run(
            ("git", "merge", "-q", "theirs"), cwd=office.root, capture_output=True
        ).returncode
        == 1
    )
    office.start()
    office.prompt("Invoices are sent on Fridays")
    office.taken()
    until(
        lambda: not (office.root / ".git" / "MERGE_HEAD").exists(),
        "the merge is concluded",
    )
    until(
        lambda: not git("status", "--porcelain", cwd=office.root),
        "what was said meanwhile is committed",
    )
    texts = [
        git("show", f"HEAD:{name}", cwd=office.root)
        for name in git("ls-files", "*.md", cwd=office.root).split("\n")
    ]
    assert [
        sum(words in text for text in texts) for words in ("pence", "mills", "<<<<<<<")
    ] == [
        1,
        1,
        0,
    ]
    assert "Invoices are sent on Fridays" in "".join(texts)


def test_a_merge_that_a_person_works_on_is_left_alone(office, git):
    office.init()
    note = office.root / "README.md"
    for branch, words in (("theirs", "Theirs"), ("main", "Ours")):
        git(
            "checkout",
            "-q",
            *(["-b"] if branch == "theirs" else []),
            branch,
            cwd=office.root,
        )
        note.write_text(words)
        git("commit", "-qam", words, cwd=office.root)
    assert (
        subprocess.run(
            ("git", "merge", "-q", "theirs"), cwd=office.root, capture_output=True
        ).returncode
        == 1
    )
    left = note.read_text(), git("status", "--porcelain", "README.md", cwd=office.root)
    office.start()
    office.prompt("Invoices are sent on Fridays")
    office.taken()
    until(lambda: is_resting(office.places.state), "it rests")
    assert (
        note.read_text(),
        git("status", "--porcelain", "README.md", cwd=office.root),
    ) == left
    assert (office.root / ".git" / "MERGE_HEAD").exists()
