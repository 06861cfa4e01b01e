"""An HTTP server on loopback that plays the model, whichever API its host speaks."""

from __future__ import annotations

import contextlib
import json
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from . import anthropic_messages, chat_completions, gemini_api, openai_responses
from .script import Request, Script

APIS = (anthropic_messages, openai_responses, chat_completions, gemini_api)
LOOK_S = 0.2
PATIENCE_S = 240


class ModelServer:
    """Answers by its script, and keeps all requests in the order of their coming.

    ``said`` are the texts of answers that were sent whole, ``others``
    are paths that belong to no API: what a host asked beside its model.
    """

    def __init__(self) -> None:
        self.script = Script()
        self.requests: list[Request] = []
        self.said: list[str] = []
        self.others: list[str] = []
        self._arrived = threading.Condition()
        self._hanging = 0
        self._closed = threading.Event()
        self._http = _HttpServer(self)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def wait_for(
        self,
        holds: Callable[[Request], bool],
        *,
        after: int = 0,
        seconds: float = PATIENCE_S,
    ) -> Request:
        """The first request from number ``after`` on of which this holds.

        Raises TimeoutError.
        """

        def found() -> Request | None:
            return next(filter(holds, self.requests[after:]), None)

        with self._arrived:
            request = self._arrived.wait_for(found, timeout=seconds)
        if request is None:
            asked = [(r.path, r.prompts[-1:]) for r in self.requests[after:]]
            raise TimeoutError(f"no such request among {asked}")
        return request

    def wait_until_said(
        self, text: str | None, *, after: int, seconds: float = PATIENCE_S
    ) -> None:
        """Until this text, or with None any, is among the answers from number ``after`` on.

        Raises TimeoutError.
        """

        def is_said() -> bool:
            said = self.said[after:]
            return bool(said) if text is None else text in said

        with self._arrived:
            if not self._arrived.wait_for(is_said, timeout=seconds):
                raise TimeoutError(f"{text!r} is not among {self.said[after:]}")

    def has_said(self, text: str) -> None:
        with self._arrived:
            self.said.append(text)
            self._arrived.notify_all()

    def received(self, request: Request) -> int:
        with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
            return len(self.requests)

    def wait_until_hanging(self, *, seconds: float = PATIENCE_S) -> None:
        """Until an answer hangs whose text the host was sent. Raises TimeoutError."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: self._hanging, timeout=seconds):
                raise TimeoutError("no answer hangs")

    def is_given_up(self, *, seconds: float) -> bool:
        """Has the host hung up on every answer that hangs, or will it within so long?"""
        with self._arrived:
            return self._arrived.wait_for(lambda: not self._hanging, timeout=seconds)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """One more answer hangs, and one less at the end."""
        self._hangs(1)
        try:
            yield
        finally:
            self._hangs(-1)

    def _hangs(self, change: int) -> None:
        with self._arrived:
            self._hanging += change
            self._arrived.notify_all()

    def is_closed(self) -> bool:
        return self._closed.is_set()


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server that runs."""
    server = ModelServer()
    server.start()
    try:
        yield server
    finally:
        server.close()


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    def log_message(self, *arguments: Any) -> None:
        """Nothing is logged: the requests are kept."""

    def do_GET(self) -> None:
        self._beside({"object": "list", "data": [{"id": "model", "object": "model"}]})

    def do_HEAD(self) -> None:
        self._beside({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        api = next((api for api in APIS if api.serves(path)), None)
        if api is None:
            self._beside({})
            return
        request = api.read(path, json.loads(body))
        number = self.server.model.received(request)
        step = self.server.model.script.step(request)
        if not api.is_stream(request):
            self._json(api.whole(request, step, number))
            self.server.model.has_said(step.text)
            return
        self._begin("text/event-stream")
        for event in api.events(request, step, number):
            self._chunk(event)
        if step.hangs:
            self._hang()
        else:
            self._chunk(b"")
            self.server.model.has_said(step.text)

    def _beside(self, answer: dict[str, Any]) -> None:
        self.server.model.others.append(f"{self.command} {self.path}")
        self._json(answer)

    def _json(self, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
        self.wfile.flush()

    def _hang(self) -> None:
        """Until the host hangs up, which makes the connection readable."""
        with self.server.model.hanging():
            while not self.server.model.is_closed():
                if select.select([self.connection], [], [], LOOK_S)[0]:
                    break
        self.close_connection = True

    def handle(self) -> None:
        # the host gave up its request, or was killed
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            super().handle()
