"""How the worker is spoken to: one request a connection over a Unix socket, whose path stands in
``worker.addr``.

A request is the line ``KEEPLORE/1 <version> <operation> [<argument> …]`` and a payload up to the
end of the stream; a reply is its length in decimal, a line end, and the bytes. Whoever gets fewer
bytes than announced got no reply. The argument ``zone=<seconds>`` says how far the clocks of the
caller are from UTC.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from pathlib import Path
from typing import Any

from keeplore import __version__
from keeplore.config import installation

NAME = "KEEPLORE/1"
ADDRESS_FILE = "worker.addr"
ZONE_MARK = "zone="
MAX_REQUEST = 2 * 1024 * 1024  # bytes
MAX_HEADER = 512  # bytes
BACKLOG_S = 0.01  # between two attempts to connect
MAX_SOCKET_PATH = 100  # bytes; the systems allow 104 to 108


def ask(
    state: Path,
    operation: str,
    payload: dict[str, Any] | None = None,
    *,
    timeout_s: float,
) -> Any | None:
    """Ask the worker of this machine and return the decoded JSON; None where no worker answers in
    time.
    """
    # a worker that is older leaves for this version, which has to be known then
    with contextlib.suppress(OSError):
        installation.register_if_newer(state)
    try:
        address = (state / ADDRESS_FILE).read_text(encoding="utf-8").strip()
        body = b"" if payload is None else json.dumps(payload).encode()
        offset_s = time.localtime().tm_gmtoff
        request = (
            f"{NAME} {__version__} {operation} {ZONE_MARK}{offset_s}\n".encode() + body
        )
        length, _, data = _reply(address, request, timeout_s).partition(b"\n")
        return json.loads(data) if int(length) == len(data) else None
    except (OSError, ValueError, AttributeError):
        return None


def _reply(address: str, request: bytes, timeout_s: float) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        _connect(connection, address, time.monotonic() + timeout_s)
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return receive(connection, MAX_REQUEST * 8, timeout_s)


def _connect(connection: socket.socket, address: str, deadline: float) -> None:
    while True:
        try:
            return connection.connect(address)
        except BlockingIOError:  # too many wait for the worker already
            if time.monotonic() > deadline:
                raise
            time.sleep(BACKLOG_S)


def receive(connection: socket.socket, limit: int, timeout_s: float) -> bytes:
    """All bytes up to the end of the stream. Raises TimeoutError in time, ValueError beyond the
    limit.
    """
    deadline = time.monotonic() + timeout_s
    chunks: list[bytes] = []
    size = 0
    while True:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the other side was too slow")
        connection.settimeout(left_s)
        chunk = connection.recv(65536)
        if not chunk:
            return b"".join(chunks)
        size += len(chunk)
        if size > limit:
            raise ValueError(f"more than {limit} bytes")
        chunks.append(chunk)
