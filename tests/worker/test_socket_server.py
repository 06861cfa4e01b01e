"""The worker's socket answers this user's requests and survives every other one."""

import json
import socket
import threading
import time
from pathlib import Path

import pytest
from waiting import until

from keeplore.text.dates import minute_of
from keeplore.text.times.day_parts import minutes_of
from keeplore.worker.context.background_call import BackgroundCall
from keeplore.worker.server import protocol, socket_server
from keeplore.worker.server.protocol import ask
from keeplore.worker.server.socket_server import SocketServer


@pytest.fixture
def state(tmp_path):
    (tmp_path / "state").mkdir(mode=0o700)
    return tmp_path / "state"


@pytest.fixture
def server(state):
    def handle(operation, arguments, payload):
        if operation == "fail":
            raise RuntimeError("in the handler")
        return b'{"operation": "%s", "bytes": %d}' % (operation.encode(), len(payload))

    server = SocketServer(state, handle)
    yield server
    server.close()


def send(state: Path, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect((state / "worker.addr").read_text())
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("zone=32400", ["2026-02-10 05:08", "2026-02-08T15:00", "recall v"]),
        ("zone=0", ["2026-02-09 20:08", "2026-02-09T00:00", "recall v"]),
        ("x zone=-28800", ["2026-02-09 12:08", "2026-02-09T08:00", "recall v x"]),
        ("zone=far", ["2026-02-09 20:08", "2026-02-09T00:00", "recall v"]),
        ("zone=99999", ["2026-02-09 20:08", "2026-02-09T00:00", "recall v"]),
        ("", ["2026-02-09 20:08", "2026-02-09T00:00", "recall v"]),
    ],
)
def test_times_are_those_of_whoever_asks(
    state: Path, monkeypatch: pytest.MonkeyPatch, words: str, expected: list[str]
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    def told(operation: str, arguments: list[str]) -> list[str]:
        begins, _ = minutes_of("2026-02-09")
        request = " ".join((operation, *arguments)).strip()
        return [minute_of("2026-02-09T20:08:59Z"), begins, request]

    def handle(operation: str, arguments: list[str], _: bytes) -> bytes:
        call = BackgroundCall(lambda: told(operation, arguments))
        assert call.is_done(60)
        return json.dumps(call.result()).encode()

    server = SocketServer(state, handle)
    try:
        reply = send(state, f"KEEPLORE/1 v recall {words}\n".encode())
    finally:
        server.close()
        monkeypatch.undo()
        time.tzset()
    assert json.loads(reply.partition(b"\n")[2]) == expected


def test_whoever_asks_says_in_which_zone(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        protocol.time, "localtime", lambda: time.struct_time((0,) * 9, {"tm_gmtoff": 1})
    )
    server = SocketServer(
        state, lambda *_: f'"{minute_of("2026-02-09T00:00:59Z")}"'.encode()
    )
    try:
        assert ask(state, "status", timeout_s=30) == "2026-02-09 00:01"
    finally:
        server.close()


def test_a_request_is_answered_with_its_length_first(state, server):
    reply = send(state, b"KEEPLORE/1 0.1.0 recall\n{}")
    assert reply == b'35\n{"operation": "recall", "bytes": 2}'
    assert ask(state, "status", {"a": 1}, timeout_s=30) == {
        "operation": "status",
        "bytes": 8,
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"KEEPLORE/1\n",
        b"\xff" * 2000,
        b"KEEPLORE/1 v fail\n",
    ],
)
def test_anything_else_gets_no_reply_and_stops_nothing(state, server, data):
    assert send(state, data) == b""
    assert ask(state, "status", timeout_s=30) is not None


def test_a_request_that_is_too_large_is_dropped(state, server):
    try:
        reply = send(state, b"KEEPLORE/1 v recall\n" + b"x" * 10_000_000)
    except OSError:  # reset or broken pipe, as the system chooses
        reply = b""
    assert reply == b""
    assert ask(state, "status", timeout_s=30) is not None


def test_two_hundred_callers_at_once_are_all_answered(state, server):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(ask(state, "x", timeout_s=30)))
        for _ in range(200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count({"operation": "x", "bytes": 0}) == 200


def test_the_socket_is_private_and_its_address_goes_with_it(state, server):
    path = Path((state / "worker.addr").read_text())
    assert path.stat().st_mode & 0o077 == 0
    server.close()
    assert not path.exists() and not (state / "worker.addr").exists()
    assert ask(state, "status", timeout_s=1) is None


def test_a_state_directory_with_a_long_path_gets_a_short_socket(tmp_path):
    state = tmp_path / ("long-" * 30)
    state.mkdir()
    server = SocketServer(state, lambda *_: b"{}")
    try:
        assert len((state / "worker.addr").read_text()) < 104
        assert ask(state, "status", timeout_s=30) == {}
    finally:
        server.close()


def test_a_socket_left_by_a_killed_worker_is_replaced(state):
    (state / "worker.sock").write_text("stale")
    server = SocketServer(state, lambda *_: b"{}")
    try:
        assert ask(state, "status", timeout_s=30) == {}
    finally:
        server.close()


@pytest.mark.parametrize("gone", ["worker.sock", "worker.addr"])
def test_an_address_that_was_deleted_is_made_again(state, monkeypatch, gone):
    monkeypatch.setattr(socket_server, "LOOK_S", 0.05)
    server = SocketServer(state, lambda *_: b"{}")
    (state / gone).unlink()
    until(lambda: ask(state, "status", timeout_s=30) == {}, "it answers again")
    server.close()
    assert [path.name for path in state.iterdir()] == []


def test_nothing_is_made_in_a_directory_that_is_anothers(state, monkeypatch):
    monkeypatch.setattr(socket_server, "LOOK_S", 0.05)
    looked = threading.Event()

    def is_lost():
        looked.set()
        return True

    server = SocketServer(state, lambda *_: b"{}", is_lost=is_lost)
    (state / "worker.sock").unlink()
    assert looked.wait(60)
    server.close()
    assert [path.name for path in state.iterdir()] == []
