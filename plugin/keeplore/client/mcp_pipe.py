"""What ``mcp.py`` does: Keeplore's MCP server as hosts start it, a pipe to the worker.

What every session asks at its start is answered from ``mcp_offer.json`` beside this file, at once
and with nothing loaded. Each other request is one question to the worker, which is started where
none runs; so a worker may end and come back while this lives. Where none comes, a process of its
own answers. It imports only what costs next to nothing; any Python from 3.8 will do. docs/mcp.md.
"""
# pathlib takes longer to import than all of this takes to start:
# ruff: noqa: PTH100, PTH109, PTH118, PTH120, PTH123, S606, SIM105

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps, without its imports
import _socket
import os
import select
import sys
import time

TYPE_CHECKING = False  # without a module that takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
quick_json = __import__("quick_json")

MISSING = (
    "Keeplore is not set up on this machine. The person runs `keeplore init ~/memory` in a terminal"
    " (first `pipx install '.[mcp]'` in a checkout of Keeplore), and starts a new session."
)
ON_WINDOWS = "keeplore: the MCP server does not run on Windows yet. Use WSL"
OFF = "Keeplore is switched off here by KEEPLORE_OFF."
LOST = (
    "Keeplore's worker ended while it was at this, so it may be done or not. Look first whether "
    "it is, with `timeline` and `search`; then try again"
)
SILENT = "Keeplore did not answer. Try again; `keeplore doctor` in a terminal looks for causes"
TOO_LONG = "the request is too long: {} bytes, {} at most. Send less at once"
MAX_REQUEST = (
    2_000_000  # bytes, with the session's part; the worker takes a little more
)
MAX_LINE = 32_000_000  # bytes; what is longer is no request
MAX_REPLY = 16_000_000  # bytes
AT_ONCE = 8  # requests; more wait their turn here
RETRY_S = 0.05  # between two attempts to reach a worker
BUSY_S = 0.2  # before a worker that has too much to do is asked again
START_EVERY_S = 1.0  # where none comes; the client's own rule spaces starts further
START_S = 8.0  # for a worker to come; then a process of its own answers
MISSED_S = 60.0  # in which one that did not come is not waited for again
ANSWER_S = 300.0  # for an answer; hosts give up before
LAST_S = 30.0  # for answers after the input was closed, while somebody still reads them
TRIES = 3  # of a request that only reads, where the worker ends each time
METHOD_NOT_FOUND, INTERNAL_ERROR = -32601, -32603
ROOTS = "keeplore-roots"  # our own request to the host
# of the protocol without a handshake. A host that is refused the first begins with one; the second
# would wait for changes of lists, of which there are none
UNSPOKEN = ("server/discover", "subscriptions/listen")
WITH_HANDSHAKE = "This server speaks the protocol that begins with `initialize`"
# what says for whom this was started; the server reads it as ``project_roots`` does
VARIABLES = (
    "CLAUDE_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "PLUGIN_ROOT",
    "CLAUDE_PLUGIN_ROOT",
    "COPILOT_PLUGIN_ROOT",
    "CURSOR_PLUGIN_ROOT",
    "CLAUDE_CODE_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
)


class Call:
    """A request on its way to the worker and back; ``reply`` is what came of it."""

    def __init__(
        self, number: Any, request: bytes, *, is_tool: bool, is_reading: bool
    ) -> None:
        self.number = number  # the host's own id
        self.request = request
        self.is_tool = is_tool
        self.is_reading = is_reading
        self.connection: _socket.socket | None = None
        self.rest = memoryview(b"")  # what is to be sent
        self.reply = bytearray()
        self.begun_at = self.due_at = time.monotonic()
        self.tries = 0

    def begin(self, connection: _socket.socket, header: bytes = b"") -> int:
        """Ask over a connection; its descriptor."""
        connection.settimeout(0.0)
        self.connection = connection
        self.rest = memoryview(header + self.request)
        self.reply = bytearray()
        return connection.fileno()

    def go_on(self) -> bool:
        """Send what can be sent, else receive; False once the other side has ended. Raises
        OSError.
        """
        connection = self.connection
        if connection is None:
            return False
        try:
            if self.rest:
                self.rest = self.rest[connection.send(self.rest) :]
                if not self.rest:
                    connection.shutdown(_socket.SHUT_WR)
                return True
            chunk = connection.recv(1 << 16)
        except BlockingIOError:
            return True
        self.reply += chunk
        return bool(chunk) and len(self.reply) <= MAX_REPLY

    def end(self) -> None:
        """Give the connection back."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def answer(self) -> Any:
        """The decoded reply; "" where the worker has too much to do, None where it did not come as
        a whole.
        """
        length, _, body = bytes(self.reply).partition(b"\n")
        if not (length.isdigit() and int(length) == len(body)):
            return None
        try:
            return quick_json.loads(body) if body else ""
        except ValueError:
            return None


class Pipe:
    """Reads requests from descriptor 0 and writes replies to 1, until the host closes one."""

    def __init__(self, client: ModuleType, state: str, offer: dict[str, Any]) -> None:
        self.client = client
        self.state = state
        self.offer = offer
        self.session: dict[str, Any] = {
            "id": os.urandom(8).hex(),
            "cwd": working_directory(),
            "environment": {n: os.environ[n] for n in VARIABLES if n in os.environ},
        }
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        self.poll.register(1, 0)  # only that nobody reads it any more
        self.unread = bytearray()
        self.waiting: list[Call] = []  # calls that are not asked yet
        self.asked: dict[int, Call] = {}  # descriptor → call
        self.ends_at = float("inf")
        self.started_at = float("-inf")  # when a worker was started last
        self.missed_since = self.missed_at = float("-inf")  # a worker, and when last

    def run(self) -> None:
        while time.monotonic() < self.ends_at:
            for descriptor, _ in self.poll.poll(self.pause_ms()):
                if descriptor == 0:
                    self.receive()
                elif descriptor == 1:
                    return
                else:
                    self.go_on(descriptor, self.asked[descriptor])
            self.begin_due()
            is_closed = self.ends_at < float("inf")
            if is_closed and not (self.waiting or self.asked):
                return

    def pause_ms(self) -> int | None:
        """For how many milliseconds nothing needs to be done; None until somebody writes."""
        moments = [call.due_at for call in self.waiting[: self.room()]]
        moments += [call.begun_at + ANSWER_S for call in self.asked.values()]
        moments += [self.ends_at] if self.ends_at < float("inf") else []
        if not moments:
            return None
        return max(int((min(moments) - time.monotonic()) * 1000) + 1, 0)

    def room(self) -> int:
        """How many requests more may be asked at once."""
        return AT_ONCE - len(self.asked)

    def receive(self) -> None:
        chunk = os.read(0, 1 << 18)
        if not chunk:
            self.poll.unregister(0)
            self.ends_at = time.monotonic() + LAST_S
        begin = len(self.unread)
        self.unread += chunk
        while (end := self.unread.find(b"\n", begin)) >= 0:
            line = bytes(self.unread[:end])
            del self.unread[: end + 1]
            begin = 0
            if line.strip():
                self.take(line)
        if len(self.unread) > MAX_LINE:
            # its end is a line that nobody understands
            self.unread.clear()

    def take(self, line: bytes) -> None:
        """Handle one message of the host."""
        try:
            message = quick_json.loads(line)
        except (ValueError, RecursionError):
            complain("a line was no JSON")
            return
        if not isinstance(message, dict):
            complain("a line was no message")
        elif not isinstance(message.get("method"), str):
            self.take_reply(message)
        elif "id" in message:
            self.take_request(message["id"], message["method"], message.get("params"))
        else:
            self.take_notification(message["method"], message.get("params"))

    def take_request(self, number: Any, method: str, params: Any) -> None:
        known = params if isinstance(params, dict) else {}
        if method == "initialize":
            self.session["client"] = known
            send_result(number, self.handshake(known))
        elif method in UNSPOKEN:
            send_error(number, METHOD_NOT_FOUND, WITH_HANDSHAKE)
        elif method == "ping":
            send_result(number, {})
        elif method in self.offer["lists"]:
            send_result(number, self.offer["lists"][method])
        elif self.offer["why_nothing"]:
            send_error(number, METHOD_NOT_FOUND, self.offer["why_nothing"])
        else:
            self.forward(number, method, params)

    def handshake(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What the server says of itself, in the version of the protocol that the host wants."""
        versions = self.offer["versions"]  # oldest first
        wanted = asked.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in versions else versions[-1],
            "capabilities": self.offer["capabilities"],
            "serverInfo": {"name": "keeplore", "version": self.client.CLIENT},
            "instructions": self.offer["instructions"],
        }

    def forward(self, number: Any, method: str, params: Any) -> None:
        asked = {"session": self.session, "method": method, "params": params}
        request = quick_json.dumps(asked).encode()
        is_tool = method == "tools/call"
        tool = params.get("name") if is_tool and isinstance(params, dict) else ""
        is_reading = not is_tool or tool in self.offer["reading"]
        call = Call(number, request, is_tool=is_tool, is_reading=is_reading)
        if len(request) > MAX_REQUEST:
            refuse(call, TOO_LONG.format(len(request), MAX_REQUEST))
        else:
            self.waiting.append(call)

    def take_notification(self, method: str, params: Any) -> None:
        """Take a notification of the host, which has no answer."""
        if method == "notifications/cancelled" and isinstance(params, dict):
            self.forget(params.get("requestId"))
        elif method in (
            "notifications/initialized",
            "notifications/roots/list_changed",
        ):
            self.ask_roots()

    def ask_roots(self) -> None:
        """Ask the host which directories are open, if it is one that tells."""
        able = self.session.get("client", {}).get("capabilities")
        if isinstance(able, dict) and "roots" in able:
            write({"jsonrpc": "2.0", "id": ROOTS, "method": "roots/list"})

    def take_reply(self, message: dict[str, Any]) -> None:
        """Take the host's answer to a request of ours."""
        result = message.get("result")
        roots = result.get("roots") if isinstance(result, dict) else None
        if message.get("id") == ROOTS and isinstance(roots, list):
            uris = [root.get("uri") for root in roots if isinstance(root, dict)]
            self.session["roots"] = [uri for uri in uris if isinstance(uri, str)][:16]

    def forget(self, number: Any) -> None:
        """Drop a request whose answer the host does not want any more."""
        self.waiting = [call for call in self.waiting if call.number != number]
        for descriptor, call in list(self.asked.items()):
            if call.number == number:
                self.leave(descriptor, call)

    def leave(self, descriptor: int, call: Call) -> None:
        self.poll.unregister(descriptor)
        del self.asked[descriptor]
        call.end()

    def begin_due(self) -> None:
        """Ask what is due, and give up what has waited too long."""
        moment = time.monotonic()
        first = self.waiting[: self.room()]
        for call in filter(lambda one: one.due_at <= moment, first):
            self.waiting.remove(call)
            try:
                self.ask(call)
            except OSError as e:
                refuse(call, f"Keeplore cannot be asked: {e.strerror or e}. {MISSING}")
        late = [c for c in self.asked.items() if moment - c[1].begun_at > ANSWER_S]
        for descriptor, call in late:
            self.leave(descriptor, call)
            refuse(call, SILENT)

    def ask(self, call: Call) -> None:
        """Ask the worker, or see to it that there is one. Raises OSError where there is no
        Keeplore.
        """
        moment = time.monotonic()
        connection = self.connect_or_start()
        if connection is not None:
            self.missed_at = float("-inf")
            zone = time.localtime().tm_gmtoff
            header = f"KEEPLORE/1 {self.client.CLIENT} mcp zone={zone}\n".encode()
            descriptor = call.begin(connection, header)
        elif self.is_awaited(moment):
            self.put_off(call, RETRY_S)
            return
        else:
            descriptor = call.begin(self.alone())
        self.asked[descriptor] = call
        self.poll.register(descriptor, select.POLLIN | select.POLLOUT)

    def is_awaited(self, moment: float) -> bool:
        """May a worker still come that is missed at this moment? The calls of a session wait for it
        together: where none comes, no call but the first has to wait.
        """
        if moment - self.missed_at > MISSED_S:
            self.missed_since = moment
        self.missed_at = moment
        return moment - self.missed_since <= START_S

    def put_off(self, call: Call, seconds: float) -> None:
        call.due_at = time.monotonic() + seconds
        self.waiting.append(call)

    def connect_or_start(self) -> _socket.socket | None:
        """A connection to the worker; None where there is none yet: then one is started. Raises
        OSError.
        """
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.settimeout(0.0)
            connection.connect(self.client.address_of(self.state))
        except BlockingIOError:  # it runs, and too many wait for it already
            connection.close()
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() - self.started_at > START_EVERY_S:
                self.started_at = time.monotonic()
                self.client.keeplore_python(self.state)
                run_detached(self.client.start_worker, self.state)
        else:
            return connection
        return None

    def alone(self) -> _socket.socket:
        """A connection to a process that answers one request without a worker."""
        python = self.client.keeplore_python(self.state)
        ours, theirs = _socket.socketpair()
        run_detached(become_server, python, self.state, theirs.fileno())
        theirs.close()
        return ours

    def go_on(self, descriptor: int, call: Call) -> None:
        """Send or read of a call what can be at once; one that is over is finished."""
        was_sent = not call.rest
        try:
            is_open = call.go_on()
        except OSError:
            is_open = False
        if is_open:
            if not call.rest:
                self.poll.modify(descriptor, select.POLLIN)
            return
        self.leave(descriptor, call)
        self.finish(call, was_sent=was_sent)

    def finish(self, call: Call, *, was_sent: bool) -> None:
        """Pass on what came; where the worker ended instead, ask again if nothing can be done
        twice.
        """
        answer = call.answer()
        if answer == "":
            self.put_off(call, BUSY_S)
        elif isinstance(answer, dict):
            write({"jsonrpc": "2.0", "id": call.number, **answer})
        elif (call.is_reading or not was_sent) and call.tries < TRIES:
            call.tries += 1
            self.put_off(call, RETRY_S)
        else:
            refuse(call, SILENT if call.is_reading else LOST)


def working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def send_result(number: Any, what: dict[str, Any]) -> None:
    write({"jsonrpc": "2.0", "id": number, "result": what})


def send_error(number: Any, code: int, why: str) -> None:
    write({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": why}})


def refuse(call: Call, why: str) -> None:
    """Say what went wrong: to the agent where it called a tool."""
    if call.is_tool:
        said = [{"type": "text", "text": why}]
        send_result(call.number, {"content": said, "isError": True})
    else:
        send_error(call.number, INTERNAL_ERROR, why)


def write(message: dict[str, Any]) -> None:
    rest = memoryview(quick_json.dumps(message).encode() + b"\n")
    while rest:
        rest = rest[os.write(1, rest) :]


def complain(what: str) -> None:
    os.write(2, f"keeplore: {what}, and was left out\n".encode())


def run_detached(act: Callable[..., object], *arguments: object) -> None:
    """Run something in a process that nobody has to wait for: the system's first process is its
    parent.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        if act is not become_server or os.fork() == 0:
            act(*arguments)
    finally:
        os._exit(0)


def become_server(python: str, state: str, connection: int) -> None:
    """Answer the one request that comes over a connection, in the Python in which Keeplore is."""
    os.dup2(connection, 0)
    os.dup2(connection, 1)
    environment = {**os.environ, "KEEPLORE_STATE_DIR": state}
    # -P: not what the project's folder calls keeplore
    os.execve(python, [python, "-P", "-m", "keeplore.mcp_server"], environment)


def offered_tools(
    folder: str, why_nothing: str, *, has_resources: bool
) -> dict[str, Any]:
    """What every session is told; no list has anything in it where there is a reason for that.

    Agents have tools for what the resources give, and a host that is told of resources gives them
    tools for those too, with each request.
    """
    with open(os.path.join(folder, "mcp_offer.json"), "rb") as file:
        offer = quick_json.loads(file.read())
    tools = offer["lists"]["tools/list"]["tools"]
    reading = [t["name"] for t in tools if t["annotations"]["readOnlyHint"]]
    if why_nothing:
        lists = {
            method: dict.fromkeys(whole, ()) for method, whole in offer["lists"].items()
        }
        offer = {**offer, "lists": lists, "instructions": why_nothing}
    if not has_resources:
        del offer["capabilities"]["resources"]
    return {**offer, "reading": reading, "why_nothing": why_nothing}


def main() -> None:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    os.umask(0o077)
    if os.name == "nt":
        sys.exit(ON_WINDOWS)
    client = __import__("contact")
    state = __import__("state_folder").state_directory()
    why_nothing = OFF if os.environ.get("KEEPLORE_OFF") else ""
    try:
        client.keeplore_python(state)
    except OSError:
        why_nothing = why_nothing or MISSING
    offer = offered_tools(HERE, why_nothing, has_resources="resources" in sys.argv[1:])
    try:
        Pipe(client, state, offer).run()
    except BrokenPipeError:
        pass  # the host has gone
    os._exit(0)
