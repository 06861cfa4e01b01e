"""How the clients reach a worker: what client.py makes of its replies, and how both start one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from keeplore import __version__
from keeplore_hooks.spool import Spool

Kept = Callable[[], list[tuple[str, str, bytes]]]
REPLY = '{"hookSpecificOutput": {"additionalContext": "déjà vu"}}'.encode()
# a busy machine must not decide these tests: where a reply is expected, the client may wait for it
GENEROUS = {
    "DEADLINE_S = 0.3 ": "DEADLINE_S = 60.0 ",
    "PATIENT_DEADLINE_S = 1.5": "PATIENT_DEADLINE_S = 60",
}
WORKER = """#!{python} -ISs
import json, os, pathlib, socket, sys, time
state = pathlib.Path(os.environ["KEEPLORE_STATE_DIR"])
about = {{
    "pid": os.getpid(), "leads its session": os.getsid(0) == os.getpid(), "arguments": sys.argv[1:], "cwd": os.getcwd(),
    "streams": [os.readlink(f"/proc/self/fd/{{fd}}") for fd in (0, 1, 2)] if os.path.isdir("/proc/self/fd") else None,
}}
{then}
with open(state / "started", "a") as file:
    file.write(json.dumps(about) + "\\n")
time.sleep({lives_s})
"""
ANSWERS = """
server = socket.socket(socket.AF_UNIX)
server.bind(str(state / "s"))
server.listen()
(state / "worker.addr").write_text(str(state / "s"))
connection, _ = server.accept()
while connection.recv(65536):
    pass
connection.sendall(b'2\\n{}')
connection.close()
"""


@dataclass
class PlayedWorker:
    """A worker that hears one request after the other and answers with ``reply``."""

    server: socket.socket
    reply: bytes = b"%d\n" % len(REPLY) + REPLY
    requests: list[bytes] = field(default_factory=list)
    is_silent: bool = (
        False  # True: never answers, and hangs up only at the end of the test
    )
    is_deaf: bool = False  # True: does not even read
    held: list[socket.socket] = field(default_factory=list)

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.handle(self.server.accept()[0])

    def handle(self, connection: socket.socket) -> None:
        request = b""
        while not self.is_deaf and (chunk := connection.recv(65536)):
            request += chunk
        self.requests.append(request)
        if self.is_silent or self.is_deaf:
            self.held.append(connection)
            return
        with contextlib.suppress(OSError):  # the client may hang up in the middle
            connection.sendall(self.reply)
        connection.close()


@pytest.fixture
def worker(home: Path, state: Path) -> Iterator[PlayedWorker]:
    state.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(home / "s"))
        server.listen()
        (state / "worker.addr").write_text(f"{home / 's'}\n")
        played = PlayedWorker(server)
        thread = threading.Thread(target=played.serve)
        thread.start()
        yield played
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        for connection in played.held:
            connection.close()


@pytest.fixture
def asking(changed_client: Any) -> Any:
    """client.py with all the time in the world."""
    return changed_client("contact.py", GENEROUS)


@pytest.fixture
def python_client(all_writers: Any) -> Any:
    """client.py as it is."""
    return all_writers[1]


def ask(
    client: Any, payload: bytes = b"payload", event: str = "UserPromptSubmit"
) -> bytes:
    """What the client prints."""
    with client.start("claude-code", event) as process:
        out, err = process.communicate(payload, timeout=120)
    assert (process.returncode, err) == (0, b"")
    assert isinstance(out, bytes)
    return out


def started(state: Path) -> list[dict[str, Any]]:
    path = state / "started"
    return (
        [json.loads(line) for line in path.read_text().splitlines()]
        if path.exists()
        else []
    )


@pytest.fixture
def install(home: Path, state: Path) -> Iterator[Callable[..., Path]]:
    """``install()`` puts a program in the place of the interpreter that has Keeplore."""

    def put(then: str = "", lives_s: float = 60) -> Path:
        program = home / "an interpreter"
        program.write_text(
            WORKER.format(python=sys.executable, then=then, lives_s=lives_s)
        )
        program.chmod(0o755)
        state.mkdir(parents=True, exist_ok=True)
        (state / "python").write_text(f"{program}\n")
        return program

    yield put
    for about in started(state):
        with contextlib.suppress(ProcessLookupError):
            os.kill(about["pid"], signal.SIGKILL)


def wait_for_start(state: Path) -> dict[str, Any]:
    for _ in range(1200):
        if started(state):
            return started(state)[0]
        time.sleep(0.05)
    raise AssertionError("no worker was started within a minute")


def test_a_whole_reply_is_printed_and_the_request_is_as_agreed(
    worker: PlayedWorker, asking: Any, kept: Kept
) -> None:
    assert ask(asking, b"pay\nload\x00\xff") == REPLY
    zone = f"zone={time.localtime().tm_gmtoff}"
    event = f"claude-code UserPromptSubmit {zone}\n"
    header = f"KEEPLORE/1 {__version__} answer {event}".encode()
    assert worker.requests == [header + b"pay\nload\x00\xff"]
    assert kept() == [("claude-code", "UserPromptSubmit", b"pay\nload\x00\xff")]


def test_a_large_reply_is_printed_whole(worker: PlayedWorker, asking: Any) -> None:
    body = b'{"context": "' + b"x" * 900_000 + b'"}'
    worker.reply = b"%d\n" % len(body) + body
    assert ask(asking) == body


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"0\n",
        b"\n",
        b"%d\n" % (len(REPLY) + 1) + REPLY,
        b"%d\n" % (len(REPLY) - 1) + REPLY,
        b"%d\n" % len(REPLY) + REPLY[:20],
        b"%d" % len(REPLY) + REPLY,
        b"-2\n{}",
        b"2 \n{}",
        b"+2\n{}",
        b"two\n{}",
        b"9" * 5000 + b"\n{}",
        b"11\nplain words",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"\x00\xff" * 5000,
        b"2000002\n{" + b"x" * 2_000_000 + b"}",
    ],
)
def test_a_reply_that_is_not_whole_is_not_printed(
    worker: PlayedWorker, asking: Any, kept: Kept, reply: bytes
) -> None:
    worker.reply = reply
    assert ask(asking) == b""
    assert len(worker.requests) == 1
    assert kept() == [("claude-code", "UserPromptSubmit", b"payload")]


@pytest.mark.parametrize(
    "event", ["UserPromptSubmit", "SessionStart", "UserPromptExpansion"]
)
def test_the_client_does_not_wait_for_a_slow_worker(
    worker: PlayedWorker, python_client: Any, kept: Kept, event: str
) -> None:
    worker.is_silent = True
    assert ask(python_client, event=event) == b""
    assert kept() == [("claude-code", event, b"payload")]


def test_the_client_does_not_wait_for_a_worker_that_does_not_listen(
    worker: PlayedWorker, python_client: Any, kept: Kept
) -> None:
    worker.is_deaf = True
    assert ask(python_client, b"x" * 900_000) == b""
    assert kept() == [("claude-code", "UserPromptSubmit", b"x" * 900_000)]


def test_a_large_payload_is_kept_and_not_asked_about(
    worker: PlayedWorker, asking: Any, kept: Kept
) -> None:
    assert ask(asking, b"x" * 1_000_001) == b""
    assert kept() == [("claude-code", "UserPromptSubmit", b"x" * 1_000_001)]
    assert ask(asking, b"x" * 1_000_000) == REPLY
    assert len(worker.requests) == 1


def test_the_worker_is_asked_even_where_the_event_cannot_be_kept(
    worker: PlayedWorker, asking: Any, state: Path
) -> None:
    (state / "spool").write_text("in the way")
    assert ask(asking) == REPLY


@pytest.mark.parametrize(
    "address", ["", "\n", "relative", "/nowhere/at/all", "x" * 5000, "\x00", "/"]
)
def test_an_address_that_leads_nowhere_brings_no_reply(
    python_client: Any, state: Path, kept: Kept, address: str
) -> None:
    state.mkdir(parents=True)
    (state / "worker.addr").write_text(address)
    assert ask(python_client) == b""
    assert kept() == [("claude-code", "UserPromptSubmit", b"payload")]


def dead_socket(state: Path, home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(home / "dead"))
    (state / "worker.addr").write_text(str(home / "dead"))


@pytest.mark.parametrize("event", ["UserPromptSubmit", "beforeSubmitPrompt"])
@pytest.mark.parametrize("has_address", [False, True])
def test_without_a_worker_and_without_its_interpreter_the_event_is_kept_and_that_is_all(
    asking: Any, state: Path, home: Path, kept: Kept, event: str, has_address: bool
) -> None:
    state.mkdir(parents=True)
    if has_address:
        dead_socket(state, home)
    assert ask(asking, event=event) == b""
    assert kept() == [("claude-code", event, b"payload")]
    assert list(state.glob("worker.*")) == [state / "worker.addr"] * has_address


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptExpansion"])
def test_a_session_start_and_a_typed_command_wait_for_the_worker_that_they_start(
    asking: Any, state: Path, home: Path, install: Any, event: str
) -> None:
    install(then=ANSWERS)
    dead_socket(state, home)
    assert ask(asking, event=event) == b"{}"


@pytest.mark.parametrize(
    ("event", "prompt", "is_ours"),
    [
        ("UserPromptSubmit", "$keeplore-recall which separator", True),
        ("UserPromptSubmit", "$recall which separator", True),
        ("userPromptSubmitted", "/keeplore-recall which separator", True),
        ("BeforeAgent", "/keeplore:remember exports have semicolons", True),
        ("beforeSubmitPrompt", "/keeplore-memory", True),
        ("UserPromptSubmit", "which separator does /keeplore-recall name?", False),
        ("UserPromptSubmit", "/recall which separator", False),
        ("PreToolUse", "/keeplore-recall which separator", False),
    ],
)
def test_a_typed_command_has_the_longer_time_in_every_host(
    worker: PlayedWorker, changed_client: Any, event: str, prompt: str, is_ours: bool
) -> None:
    without_time = {
        "DEADLINE_S = 0.3 ": "DEADLINE_S = 60.0 ",
        "PATIENT_DEADLINE_S = 1.5": "PATIENT_DEADLINE_S = 0.0",
    }
    payload = json.dumps({"cwd": "/keeplore/memo", "prompt": prompt, "session_id": "1"})
    assert ask(changed_client("contact.py", without_time), payload.encode(), event) == (
        b"" if is_ours else REPLY
    )


def test_a_prompt_waits_for_the_worker_that_it_starts(
    asking: Any, state: Path, home: Path, install: Any
) -> None:
    install(then=ANSWERS)
    assert ask(asking) == b"{}"


def test_a_worker_is_started_also_where_the_time_is_up(
    state: Path, changed_client: Any, install: Any
) -> None:
    install()
    assert (
        ask(changed_client("contact.py", {"DEADLINE_S = 0.3 ": "DEADLINE_S = 0.0 "}))
        == b""
    )
    wait_for_start(state)


def test_a_prompt_does_not_wait_where_another_start_is_under_way(
    asking: Any, state: Path, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(then=ANSWERS)
    for number in range(
        10
    ):  # of the ten seconds that follow, and the hours around them
        (
            state
            / f"worker.start-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(time.time() + number))[:-2]}"
        ).touch()
    assert ask(asking) == b""
    assert started(state) == []


@pytest.mark.parametrize(
    ("tries", "digits"),
    [("", 14), ("2", 14), ("3", 13), ("6", 12), ("9", 11), ("999999", 11)],
)
def test_a_worker_that_dies_again_and_again_is_started_less_often(
    client: Any, state: Path, install: Any, tries: str, digits: int
) -> None:
    install()
    (state / "worker.tries").write_text(tries)
    client.put()
    wait_for_start(state)
    (turn,) = state.glob("worker.start-*")
    assert len(turn.name.removeprefix("worker.start-")) == digits
    assert int((state / "worker.tries").read_text()) == int(tries or 0) + 1


@pytest.mark.parametrize("tries", ["", "\n", "many", "-4", "08", "1" * 50, "\x00\xff"])
def test_a_count_of_starts_that_is_none_stops_no_start(
    client: Any, state: Path, install: Any, tries: str
) -> None:
    install()
    (state / "worker.tries").write_bytes(tries.encode("latin-1"))
    client.put()
    wait_for_start(state)
    assert (state / "worker.tries").read_text().strip().isdigit()


def test_a_started_worker_is_detached_from_the_host(
    client: Any, state: Path, install: Any, kept: Kept
) -> None:
    install()
    # a copy of stdout under another number must not keep the host waiting either
    with client.start(
        "host", "Stop", close_fds=False, preexec_fn=lambda: os.dup2(1, 7)
    ) as process:
        assert process.communicate(b"payload", timeout=60) == (b"", b"")
    about = wait_for_start(state)
    assert about == {
        "pid": about["pid"],
        "leads its session": True,
        "arguments": ["-m", "keeplore.worker"],
        "cwd": "/",
        "streams": ["/dev/null"] * 3 if Path("/proc/self/fd").is_dir() else None,
    }
    assert kept() == [("host", "Stop", b"payload")]


def test_a_relative_state_directory_reaches_the_worker_as_an_absolute_one(
    client: Any, home: Path, state: Path, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    monkeypatch.chdir(home)
    monkeypatch.setenv("KEEPLORE_STATE_DIR", "a machine/state")
    client.put()
    assert wait_for_start(state)["cwd"] == "/"


def test_a_hundred_events_do_not_start_a_hundred_workers(
    all_writers: Any, state: Path, spool: Spool, install: Any
) -> None:
    install()
    begin = time.monotonic()
    running = []
    for number in range(100):
        process = all_writers[number % 2].start("host", "UserPromptSubmit")
        # at once: a client waits some seconds for its payload, not until it is this one's turn
        with process.stdin:
            process.stdin.write(b"payload")
        process.stdin = None
        running.append(process)
    for process in running:
        process.communicate(timeout=120)
    turns_of_ten_seconds = 2 + int(time.monotonic() - begin) // 10
    wait_for_start(state)
    time.sleep(1)  # for others to turn up
    assert 1 <= len(started(state)) <= turns_of_ten_seconds
    assert len(spool.pending()) == 100


def test_turns_of_earlier_starts_are_cleared_up(
    client: Any, state: Path, install: Any
) -> None:
    install()
    old, latest = (state / f"worker.start-2026020{day}T14031" for day in (8, 9))
    latest.touch()
    old.touch()
    os.utime(old, (0, 0))
    client.put()
    wait_for_start(state)
    assert latest.exists() and not old.exists()
    latest.unlink()
    (turn,) = state.glob("worker.start-*")
    assert turn.name != "worker.start-20260209T14031"


@pytest.mark.parametrize(
    "python", ["", "python3", "/nowhere/python3", "/etc/hostname", "/"]
)
def test_no_worker_is_started_by_what_is_no_interpreter(
    client: Any, state: Path, kept: Kept, python: str
) -> None:
    state.mkdir(parents=True)
    (state / "python").write_text(python)
    client.put()
    assert kept() == [("host", "Stop", b"payload")]


@contextlib.contextmanager
def process_with_pid_file(state: Path, *arguments: str) -> Iterator[None]:
    program = [str(Path(sys.executable).resolve()), "-ISc", "input()", *arguments]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        (state / "worker.pid").write_text(str(process.pid))
        yield
        process.kill()


@pytest.mark.parametrize(
    "arguments", [("-m", "keeplore.worker"), ("/bin/keeplore", "worker", "run")]
)
def test_the_shell_client_leaves_a_worker_that_runs_alone(
    all_writers: Any, state: Path, install: Any, arguments: tuple[str, ...]
) -> None:
    install()
    with process_with_pid_file(state, *arguments):
        all_writers[0].put()
    assert list(state.glob("worker.start-*")) == []


@pytest.mark.parametrize("pid", ["", "0", "-1", "words", "99999999999999999999", "1"])
def test_the_shell_client_is_not_deceived_by_a_worthless_pid_file(
    all_writers: Any, state: Path, install: Any, pid: str
) -> None:
    if not Path("/proc/self").is_dir():
        pytest.skip("without /proc a process id is all that the shell can go by")
    install()
    (state / "worker.pid").write_text(pid)
    all_writers[0].put()
    assert len(list(state.glob("worker.start-*"))) == 1


def test_the_shell_client_is_not_deceived_by_another_process_with_the_id_of_a_dead_worker(
    all_writers: Any, state: Path, install: Any
) -> None:
    if not Path("/proc/self").is_dir():
        pytest.skip("without /proc a process id is all that the shell can go by")
    install()
    with process_with_pid_file(state, "something", "else"):
        all_writers[0].put()
    assert len(list(state.glob("worker.start-*"))) == 1
