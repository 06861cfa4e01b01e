"""The whole way: a host's raw payloads → client → spool → worker → file → commit → push → clone →
rebuild → recall.
"""

import re
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from demo.session import create_project, play
from quick_machine import WORKER, QuickMachine

from keeplore.memory import Conversation, parse

KILLER = Path(__file__).with_name("killer.py")
STARTED_AT = datetime(2026, 11, 19, 9, 0, tzinfo=UTC)
QUESTION = "which queue did we choose for background jobs and why"
# where the worker dies, once each, on the way from the spool to the remote
DEATHS = [
    ("keeplore_hooks.spool", "Spool.claim", "1", "after"),
    ("keeplore.capture.open_sessions", "Sessions.save", "1", "after"),
    ("keeplore.store", "Store.save", "1", "before"),
    ("keeplore.store", "Store.save", "1", "after"),
    ("keeplore.workspace.recording.cursors", "Cursors.save", "1", "before"),
    ("keeplore.workspace.recording.cursors", "Cursors.save", "2", "after"),
    ("keeplore_hooks.spool", "Spool.acknowledge", "1", "before"),
    ("keeplore_hooks.spool", "Spool.acknowledge", "2", "after"),
    ("keeplore.index", "Index.refresh", "1", "before"),
    ("keeplore.index", "Index.embed_pending", "2", "after"),
    ("keeplore.store", "Store.commit", "1", "before"),
    ("keeplore.store", "Store.commit", "1", "after"),
]


def conversations(root: Path) -> list[Conversation]:
    paths = sorted(root.glob("projects/*/memory/conversations/**/*.md"))
    return [Conversation.from_markdown(parse(path.read_text()).body) for path in paths]


@pytest.fixture
def remote(tmp_path):
    bare = QuickMachine(tmp_path / "server").run(
        "git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "memory.git")
    )
    assert bare.returncode == 0
    return tmp_path / "memory.git"


@pytest.fixture
def first(tmp_path, remote):
    machine = QuickMachine(tmp_path / "first")
    machine.keeplore("init", "memory")
    machine.run("git", "-C", "memory", "remote", "add", "origin", str(remote))
    return machine


def test_a_recorded_session_is_recalled_on_a_second_machine_though_the_worker_dies_at_every_stage(
    tmp_path, remote, first
):
    machine, project = first, first.home / "ledgerly"
    deaths = iter(DEATHS)
    prompts = 0
    create_project(project)
    for step in play(machine.home, project, STARTED_AT):
        # a worker says where its interpreter is, and a client would start another
        machine.no_worker_starts()
        step.output = machine.send(step.event, step.payload, project)
        prompts += step.event == "UserPromptSubmit"
        death = next(deaths, None)
        if death is not None:
            assert machine.script(KILLER, *death) == -signal.SIGKILL, death
    assert next(deaths, None) is None, "the session is too short for all deaths"

    worker = machine.begin(WORKER)
    head = re.compile(rb"[0-9a-f]{40}\s+refs/heads/main")
    machine.wait_until(lambda: machine.waiting() == 0, "the spool is taken")
    machine.wait_until(
        lambda: head.search(machine.run("git", "ls-remote", str(remote)).stdout),
        "the push",
    )
    machine.wait_until(
        lambda: not machine.status()["is_behind"],
        "index, vectors and remote have caught up",
    )
    machine.keeplore("worker", "stop")
    worker.wait(timeout=60)
    machine.keeplore("sync")
    assert not list((machine.state / "spool" / "dead").iterdir())

    memory = machine.home / "memory"
    turns = [
        exchange.id
        for conversation in conversations(memory)
        for exchange in conversation.exchanges
    ]
    assert len(turns) == len(set(turns)) >= prompts
    answer = machine.recall(QUESTION, project)
    assert answer["status"] == "found"
    assert machine.run("git", "-C", "memory", "status", "--porcelain").stdout == b""
    assert machine.run("git", "-C", "memory", "fsck", "--strict").returncode == 0

    second = QuickMachine(tmp_path / "second")
    second.keeplore("clone", str(remote), "memory")
    checkout = second.home / "work" / "ledgerly"
    checkout.mkdir(parents=True)
    url = (
        machine.run("git", "-C", str(project), "remote", "get-url", "origin")
        .stdout.decode()
        .strip()
    )
    second.run("git", "init", "-q", cwd=checkout)
    second.run("git", "remote", "add", "origin", url, cwd=checkout)
    again = second.recall(QUESTION, checkout)
    assert [hit["memory_id"] for hit in again["hits"]] == [
        hit["memory_id"] for hit in answer["hits"]
    ]
    assert again["hits"][0]["passage"] == answer["hits"][0]["passage"]
