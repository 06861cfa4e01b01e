"""One worker a machine takes every event once, whatever dies, is in the way, or comes at the same
time.
"""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from demo.machine import CLIENT
from hasty_worker import PAUSES
from quick_machine import WORKER
from waiting import until

from keeplore.worker import loop
from keeplore.worker.server.protocol import ask
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.spool import Spool

PROMPTS = [f"Prompt {number} about the ledger" for number in range(4)]


def status(state: Path) -> dict:
    return ask(state, "status", timeout_s=30) or {}


def test_of_two_workers_that_start_at_once_one_runs(office):
    office.init()
    office.prompt(PROMPTS[0])
    for _ in range(2):
        office.start()
    office.taken()
    assert sorted(office.stop()) == [[False], [True]]
    assert office.prompts() == PROMPTS[:1]


def test_a_worker_that_is_idle_leaves_and_takes_its_files_with_it(office):
    office.init()
    office.prompt(PROMPTS[0])
    office.start(idle_exit_s=0.2)
    assert office.joined() == [[True]]
    assert office.prompts() == PROMPTS[:1]
    left = {path.name for path in office.places.state.iterdir()}
    assert not left & {"worker.pid", "worker.addr", "worker.sock"}


def test_a_remote_that_cannot_be_reached_does_not_keep_a_worker(office, git):
    office.init()
    git("remote", "add", "origin", str(Path.home() / "nowhere.git"), cwd=office.root)
    office.prompt(PROMPTS[0])
    office.start(idle_exit_s=0.2)
    assert office.joined() == [[True]]
    assert "nothing to commit" in git("status", cwd=office.root)


def test_a_worker_starts_on_a_machine_that_has_no_spool_yet(office):
    shutil.rmtree(office.places.spool, ignore_errors=True)
    office.start()
    until(lambda: status(office.places.state), "it answers")
    assert office.stop() == [[True]]


@pytest.mark.parametrize("is_there_another", [False, True])
def test_a_worker_leaves_whose_state_directory_was_deleted(
    office, monkeypatch, is_there_another
):
    monkeypatch.setattr(loop, "LOOK_S", 0.1)
    office.init()
    office.prompt(PROMPTS[0])
    office.start()
    office.taken()
    state = office.places.state
    shutil.move(state, state.with_name("deleted"))
    if is_there_another:
        office.places.create()
        (state / "worker.lock").touch()
    before = sorted(state.rglob("*")) if is_there_another else []
    assert office.joined() == [[True]]
    assert sorted(state.rglob("*")) == before
    assert office.prompts() == PROMPTS[:1]


def test_what_a_killed_worker_left_is_in_nobodys_way(office):
    office.init()
    office.prompt(PROMPTS[0])
    state = office.places.state
    (state / "worker.pid").write_text("999999999")
    (state / "worker.addr").write_text(str(state / "worker.sock"))
    (state / "worker.sock").write_text("no socket")
    (state / "worker.lock").write_text("left over")
    office.start()
    office.taken()
    assert status(state)["pid"] == os.getpid()
    assert office.prompts() == PROMPTS[:1]


def test_a_worker_that_was_killed_is_followed_by_one_that_takes_the_rest(machine):
    machine.keeplore("init", "memory")
    project = machine.home / "api"
    project.mkdir()
    first = machine.worker()
    machine.wait_until(lambda: bool(status(machine.state)), "it runs")
    machine.send("UserPromptSubmit", payload_of(PROMPTS[0], project), project)
    first.send_signal(signal.SIGKILL)
    first.wait(timeout=120)
    machine.send(
        "UserPromptSubmit", payload_of(PROMPTS[1], project), project
    )  # which starts the next one
    spool = Spool(machine.state / "spool")
    machine.wait_until(
        lambda: status(machine.state) != {} and not any(spool.counts().values()),
        "the spool is empty",
    )
    assert status(machine.state)["pid"] != first.pid
    text = machine.conversations("memory/projects/api")
    assert all(prompt in text for prompt in PROMPTS[:2])


def payload_of(text: str, cwd: Path, session: str = "s-1") -> bytes:
    return json.dumps({"session_id": session, "cwd": str(cwd), "prompt": text}).encode()


def test_events_wait_for_a_workspace_and_are_taken_once_there_is_one(office):
    for prompt in PROMPTS[:2]:
        office.prompt(prompt)
    office.start()
    until(
        lambda: status(office.places.state).get("waiting") == 1, "the first one waits"
    )
    until(
        lambda: office.spool.counts() == {"new": 2, "claimed": 0, "dead": 0},
        "none is held while it is tried again",
    )
    office.init()
    office.prompt(PROMPTS[2])
    office.taken()
    assert office.prompts() == PROMPTS[:3]
    assert office.dead() == {}


def test_a_folder_in_place_of_an_entry_of_a_project_holds_up_that_project_alone(
    office,
):
    office.init()
    entry = office.root / "projects" / "api" / "project.json"
    entry.mkdir(parents=True)
    office.prompt(PROMPTS[0])
    office.prompt(PROMPTS[1], "s-2", Path.home() / "code" / "shop")
    office.start()
    until(lambda: office.prompts() == PROMPTS[1:2], "the other project's is taken")
    until(lambda: status(office.places.state).get("waiting") == 1, "the other waits")
    entry.rmdir()
    office.prompt(PROMPTS[2])
    office.taken()
    assert sorted(office.prompts()) == PROMPTS[:3]
    assert office.dead() == {}


def test_a_worker_that_waits_does_not_wake_itself_and_says_why_once(
    office, caplog, monkeypatch
):
    for module, name in PAUSES:  # nor does anything else
        monkeypatch.setattr(module, name, 60.0)
    caplog.set_level(logging.DEBUG, "keeplore.worker.tasks.spool_task")
    office.prompt(PROMPTS[0])
    office.start()
    until(lambda: status(office.places.state).get("waiting") == 1, "it waits")
    time.sleep(1.0)
    said = [log.levelname for log in caplog.records if "has to wait" in log.message]
    assert said[0] == "WARNING" and said[1:] in ([], ["DEBUG"])
    assert status(office.places.state)["held"] == {}


def test_a_workspace_that_is_set_up_later_gets_its_events_without_a_restart(office):
    office.init()
    office.prompt(PROMPTS[0])
    office.start()
    office.taken()
    team = Path.home() / "team"
    initialise(office.places, team)
    office.prompt(PROMPTS[1], "s-2", team)
    office.taken()
    assert (office.prompts(), office.prompts(team)) == (PROMPTS[:1], PROMPTS[1:2])


def test_what_is_in_the_way_of_one_session_keeps_no_other_waiting(office):
    office.init()
    office.prompt(PROMPTS[0])
    office.start()
    office.taken()
    [session] = office.places.sessions.glob("*.json")
    kept = session.read_bytes()
    session.unlink()
    session.mkdir()
    office.prompt(PROMPTS[1])
    office.prompt(PROMPTS[2], "s-2")
    until(lambda: PROMPTS[2] in office.prompts(), "the other session is taken")
    told = status(office.places.state)
    assert (told["waiting"], told["held"]) == (1, {f"{session}: Is a directory": 1})
    session.rmdir()
    session.write_bytes(kept)
    office.taken()
    assert sorted(office.prompts()) == PROMPTS[:3]


def test_a_poisoned_entry_is_set_aside_with_its_reason_and_the_rest_goes_on(office):
    office.init()
    office.spool.add("unheard-of", "Stop", b"{}")
    office.spool.add("claude-code", "Stop", b"this is no JSON")
    office.spool.add("claude-code", "SessionEnd", b'{"no": "session"}')
    office.spool.add("claude-code", "PreCompact", b"")
    office.prompt(PROMPTS[0], cwd=Path("/" + "x" * 5000))
    office.prompt(PROMPTS[1], cwd=Path("/nowhere/\udcff\0"))
    office.prompt(PROMPTS[2])
    office.start()
    office.taken()
    dead = office.dead()
    assert set(dead) == {
        "unheard-of.Stop",
        "claude-code.Stop",
        "claude-code.SessionEnd",
    }
    assert (
        "claude-code" in dead["unheard-of.Stop"]
        and "no payload" in dead["claude-code.Stop"]
    )
    assert sorted(office.prompts()) == PROMPTS[:3]


def test_a_broken_setting_keeps_events_and_loses_none(office):
    office.init()
    settings = office.root / "keeplore.yaml"
    whole = settings.read_text()
    settings.write_text("schema: 1\nno such key: [\n")
    for prompt in PROMPTS[:2]:
        office.prompt(prompt)
    office.start()
    until(lambda: status(office.places.state).get("waiting") == 2, "both wait")
    assert office.dead() == {}
    settings.write_text(whole)
    office.prompt(PROMPTS[2])
    office.taken()
    assert office.prompts() == PROMPTS[:3]


def test_a_workspace_that_is_gone_for_a_while_keeps_events(office):
    office.init()
    office.prompt(PROMPTS[0])
    office.start()
    office.taken()
    aside = office.root.rename(Path.home() / "aside")
    office.root.write_text("in the way")
    office.prompt(PROMPTS[1])
    until(lambda: status(office.places.state).get("waiting"), "it waits")
    until(
        lambda: office.spool.counts() == {"new": 1, "claimed": 0, "dead": 0},
        "it is not held while it is tried again",
    )
    office.root.unlink()
    aside.rename(office.root)
    office.prompt(PROMPTS[2])
    office.taken()
    assert office.prompts() == PROMPTS[:3]


def test_a_disk_without_room_keeps_events_until_there_is_room(machine):
    machine.keeplore("init", "memory")
    machine.no_worker_starts()
    project = machine.home / "api"
    project.mkdir()
    for prompt in PROMPTS:
        machine.send("UserPromptSubmit", payload_of(prompt, project), project)
    # a file of more than this many bytes cannot be written: cursors and locks can, memories cannot
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (700, "
        "resource.RLIM_INFINITY)); "
    )
    limited += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limited += (
        "from keeplore.config.places import Places; from keeplore.worker.loop import "
        "Worker; import os; "
    )
    limited += "Worker(Places.from_environment(os.environ), idle_exit_s=1).run()"
    # -B: what Python keeps of a module that it compiles would be cut as well, and break every later
    # import of it
    full = machine.worker(sys.executable, "-B", "-c", limited)
    machine.wait_until(
        lambda: status(machine.state).get("waiting", 0) > 0, "an entry waits"
    )
    machine.run("kill", str(full.pid))
    full.wait(timeout=120)
    assert machine.waiting() == len(PROMPTS)
    second = machine.begin(WORKER)
    machine.wait_until(lambda: machine.waiting() == 0, "all are taken")
    machine.keeplore("worker", "stop")
    second.wait(timeout=120)
    assert not list((machine.state / "spool").glob("dead/*"))
    text = machine.conversations()
    assert all(prompt in text for prompt in PROMPTS)


def is_deleted(folder: Path) -> bool:
    """Deletes a folder into which the worker may write meanwhile, and says whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_recall_still_answers_when_the_cache_is_deleted_under_the_worker(office):
    office.init()
    office.prompt(
        "We keep the ledger append-only, because auditors ask for every state."
    )
    office.start()
    office.taken()
    question = {
        "query": "append-only ledger",
        "cwd": str(Path.home()),
        "limit": 5,
        "wide": True,
        "exchanges": False,
        "session": "",
        "within": "",
        "text": False,
        "agent": "",
    }
    until(
        lambda: (
            ask(office.places.state, "recall", question, timeout_s=30)["status"]
            == "found"
        ),
        "it is indexed",
    )
    until(lambda: is_deleted(office.places.cache), "the cache is gone")
    assert (
        ask(office.places.state, "recall", question, timeout_s=30)["status"] == "found"
    )
    office.prompt("The ledger is exported to CSV each night.")
    office.taken()
    assert len(office.prompts()) == 2


@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.soak)])
def test_many_events_at_once_are_all_taken_once_by_one_worker(machine, count):
    machine.keeplore("init", "memory")
    project = machine.home / "api"
    project.mkdir()
    clients = []
    for number in range(count):
        command = ("sh", str(CLIENT / "client.sh"), "claude-code", "UserPromptSubmit")
        client = subprocess.Popen(
            command, env=machine.environment, stdin=subprocess.PIPE, cwd=project
        )
        clients.append(client)
        with client.stdin:  # at once: a client does not wait for ever
            client.stdin.write(
                payload_of(f"Event {number:03} of many", project, f"s-{number % 10}")
            )
    for client in clients:
        assert client.wait(timeout=60) == 0
    machine.wait_until(lambda: machine.waiting() == 0, "all are taken")
    text = machine.conversations()
    exchanges = text[text.index("## Exchanges") :]
    assert all(f"Event {number:03} of many" in exchanges for number in range(count))
    assert not list((machine.state / "spool").glob("dead/*"))
    log = (machine.state / "worker.log").read_text()
    assert log.count(" ended") == 0
