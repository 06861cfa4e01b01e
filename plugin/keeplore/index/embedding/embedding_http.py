"""One request to an ``/embeddings`` server over HTTP, and an answer that is believed only when it
is whole.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import random
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from keeplore import __version__

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

CONNECT_S = 2.0
MAX_DIM = 16_384
NUMBER = 32  # bytes of one as JSON, at most
MAX_MESSAGE = 200  # characters of what a server says about a failure
BACKOFF_S = (1.0, 30.0)  # between tries: first and longest
LATER = (408, 429, 502, 503, 504)  # too busy, or still starting
OUTSIDE = (401, 403, 404)  # what does not pass by itself: key, right, model


class ServerBusy(Exception):
    """Nobody answers, or not now: try later, after ``wait_s`` where the server says so."""

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class ServerTimeout(ServerBusy):
    """No answer in time: asking at once again would only take as long."""


class ServerMisconfigured(Exception):
    """The server will not answer before a person has mended something."""


class TextsRefused(Exception):
    """Something in these texts, perhaps; others may go."""


class EmbeddingClient:
    """Thread-safe. ``is_direct``: never by a proxy, nor by any other wish of the environment."""

    def __init__(self, url: str, *, is_direct: bool) -> None:
        self._url = url
        self._is_direct = is_direct
        self._mutex = threading.Lock()
        self._made: httpx.Client | None = None

    def vectors(
        self, body: dict[str, Any], key: str, timeout_s: float, tries: int
    ) -> NDArray[np.float32]:
        """The vectors of ``body["input"]`` as float32, (n, dim), L2-normalised.

        Raises ServerBusy, ServerMisconfigured or TextsRefused, each of which says what the server
        did.
        """
        for left in reversed(range(tries)):
            try:
                return _parsed_vectors(
                    self._answer(body, key, timeout_s), len(body["input"])
                )
            except ServerTimeout:
                raise
            except ServerBusy as e:
                if not left:
                    raise
                wait_s = min(BACKOFF_S[0] * 2 ** (tries - 1 - left), BACKOFF_S[1])
                time.sleep(e.wait_s or wait_s * random.uniform(0.5, 1.0))  # noqa: S311  # no secret
        raise AssertionError("a request is tried once at least")

    def _answer(self, body: dict[str, Any], key: str, timeout_s: float) -> bytes:
        """The body of the server's answer. Raises what ``_check`` does, ServerTimeout and
        ServerBusy.
        """
        # here, because it costs 130 ms, and most machines have their model on the disk
        import httpx

        most = 65_536 + len(body["input"]) * MAX_DIM * NUMBER
        until = time.monotonic() + timeout_s
        limits = httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        late = ServerTimeout(f"took longer than {timeout_s:.0f} seconds")
        try:
            with self._client().stream(
                "POST", self._url, json=body, headers=headers, timeout=limits
            ) as response:
                data = _body(response, most, until, late)
                _check(response, data)
                return data
        except httpx.TimeoutException as e:
            raise late from e
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as e:
            raise ServerBusy(
                f"cannot be reached: {_printable(str(e)) or type(e).__name__}"
            ) from e

    def _client(self) -> httpx.Client:
        import httpx  # here, as above

        with self._mutex:
            if self._made is None:
                # it would note every request
                logging.getLogger("httpx").setLevel(logging.WARNING)
                self._made = httpx.Client(
                    # text goes to the server that was accepted, and to no other
                    follow_redirects=False,
                    trust_env=not self._is_direct,
                    headers={
                        "User-Agent": f"keeplore/{__version__}",
                        "Accept-Encoding": "identity",
                    },
                )
                weakref.finalize(self, self._made.close)
            return self._made


def _body(
    response: httpx.Response, most: int, until: float, late: ServerTimeout
) -> bytes:
    data = bytearray()
    for chunk in response.iter_raw():
        data += chunk
        if len(data) > most:
            raise ServerMisconfigured("sends more than any vectors take")
        if time.monotonic() > until:
            raise late
    return bytes(data)


def _check(response: httpx.Response, data: bytes) -> None:
    """Raise the error that fits an answer without vectors: try later, mend the server, or change
    the texts.
    """
    status = response.status_code
    if status == 200:
        # could be small here and huge later
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ServerMisconfigured("sends packed answers, which were not asked for")
        return
    message = f"answers {status}: {_message(data)}"
    if status in LATER:
        raise ServerBusy(message, _wait_s(response.headers.get("retry-after", "")))
    if status in OUTSIDE or status < 400:
        raise ServerMisconfigured(message)
    raise TextsRefused(message)


def _wait_s(after: str) -> float:
    """What a server asks for in whole seconds; 0.0 where it does not, or wants too much."""
    return (
        float(after)
        if after.isascii() and after.isdigit() and int(after[:6]) <= BACKOFF_S[1]
        else 0.0
    )


def _message(data: bytes) -> str:
    """What a server says is wrong, as a line of plain text."""
    try:
        found = json.loads(data[:65_536])
        error = found.get("error", found.get("detail", ""))
        text = error.get("message", "") if isinstance(error, dict) else error
    except (ValueError, AttributeError, RecursionError):
        text = ""
    return _printable(str(text)) or "no reason given"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:MAX_MESSAGE].strip()


def _parsed_vectors(data: bytes, count: int) -> NDArray[np.float32]:
    import numpy as np  # here, because whoever never reaches a server needs none

    try:
        rows = json.loads(data)["data"]
        found = [_numbers(row["embedding"]) for row in _in_order(rows, count)]
        sizes = {len(row) for row in found}
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as e:
        raise ServerMisconfigured("answers with something that holds no vectors") from e
    if len(sizes) != 1 or not 0 < min(sizes) <= MAX_DIM:
        raise ServerMisconfigured(f"gives vectors of {sorted(sizes)[:3]} numbers")
    return _normalised(np.asarray(found, dtype=np.float32))


def _in_order(rows: Any, count: int) -> list[Any]:
    """The rows by their numbers, which may be missing."""
    if len(rows) != count:
        raise ServerMisconfigured(f"gives {len(rows)} vectors for {count} texts")
    ordered = sorted(rows, key=lambda row: row.get("index", 0))
    numbers = [row.get("index", place) for place, row in enumerate(ordered)]
    if numbers != list(range(count)):
        raise ServerMisconfigured("numbers its vectors wrongly")
    return ordered


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors with length 1. Raises TextsRefused for one that has no direction."""
    import numpy as np  # here, as above

    norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not (norms > 0).all():
        raise TextsRefused("gives a vector that points nowhere")
    normalised: NDArray[np.float32] = (vectors / norms).astype(np.float32)
    return normalised


def _numbers(given: Any) -> NDArray[np.float32]:
    """A vector as a list of numbers, or as OpenAI packs them: base64 of float32, little endian."""
    import numpy as np  # here, as above

    if isinstance(given, str):
        try:
            return np.frombuffer(base64.b64decode(given, validate=True), "<f4")
        except binascii.Error as e:
            raise ValueError("no base64") from e
    if not isinstance(given, list) or not all(
        type(number) in (int, float) for number in given
    ):
        raise ValueError("no numbers")
    return np.array(given, np.float32)
