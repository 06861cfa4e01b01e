"""Where requests of hosts' sessions are answered, by one server for all of them."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keeplore.config.install_method import install_hint
from keeplore.errors import ConfigError, KeeploreError
from keeplore.mcp_server.context import CURRENT, McpContext, McpServices
from keeplore.mcp_server.project_roots import ProjectRoots

if TYPE_CHECKING:
    from keeplore.mcp_server.sdk import Server

AT_ONCE = 16  # requests of all sessions; hosts' events need a worker too
ANSWER_S = 240.0
SESSIONS = 200  # of which is known what they found; the oldest are forgotten
INTERNAL_ERROR = -32603
_HANDSHAKE, _REQUEST = 1, 2  # ids


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What a session asks. ``client`` is what its host said of itself, None without a handshake."""

    session: str
    method: str
    params: Any
    client: Any
    roots: ProjectRoots

    @classmethod
    def from_json(cls, payload: bytes, sessions: Path) -> SessionRequest:
        """The request that a pipe sent. Raises ValueError, KeyError, TypeError or AttributeError
        for what no pipe sends.
        """
        asked = json.loads(payload)
        session: dict[str, Any] = asked["session"]
        environment: Mapping[str, str] = session["environment"]
        cwd = Path(session["cwd"] or Path.home())
        return cls(
            str(session["id"]),
            str(asked["method"]),
            asked.get("params"),
            session.get("client"),
            ProjectRoots(environment, sessions, cwd, session.get("roots", ())),
        )

    def messages(self) -> list[dict[str, Any]]:
        """The handshake as the host made it, and the request."""
        request = {"jsonrpc": "2.0", "id": _REQUEST, "method": self.method}
        if self.params is not None:
            request["params"] = self.params
        if self.client is None or self.method == "initialize":
            return [request]
        hello = {"jsonrpc": "2.0", "id": _HANDSHAKE, "method": "initialize"}
        begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        return [{**hello, "params": self.client}, begun, request]


class McpRequestHandler:
    """Answers the requests of every session. Thread-safe; the SDK, which takes a second to import,
    is loaded for the first request.
    """

    def __init__(self, services: McpServices) -> None:
        self._services = services
        self._free = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._server: Server | None = None
        self._found: OrderedDict[str, set[str]] = OrderedDict()

    def answer(self, payload: bytes) -> bytes:
        """The reply as JSON with ``result`` or ``error``, b"" where too much is being done.

        Raises ValueError, KeyError, TypeError or AttributeError for what no pipe sends.
        """
        request = SessionRequest.from_json(payload, self._services.sessions)
        if not self._free.acquire(blocking=False):
            return b""
        try:
            reply = self._reply(request)
        except KeeploreError as e:
            reply = _refusal(request.method, str(e))
        except TimeoutError:
            reply = _refusal(request.method, "it took too long. Try again")
        finally:
            self._free.release()
        return json.dumps(reply).encode()

    def wait_until_done(self, seconds: float) -> None:
        """Wait at most this long for running requests to be answered, and accept none
        afterwards.
        """
        until = time.monotonic() + seconds
        for _ in range(AT_ONCE):
            self._free.acquire(timeout=max(until - time.monotonic(), 0.0))

    def _reply(self, request: SessionRequest) -> dict[str, Any]:
        server = self._loaded_server()
        # here, as in _loaded_server
        from keeplore.mcp_server.sdk import exchange

        found = self._found_by(request.session)
        token = CURRENT.set(McpContext(self._services, request.roots, found))
        try:
            answer = exchange(server, request.messages(), ANSWER_S)
        finally:
            CURRENT.reset(token)
        return {key: answer[key] for key in ("result", "error") if key in answer}

    def _loaded_server(self) -> Server:
        """The server. Raises ConfigError without the SDK."""
        with self._lock:
            if self._server is None:
                try:
                    # the SDK takes a second, and is an extra
                    from keeplore.mcp_server.tools import build
                except ModuleNotFoundError as e:
                    if e.name not in ("mcp", "pydantic"):
                        raise
                    raise ConfigError(
                        "the MCP server needs a package that is not installed",
                        f"{install_hint('mcp')}, then `keeplore worker stop`",
                    ) from e
                self._server = build()
            return self._server

    def _found_by(self, session: str) -> set[str]:
        """The memories that a session's questions were answered with."""
        with self._lock:
            found = self._found.setdefault(session, set())
            self._found.move_to_end(session)
            if len(self._found) > SESSIONS:
                self._found.popitem(last=False)
            return found


def _refusal(method: str, why: str) -> dict[str, Any]:
    """What is replied instead: to the agent where it called a tool."""
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": why}], "isError": True}}
    return {"error": {"code": INTERNAL_ERROR, "message": why}}
