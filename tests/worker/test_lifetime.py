"""A worker makes room for another version, rests, follows settings and text, and is one however
many ask for it.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from demo.machine import CLIENT
from quick_machine import WORKER
from waiting import until

import keeplore
from keeplore import __version__
from keeplore.config import installation
from keeplore.worker.server.protocol import ask
from keeplore.worker.tasks import git_tasks
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

NEWER, OLDER = "999.0.0", "0.0.0"


def status(state):
    return ask(state, "status", timeout_s=30) or {}


def is_resting(state):
    told = status(state)
    return bool(told) and not told["is_behind"] and not told["is_busy"]


def commands_with(state):
    """The command lines of all processes that work in this state directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            if f"KEEPLORE_STATE_DIR={state}".encode() in environment:
                found.append((process / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


def say(state, version, operation):
    """One request as a program of that version makes it."""
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect((state / "worker.addr").read_text())
        connection.sendall(f"KEEPLORE/1 {version} {operation}\n{{}}".encode())
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def prompt_of(text, cwd, session="s-1"):
    return json.dumps({"session_id": session, "cwd": str(cwd), "prompt": text}).encode()


def test_a_worker_makes_room_for_a_newer_version_and_not_for_an_older_one(office):
    office.init()
    worker = office.start()
    until(lambda: is_resting(office.places.state), "it rests")
    for version, operation in (
        (OLDER, "status"),
        (NEWER, "answer claude-code Stop"),
        ("none", "status"),
    ):
        say(office.places.state, version, operation)
    assert not worker.wants_successor
    say(office.places.state, NEWER, "status")
    assert office.joined() == [[True]]
    assert worker.wants_successor


def test_a_worker_whose_program_was_replaced_makes_room_once_it_has_nothing_left(
    office, monkeypatch, tmp_path
):
    installed = tmp_path / "__init__.py"
    installed.write_text("old")
    monkeypatch.setattr(keeplore, "__file__", str(installed))
    office.init()
    office.prompt("Prices are kept in cents")
    worker = office.start()
    installed.rename(tmp_path / "aside")
    office.prompt("Invoices are sent on Fridays")
    assert office.joined() == [[True]]
    assert worker.wants_successor
    assert len(office.prompts()) == 2


@pytest.mark.skipif(
    not Path("/proc/self").is_dir(), reason="looks at other processes by /proc"
)
def test_the_successor_is_the_same_process_and_goes_on(machine):
    machine.keeplore("init", "memory")
    process = machine.worker()
    until(lambda: is_resting(machine.state), "it rests")
    say(machine.state, NEWER, "status")
    until(
        lambda: "--rested" in "".join(commands_with(machine.state)),
        "its successor runs",
    )
    until(lambda: status(machine.state).get("pid") == process.pid, "it answers")
    project = machine.home / "api"
    project.mkdir()
    machine.send(
        "UserPromptSubmit", prompt_of("Prices are kept in cents", project), project
    )
    until(lambda: machine.waiting() == 0, "it is taken")
    machine.keeplore("worker", "stop")
    assert process.wait(timeout=120) == 0
    assert commands_with(machine.state) == []


def test_memory_of_the_model_is_given_back_after_a_while_without_work(office):
    office.init()
    worker = type(office.start())(office.places, rest_s=0.0)
    office.stop()
    with Registry(office.places) as registry:
        registry.named("memory").warm_up()
    worker.lifetime.rest_s = 1.0
    assert worker.run()
    assert worker.wants_successor


def test_a_rested_worker_loads_no_model_until_somebody_asks(office):
    office.init()
    worker = type(office.start())(office.places, idle_exit_s=0.5, is_rested=True)
    office.stop()
    loaded = []
    before = worker.lifetime.allowed_wait_s

    def allowed_wait_s(background, *, is_awaited):
        loaded.append(background.model.is_loaded)
        return before(background, is_awaited=is_awaited)

    worker.lifetime.allowed_wait_s = allowed_wait_s
    assert worker.run()
    assert loaded and not any(loaded)
    assert not worker.wants_successor


def test_settings_are_followed_while_a_worker_runs(office):
    office.init()
    office.start()
    office.prompt("Prices are kept in cents")
    office.taken()
    settings = office.root / "keeplore.yaml"
    text = settings.read_text()
    settings.write_text(text.replace("  enabled: true", "  enabled: false", 1))
    office.prompt("Nobody should keep this")
    office.taken()
    assert office.prompts() == ["Prices are kept in cents"]


def test_a_workspace_that_was_moved_is_found_once_it_is_registered_again(office):
    office.init()
    office.start()
    office.prompt("Prices are kept in cents")
    office.taken()
    until(lambda: is_resting(office.places.state), "it rests")
    moved = office.root.rename(Path.home() / "notes")
    office.prompt("Invoices are sent on Fridays")
    until(lambda: status(office.places.state).get("waiting"), "it waits")
    initialise(office.places, moved, "memory")
    office.prompt("The ledger is append-only")
    office.taken()
    assert len(office.prompts(moved)) == 3
    assert not office.root.exists()


def test_text_that_a_person_writes_is_indexed_without_being_asked_for(office):
    office.init()
    office.start()
    office.prompt("Prices are kept in cents")
    office.taken()
    until(lambda: is_resting(office.places.state), "it rests")
    with Registry(office.places) as registry:
        index = registry.named("memory").index
        before = index.state().memories
        text = office.root / "projects" / "api" / "memory" / "facts" / "by-hand.md"
        text.parent.mkdir()
        text.write_text("# Invoices are sent on Fridays\n\nAlways.\n")
        until(lambda: index.state().memories == before + 1, "it is indexed")


def test_what_another_machine_wrote_arrives_with_a_session_start(
    office, git, monkeypatch, tmp_path
):
    monkeypatch.setattr(git_tasks, "SYNC_LEAST_S", 0.0)
    office.init()
    git(
        "init",
        "--bare",
        "-q",
        "--initial-branch",
        "main",
        str(tmp_path / "remote.git"),
        cwd=tmp_path,
    )
    git("remote", "add", "origin", str(tmp_path / "remote.git"), cwd=office.root)
    office.start()
    until(lambda: status(office.places.state).get("last_sync"), "it has synced")
    until(lambda: is_resting(office.places.state), "it rests")
    git(
        "clone",
        "-q",
        str(tmp_path / "remote.git"),
        str(tmp_path / "other"),
        cwd=tmp_path,
    )
    text = tmp_path / "other" / "memory" / "facts" / "from-afar.md"
    text.parent.mkdir(parents=True)
    text.write_text("# Invoices are sent on Fridays\n\nAlways.\n")
    git("add", "memory", cwd=tmp_path / "other")
    git("commit", "-q", "-m", "From afar", cwd=tmp_path / "other")
    git("push", "-q", "origin", "HEAD:main", cwd=tmp_path / "other")
    begin = {
        "session_id": "s-2",
        "cwd": str(Path.home()),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    office.spool.add("claude-code", "SessionStart", json.dumps(begin).encode())
    until((office.root / "memory" / "facts" / "from-afar.md").exists, "it arrives")


@pytest.mark.skipif(
    not Path("/proc/self").is_dir(), reason="looks at other processes by /proc"
)
@pytest.mark.parametrize("count", [20, pytest.param(50, marks=pytest.mark.soak)])
def test_many_sessions_at_once_make_one_worker_and_lose_nothing(machine, count):
    machine.keeplore("init", "memory")
    project = machine.home / "api"
    project.mkdir()
    running = []
    for number in range(count):
        command = (
            sys.executable,
            "-I",
            "-S",
            str(CLIENT / "client.py"),
            "claude-code",
            "UserPromptSubmit",
        )
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
        client = subprocess.Popen(
            command, env=machine.environment, cwd=project, **streams
        )
        with client.stdin:  # at once: a client does not wait for ever
            client.stdin.write(
                prompt_of(f"Session {number:02} begins here", project, f"s-{number}")
            )
        running.append(client)
    for client in running:
        assert client.wait(timeout=120) == 0
    until(
        lambda: machine.waiting() == 0 and is_resting(machine.state),
        "all are taken",
        seconds=180,
    )
    assert (
        len(
            [line for line in commands_with(machine.state) if "keeplore.worker" in line]
        )
        == 1
    )
    text = machine.conversations()
    assert [n for n in range(count) if f"Session {n:02} begins here" not in text] == []


def test_a_worker_that_is_told_to_end_finishes_and_leaves_nothing(machine, git):
    machine.keeplore("init", "memory")
    project = machine.home / "api"
    project.mkdir()
    process = machine.worker(sys.executable, str(WORKER))
    until(lambda: is_resting(machine.state), "it rests")
    machine.send(
        "UserPromptSubmit", prompt_of("Prices are kept in cents", project), project
    )
    until(lambda: machine.waiting() == 0, "it is taken")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert git("status", "--porcelain", cwd=machine.home / "memory") == ""
    assert not {"worker.pid", "worker.addr", "worker.sock"} & {
        path.name for path in machine.state.iterdir()
    }


def test_the_newest_installation_that_works_is_started(tmp_path):
    state = tmp_path
    installation.register(state)
    assert installation.registered(state) == installation.Installation(
        sys.executable, __version__
    )
    (state / "python").write_text(f"/bin/sh\n{NEWER}\n")
    installation.register(state)
    assert installation.registered(state) == installation.Installation("/bin/sh", NEWER)
    (state / "worker.tries").write_text("3")  # it dies whenever it is started
    installation.register(state)
    assert installation.registered(state) == installation.Installation(
        sys.executable, __version__
    )
    (state / "worker.tries").unlink()
    for old in (
        f"/bin/sh\n{OLDER}\n",
        "/bin/sh\n",
        f"/nowhere/python\n{NEWER}\n",
        "\xff\0",
        "",
    ):
        (state / "python").write_bytes(old.encode("latin-1"))
        installation.register(state)
        assert installation.registered(state) == installation.Installation(
            sys.executable, __version__
        )


@pytest.mark.parametrize(
    ("registered", "kept"),
    [
        (f"/bin/sh\n{OLDER}\n", []),
        (f"/nowhere/python\n{NEWER}\n", []),
        (f"/nowhere/python\n{__version__}\n", ["compiled"]),
        (f"/bin/sh\n{NEWER}\n", ["compiled"]),  # which stays
        ("", ["compiled"]),
    ],
)
def test_what_another_version_had_compiled_goes_with_it(registered, kept, tmp_path):
    (tmp_path / "python").write_text(registered)
    old = tmp_path / "compiled" / "plugins" / "keeplore-0.0.0" / "client"
    old.mkdir(parents=True)
    (old / "contact.cpython-311.pyc").write_bytes(b"compiled")
    installation.register(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == kept


def test_starts_in_vain_are_told_and_forgotten_by_a_worker_that_lives(office):
    office.init()
    (office.places.state / "worker.tries").write_text("7\n")
    assert "7 workers were started in vain" in installation.in_vain(office.places.state)
    assert "ten minutes" in installation.in_vain(office.places.state)
    office.start(idle_exit_s=0.2)
    office.joined()
    assert installation.in_vain(office.places.state) == ""
