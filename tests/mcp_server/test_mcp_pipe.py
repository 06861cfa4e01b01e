"""The pipe that hosts start, beside a worker that does what a test says."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keeplore import __version__
from keeplore.mcp_server import project_roots

FOLDER = Path(__file__).parents[2] / "plugin" / "keeplore" / "client"
OFFER = json.loads((FOLDER / "mcp_offer.json").read_bytes())
OFFERED = Path(__file__).with_name("offered.py")
WHO = {"clientInfo": {"name": "a test", "version": "1"}}
# an agent has tools for what the resources give
TOLD = {name: OFFER["capabilities"][name] for name in ("prompts", "tools")}
READING, WRITING = "search", "remember"
Answer = Callable[[dict[str, Any]], "bytes | None"]


def framed(reply: dict[str, Any] | None) -> bytes:
    body = b"" if reply is None else json.dumps(reply).encode()
    return f"{len(body)}\n".encode() + body


class Desk:
    """Stands where a worker listens; ``answer`` gives the bytes of each reply, None to hang up."""

    def __init__(self, state: Path, answer: Answer) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: set[bytes] = set()
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX)
        path = state / f"{os.urandom(4).hex()}.sock"
        self._socket.bind(str(path))
        self._socket.listen()
        (state / "worker.addr").write_text(str(path))
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as sent:
            header, _, body = sent.read().partition(b"\n")
            self.headers.add(header)
            request = json.loads(body)
            self.asked.append(request)
            if (reply := self._answer(request)) is not None:
                with contextlib.suppress(OSError):  # nobody waits for it any more
                    connection.sendall(reply)


class Pipe:
    """The pipe as a process."""

    def __init__(
        self, state: Path, folder: Path = FOLDER, *words: str, **environment: str
    ) -> None:
        self.process = subprocess.Popen(
            (sys.executable, "-I", "-S", str(folder / "mcp.py"), *words),
            env={**os.environ, "KEEPLORE_STATE_DIR": str(state), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=state,
        )

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin
        for message in messages:
            is_raw = isinstance(message, bytes)
            line = message if is_raw else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def reply(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the pipe has ended"
        told: dict[str, Any] = json.loads(line)
        return told

    def ask(self, number: Any, method: str, **params: Any) -> dict[str, Any]:
        self.send(request(number, method, **params))
        told = self.reply()
        assert (told.pop("jsonrpc"), told.pop("id")) == ("2.0", number)
        return told

    def call(self, number: Any, tool: str) -> dict[str, Any]:
        return self.ask(number, "tools/call", name=tool, arguments={})

    @property
    def children(self) -> str:
        """Also those that have ended and are not waited for."""
        pid = self.process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text()

    def close(self) -> tuple[int, bytes]:
        out, log = self.process.communicate(timeout=60)
        assert out == b""
        return self.process.returncode, log


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return {**message, "params": params} if params else message


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def named(asked: dict[str, Any]) -> bytes:
    """The name of the tool, as a reply."""
    return framed({"result": {"told": (asked["params"] or {}).get("name")}})


def refused(told: dict[str, Any]) -> str:
    assert told["result"]["isError"]
    (part,) = told["result"]["content"]
    return str(part["text"])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory in which Keeplore's Python is one that ends at once."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "python").write_text("/bin/true\n")
    return state


@pytest.fixture
def desk(state: Path) -> Iterator[Callable[[Answer], Desk]]:
    made: list[Desk] = []

    def make(answer: Answer) -> Desk:
        made.append(Desk(state, answer))
        return made[-1]

    yield make
    for one in made[-1:]:
        one.close()


@pytest.fixture
def pipe(state: Path) -> Iterator[Pipe]:
    pipe = Pipe(state)
    yield pipe
    pipe.process.kill()
    pipe.process.communicate()


@pytest.mark.parametrize("version", ["1", "2"])
def test_what_it_offers_is_what_the_sdks_server_offers(version: str) -> None:
    """Otherwise: python tests/mcp_server/offered.py > plugin/keeplore/client/mcp_offer.json"""
    path = Path(sys.prefix) / "mcp-1"
    if version == "1" and not path.is_dir():
        pytest.skip("version 1 of the SDK is not laid down: `make setup` does that")
    done = subprocess.run(
        (sys.executable, str(OFFERED)),
        env={**os.environ, "PYTHONPATH": str(path) if version == "1" else ""},
        capture_output=True,
        check=True,
    )
    assert done.stdout == (FOLDER / "mcp_offer.json").read_bytes()


def test_what_a_session_asks_at_its_start_needs_no_worker(
    pipe: Pipe, state: Path
) -> None:
    for number, (wanted, told) in enumerate(
        (("2025-03-26", "2025-03-26"), ("2999-12-31", "2025-11-25"), (7, "2025-11-25"))
    ):
        hello = pipe.ask(number, "initialize", protocolVersion=wanted, **WHO)
        assert hello == {
            "result": {
                "protocolVersion": told,
                "capabilities": TOLD,
                "serverInfo": {"name": "keeplore", "version": __version__},
                "instructions": OFFER["instructions"],
            }
        }
    assert pipe.ask("a", "ping") == {"result": {}}
    for method, whole in OFFER["lists"].items():
        assert pipe.ask(method, method) == {"result": whole}
    assert [*state.iterdir()] == [state / "python"], "and no worker is started"


def test_a_client_that_is_no_host_of_agents_is_told_of_resources(state: Path) -> None:
    pipe = Pipe(state, FOLDER, "resources")
    hello = pipe.ask(1, "initialize", protocolVersion="2025-11-25", **WHO)
    assert hello["result"]["capabilities"] == OFFER["capabilities"]
    assert pipe.close() == (0, b"")


@pytest.mark.parametrize(
    ("environment", "why"),
    [({"KEEPLORE_OFF": "1"}, "KEEPLORE_OFF"), ({}, "keeplore init ~/memory")],
)
def test_switched_off_or_not_set_up_it_says_why_it_offers_nothing_and_asks_nobody(
    state: Path, environment: dict[str, str], why: str
) -> None:
    if not environment:
        (state / "python").unlink()
    before = [*state.iterdir()]
    pipe = Pipe(state, **environment)
    hello = pipe.ask(1, "initialize", protocolVersion="2025-11-25", **WHO)
    assert why in hello["result"]["instructions"]
    lists = {method: pipe.ask(2, method)["result"] for method in sorted(OFFER["lists"])}
    assert lists == {
        "prompts/list": {"prompts": []},
        "resources/list": {"resources": []},
        "resources/templates/list": {"resourceTemplates": []},
        "tools/list": {"tools": []},
    }
    assert why in pipe.call(3, READING)["error"]["message"]
    assert pipe.close() == (0, b"")
    assert [*state.iterdir()] == before


def test_the_worker_is_told_whose_request_it_is(
    state: Path, desk: Callable[[Answer], Desk]
) -> None:
    worker = desk(named)
    pipe = Pipe(state, CLAUDE_PROJECT_DIR="/p", CLAUDE_CODE_SESSION_ID="s", OTHER="x")
    able = {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, **WHO}
    pipe.ask(1, "initialize", **able)
    pipe.send(note("notifications/initialized"))
    question = pipe.reply()
    assert question["method"] == "roots/list"
    roots = [{"uri": "file:///a%20b", "name": "a"}, {"uri": 7}, "no root"]
    pipe.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}})
    assert pipe.call(2, READING) == {"result": {"told": READING}}
    pipe.send(note("notifications/roots/list_changed"))
    again = pipe.reply()["id"]
    pipe.send({"jsonrpc": "2.0", "id": again, "error": {"code": 1, "message": "no"}})
    assert pipe.call(3, READING)
    first, second = worker.asked
    assert first["session"].pop("id") == second["session"].pop("id")
    assert (
        first
        == second
        == {
            "session": {
                "cwd": str(state),
                "environment": {
                    "CLAUDE_PROJECT_DIR": "/p",
                    "CLAUDE_CODE_SESSION_ID": "s",
                },
                "client": able,
                "roots": ["file:///a%20b"],
            },
            "method": "tools/call",
            "params": {"name": READING, "arguments": {}},
        }
    )
    zone = f"zone={time.localtime().tm_gmtoff}"
    assert worker.headers == {f"KEEPLORE/1 {__version__} mcp {zone}".encode()}
    assert pipe.close() == (0, b"")


def test_it_passes_on_the_variables_that_say_which_project_is_meant() -> None:
    text = (FOLDER / "mcp_pipe.py").read_text()
    known = (*project_roots.PROJECTS, *project_roots.ROOTS, *project_roots.SESSIONS)
    listed = text.partition("VARIABLES = (")[2].partition(")")[0]
    assert [part.strip(' \n"') for part in listed.split(",")][:-1] == [*known]


def test_a_host_that_would_begin_without_a_handshake_is_refused_at_once(
    pipe: Pipe, state: Path
) -> None:
    """It then begins with one; Claude Code waited seconds for news of lists that never change."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    for method in ("server/discover", "subscriptions/listen"):
        error = {
            "code": -32601,
            "message": "This server speaks the protocol that begins with `initialize`",
        }
        assert pipe.ask(1, method, _meta=meta) == {"error": error}
    whole = OFFER["lists"]["tools/list"]
    assert pipe.ask(2, "tools/list", _meta=meta) == {"result": whole}
    assert [*state.iterdir()] == [state / "python"], "and no worker is started"


def test_a_slow_call_holds_up_no_other(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    go_on = threading.Event()

    def answer(asked: dict[str, Any]) -> bytes:
        if asked["params"]["name"] == "slow":
            assert go_on.wait(60)
        return named(asked)

    worker = desk(answer)
    # one more than are asked at once waits its turn
    pipe.send(*(request(n, "tools/call", name="slow") for n in range(7)))
    assert pipe.call("quick", "quick") == {"result": {"told": "quick"}}
    pipe.send(*(request(n, "tools/call", name="slow") for n in range(7, 9)))
    assert pipe.ask("p", "ping") == {"result": {}}
    assert len(worker.asked) <= 9
    go_on.set()
    assert sorted(pipe.reply()["id"] for _ in range(9)) == [*range(9)]


def test_what_the_host_gives_up_is_not_answered(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    go_on, is_asked = threading.Event(), threading.Event()

    def answer(asked: dict[str, Any]) -> bytes:
        if asked["params"]["name"] == "slow":
            is_asked.set()
            assert go_on.wait(60)
        return named(asked)

    desk(answer)
    pipe.send(request(1, "tools/call", name="slow"))
    assert is_asked.wait(60)
    pipe.send(note("notifications/cancelled", requestId=1))
    assert pipe.ask(2, "ping") == {"result": {}}
    go_on.set()
    assert pipe.call(3, "quick") == {"result": {"told": "quick"}}


def test_a_worker_with_too_much_to_do_is_asked_again(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    replies = iter((framed(None), framed(None)))
    worker = desk(lambda asked: next(replies, None) or named(asked))
    assert pipe.call(1, WRITING) == {"result": {"told": WRITING}}
    assert len(worker.asked) == 3


@pytest.mark.parametrize("broken", [None, b"", b"100\n{", b"2\n[]", b"x\n{}"])
def test_a_worker_that_ends_meanwhile(
    pipe: Pipe, desk: Callable[[Answer], Desk], broken: bytes | None
) -> None:
    """What only reads is asked again; of what writes nobody knows whether it was done."""
    worker = desk(lambda asked: broken if len(worker.asked) in (1, 3) else named(asked))
    assert pipe.call(1, READING) == {"result": {"told": READING}}
    told = refused(pipe.call(2, WRITING))
    assert "may be done or not" in told and "`timeline`" in told
    assert len(worker.asked) == 3


def test_a_worker_that_ends_each_time_is_not_asked_for_ever(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    worker = desk(lambda _: None)
    assert "`keeplore doctor`" in refused(pipe.call(1, READING))
    told = pipe.ask(2, "resources/read", uri="keeplore://recent")
    assert "`keeplore doctor`" in told["error"]["message"]
    assert len(worker.asked) == 8


def test_another_worker_is_found_where_the_first_was(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    first = desk(named)
    assert pipe.call(1, WRITING) == {"result": {"told": WRITING}}
    first.close()
    desk(lambda _: framed({"error": {"code": 5, "message": "m"}}))
    assert pipe.call(2, WRITING) == {"error": {"code": 5, "message": "m"}}


def test_what_is_too_long_is_refused_and_ends_nothing(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    desk(named)
    told = pipe.ask(1, "tools/call", name=WRITING, arguments={"text": "x" * 2**21})
    assert "too long" in refused(told)
    whole = {"text": "x" * 1_900_000}
    assert pipe.ask(2, "tools/call", name=WRITING, arguments=whole)["result"]
    pipe.send(b"x" * 33_000_000)
    assert pipe.ask(3, "ping") == {"result": {}}


@pytest.mark.parametrize(
    "line", [b"{", b"\xff", b"[1]", b"7", b"[" * 100_000, b'"\\ud8']
)
def test_what_is_no_message_is_left_out(pipe: Pipe, line: bytes) -> None:
    pipe.send(b"", line, {"id": 4}, {"method": 4}, note("of a kind that is not known"))
    assert pipe.ask(5, "ping") == {"result": {}}
    code, log = pipe.close()
    assert code == 0 and log.startswith(b"keeplore: a line was no ")


def test_half_a_character_reaches_the_worker(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    worker = desk(named)
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud83d"}}'
    pipe.send(line)
    assert pipe.reply()["result"] == {"told": "\ud83d"}
    assert worker.asked[0]["params"] == {"name": "\ud83d"}


def test_nothing_is_left_of_workers_that_it_started(
    state: Path, impatient: Path
) -> None:
    """Each ends at once; in the end a process of its own is to answer, which does so too."""
    pipe = Pipe(state, impatient)
    told = refused(pipe.call(1, WRITING))
    assert "may be done or not" in told
    assert list(state.glob("worker.start-*")) and pipe.children == ""
    assert pipe.close() == (0, b"")


ANSWERS = """#!/bin/sh
[ "$3" = keeplore.mcp_server ] || exit 0
printf '%s\\n' "$*" "$KEEPLORE_STATE_DIR" "$HOME" > "$0.told"
cat > "$0.asked"
printf '29\\n{"result": {"told": "it is"}}'
"""


def test_where_no_worker_comes_a_process_of_its_own_is_asked_and_answers(
    state: Path, impatient: Path
) -> None:
    alone = state / "alone"
    alone.write_text(ANSWERS)
    alone.chmod(0o700)
    (state / "python").write_text(f"{alone}\n")
    pipe = Pipe(state, impatient, HOME=str(state))
    assert pipe.call(1, READING) == {"result": {"told": "it is"}}
    assert (state / "alone.told").read_text().splitlines() == [
        "-P -m keeplore.mcp_server",
        str(state),
        str(state),
    ]
    asked = json.loads((state / "alone.asked").read_bytes())
    assert asked["session"].pop("id")
    assert asked == {
        "session": {"cwd": str(state), "environment": {}},
        "method": "tools/call",
        "params": {"name": READING, "arguments": {}},
    }
    assert pipe.children == ""
    assert pipe.close() == (0, b"")


def test_calls_wait_together_for_a_worker_that_does_not_come(
    state: Path, desk: Callable[[Answer], Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none came, each call of a session would wait as long as the first. After a pause one
    may come again, and so it may where one has been.
    """
    monkeypatch.syspath_prepend(FOLDER)
    mcp_pipe = importlib.import_module("mcp_pipe")
    pipe = mcp_pipe.Pipe(importlib.import_module("contact"), str(state), OFFER)
    moments = (100.0, 108.0, 108.1, 160.0, 219.9, 280.0, 287.9, 288.1)
    awaited = [pipe.is_awaited(moment) for moment in moments]
    assert awaited == [True, True, False, False, False, True, True, False]
    desk(named)
    call = mcp_pipe.Call(1, b'{"params": null}', is_tool=True, is_reading=True)
    pipe.ask(call)
    while call.go_on():
        pass
    call.end()
    assert call.answer() == {"result": {"told": None}}
    assert pipe.is_awaited(288.2)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_it(pipe: Pipe, name: str) -> None:
    assert pipe.ask(1, "ping")
    pipe.process.send_signal(getattr(signal, name))
    assert pipe.close() == (-getattr(signal, name), b"")


def test_it_ends_when_nobody_reads_it(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    desk(named)
    assert pipe.ask(1, "ping") and pipe.process.stdout and pipe.process.stderr
    pipe.process.stdout.close()
    assert pipe.process.wait(60) == 0
    assert pipe.process.stderr.read() == b""


def test_what_is_asked_before_the_input_closes_is_answered(
    pipe: Pipe, desk: Callable[[Answer], Desk]
) -> None:
    desk(named)
    out, log = pipe.process.communicate(
        json.dumps(request(1, "tools/call", name=READING)).encode() + b"\n", timeout=60
    )
    assert (json.loads(out)["result"], log) == ({"told": READING}, b"")
