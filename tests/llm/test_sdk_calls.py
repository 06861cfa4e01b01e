"""Both SDKs against a server that plays good and broken models: what each makes of it is the
same.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from refusals import refused
from tests.llm.model_server import (
    Gone,
    Hang,
    ModelServer,
    Raw,
    Said,
    Status,
    model_server,
)

from keeplore.config.settings import LlmSettings
from keeplore.errors import LlmRefused, LlmUnavailable
from keeplore.llm.anthropic_api import AnthropicApi
from keeplore.llm.base import MAX_ANSWER, MAX_OUTPUT_TOKENS, TransientFailure
from keeplore.llm.openai_server import OpenaiServer
from keeplore_hooks.contracts import Completion, LanguageModel, Usage

SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array"}},
    "required": ["facts"],
}
PROTOCOLS = ("openai", "anthropic")
AGAIN = "It is tried again by itself; `keeplore doctor` says whether the model answers"
OF_MODEL = "Check llm.model in keeplore.yaml"
OF_SERVER = "Check llm.model and llm.base_url in keeplore.yaml, and that the server has this model"
OF_ACCOUNT = "Look into the account that pays for that server"


@pytest.fixture(scope="module")
def played() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def server(played: ModelServer) -> ModelServer:
    played.reset()
    return played


@pytest.fixture(scope="module", params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            patch.setenv(name, "key-of-a-test")
        yield str(request.param)


def model_at(protocol: str, url: str, timeout_s: float = 60.0) -> LanguageModel:
    if protocol == "openai":
        return OpenaiServer(LlmSettings("openai", "played", url, timeout_s))
    return AnthropicApi(
        LlmSettings("anthropic", "played", url.removesuffix("/v1"), timeout_s)
    )


@pytest.fixture(scope="module")
def model(protocol: str, played: ModelServer) -> LanguageModel:
    """One for all, because an HTTP client takes a tenth of a second to make."""
    return model_at(protocol, played.url)


def ask(model: LanguageModel) -> Completion:
    return model.complete("Extract facts.", "we decided on Postgres", SCHEMA)


def test_an_answer_comes_with_what_it_cost(
    model: LanguageModel, server: ModelServer
) -> None:
    server.script(Said('{"facts": []}', (120, 30, 80)))
    assert ask(model) == Completion('{"facts": []}', Usage(120, 30, 80), "played")
    (request,) = server.requests
    assert (request.system, request.prompt) == (
        "Extract facts.",
        "we decided on Postgres",
    )
    assert SCHEMA in (
        request.body.get("response_format", {}).get("json_schema", {}).get("schema"),
        request.body.get("output_config", {}).get("format", {}).get("schema"),
    )
    assert MAX_OUTPUT_TOKENS in (
        request.body.get("max_tokens"),
        request.body.get("max_completion_tokens"),
    )


def test_a_server_that_takes_no_schema_is_told_it_in_words_from_then_on(
    protocol: str, server: ModelServer
) -> None:
    model = model_at(protocol, server.url)
    server.always(
        lambda request: Status(400) if _has_schema(request.body) else Said("{}")
    )
    assert ask(model).text == "{}"
    refused = len(server.requests) - 1
    assert refused >= 1
    assert ask(model).text == "{}"
    assert len(server.requests) == refused + 2
    assert '"required":["facts"]' in server.requests[-1].system


def test_a_server_that_knows_the_older_limit_alone_gets_it(server: ModelServer) -> None:
    server.always(
        lambda request: (
            Said("{}") if "max_completion_tokens" in request.body else Status(422)
        )
    )
    assert ask(model_at("openai", server.url)).text == "{}"
    assert _has_schema(server.requests[-1].body)


@pytest.mark.parametrize(
    ("reply", "flaw"),
    [
        (Said('{"facts": [{"conte', end="length"), "the answer was cut off"),
        (Said("", refusal="I cannot help with that"), "the model declined"),
        (Said("  \n"), "the answer is empty"),
        (Raw(b"[]"), "the answer is empty"),
        (
            Raw(
                b'{"choices": [3], "content": "x", "usage": {"prompt_tokens": "many"}}'
            ),
            "the answer is empty",
        ),
    ],
)
def test_an_answer_that_is_none_is_paid_for_all_the_same(
    model: LanguageModel, server: ModelServer, reply: Any, flaw: str
) -> None:
    server.script(reply)
    completion = ask(model)
    assert completion.flaw == flaw
    assert completion.usage.input_tokens > 0


@pytest.mark.parametrize("usage", [None, (0, 0, 0), (-5, -5, -5), (10**12, 10**12, 0)])
def test_what_a_server_does_not_count_plausibly_is_estimated(
    model: LanguageModel, server: ModelServer, usage: tuple[int, int, int] | None
) -> None:
    server.script(Said("x" * 400, usage))
    assert ask(model).usage == Usage(9, 100, 0)


@pytest.mark.parametrize(
    ("reply", "wait_s", "is_billed", "said"),
    [
        (Status(429, {"Retry-After": "7"}), 7.0, False, "the server says 429 (error)"),
        (
            Status(429, {"Retry-After": "soon"}),
            None,
            False,
            "the server says 429 (error)",
        ),
        (
            Status(429, {"Retry-After": "-inf"}),
            None,
            False,
            "the server says 429 (error)",
        ),
        (Status(500), None, False, "the server says 500 (error)"),
        (
            Status(503, {"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}),
            0.0,
            False,
            "the server says 503 (error)",
        ),
        (Status(529), None, False, "the server says 529 (error)"),
        (Gone(), None, True, "the server cannot be reached"),
        (
            Raw(b'{"choices": [{"message": ', length=5_000),
            None,
            True,
            "the answer broke off",
        ),
        (Raw(b'{"choices": [{"message": '), None, True, "the answer broke off"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_pass_is_told_from_what_will_not(
    model: LanguageModel,
    server: ModelServer,
    reply: Any,
    wait_s: float | None,
    is_billed: bool,
    said: str,
) -> None:
    server.script(reply)
    with pytest.raises(TransientFailure) as caught:
        ask(model)
    assert (caught.value.wait_s, caught.value.is_billed) == (wait_s, is_billed)
    assert str(caught.value) == f"{said}. {AGAIN}"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (
            Status(400, code="context_length_exceeded"),
            LlmRefused,
            f"the server says 400 (context_length_exceeded). {OF_MODEL}",
        ),
        (Status(413), LlmRefused, f"the server says 413 (error). {OF_MODEL}"),
        (
            Raw(b" " * (MAX_ANSWER + 1)),
            LlmRefused,
            (
                f"the answer is larger than {MAX_ANSWER:,} bytes. "
                "Check the server at llm.base_url"
            ),
        ),
        (
            Status(401),
            LlmUnavailable,
            (
                "the server says 401 (error). "
                "Set the key of that server in the environment of the worker"
            ),
        ),
        (
            Status(403),
            LlmUnavailable,
            "the server says 403 (error). Set a key that may use this model",
        ),
        (Status(404), LlmUnavailable, f"the server says 404 (error). {OF_SERVER}"),
        (
            Status(307, {"Location": "http://127.0.0.1:9/v1"}),
            LlmUnavailable,
            f"the server says 307 (error). {OF_SERVER}",
        ),
        (
            Status(429, code="insufficient_quota"),
            LlmUnavailable,
            f"the server says 429 (insufficient_quota). {OF_ACCOUNT}",
        ),
        (
            Status(400, message="Your credit balance is too low"),
            LlmUnavailable,
            f"the server says 400 (error). {OF_ACCOUNT}",
        ),
        (
            Raw(b"<html>Log in to this network</html>"),
            LlmUnavailable,
            f"what answers there is no model server. {OF_SERVER}",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_somebody_must_mend_says_so(
    model: LanguageModel,
    server: ModelServer,
    reply: Any,
    error: type[Exception],
    said: str,
) -> None:
    server.always(reply)
    with pytest.raises(error) as caught:
        ask(model)
    assert not isinstance(caught.value, TransientFailure)
    assert str(caught.value) == said


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_server_that_hangs_is_given_up_although_bytes_trickle_in(
    protocol: str, server: ModelServer, has_begun: bool
) -> None:
    server.script(Hang(has_begun))
    with pytest.raises(TransientFailure) as caught:
        ask(model_at(protocol, server.url, timeout_s=0.3))
    assert str(caught.value) == f"no answer within 0.3 s. {AGAIN}"
    assert caught.value.is_billed


def test_a_server_that_is_not_there_costs_nothing(protocol: str) -> None:
    with socket.socket() as taken:
        taken.bind(
            ("127.0.0.1", 0)
        )  # bound and not listening: nobody else can answer there
        model = model_at(protocol, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        with pytest.raises(TransientFailure) as caught:
            ask(model)
        assert str(caught.value) == f"the server cannot be reached. {AGAIN}"
        assert model.available() == "the server cannot be reached"
    assert not caught.value.is_billed


@pytest.mark.parametrize(
    ("listing", "said"),
    [
        (Raw(b'{"data": []}'), ""),
        (Status(404), ""),
        (Status(405), ""),
        (
            Status(401),
            (
                "the server says 401 (error). "
                "Set the key of that server in the environment of the worker"
            ),
        ),
        (Status(503), "the server says 503 (error)"),
        (Raw(b"<html>"), f"what answers there is no model server. {OF_SERVER}"),
    ],
)
def test_whether_a_model_is_there_costs_no_tokens(
    model: LanguageModel, server: ModelServer, listing: Any, said: str
) -> None:
    server.listing = listing
    assert model.available() == said
    assert server.requests == []


def test_a_server_that_hangs_is_not_available(
    model: LanguageModel, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keeplore.llm.sdk_call.CHECK_S", 0.3)
    server.listing = Hang(has_begun=True)
    assert model.available() == "no answer within 0.3 s"


def test_an_error_in_place_of_an_answer_passes_with_time(server: ModelServer) -> None:
    server.script(Raw(b'{"error": {"message": "this is said by the server"}}'))
    with pytest.raises(TransientFailure) as caught:
        ask(model_at("openai", server.url))
    assert str(caught.value) == f"the server reports an error. {AGAIN}"


def test_a_key_that_is_missing_is_named_unless_the_server_is_ones_own(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    server.script(Said("{}"))
    assert ask(model_at("openai", server.url)).text == "{}"
    for kind, name in ((OpenaiServer, "openai"), (AnthropicApi, "anthropic")):
        assert kind(LlmSettings(name, "played")).available() == (
            f"{name.upper()}_API_KEY is not set. Set it in the environment of the worker"
        )
    with refused(LlmUnavailable, "no model is chosen. Set llm.model in keeplore.yaml"):
        ask(OpenaiServer(LlmSettings("openai", base_url=server.url)))


def test_an_address_in_the_environment_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "key-of-a-test")
        monkeypatch.setenv(f"{name}_BASE_URL", "http://127.0.0.1:9")
    clients = (
        OpenaiServer(LlmSettings("openai", "m"))._client,
        AnthropicApi(LlmSettings("anthropic", "m"))._client,
    )
    assert [client.base_url.host for client in clients] == [
        "api.openai.com",
        "api.anthropic.com",
    ]


def _has_schema(body: Any) -> bool:
    return "response_format" in body or "output_config" in body
