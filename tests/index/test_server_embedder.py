"""The real HTTP client against a real server on the loopback, which behaves as badly as a test
wants it to.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_server import Answer, Server, answer, embedding_server, vector

from keeplore.errors import ModelUnavailable
from keeplore.index import embedder_for
from keeplore.index.embedding import embedding_http, server_embedder
from keeplore.index.embedding.capabilities import embed_questions
from keeplore.index.embedding.prefixes import Prefixes, prefixes_of
from keeplore.index.embedding.server_embedder import (
    ServerEmbedder,
    ServerModel,
    address_of,
)
from keeplore.index.embedding.similarity_floor import UNRELATED, floor_between

TEXTS = [f"text number {n}" for n in range(70)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(embedding_http, "BACKOFF_S", (0.01, 0.02))
    for module, name in (
        (embedding_http, "CONNECT_S"),
        (server_embedder, "QUESTION_S"),
    ):  # however busy the machine is
        monkeypatch.setattr(module, name, 100.0)
    monkeypatch.setattr(server_embedder, "PAUSE_S", (1000.0, 1000.0))
    with embedding_server() as serving:
        yield serving


@pytest.fixture
def model(server: Server, tmp_path: Path) -> ServerEmbedder:
    return made(server, tmp_path)


def made(server: Server, cache: Path) -> ServerEmbedder:
    found = embedder_for(f"{server.url}#small-model", cache)
    assert isinstance(found, ServerEmbedder)
    return found


def test_vectors_of_a_server_are_those_it_gave_in_the_order_of_the_texts(
    server: Server, model: ServerEmbedder
) -> None:
    def shuffled(texts: list[str]) -> Answer:
        rows = json.loads(answer(texts).body)["data"]
        return Answer({"data": rows[::-1]})

    server.behave = shuffled
    vectors = model.embed(TEXTS)
    wanted = np.array([vector(text) for text in TEXTS], np.float32)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.abs(vectors - wanted).max() < 1e-6 and vectors.dtype == np.float32
    path, headers, body = server.requests[-1]
    assert (path, body["model"]) == ("/v1/embeddings", "small-model")
    assert "Authorization" not in headers
    assert [len(texts) for texts in server.asked[1:]] == [
        33,
        33,
        7,
    ]  # each batch with the text that proves the model
    assert model.dim == 8 and model.embed([]).shape == (0, 8)
    assert np.abs(model.embed(["\ud800", ""])).max() > 0


def test_what_is_known_of_each_server_model_and_prefix_is_kept_apart(
    tmp_path: Path,
) -> None:
    addresses = [
        ServerModel("http://127.0.0.1:1/v1", "small-model"),
        ServerModel("http://127.0.0.1:2/v1", "small-model"),
        ServerModel("http://127.0.0.1:1/v1", "nomic-embed-text"),
    ]
    notes = [ServerEmbedder("x", one, tmp_path)._note for one in addresses]
    assert len({*notes}) == 3
    # what an older version has noted is found
    assert notes[0].name == "server-33022353153d2900.json"
    assert notes[0].parent == tmp_path


def test_what_a_server_runs_is_asked_once_and_kept(
    server: Server, tmp_path: Path
) -> None:
    first = made(server, tmp_path)
    with pytest.raises(ModelUnavailable, match="has not been asked yet"):
        _ = first.fingerprint
    assert not server.requests
    first.prepare()
    assert server.asked == [list(UNRELATED)]
    again = made(server, tmp_path)
    assert again.fingerprint == first.fingerprint and (again.dim, again.floor) == (
        8,
        first.floor,
    )
    again.prepare()
    assert len(server.requests) == 1 and not again.is_loaded
    again.embed(["a question"])
    again.embed(["another"])
    assert (
        server.asked[1:] == [[UNRELATED[0], "a question"], ["another"]]
        and again.is_loaded
    )


def test_packed_vectors_are_read_too(server: Server, model: ServerEmbedder) -> None:
    model.prepare()
    expected = model.embed(["one"])

    def packed(texts: list[str]) -> Answer:
        rows = [
            base64.b64encode(np.array(vector(text), "<f4").tobytes()).decode()
            for text in texts
        ]
        return Answer(
            {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}
        )

    server.behave = packed
    assert np.abs(model.embed(["one"]) - expected).max() < 1e-6


@pytest.mark.parametrize("dim", [8, 9])
def test_another_model_under_the_same_name_is_noticed_and_its_vectors_are_kept_apart(
    server: Server, model: ServerEmbedder, dim: int
) -> None:
    model.embed(TEXTS[:2])
    before = model.fingerprint
    server.behave = lambda texts: answer(texts, dim=dim, salt="another model")
    with pytest.raises(ModelUnavailable, match="another model than before"):
        model.embed(TEXTS)
    with pytest.raises(ModelUnavailable):
        _ = model.fingerprint
    assert model.embed(TEXTS).shape == (70, dim)
    assert model.fingerprint != before and model.dim == dim


BROKEN = {
    "fewer vectors than texts": lambda texts: answer(texts[1:]),
    "no vectors": lambda _: Answer({"data": []}),
    "numbered twice": lambda texts: Answer(
        {"data": [{"index": 0, "embedding": vector(t)} for t in texts]}
    ),
    "of several sizes": lambda texts: Answer(
        {"data": [{"embedding": [1.0] * (n + 1)} for n in range(len(texts))]}
    ),
    "texts for numbers": lambda texts: Answer(
        {"data": [{"embedding": ["1", "2"]} for _ in texts]}
    ),
    "truth for numbers": lambda texts: Answer(
        {"data": [{"embedding": [True] * 8} for _ in texts]}
    ),
    "no base64": lambda texts: Answer({"data": [{"embedding": "???"} for _ in texts]}),
    "half a number": lambda texts: Answer(
        {"data": [{"embedding": "AAAA"} for _ in texts]}
    ),
    "no size": lambda texts: Answer({"data": [{"embedding": []} for _ in texts]}),
    "no JSON": lambda _: Answer(b"<html>"),
    "nested deeply": lambda _: Answer(b"[" * 60_000),
    "a list": lambda _: Answer([1, 2]),
    "huge numbers": lambda texts: Answer(
        b'{"data":['
        + b",".join([b'{"embedding":[1' + b"0" * 999 + b"]}"] * len(texts))
        + b"]}"
    ),
    "packed": lambda texts: Answer(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}),
    "elsewhere": lambda _: Answer(b"", 307, {"Location": "http://127.0.0.1:1/"}),
    "huge": lambda _: Answer(b" " * 40_000_000),
    "not found": lambda _: Answer(
        {"error": {"message": "model \x1b[31m not found"}}, 404
    ),
    "wrong key": lambda _: Answer({"error": "who are you"}, 401),
}
SAID = dict.fromkeys(BROKEN, "answers with something that holds no vectors") | {
    "fewer vectors than texts": "gives 3 vectors for 4 texts",
    "no vectors": "gives 0 vectors for 4 texts",
    "numbered twice": "numbers its vectors wrongly",
    "of several sizes": "gives vectors of [1, 2, 3] numbers",
    "no size": "gives vectors of [0] numbers",
    "packed": "sends packed answers, which were not asked for",
    "elsewhere": "answers 307: no reason given",
    "huge": "sends more than any vectors take",
    "not found": "answers 404: model  [31m not found",
    "wrong key": "answers 401: who are you",
}


def said_by(server: Server, error: ModelUnavailable) -> str:
    """What an error says that the server does, behind its name; what is to be done is always the
    same.
    """
    assert error.remedy == (
        "See that it runs small-model; where it wants a key, set KEEPLORE_EMBEDDING_KEY"
    )
    start = f"the embedding server {server.url} "
    assert error.message.startswith(start)
    return error.message.removeprefix(start)


@pytest.mark.parametrize("broken", BROKEN)
def test_an_answer_that_is_not_whole_is_no_answer_and_the_server_is_left_alone_for_a_while(
    server: Server, model: ServerEmbedder, broken: str
) -> None:
    model.embed(TEXTS[:2])
    server.behave = BROKEN[broken]
    before = len(server.requests)
    with pytest.raises(ModelUnavailable) as error:
        model.embed(TEXTS[:3])
    assert said_by(server, error.value) == SAID[broken]
    server.behave = answer
    with pytest.raises(ModelUnavailable):
        model.embed(TEXTS[:3])
    assert len(server.requests) == before + 1 and not model.is_loaded


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_for_a_batch_and_not_for_a_question(
    server: Server, model: ServerEmbedder, status: int
) -> None:
    model.embed(TEXTS[:2])
    turns = [status, status, 200]

    def busy(texts: list[str]) -> Answer:
        code = turns.pop(0)
        return (
            answer(texts)
            if code == 200
            else Answer({"error": "busy"}, code, {"Retry-After": "0"})
        )

    server.behave = busy
    assert model.embed(TEXTS[:3]).shape == (3, 8)
    turns[:] = [status]
    with pytest.raises(ModelUnavailable, match=f"answers {status}: busy"):
        model.embed(["a question"])
    assert not turns


def test_one_text_that_a_server_cannot_take_does_not_keep_the_others(
    server: Server, model: ServerEmbedder
) -> None:
    poison = "fine words first, " * 20 + "poison"

    def touchy(texts: list[str]) -> Answer:
        if any("poison" in text for text in texts):
            return Answer({"error": {"message": "json: unsupported value: NaN"}}, 500)
        if any(len(text) > 300 for text in texts):
            return Answer(
                b'{"data":['
                + b",".join([b'{"embedding":[NaN,0,0,0,0,0,0,0]}'] * len(texts))
                + b"]}"
            )
        return answer(texts)

    model.prepare()
    server.behave = touchy
    texts = [*TEXTS[:20], poison, "x" * 500]
    vectors = model.embed(texts)
    assert vectors.shape == (22, 8) and np.isfinite(vectors).all()
    server.behave = answer
    assert np.abs(vectors[:20] - model.embed(TEXTS[:20])).max() < 1e-6
    assert (
        np.abs(vectors[20] - model.embed([poison[: len(poison) // 2]])[0]).max() < 1e-6
    )


def test_a_text_is_cut_so_often_and_then_the_last_reason_is_told(
    server: Server, model: ServerEmbedder
) -> None:
    def touchy(texts: list[str]) -> Answer:
        if "poison" in texts[-1]:
            return Answer({"error": f"{len(texts[-1])} letters are too many"}, 500)
        return answer(texts)

    model.embed(TEXTS[:2])
    before = len(server.asked)
    server.behave = touchy
    with pytest.raises(ModelUnavailable) as error:
        model.embed(["poison" * 16])
    assert said_by(server, error.value) == "answers 500: 6 letters are too many"
    asked = [["poison" * times] for times in (16, 8, 4, 2, 1)]
    assert server.asked[before:] == asked
    with pytest.raises(ModelUnavailable) as error:
        model.embed(TEXTS[:1])
    assert said_by(server, error.value) == "answers 500: 6 letters are too many"
    assert server.asked[before:] == asked


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "no such model"}}, "no such model"),
        ({"error": {"code": 7}}, "no reason given"),
        ({"error": "no such model"}, "no such model"),
        ({"detail": "no such model"}, "no such model"),
        ({"detail": {"message": "no such model"}}, "no such model"),
        ({"error": "one", "detail": "two"}, "one"),
        ({"error": ["no", 1]}, "['no', 1]"),
        ({"error": " no\n\tsuch model\x07 "}, "no  such model"),
        ({"error": "x" * 201}, "x" * 200),
        ({}, "no reason given"),
        ([], "no reason given"),
        (b"", "no reason given"),
        (b"<html>", "no reason given"),
        (b"[" * 60_000, "no reason given"),
        ({"error": "x", "more": "y" * 65_536}, "no reason given"),
    ],
)
def test_what_a_server_says_is_wrong_is_told_in_a_line(
    server: Server, model: ServerEmbedder, body: Any, said: str
) -> None:
    server.behave = lambda _: Answer(body, 404)
    with pytest.raises(ModelUnavailable) as error:
        model.embed(TEXTS[:1])
    assert said_by(server, error.value) == f"answers 404: {said}"


def test_a_server_that_fails_at_everything_is_not_asked_text_by_text(
    server: Server, model: ServerEmbedder
) -> None:
    model.embed(TEXTS[:2])
    before = len(server.requests)
    server.behave = lambda _: Answer({"error": "broken"}, 500)
    with pytest.raises(ModelUnavailable, match="answers 500: broken"):
        model.embed(TEXTS[:32])
    assert len(server.requests) == before + 2


def test_a_server_that_hangs_or_is_gone_costs_a_question_no_more_than_its_time(
    server: Server,
    model: ServerEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    model.embed(TEXTS[:2])

    def hang(texts: list[str]) -> Answer:
        server.over.wait()
        return answer(texts)

    server.behave = hang
    monkeypatch.setattr(server_embedder, "QUESTION_S", 0.2)
    with pytest.raises(ModelUnavailable, match="took longer than"):
        model.embed(["a question"])
    assert model.fingerprint  # what is known of it needs no server
    server.over.set()
    asked = len(server.requests)
    with pytest.raises(ModelUnavailable, match="took longer than"):  # at once
        model.embed(["another"])
    assert len(server.requests) == asked
    nobody = ServerEmbedder(
        "nobody", ServerModel("http://127.0.0.1:1/v1", "m"), tmp_path / "other"
    )
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        nobody.embed(TEXTS)


def test_a_key_comes_from_the_environment_and_openais_goes_to_openai_alone(
    server: Server, model: ServerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "one")
    monkeypatch.setenv("KEEPLORE_EMBEDDING_KEY", "two\n")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    model.embed(["a"])
    assert {headers["Authorization"] for _, headers, _ in server.requests} == {
        "Bearer two"
    }
    for broken in ("fo\nur", "fünf"):
        monkeypatch.setenv("KEEPLORE_EMBEDDING_KEY", broken)
        with pytest.raises(
            ModelUnavailable, match="KEEPLORE_EMBEDDING_KEY holds is no key"
        ) as error:
            model.embed(["a"])
        assert broken not in str(error.value)
    hosted = address_of("openai:text-embedding-3-small")
    assert hosted is not None and hosted.key_variable == "OPENAI_API_KEY"
    lookalike = address_of(
        "https://api.openai.com.example.com/v1#text-embedding-3-small"
    )
    assert lookalike is not None and lookalike.key_variable == "KEEPLORE_EMBEDDING_KEY"


@pytest.mark.parametrize(
    ("name", "server_", "model_", "is_private"),
    [
        (
            "ollama:nomic-embed-text",
            "http://127.0.0.1:11434/v1",
            "nomic-embed-text",
            True,
        ),
        (
            "ollama:huge:671b-cloud",
            "http://127.0.0.1:11434/v1",
            "huge:671b-cloud",
            False,
        ),
        (
            "openai:text-embedding-3-small",
            "https://api.openai.com:443/v1",
            "text-embedding-3-small",
            False,
        ),
        (
            "http://127.0.0.1:8080/v1#BAAI/bge-m3",
            "http://127.0.0.1:8080/v1",
            "BAAI/bge-m3",
            False,
        ),
        (
            "HTTPS://Models.Example.com/v1/#m",
            "https://models.example.com:443/v1",
            "m",
            False,
        ),
    ],
)
def test_one_line_names_server_and_model(
    name: str, server_: str, model_: str, *, is_private: bool
) -> None:
    found = address_of(name)
    assert found == ServerModel(server_, model_) and found.is_private == is_private


@pytest.mark.parametrize(
    "name",
    [
        "ollama:",
        "http://h/v1",
        "http://me:secret@h/v1#m",
        "https:///v1#m",
        "openai:a b",
    ],
)
def test_an_address_that_is_none_says_how_one_is_written(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="ollama:nomic-embed-text") as error:
        embedder_for(name, Path("/nowhere"))
    assert "secret" not in str(error.value)


def test_other_names_are_no_servers() -> None:
    assert (
        address_of("packaged")
        is address_of("BAAI/bge-small-en-v1.5")
        is address_of("~/models/gte")
        is None
    )


def test_a_model_that_wants_words_before_questions_and_passages_gets_them(
    server: Server, tmp_path: Path
) -> None:
    plain = made(server, tmp_path)
    nomic = embedder_for(f"{server.url}#nomic-ai/nomic-embed-text-v1.5", tmp_path)
    question = embed_questions(nomic, ["tabs?"])[0]
    passages = nomic.embed(["Indent with tabs.", "No tabs."])
    assert question @ unit("search_query: tabs?") == pytest.approx(1.0)
    assert passages[1] @ unit("search_document: No tabs.") == pytest.approx(1.0)
    assert (
        floor_between(units("search_query: "), units("search_document: "))
        == nomic.floor
    )
    _ = plain.embed(["Indent with tabs."])
    assert (plain.fingerprint.count(":"), plain.fingerprint[-2:]) == (
        nomic.fingerprint.count(":"),
        ":0",
    )
    assert re.search(r":0-[0-9a-f]{8}\Z", nomic.fingerprint)


def unit(text: str) -> Any:
    found = np.array(vector(text))
    return found / np.linalg.norm(found)


def units(prefix: str) -> Any:
    return np.array([unit(f"{prefix}{text}") for text in UNRELATED])


@pytest.mark.parametrize(
    ("model", "question", "passage"),
    [
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("/models/multilingual-e5-small/", "query: ", "passage: "),
        (
            "BAAI/bge-small-en-v1.5",
            "Represent this sentence for searching relevant passages: ",
            "",
        ),
        ("snowflake-arctic-embed2:568m", "query: ", ""),
        ("BAAI/bge-m3", "", ""),
        ("packaged", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_what_goes_before_a_text_is_known_by_the_models_name(
    model: str, question: str, passage: str
) -> None:
    assert prefixes_of(model) == Prefixes(question, passage)


@pytest.mark.parametrize("length", [1e-6, 0.5, 1.0, 1e6])
def test_vectors_of_any_length_have_length_one(length: float) -> None:
    given = np.array([[3.0, 4.0], [0.0, -1.0]], np.float32) * np.float32(length)
    made = embedding_http._normalised(given)
    assert np.allclose(made, [[0.6, 0.8], [0.0, -1.0]])


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_vector_without_a_direction_is_refused(bad: list[float]) -> None:
    with pytest.raises(embedding_http.TextsRefused, match="points nowhere"):
        embedding_http._normalised(np.array([[1.0, 0.0], bad], np.float32))
