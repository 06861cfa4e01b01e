"""One page over the network: bounded in bytes and seconds, and never from this machine or the
network around it.
"""

from __future__ import annotations

import contextlib
import functools
import queue
import socket
import ssl
import threading
import time
import urllib.parse
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpcore

from keeplore.errors import SourceRefused, SourceUnavailable
from keeplore.ingest.document_body import too_large
from keeplore.ingest.public_addresses import is_public
from keeplore.ingest.source_address import PORTS, web_address

MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_AGENT = "keeplore (a page that a person asked to keep)"
_ACCEPT = (
    "text/html, text/markdown, text/plain, application/pdf, application/json, "
    "application/xml, */*;q=0.5"
)
_PIECE = 65_536  # bytes
_BY_HAND = "Open it in a browser, save it, and give the file"
_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)

Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Page:
    data: bytes
    content_type: str  # as the server says it, "" where it says nothing


@dataclass(frozen=True, slots=True)
class Limits:
    """``is_allowed`` says which addresses may be connected to, ``resolve`` gives the addresses of a
    host.
    """

    max_bytes: int
    seconds: float
    is_allowed: Callable[[str], bool] = is_public
    resolve: Resolve | None = None


def fetch(url: str, limits: Limits) -> Page:
    """The page at a URL in the spelling of ``web_address``, redirects followed.

    No proxy, cookie or password of the environment is used: through a proxy the address could not
    be checked. Raises SourceRefused for what will never be taken, SourceUnavailable where it may
    work later.
    """
    until = time.monotonic() + limits.seconds
    with (
        _Door(limits, until) as door,
        httpcore.ConnectionPool(_tls(), network_backend=door) as pool,
    ):
        for _ in range(MAX_REDIRECTS + 1):
            try:
                found = _get(pool, url, limits.max_bytes, until)
            except (*_ERRORS, ssl.SSLError, OSError) as e:
                raise _unavailable(url, e, is_late=_is_late(e, until)) from e
            if isinstance(found, Page):
                return found
            _check_encrypted(url, found)
            url = found
    raise SourceRefused(
        f"{url} is reached after more than {MAX_REDIRECTS} redirects", _BY_HAND
    )


def _is_late(error: Exception, until: float) -> bool:
    """Whether an error came because the time is up."""
    is_timeout = isinstance(error, httpcore.TimeoutException)
    return is_timeout or time.monotonic() >= until


def _check_encrypted(url: str, target: str) -> None:
    """Refuse (SourceRefused) to follow an encrypted page to one that is not."""
    if url.startswith("https:") and target.startswith("http:"):
        raise SourceRefused(
            f"{url} leads to {target}, which is not encrypted",
            "Give that address itself",
        )


def _get(
    pool: httpcore.ConnectionPool, url: str, max_bytes: int, until: float
) -> Page | str:
    """The page, or where it is instead."""
    address, headers = _request(urllib.parse.urlsplit(url))
    limits = {"timeout": _timeouts(until)}
    with pool.stream("GET", address, headers=headers, extensions=limits) as response:
        said = _headers_of(response)
        if response.status in _REDIRECTS and "location" in said:
            return web_address(said["location"], url)
        if response.status != 200:
            raise _bad_status(url, response.status)
        body = _body(response.iter_stream(), said, max_bytes, until)
        return Page(body, said.get("content-type", ""))


def _timeouts(until: float) -> dict[str, float]:
    """How httpcore is told when to give up."""
    return dict.fromkeys(("connect", "read", "write", "pool"), _seconds_left(until))


def _seconds_left(until: float) -> float:
    """Seconds until then; a little where none are left, since 0 means no limit to some."""
    return max(until - time.monotonic(), 0.01)


def _headers_of(response: httpcore.Response) -> dict[str, str]:
    """The headers of a response, their names in small letters."""
    return {
        name.lower().decode("latin-1"): value.decode("utf-8", "replace")
        for name, value in response.headers
    }


def _request(
    parts: urllib.parse.SplitResult,
) -> tuple[httpcore.URL, list[tuple[str, str]]]:
    # built from its parts, so that no second parser reads the text of the URL in another way
    address = httpcore.URL(
        scheme=parts.scheme.encode(),
        host=(parts.hostname or "").encode(),
        port=parts.port or PORTS[parts.scheme],
        target=f"{parts.path}{f'?{parts.query}' if parts.query else ''}".encode(),
    )
    headers = [
        ("Host", parts.netloc),
        ("User-Agent", _AGENT),
        ("Accept", _ACCEPT),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
    ]
    return address, headers


def _body(
    pieces: Iterable[bytes], headers: dict[str, str], max_bytes: int, until: float
) -> bytes:
    """The bytes of a page. Raises SourceRefused for too many, ReadTimeout where the time is up."""
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > max_bytes:
        raise too_large(max_bytes)
    body = bytearray()
    for piece in _unpack_pieces(pieces, max_bytes) if _is_packed(headers) else pieces:
        body += piece
        if len(body) > max_bytes:
            raise too_large(max_bytes)
    # a page without a length ends where the socket is shut, which is done when the time is up
    if time.monotonic() > until:
        raise httpcore.ReadTimeout("the time is up")
    return bytes(body)


def _is_packed(headers: dict[str, str]) -> bool:
    """Whether a page comes as gzip. Raises SourceRefused for another way of packing."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", ""):
        raise SourceRefused(
            f"the server sends the page packed as {encoding!r}, which nobody asked for",
            _BY_HAND,
        )
    return "gzip" in encoding


def _unpack_pieces(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """Unpack piece by piece: a bomb of 10 GB never takes more memory than a piece."""
    packer, taken = zlib.decompressobj(wbits=31), 0
    try:
        for piece in pieces:
            taken += len(piece)
            if taken > max_bytes:
                raise too_large(max_bytes)
            while piece and not packer.eof:
                yield packer.decompress(piece, _PIECE)
                piece = packer.unconsumed_tail  # noqa: PLW2901  # what is left of this one
    except zlib.error as e:
        raise SourceRefused(f"the page is packed wrongly: {e}", _BY_HAND) from e
    if not packer.eof:
        raise httpcore.ReadError("the page ends in the middle")


class _Door(httpcore.NetworkBackend):
    """Every connection: the host is looked up once, and the address that was checked is the one
    connected to.

    When the time is up all of its sockets are shut, so that neither a slow handshake nor a drip of
    bytes lasts longer.
    """

    def __init__(self, limits: Limits, until: float) -> None:
        self._limits = limits
        self._until = until
        self._open: list[socket.socket] = []
        self._timer = threading.Timer(limits.seconds, self._shut)
        self._timer.daemon = True

    def __enter__(self) -> _Door:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()
        for opened in self._open:
            opened.close()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        problem: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in self._allowed_addresses(host, self._addresses(host, port)):
            left = _seconds_left(self._until)
            try:
                stream = httpcore.SyncBackend().connect_tcp(
                    address,
                    port,
                    min(left, timeout or left),
                    local_address,
                    socket_options,
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as e:
                problem = e
                continue
            # a copy of the handle: TLS takes the socket itself over
            self._open.append(stream.get_extra_info("socket").dup())
            return stream
        raise problem

    def _allowed_addresses(self, host: str, addresses: list[str]) -> list[str]:
        """The addresses of a host. Raises SourceRefused where one of them may not be connected to:
        one that is private among others that are not is how a name is made to lead inside.
        """
        for address in addresses:
            if not self._limits.is_allowed(address):
                where = host if host == address else f"{host} is at {address}, which"
                raise SourceRefused(
                    f"{where} is not on the public internet",
                    "Pages of this machine or its network are not fetched; save the page and give "
                    "the file",
                )
        return addresses

    def _addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a host, looked up in a thread: the system's look-up takes no time limit.
        Raises ConnectTimeout or ConnectError.
        """
        answers: queue.Queue[list[str] | Exception] = queue.Queue()

        def ask() -> None:
            try:
                answers.put((self._limits.resolve or _resolve)(host, port))
            except (OSError, UnicodeError) as e:
                answers.put(e)

        threading.Thread(target=ask, name="keeplore-lookup", daemon=True).start()
        try:
            answer = answers.get(timeout=_seconds_left(self._until))
        except queue.Empty:
            raise httpcore.ConnectTimeout(
                f"{host} is being looked up for too long"
            ) from None
        if isinstance(answer, Exception):
            why = str(answer) or type(answer).__name__
            raise httpcore.ConnectError(f"{host}: {why}") from answer
        return answer

    def _shut(self) -> None:
        for opened in self._open:
            with contextlib.suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@functools.cache
def _tls() -> ssl.SSLContext:
    """What the system trusts, and the list that comes along: a Python of its own may know
    neither.
    """
    import certifi  # here, because only a page over the network needs it

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _bad_status(url: str, status: int) -> SourceRefused | SourceUnavailable:
    if status in (408, 425, 429) or status >= 500:
        return SourceUnavailable(f"{url} answers with {status}", "Try again later")
    reason = {
        401: "wants a login",
        403: "does not give it away",
        404: "has no such page",
        410: "has it no more",
    }
    return SourceRefused(
        f"{url}: the server {reason.get(status, 'gives no page')} ({status})", _BY_HAND
    )


def _unavailable(url: str, error: Exception, *, is_late: bool) -> SourceUnavailable:
    why = "it takes too long" if is_late else str(error)
    return SourceUnavailable(
        f"{url} cannot be fetched: {why}",
        "Try again later; where the network wants a proxy, save the page and give the file",
    )
