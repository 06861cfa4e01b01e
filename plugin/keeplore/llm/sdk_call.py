"""Asking a server over an SDK: a limit on time and on size, and what its errors mean to us.

Both SDKs have the same classes of errors under the same names. Of an error only its status and code
are passed on: what a server says may quote the conversation, which belongs into no log.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any, TypeVar

from keeplore.errors import LlmRefused, LlmUnavailable
from keeplore.llm.base import CHECK_S, MAX_ANSWER, TransientFailure, tokens
from keeplore_hooks.contracts import Usage

MAX_TOKENS = 10**9  # of one call, as a server may report it
PASSING = (408, 409, 425, 429)  # and every 5xx
SETUP: Mapping[int, str] = {
    401: "Set the key of that server in the environment of the worker",
    402: "Look into the account that pays for that server",
    403: "Set a key that may use this model",
    404: "Check llm.model and llm.base_url in keeplore.yaml, and that the server has this model",
}
SPENT = (
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
)  # a 429 that waiting does not mend
_POOR = "credit balance"  # how Anthropic says so, with a 400

_T = TypeVar("_T")


class BadRequest(LlmRefused):
    """The server does not take a request of this shape, or not this one at all."""


def within(seconds: float, call: Callable[[], _T]) -> _T:
    """What ``call`` gives, or TimeoutError: the timeouts of HTTP clients start anew with each byte
    that trickles in.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as e:  # noqa: BLE001  # raised again below, where somebody waits for it
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
    sdk: ModuleType, timeout_s: float, request: Callable[[], AbstractContextManager[Any]]
) -> Mapping[str, Any]:
    """The JSON object that a server answers. Raises Passing, LlmUnavailable, BadRequest and
    LlmRefused.
    """
    try:
        ends = time.monotonic() + timeout_s
        text = within(timeout_s, lambda: _read(request, ends))
    except (TimeoutError, sdk.APITimeoutError) as e:
        raise TransientFailure(f"no answer within {timeout_s:g} s", is_billed=_has_begun(e)) from e
    except sdk.APIStatusError as e:
        raise _of_status(e) from e
    except sdk.APIConnectionError as e:
        raise TransientFailure("the server cannot be reached", is_billed=_has_begun(e)) from e
    except LlmRefused:
        raise
    except (
        Exception
    ) as e:  # the SDKs let out what their HTTP client raises while the answer is read
        raise TransientFailure("the answer broke off", is_billed=True) from e
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        if text.lstrip().startswith(b"{"):
            raise TransientFailure("the answer broke off", is_billed=True) from e
        raise LlmUnavailable("what answers there is no model server", SETUP[404]) from e
    return data if isinstance(data, dict) else {}


def in_some_shape(shapes: list[_T], ask: Callable[[_T], Mapping[str, Any]]) -> Mapping[str, Any]:
    """The answer to a request in the first shape that the server takes; that one is the first from
    then on.

    Raises what ``ask`` raises, BadRequest where the server takes none. A request that is refused
    costs nothing.
    """
    for shape in list(shapes):
        try:
            answer = ask(shape)
        except BadRequest as e:
            refusal = e
        else:
            shapes.sort(key=lambda other: other != shape)
            return answer
    raise refusal


def reachable(sdk: ModuleType, request: Callable[[], AbstractContextManager[Any]]) -> str:
    """Whether the server lists its models: "" or why not. One that has no such list is there all
    the same.
    """
    try:
        fetch(sdk, CHECK_S, request)
    except TransientFailure as e:
        return e.message
    except LlmUnavailable as e:
        return "" if getattr(e.__cause__, "status_code", 0) == 404 else str(e)
    except LlmRefused:
        return ""
    return ""


def usage_of(reported: tuple[Any, Any, Any], asked: str, answered: str) -> Usage:
    """Input, output and cached tokens as a server reports them, where it does so plausibly, else an
    estimate.
    """
    read, written, cached = (
        value if type(value) is int and 0 <= value <= MAX_TOKENS else -1 for value in reported
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
            if (
                time.monotonic() > ends
            ):  # nobody waits any more: the thread must not live as long as bytes trickle in
                raise TimeoutError
            if size > MAX_ANSWER:
                raise LlmRefused(
                    f"the answer is larger than {MAX_ANSWER:,} bytes",
                    "Check the server at llm.base_url",
                )
    return b"".join(parts)


def _of_status(error: Any) -> LlmUnavailable | LlmRefused:
    status = int(error.status_code)
    code = str(getattr(error, "code", None) or getattr(error, "type", None) or "")
    said = f"the server says {status}" + (
        f" ({code})" if re.fullmatch(r"[a-z_]{1,60}", code) else ""
    )
    if code in SPENT or _POOR in str(error).lower():
        return LlmUnavailable(said, SETUP[402])
    if status in SETUP or 300 <= status < 400:  # an address that has moved is one to set
        return LlmUnavailable(said, SETUP.get(status, SETUP[404]))
    if status in PASSING or status >= 500:
        return TransientFailure(said, wait_s=_asked_to_wait(error.response.headers))
    kind = BadRequest if status in (400, 422) else LlmRefused
    return kind(said, "Check llm.model in keeplore.yaml")


def _asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds (RFC 9110, 10.2.3); None where there is none."""
    value = headers.get("retry-after", "")
    with contextlib.suppress(ValueError, OverflowError):
        seconds = float(value)
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    return None


def _has_begun(error: BaseException) -> bool:
    """Whether the server may have read the request before it was given up."""
    return type(error.__cause__).__name__ not in ("ConnectError", "ConnectTimeout", "PoolTimeout")
