"""The packaged model behind OpenAI's ``/embeddings``, on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from keeplore.index import Embedder


class ModelServer(ThreadingHTTPServer):
    """One text or many at a time, in the order in which they come."""

    daemon_threads = True

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(("127.0.0.1", 0), ModelHandler)
        self.embedder = embedder
        self.one_at_a_time = threading.Lock()
        self.texts = 0  # that were embedded

    def answer(self, asked: dict[str, object]) -> bytes:
        """The body of an answer to ``{"input": text or texts}``."""
        given = asked["input"]
        texts = [given] if isinstance(given, str) else list(given)  # type: ignore[call-overload]  # JSON
        with self.one_at_a_time:
            self.texts += len(texts)
            vectors = self.embedder.embed(texts).tolist()
        rows = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        found = {"object": "list", "data": rows, "model": asked.get("model")}
        return json.dumps({**found, "usage": usage}).encode()


class ModelHandler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.server.answer(json.loads(self.rfile.read(length)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        """Nothing is noted of requests."""


@contextmanager
def serving(embedder: Embedder) -> Iterator[str]:
    """The address of a server of this model, as OpenAI's clients take it."""
    with ModelServer(embedder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
