"""Which servers a person has accepted on this machine: ``accepted.json`` in the state directory.

``keeplore.yaml`` comes with every pull, so what it names is a stranger's text: memory is sent to a
server only after the person of this machine has said so, once for each workspace and use. Nothing
that is synced can say it for them.
"""

from __future__ import annotations

import contextlib
import json
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keeplore.errors import ConfigError
from keeplore_hooks import durable

FILE = "accepted.json"
SCHEMA = 1
MAX_FILE = 1024 * 1024  # bytes
MAX_URL = 500  # characters
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class ConsentUse(StrEnum):
    """What a server is accepted for; a yes to one use says nothing of another."""

    EMBEDDING = "embedding"
    INDEX = "index"
    LLM = "llm"


class Consents:
    """Read anew each time, so that a worker sees at once what a command has written."""

    def __init__(self, state: Path) -> None:
        self._file = state / FILE

    def has(self, root: Path, use: str, server: str) -> bool:
        """Whether this workspace's text may be sent to a server, given as ``server_of``
        writes it.
        """
        return _entry(root, use, server) in self._entries()

    def accept(self, root: Path, use: str, server: str) -> None:
        """Write down that the workspace at ``root`` may use this server. Raises OSError."""
        self._save([*self._entries(), _entry(root, use, server)])

    def withdraw(self, root: Path, use: str = "") -> None:
        """Accept no server of this workspace for this use any more, for none where it is "". Raises
        OSError.
        """
        gone = {"workspace": str(root.resolve()), **({"use": use} if use else {})}
        entries = self._entries()
        left = [entry for entry in entries if not gone.items() <= entry.items()]
        if left != entries:
            self._save(left)

    def _entries(self) -> list[dict[str, str]]:
        """What cannot be read accepts nothing."""
        with contextlib.suppress(
            OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError
        ):
            with self._file.open("rb") as file:
                entries: list[Any] = json.loads(file.read(MAX_FILE))["servers"]
            return [dict(entry.items()) for entry in entries]
        return []

    def _save(self, entries: list[dict[str, str]]) -> None:
        unique = {json.dumps(entry, sort_keys=True): entry for entry in entries}
        data = {"schema": SCHEMA, "servers": list(unique.values())}
        durable.make_private(self._file.parent)
        durable.write(
            self._file, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()
        )


def server_of(url: str) -> str:
    """The address of a server in one spelling: ``scheme://host:port/path``.

    Raises ConfigError for what is no plain http address: a name or password in it, a query, a
    space.
    """
    remedy = "Write it like https://models.example.com/v1; a key belongs into the environment"
    try:
        parts = urlsplit(url)
        usual = {"http": 80, "https": 443}[parts.scheme]
        port = usual if parts.port is None else parts.port
        host = parts.hostname or ""
    except (ValueError, KeyError):
        host, port = "", 0
    if not _is_plain(url) or not host or not port:
        raise ConfigError("that is not the address of a server", remedy)
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}{path}"


def _is_plain(url: str) -> bool:
    return (
        url.isascii()
        and url.isprintable()
        and not set(url) & set(" \\@?#\"'<>`")
        and len(url) <= MAX_URL
    )


def is_loopback(server: str) -> bool:
    """Whether an address is one of this machine itself."""
    return urlsplit(server).hostname in _LOOPBACK


def _entry(root: Path, use: str, server: str) -> dict[str, str]:
    return {"workspace": str(root.resolve()), "use": use, "server": server}
