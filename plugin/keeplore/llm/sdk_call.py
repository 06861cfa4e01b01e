"""Asking a server over an SDK: a limit on time and on size, and what its errors mean to us.

Both SDKs have the same classes of errors under the same names. Of an error only its status and code
are passed on: what a server says may quote the conversation, which belongs into no log.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from keeplore.config.install_method import install_hint
from keeplore.errors import LlmRefused, LlmUnavailable
from keeplore.llm.base import CHECK_S, MAX_ANSWER, TransientFailure, tokens
from keeplore_hooks.contracts import Completion, Usage

if TYPE_CHECKING:
    from keeplore.config.settings import LlmSettings

MAX_TOKENS = 10**9  # of one call, as a server may report it
PASSING = (408, 409, 425, 429)  # rate limits among them; and every 5xx
SETUP: Mapping[int, str] = {
    401: "Set the key of that server in the environment of the worker",
    402: "Look into the account that pays for that server",
    403: "Set a key that may use this model",
    404: "Check llm.model and llm.base_url in keeplore.yaml, and that the server has this model",
}
# a 429 that waiting does not mend
SPENT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_POOR = "credit balance"  # how Anthropic says so, with a 400

_T = TypeVar("_T")
_Client = TypeVar("_Client")
_Shape = TypeVar("_Shape")


class BadRequest(LlmRefused):
    """The server does not take a request of this shape, or not this one at all."""


def call_within(seconds: float, call: Callable[[], _T]) -> _T:
    """What ``call`` gives, or TimeoutError: the timeouts of HTTP clients start anew with each byte
    that trickles in.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as e:  # noqa: BLE001  # raised again below
            errors.append(e)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return results[0]


def fetch(
    sdk: ModuleType,
    timeout_s: float,
    request: Callable[[], AbstractContextManager[Any]],
) -> Mapping[str, Any]:
    """The JSON object that a server answers. Raises TransientFailure, LlmUnavailable, BadRequest
    and LlmRefused.
    """
    try:
        ends = time.monotonic() + timeout_s
        text = call_within(timeout_s, lambda: _read(request, ends))
    except (TimeoutError, sdk.APITimeoutError) as e:
        raise TransientFailure(
            f"no answer within {timeout_s:g} s", is_billed=_has_begun(e)
        ) from e
    except sdk.APIStatusError as e:
        raise _of_status(e) from e
    except sdk.APIConnectionError as e:
        raise TransientFailure(
            "the server cannot be reached", is_billed=_has_begun(e)
        ) from e
    except LlmRefused:
        raise
    # the SDKs let out what their HTTP client raises while the answer is read
    except Exception as e:
        raise TransientFailure("the answer broke off", is_billed=True) from e
    return _json_object(text)


def _json_object(text: bytes) -> Mapping[str, Any]:
    """The object that an answer is. Raises LlmUnavailable for any other text."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        if text.lstrip().startswith(b"{"):
            raise TransientFailure("the answer broke off", is_billed=True) from e
        raise LlmUnavailable("what answers there is no model server", SETUP[404]) from e
    return mapping(data)


class SdkModel(ABC, Generic[_Client, _Shape]):
    """A language model that is asked over an SDK, in one of several shapes of request."""

    package: str  # the SDK, and the extra that brings it

    def __init__(self, settings: LlmSettings, shapes: list[_Shape]) -> None:
        self.name = settings.model
        self._settings = settings
        self._shapes = shapes  # those that may work, the one that did first

    def available(self) -> str:
        """Why the server does not answer, asked for its list of models within three seconds; ""
        where it does. A server without such a list counts as answering.
        """
        try:
            client = self._client
            fetch(self._sdk, CHECK_S, lambda: self._list_models(client, CHECK_S))
        except TransientFailure as e:
            return e.message
        except LlmUnavailable as e:
            return "" if getattr(e.__cause__, "status_code", 0) == 404 else str(e)
        except LlmRefused:
            return ""
        return ""

    def complete(
        self, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        """One attempt to get an answer. A shape of request that the server refuses, which costs
        nothing, is not tried again. Raises as the contract says.
        """
        client, refusal = self._client, BadRequest("no shape of request is left")
        for shape in list(self._shapes):
            request = self._request(system, prompt, schema, shape)
            send = partial(self._send, client, request)
            try:
                data = fetch(self._sdk, self._settings.timeout_s, send)
            except BadRequest as e:
                refusal = e
                continue
            self._shapes.sort(key=lambda other: other != shape)  # used at once
            return self._completion(data, system + prompt)
        raise refusal

    def _completion(self, data: Mapping[str, Any], asked: str) -> Completion:
        """The answer in the form that all models give."""
        text, flaw, reported = self._read(data)
        flaw = flaw or ("" if text.strip() else "the answer is empty")
        return Completion(text, usage_of(reported, asked, text), self.name, flaw)

    @abstractmethod
    def _request(
        self, system: str, prompt: str, schema: Mapping[str, Any], shape: _Shape
    ) -> dict[str, Any]:
        """What is sent."""

    @abstractmethod
    def _send(
        self, client: _Client, request: Mapping[str, Any]
    ) -> AbstractContextManager[Any]:
        """The answer as it comes in."""

    @abstractmethod
    def _list_models(
        self, client: _Client, timeout_s: float
    ) -> AbstractContextManager[Any]:
        """What the server says of its models, likewise."""

    @abstractmethod
    def _read(self, data: Mapping[str, Any]) -> tuple[str, str, tuple[Any, Any, Any]]:
        """Text, flaw, and input, output and cached tokens as reported."""

    @abstractmethod
    def _connect(self, options: dict[str, Any]) -> _Client:
        """The SDK's client. Raises LlmUnavailable where something it needs is missing."""

    @cached_property
    def _sdk(self) -> ModuleType:
        try:
            return importlib.import_module(self.package)
        except ImportError as e:
            raise LlmUnavailable(
                f"the {self.package} package is not installed",
                install_hint(self.package),
            ) from e

    @cached_property
    def _client(self) -> _Client:
        """The SDK's client, connected. Raises LlmUnavailable where the SDK or what it needs is
        missing.
        """
        sdk = self._sdk
        if not self.name:
            raise LlmUnavailable("no model is chosen", "Set llm.model in keeplore.yaml")
        options = {
            "timeout": self._settings.timeout_s,
            "max_retries": 0,  # each attempt is booked by itself
            # a server that was accepted must not pass memory on to another one
            "http_client": sdk.DefaultHttpxClient(follow_redirects=False),
        }
        return self._connect(options)


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is one, as a server's answer should have it; else an empty one."""
    return value if isinstance(value, dict) else {}


def usage_of(reported: tuple[Any, Any, Any], asked: str, answered: str) -> Usage:
    """Input, output and cached tokens as a server reports them, where it does so plausibly, else an
    estimate.
    """
    read, written, cached = (
        value if type(value) is int and 0 <= value <= MAX_TOKENS else -1
        for value in reported
    )
    return Usage(
        read if read > 0 else tokens(asked),
        written if written > 0 or (written == 0 and not answered) else tokens(answered),
        min(max(cached, 0), max(read, 0)),
    )


def with_schema(system: str, schema: Mapping[str, Any]) -> str:
    """Instructions for a model that cannot be held to a schema."""
    shape = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return (
        f"{system}\n\nAnswer with one JSON object and nothing else. It must fit this JSON "
        f"schema:\n{shape}"
    )


def _read(request: Callable[[], AbstractContextManager[Any]], ends: float) -> bytes:
    parts, size = [], 0
    with request() as response:
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            # nobody waits any more: the thread must not live as long as bytes trickle in
            if time.monotonic() > ends:
                raise TimeoutError
            if size > MAX_ANSWER:
                raise LlmRefused(
                    f"the answer is larger than {MAX_ANSWER:,} bytes",
                    "Check the server at llm.base_url",
                )
    return b"".join(parts)


def _of_status(error: Any) -> LlmUnavailable | LlmRefused:
    """The error that an HTTP status stands for: set something up, wait, or refused."""
    status, code = int(error.status_code), _code_of(error)
    name = f" ({code})" if re.fullmatch(r"[a-z_]{1,60}", code) else ""
    message = f"the server says {status}{name}"
    if code in SPENT or _POOR in str(error).lower():
        return LlmUnavailable(message, SETUP[402])
    # an address that has moved is one to set
    if status in SETUP or 300 <= status < 400:
        return LlmUnavailable(message, SETUP.get(status, SETUP[404]))
    if status in PASSING or status >= 500:
        return TransientFailure(message, wait_s=_asked_to_wait(error.response.headers))
    return _refused(status, message)


def _refused(status: int, said: str) -> LlmRefused:
    """The error for a request that is wrong in itself."""
    kind = BadRequest if status in (400, 422) else LlmRefused
    return kind(said, "Check llm.model in keeplore.yaml")


def _code_of(error: Any) -> str:
    """How the server names an error, "" where it does not."""
    return str(getattr(error, "code", None) or getattr(error, "type", None) or "")


def _asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds (RFC 9110, 10.2.3); None where there is none."""
    value = headers.get("retry-after", "")
    with contextlib.suppress(ValueError, OverflowError):
        seconds = float(value)
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max(
            (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0
        )
    return None


def _has_begun(error: BaseException) -> bool:
    """Whether the server may have read the request before it was given up."""
    return type(error.__cause__).__name__ not in (
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
    )
