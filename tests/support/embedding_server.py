"""An embedding server on the loopback, which behaves as badly as a test wants it to."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def vector(text: str, dim: int = 8, salt: str = "") -> list[float]:
    digest = hashlib.sha256((salt + text).encode()).digest()
    return [float(byte) - 127.5 for byte in digest[:dim]]


class Answer:
    """Status, headers and body that the server sends, in drops of ten bytes where there is a pause
    between them.
    """

    def __init__(
        self,
        body: bytes | Any,
        status: int = 200,
        headers: dict[str, str] | None = None,
        pause_s: float = 0.0,
    ) -> None:
        self.pause_s = pause_s
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = headers or {}


def answer(texts: list[str], *, dim: int = 8, salt: str = "") -> Answer:
    return Answer(
        {
            "data": [
                {"index": n, "embedding": vector(text, dim, salt)}
                for n, text in enumerate(texts)
            ]
        }
    )


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.behave: Callable[[list[str]], Answer] = answer
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def asked(self) -> list[list[str]]:
        return [body["input"] for _, _, body in self.requests]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        given = self.server.behave(body["input"])
        self.send_response(given.status)
        for name, value in {
            "Content-Length": str(len(given.body)),
            **given.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        drop = 10 if given.pause_s else len(given.body)
        # who asked may have left
        with suppress(ConnectionError):
            for start in range(0, len(given.body), drop or 1):
                self.wfile.write(given.body[start : start + drop])
                self.server.over.wait(given.pause_s)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def embedding_server() -> Iterator[Server]:
    """One that serves while the test runs."""
    with Server() as serving:
        thread = threading.Thread(
            target=serving.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        yield serving
        serving.over.set()
        serving.shutdown()
        thread.join()
