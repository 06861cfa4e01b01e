"""What the pipe makes of lines, replies and the time, step by step and without a process."""

from __future__ import annotations

import importlib
import json
import select
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "plugin" / "keeplore" / "client"
OFFER = {
    "versions": ["2024-11-05", "2025-06-18"],
    "capabilities": {"tools": {}, "resources": {}},
    "instructions": "Ask.",
    "lists": {"tools/list": {"tools": ["search"]}, "prompts/list": {"prompts": []}},
    "reading": ["search"],
    "why_nothing": "",
}
INFO = {"name": "keeplore", "version": "9.9"}


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("mcp_pipe")


class Pipe:
    """A pipe whose clock stands at 100, and what it wrote."""

    def __init__(self, parts: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.written: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.polled: list[tuple[Any, ...]] = []
        clocks = SimpleNamespace(
            monotonic=lambda: self.now,
            localtime=lambda: SimpleNamespace(tm_gmtoff=-3600),
        )
        monkeypatch.setattr(parts, "time", clocks)
        monkeypatch.setattr(parts, "write", self.written.append)
        monkeypatch.setattr(parts, "complain", self.complaints.append)
        client = SimpleNamespace(CLIENT="9.9")
        self.own = parts.Pipe(client, "/state", OFFER)
        self.own.poll = SimpleNamespace(
            register=lambda *what: self.polled.append(("register", *what)),
            unregister=lambda *what: self.polled.append(("unregister", *what)),
            modify=lambda *what: self.polled.append(("modify", *what)),
        )

    def take(self, message: object) -> list[dict[str, Any]]:
        """What is written at once for a message."""
        self.written.clear()
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.own.take(line)
        return [*self.written]


@pytest.fixture
def pipe(parts: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Pipe:
    return Pipe(parts, monkeypatch)


TEXT = b'\n{"a": 1}\n\n  \n{"b": 2}\r\n\n{"c": 3}\n{"rest'
LINES = [b'{"a": 1}', b'{"b": 2}\r', b'{"c": 3}']


@pytest.mark.parametrize("size", range(1, len(TEXT) + 1))
def test_lines_are_taken_whole_in_whatever_pieces_they_come(
    pipe: Pipe, parts: ModuleType, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    taken: list[bytes] = []
    pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
    pipe.own.take = taken.append
    source = SimpleNamespace(read=lambda *_: pieces.pop(0))
    with monkeypatch.context() as patch:
        patch.setattr(parts, "os", source)
        while pieces:
            pipe.own.receive()
    assert taken == LINES
    assert bytes(pipe.own.unread) == b'{"rest'
    assert pipe.polled == [] and pipe.own.ends_at == float("inf")


def test_a_line_without_an_end_is_forgotten_and_the_end_of_the_input_noted(
    pipe: Pipe, parts: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bytes] = []
    pieces: Iterator[bytes] = iter((b"12345", b"6", b"7\n89\n", b""))
    pipe.own.take = taken.append
    monkeypatch.setattr(parts, "MAX_LINE", 5)
    with monkeypatch.context() as patch:
        patch.setattr(parts, "os", SimpleNamespace(read=lambda *_: next(pieces)))
        held = []
        for _ in range(4):
            pipe.own.receive()
            held.append(bytes(pipe.own.unread))
    assert (held, taken) == ([b"12345", b"", b"", b""], [b"7", b"89"])
    assert pipe.polled == [("unregister", 0)]
    assert pipe.own.ends_at == 130.0


def test_what_is_answered_at_once(pipe: Pipe) -> None:
    ask = {"jsonrpc": "2.0", "id": 7}
    usual = {
        "capabilities": OFFER["capabilities"],
        "serverInfo": INFO,
        "instructions": "Ask.",
    }
    for asked, version in (
        ({"protocolVersion": "2024-11-05"}, "2024-11-05"),
        ({"protocolVersion": "2099-01-01"}, "2025-06-18"),
        ({}, "2025-06-18"),
        (None, "2025-06-18"),
    ):
        result = {"protocolVersion": version, **usual}
        assert pipe.take({"id": 7, "method": "initialize", "params": asked}) == [
            {**ask, "result": result}
        ]
        assert pipe.own.session["client"] == (asked or {})
    for method, result in (("ping", {}), *OFFER["lists"].items()):  # type: ignore[attr-defined]
        assert pipe.take({"id": 7, "method": method}) == [{**ask, "result": result}]
    said = "This server speaks the protocol that begins with `initialize`"
    for method in ("server/discover", "subscriptions/listen"):
        assert pipe.take({"id": 7, "method": method}) == [
            {**ask, "error": {"code": -32601, "message": said}}
        ]
    assert pipe.own.waiting == [] and pipe.complaints == []
    pipe.own.offer = {**OFFER, "why_nothing": "Off."}
    assert pipe.take({"id": 7, "method": "tools/call"}) == [
        {**ask, "error": {"code": -32601, "message": "Off."}}
    ]


def test_what_is_no_message_is_complained_of(pipe: Pipe) -> None:
    for line in (b"{", b"[" * 9_999, b"\xff", b"1", b"[]", b'{"method": 1}', b"{}"):
        assert pipe.take(line) == []
    assert pipe.complaints == ["a line was no JSON"] * 3 + ["a line was no message"] * 2
    assert pipe.own.waiting == []


def test_what_waits_for_the_worker(
    pipe: Pipe, parts: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = [
        (1, "tools/call", {"name": "search"}, True, True),
        (2, "tools/call", {"name": "remember"}, True, False),
        (3, "tools/call", [], True, False),
        (4, "prompts/get", {"name": "remember"}, False, True),
        ("5", "resources/read", None, False, True),
    ]
    for number, method, params, is_tool, is_reading in asked:
        assert pipe.take({"id": number, "method": method, "params": params}) == []
        call = pipe.own.waiting[-1]
        assert (call.number, call.is_tool, call.is_reading) == (
            number,
            is_tool,
            is_reading,
        )
        assert (call.begun_at, call.due_at, call.tries) == (100.0, 100.0, 0)
        assert json.loads(call.request) == {
            "session": pipe.own.session,
            "method": method,
            "params": params,
        }
    # what the host gives up
    assert (
        pipe.take({"method": "notifications/cancelled", "params": {"requestId": 2}})
        == []
    )
    pipe.take({"method": "notifications/cancelled", "params": [3]})
    pipe.take({"method": "notifications/other", "params": {"requestId": 3}})
    assert [call.number for call in pipe.own.waiting] == [1, 3, 4, "5"]
    size = len(pipe.own.waiting[0].request)
    monkeypatch.setattr(parts, "MAX_REQUEST", size)
    assert (
        pipe.take({"id": 6, "method": "tools/call", "params": {"name": "search"}}) == []
    )
    [refused] = pipe.take(
        {"id": 7, "method": "tools/call", "params": {"name": "search "}}
    )
    assert refused["result"] == {
        "content": [
            {
                "type": "text",
                "text": f"the request is too long: {size + 1} bytes, {size} at most. Send less at once",
            }
        ],
        "isError": True,
    }
    [refused] = pipe.take({"id": 8, "method": "x" * size, "params": {}})
    assert refused["error"]["code"] == -32603
    assert len(pipe.own.waiting) == 5


def test_the_host_is_asked_for_its_directories_where_it_tells_them(pipe: Pipe) -> None:
    told = [{"jsonrpc": "2.0", "id": "keeplore-roots", "method": "roots/list"}]
    begun = {"method": "notifications/initialized"}
    assert pipe.take(begun) == []
    for capabilities, expected in (({}, []), ([], []), ({"roots": {}}, told)):
        params = {"capabilities": capabilities}
        pipe.take({"id": 1, "method": "initialize", "params": params})
        for method in ("notifications/initialized", "notifications/roots/list_changed"):
            assert pipe.take({"method": method}) == expected
    roots = [{"uri": f"file:///{n}"} for n in range(20)]
    reply = {"id": "keeplore-roots", "result": {"roots": [1, {"uri": 2}, {}, *roots]}}
    pipe.take({**reply, "id": 1})
    for result in (None, [], {"roots": {}}):
        pipe.take({**reply, "result": result})
    assert "roots" not in pipe.own.session
    pipe.take(reply)
    assert pipe.own.session["roots"] == [f"file:///{n}" for n in range(16)]


def test_for_how_long_nothing_needs_to_be_done(pipe: Pipe, parts: ModuleType) -> None:
    def call(begun_at: float, due_at: float) -> Any:
        one = parts.Call(1, b"", is_tool=False, is_reading=True)
        one.begun_at, one.due_at = begun_at, due_at
        return one

    own = pipe.own
    assert own.pause_ms() is None
    own.ends_at = 102.0
    assert own.pause_ms() == 2001
    own.ends_at = 99.0
    assert own.pause_ms() == 0
    own.ends_at = float("inf")
    own.waiting = [call(0.0, 100.5), call(0.0, 100.25)]
    assert own.pause_ms() == 251
    own.asked = {number: call(100.0, 0.0) for number in range(3, 10)}
    assert (own.room(), own.pause_ms()) == (1, 501)
    own.asked[10] = call(-199.0, 0.0)  # five minutes later it is refused
    assert (own.room(), own.pause_ms()) == (0, 1001)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (b'8\n{"a": 1}', {"a": 1}),
        (b'12\n{"a": "\\n\n"}', None),
        (b"0\n", ""),
        (b"", None),
        (b"\n", None),
        (b'7\n{"a": 1}', None),
        (b'9\n{"a": 1}', None),
        (b'-8\n{"a": 1}', None),
        (b"3\n{a}", None),
        (b"2\n\xff\xff", None),
    ],
)
def test_a_reply_counts_as_a_whole_alone(
    parts: ModuleType, reply: bytes, answer: object
) -> None:
    call = parts.Call(1, b"", is_tool=False, is_reading=True)
    call.reply += reply
    assert call.answer() == answer


def test_what_becomes_of_a_call_that_came_back(pipe: Pipe, parts: ModuleType) -> None:
    def finished(
        reply: bytes, *, tries: int = 0, is_reading: bool = True, was_sent: bool = True
    ) -> tuple[list[dict[str, Any]], list[float], int]:
        """What is written, when it is asked again, and for which time."""
        call = parts.Call(7, b"", is_tool=False, is_reading=is_reading)
        call.tries = tries
        call.reply += reply
        pipe.written.clear()
        pipe.own.waiting.clear()
        pipe.own.finish(call, was_sent=was_sent)
        return [*pipe.written], [c.due_at for c in pipe.own.waiting], call.tries

    def error(why: str) -> list[dict[str, Any]]:
        body = {"code": -32603, "message": why}
        return [{"jsonrpc": "2.0", "id": 7, "error": body}]

    told = {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert finished(b'14\n{"result": {}}') == ([told], [], 0)
    assert finished(b"0\n", tries=3) == ([], [pytest.approx(100.2)], 3)
    again = pytest.approx(100.05)
    assert finished(b"") == ([], [again], 1)
    assert finished(b"", tries=2) == ([], [again], 3)
    assert finished(b"", tries=3) == (error(parts.SILENT), [], 3)
    assert finished(b"", is_reading=False) == (error(parts.LOST), [], 0)
    assert finished(b"", is_reading=False, was_sent=False) == ([], [again], 1)
    assert finished(b"2\n[]", tries=3, is_reading=False) == (error(parts.LOST), [], 3)


def test_what_is_due_is_asked_and_what_waited_too_long_is_refused(
    pipe: Pipe, parts: ModuleType
) -> None:
    asked: list[int] = []

    def ask(call: Any) -> None:
        if call.number == 2:
            raise OSError(13, "Permission denied")
        if call.number == 3:
            raise OSError("no such place")
        asked.append(call.number)

    pipe.own.ask = ask
    calls = [parts.Call(n, b"", is_tool=False, is_reading=True) for n in range(12)]
    calls[1].due_at = 100.5
    pipe.own.waiting = [*calls[:10]]
    late, other = calls[10:]
    late.begun_at, other.begun_at = -200.5, -200.0
    pipe.own.asked = {31: late, 32: other}
    pipe.own.begin_due()
    # six may be asked at once beside the two that are
    assert asked == [0, 4, 5]
    assert [call.number for call in pipe.own.waiting] == [1, 6, 7, 8, 9]
    assert [(one["id"], one["error"]["message"]) for one in pipe.written] == [
        (2, f"Keeplore cannot be asked: Permission denied. {parts.MISSING}"),
        (3, f"Keeplore cannot be asked: no such place. {parts.MISSING}"),
        (10, parts.SILENT),
    ]
    assert pipe.own.asked == {32: other}
    assert pipe.polled == [("unregister", 31)]


def test_a_call_is_sent_and_received_in_pieces(pipe: Pipe, parts: ModuleType) -> None:
    call = parts.Call(1, b"words" * 9, is_tool=False, is_reading=True)
    assert not call.go_on()
    sent: list[bytes] = []
    replies: list[Any] = [BlockingIOError(), b"ab", b"cd", b""]

    def received(_: int) -> bytes:
        reply = replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return bytes(reply)

    connection = SimpleNamespace(
        settimeout=sent.append,
        fileno=lambda: 42,
        send=lambda rest: sent.append(bytes(rest)) or min(len(rest), 30),
        shutdown=sent.append,
        recv=received,
        close=lambda: sent.append(b"closed"),
    )
    assert call.begin(connection, b"header\n") == 42
    whole = b"header\n" + b"words" * 9
    assert [call.go_on() for _ in range(2)] == [True, True]
    assert sent == [0.0, whole, whole[30:], 1]  # of a socket: nothing more is sent
    assert [call.go_on() for _ in range(4)] == [True, True, True, False]
    assert bytes(call.reply) == b"abcd"
    call.end()
    call.end()
    assert sent[4:] == [b"closed"]
    assert call.begin(connection) == 42 and bytes(call.rest) == b"words" * 9
    assert bytes(call.reply) == b""


def test_a_reply_that_is_too_long_is_not_read_to_its_end(
    parts: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MAX_REPLY", 4)
    call = parts.Call(1, b"", is_tool=False, is_reading=True)
    call.connection = SimpleNamespace(recv=lambda _: b"ab")
    assert [call.go_on() for _ in range(3)] == [True, True, False]


def test_a_worker_is_asked_with_who_asks_and_what_was_sent_is_listened_for(
    pipe: Pipe, parts: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = pipe.own
    call = parts.Call(1, b"body", is_tool=False, is_reading=True)
    connection = SimpleNamespace(
        settimeout=lambda _: None, fileno=lambda: 42, close=lambda: None
    )
    monkeypatch.setattr(own, "connect_or_start", lambda: connection)
    own.missed_at = 99.0
    own.ask(call)
    assert bytes(call.rest) == b"KEEPLORE/1 9.9 mcp zone=-3600\nbody"
    assert (own.asked, own.missed_at) == ({42: call}, float("-inf"))
    both = select.POLLIN | select.POLLOUT
    assert pipe.polled == [("register", 42, both)]
    steps: list[Any] = [True, True, False, OSError()]

    def go_on() -> bool:
        step = steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return bool(step)

    monkeypatch.setattr(call, "go_on", go_on)
    finished: list[bool] = []
    monkeypatch.setattr(own, "finish", lambda _, was_sent: finished.append(was_sent))
    own.go_on(42, call)
    assert pipe.polled[1:] == []  # there is more to send
    call.rest = memoryview(b"")
    own.go_on(42, call)
    assert pipe.polled[1:] == [("modify", 42, select.POLLIN)]
    own.go_on(42, call)
    assert (finished, own.asked) == ([True], {})
    own.asked[42] = call
    call.rest = memoryview(b"more")
    own.go_on(42, call)
    assert (finished, own.asked) == ([True, False], {})
    assert pipe.polled[2:] == [("unregister", 42)] * 2
    # where none comes, the call waits for one, and then a process of its own is asked
    monkeypatch.setattr(own, "connect_or_start", lambda: None)
    monkeypatch.setattr(own, "alone", lambda: connection)
    own.ask(call)
    assert own.waiting == [call] and call.due_at == pytest.approx(100.05)
    pipe.now = 108.5
    own.ask(call)
    assert own.asked == {42: call} and bytes(call.rest) == b"body"
