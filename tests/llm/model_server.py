"""A real HTTP server that plays a language model, well or badly, in OpenAI's and in Anthropic's
protocol.

A reply is what the next request is answered with; a function that takes the request and gives a
reply will do as well.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """``body`` is the JSON that was sent; None for a GET."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def system(self) -> str:
        said = self.body.get("system") or self.body["messages"][0]["content"]
        return said if isinstance(said, str) else said[0]["text"]


@dataclass(frozen=True)
class Said:
    """An answer as a model gives it; ``end`` is OpenAI's finish_reason, ``usage`` input, output and
    cached tokens.
    """

    text: str
    usage: tuple[int, int, int] | None = (100, 20, 0)
    end: str = "stop"
    refusal: str | None = None


@dataclass(frozen=True)
class Status:
    """An error."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None
    message: str = "this is said by the server"


@dataclass(frozen=True)
class Raw:
    """These bytes with status 200, of which ``length`` are announced."""

    data: bytes
    length: int | None = None


@dataclass(frozen=True)
class Hang:
    """No answer until the server is closed; ``has_begun`` sends a byte of it now and then."""

    has_begun: bool = False


class Gone:
    """The connection is closed without an answer."""


Reply = Said | Status | Raw | Hang | Gone
_ENDS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


class ModelServer:
    """``url`` is what llm.base_url is set to; ``requests`` are those that were made, without the
    listings of models.
    """

    def __init__(self) -> None:
        self.reset()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.model = self  # type: ignore[attr-defined]  # where the handler finds it
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    def reset(self) -> None:
        """Forget all requests and replies."""
        self.requests: list[Request] = []
        self.listing: Reply = Raw(b'{"object": "list", "data": [], "has_more": false}')
        self._replies: list[Reply | Callable[[Request], Reply]] = []
        self._default: Reply | Callable[[Request], Reply] = Status(
            500, message="nothing is left of the script"
        )

    def script(self, *replies: Reply | Callable[[Request], Reply]) -> None:
        """Answer the next requests with these, one after the other."""
        self._replies += replies

    def always(self, reply: Reply | Callable[[Request], Reply]) -> None:
        """Answer with this where nothing is left of the script."""
        self._default = reply

    def answers(self, values: Sequence[Any]) -> None:
        """Answer the next requests with these as JSON."""
        self.script(*(Said(json.dumps(value)) for value in values))

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            if request.body is None:
                return self.listing
            self.requests.append(request)
            reply = self._replies.pop(0) if self._replies else self._default
        return reply(request) if callable(reply) else reply

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    try:
        yield server
    finally:
        server.close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # the name that the library calls
        self._answer(None)

    def do_POST(self) -> None:  # as above
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, body: Any) -> None:
        model: ModelServer = self.server.model  # type: ignore[attr-defined]  # set where the server is made
        is_anthropic = "anthropic-version" in self.headers
        reply = model.reply_to(Request(self.path, dict(self.headers), body))
        with contextlib.suppress(ConnectionError):  # the client may have given up
            if isinstance(reply, Said):
                self._send(
                    200,
                    json.dumps(
                        (_anthropic if is_anthropic else _openai)(reply)
                    ).encode(),
                )
            elif isinstance(reply, Status):
                error = {
                    "message": reply.message,
                    "code": reply.code,
                    "type": reply.code or "error",
                }
                self._send(
                    reply.status,
                    json.dumps({"type": "error", "error": error}).encode(),
                    reply.headers,
                )
            elif isinstance(reply, Raw):
                self._send(200, reply.data, length=reply.length)
            elif isinstance(reply, Hang):
                self._hang(model, has_begun=reply.has_begun)

    def _hang(self, model: ModelServer, *, has_begun: bool) -> None:
        if has_begun:
            self._send(200, b" ", length=10**6)
        while not model.closing.wait(0.05):
            if has_begun:
                self.wfile.write(b" ")

    def _send(
        self,
        status: int,
        data: bytes,
        headers: Mapping[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _openai(said: Said) -> dict[str, Any]:
    message = {"role": "assistant", "content": said.text, "refusal": said.refusal}
    answer: dict[str, Any] = {
        "id": "answer-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "played",
        "choices": [{"index": 0, "finish_reason": said.end, "message": message}],
    }
    if said.usage:
        read, written, cached = said.usage
        details = {"cached_tokens": cached}
        answer["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "prompt_tokens_details": details,
        }
    return answer


def _anthropic(said: Said) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "id": "answer-1",
        "type": "message",
        "role": "assistant",
        "model": "played",
        "content": [{"type": "text", "text": said.text}],
        "stop_reason": "refusal" if said.refusal else _ENDS[said.end],
    }
    if said.usage:
        read, written, cached = said.usage
        answer["usage"] = {
            "input_tokens": read - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": written,
        }
    return answer
