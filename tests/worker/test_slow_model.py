"""A server that takes its time with vectors keeps nobody waiting: neither what is said, nor a
worker that leaves.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from keeplore.config.consent import Consents, ConsentUse
from keeplore.config.setting_layers import set_shared
from keeplore.index.embedding.similarity_floor import UNRELATED
from keeplore.workspace.embedding_model import consent_question


class Handler(BaseHTTPRequestHandler):
    """Says which model it is, and holds every other request until the test is over."""

    def do_POST(self) -> None:
        server: Any = self.server
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))[
            "input"
        ]
        if texts != list(UNRELATED):
            server.is_asked.set()
            server.over.wait()
        data = json.dumps(
            {"data": [{"embedding": [1.0, float(len(text)) / 100]} for text in texts]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    serving: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving.over, serving.is_asked = threading.Event(), threading.Event()
    thread = threading.Thread(
        target=serving.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    yield serving
    serving.over.set()
    for asker in threading.enumerate():
        if asker.name == "keeplore-vectors":
            asker.join(120)
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_what_is_said_is_taken_while_a_server_makes_vectors_and_the_worker_leaves_when_it_is_told(
    office: Any, server: Any
) -> None:
    office.init()
    name = f"http://127.0.0.1:{server.server_port}/v1#slow"
    set_shared(office.root, office.places.state, "embedding.model", name)
    asked = consent_question(name, office.root)
    assert asked is not None
    Consents(office.places.state).accept(
        office.root, ConsentUse.EMBEDDING, asked.subject
    )
    office.start()
    office.prompt("We decided to use Postgres for the ledger")
    office.taken()
    assert server.is_asked.wait(120)
    office.prompt("And the cache moves to SQLite")
    office.taken()
    assert not server.over.is_set()
    assert office.stop() == [[True]]
