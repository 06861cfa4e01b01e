"""How a server for embeddings is asked: what is sent, how often, and how long is waited."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from embedding_server import Answer, Server, answer, embedding_server

from keeplore import __version__
from keeplore.index.embedding import embedding_http
from keeplore.index.embedding.embedding_http import (
    EmbeddingClient,
    ServerBusy,
    ServerMisconfigured,
    ServerTimeout,
    TextsRefused,
)

BODY = {"model": "small-model", "input": ["one text"]}
MOST = 65_536 + 16_384 * 32  # bytes of an answer to one text


@pytest.fixture
def server() -> Iterator[Server]:
    with embedding_server() as serving:
        yield serving


def client(server: Server) -> EmbeddingClient:
    return EmbeddingClient(f"{server.url}/embeddings", is_direct=True)


def ask(
    server: Server, *, key: str = "", tries: int = 1, timeout_s: float = 60.0
) -> Any:
    return client(server).vectors(BODY, key, timeout_s, tries)


@pytest.mark.parametrize(
    ("key", "more"), [("", {}), ("k-1", {"Authorization": "Bearer k-1"})]
)
def test_a_request_says_who_asks_and_nothing_else(
    server: Server, key: str, more: dict[str, str]
) -> None:
    ask(server, key=key)
    [(path, headers, body)] = server.requests
    length = headers.pop("Content-Length")
    assert (path, body, int(length)) == (
        "/v1/embeddings",
        BODY,
        len(json.dumps(BODY, separators=(",", ":"))),
    )
    assert headers == {
        "Host": f"127.0.0.1:{server.server_port}",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "keep-alive",
        "User-Agent": f"keeplore/{__version__}",
        "Content-Type": "application/json",
        **more,
    }


def test_no_request_is_noted_in_the_log(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    logging.getLogger("httpx").setLevel(logging.NOTSET)
    ask(server)
    assert caplog.records == []


@pytest.mark.parametrize("is_direct", [True, False])
def test_a_proxy_of_the_environment_is_asked_unless_the_server_is_to_be_asked_directly(
    server: Server, monkeypatch: pytest.MonkeyPatch, is_direct: bool
) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{server.server_port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    url = "http://127.0.0.2:1/v1/embeddings"
    asked = EmbeddingClient(url, is_direct=is_direct)
    if is_direct:
        with pytest.raises(ServerBusy, match="cannot be reached"):
            asked.vectors(BODY, "", 60.0, 1)
    else:
        assert asked.vectors(BODY, "", 60.0, 1).shape == (1, 8)
    assert [path for path, _, _ in server.requests] == [url] * (not is_direct)


@pytest.mark.parametrize("pick", [min, max])
@pytest.mark.parametrize(
    ("tries", "after", "waits"),
    [
        (1, None, []),
        (2, None, [1.0]),
        (7, None, [1.0, 2.0, 4.0, 8.0, 16.0, 30.0]),
        (2, "", [1.0]),
        (3, "0", [1.0, 2.0]),
        (2, "soon", [1.0]),
        (2, "1.5", [1.0]),
        (2, "-1", [1.0]),
        (2, "31", [1.0]),
        (2, "9" * 5000, [1.0]),
        (2, "²", [1.0]),
        (3, "1", ["1", "1"]),
        (2, "30", ["30"]),
    ],
)
def test_a_busy_server_is_asked_again_after_what_it_says_or_ever_longer(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    pick: Any,
    tries: int,
    after: str | None,
    waits: list[float | str],
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(embedding_http.random, "uniform", lambda *range_: pick(range_))
    headers = {} if after is None else {"Retry-After": after}
    server.behave = lambda _: Answer({"error": "busy"}, 503, headers)
    with pytest.raises(ServerBusy, match="answers 503: busy"):
        ask(server, tries=tries)
    assert len(server.requests) == tries
    share = pick(0.5, 1.0)
    assert waited == [float(s) if isinstance(s, str) else s * share for s in waits]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (204, ServerMisconfigured),
        (301, ServerMisconfigured),
        (400, TextsRefused),
        (401, ServerMisconfigured),
        (403, ServerMisconfigured),
        (404, ServerMisconfigured),
        (408, ServerBusy),
        (413, TextsRefused),
        (422, TextsRefused),
        (429, ServerBusy),
        (500, TextsRefused),
        (502, ServerBusy),
        (503, ServerBusy),
        (504, ServerBusy),
    ],
)
def test_a_status_says_whether_to_try_later_to_mend_the_server_or_to_change_the_texts(
    server: Server, status: int, error: type[Exception]
) -> None:
    server.behave = lambda _: Answer(b"", status)
    with pytest.raises(
        Exception, match=f"^answers {status}: no reason given$"
    ) as raised:
        ask(server)
    assert raised.type is error


@pytest.mark.parametrize(("size", "is_read"), [(MOST, True), (MOST + 1, False)])
def test_an_answer_is_read_up_to_what_vectors_can_take(
    server: Server, size: int, is_read: bool
) -> None:
    server.behave = lambda texts: Answer(answer(texts).body.ljust(size))
    if is_read:
        assert ask(server).shape == (1, 8)
    else:
        with pytest.raises(
            ServerMisconfigured, match=r"^sends more than any vectors take$"
        ):
            ask(server)


@pytest.mark.parametrize(("dim", "is_taken"), [(16_384, True), (16_385, False)])
def test_a_vector_has_so_many_numbers_at_most(
    server: Server, dim: int, is_taken: bool
) -> None:
    server.behave = lambda _: Answer({"data": [{"embedding": [1] * dim}]})
    if is_taken:
        assert ask(server).shape == (1, dim)
    else:
        with pytest.raises(
            ServerMisconfigured, match=r"^gives vectors of \[16385\] numbers$"
        ):
            ask(server)


def test_a_server_that_says_nothing_is_left_at_the_end_of_its_time(
    server: Server,
) -> None:
    def hang(texts: list[str]) -> Answer:
        server.over.wait()
        return answer(texts)

    server.behave = hang
    began = time.monotonic()
    with pytest.raises(ServerTimeout, match=r"^took longer than 1 seconds$"):
        ask(server, tries=3, timeout_s=0.6)
    assert 0.6 <= time.monotonic() - began < 3.0
    assert len(server.requests) == 1


def test_a_server_that_answers_in_drops_is_left_at_the_end_of_its_time(
    server: Server,
) -> None:
    server.behave = lambda texts: Answer(answer(texts).body.ljust(600), pause_s=0.1)
    began = time.monotonic()
    with pytest.raises(ServerTimeout, match=r"^took longer than 1 seconds$"):
        ask(server, timeout_s=0.6)
    assert 0.6 <= time.monotonic() - began < 10.0


def test_why_a_server_cannot_be_reached_is_told_when_it_was_tried_so_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(embedding_http.random, "uniform", lambda *_: 0.75)
    nobody = EmbeddingClient("http://127.0.0.1:1/v1/embeddings", is_direct=True)
    with pytest.raises(ServerBusy) as raised:
        nobody.vectors(BODY, "", 60.0, 3)
    assert waited == [0.75, 1.5]
    assert str(raised.value) == f"cannot be reached: {raised.value.__cause__}"
    assert str(raised.value.__cause__)
    nowhere = EmbeddingClient("http://[::1", is_direct=True)
    with pytest.raises(ServerBusy, match=r"^cannot be reached: Invalid"):
        nowhere.vectors(BODY, "", 60.0, 1)
