"""The section ``index`` of ``keeplore.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlsplit

from keeplore.config.consent import MAX_URL

_BACKEND = re.compile(r"[a-z0-9-]{1,40}\Z")
_ENGINE_NAME = re.compile(r"[a-z0-9_]{1,40}\Z")
# of libpq: none that names a file or a secret
_ENGINE_OPTIONS = {"host", "port", "sslmode", "target_session_attrs"}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What searches the passages: ``embedded`` on each machine, or a server that the machines of a
    team share.
    """

    backend: str = "embedded"
    url: str = ""
    name: str = ""


def check_engine(engine: EngineSettings) -> None:
    """Raise ValueError, with the key and what it should be, for settings that no engine
    can have.
    """
    if not _BACKEND.match(engine.backend):
        raise ValueError(
            "index.backend: it should be small letters, digits and -, 40 at most"
        )
    if engine.backend == EngineSettings().backend:
        return
    if not engine.name:
        raise ValueError(
            f"index.backend: {engine.backend} needs index.name and index.url, set before it"
        )
    if not _ENGINE_NAME.match(engine.name):
        raise ValueError(
            "index.name: it should be small letters, digits and _, 40 at most, and none other's "
            "there"
        )
    for url in engine.url.split(","):
        parts = urlsplit(url)  # raises ValueError
        if (
            len(engine.url) > MAX_URL
            or not engine.url.isascii()
            or not engine.url.isprintable()
            or " " in url
        ):
            raise ValueError(
                f"index.url: it should be an address of {MAX_URL} plain characters at most"
            )
        _check_address(parts)


def _check_address(address: SplitResult) -> None:
    if not address.scheme:
        raise ValueError(
            "index.url: it should be an address like postgresql://db.example.com/keeplore"
        )
    if address.password or not set(dict(parse_qsl(address.query))) <= _ENGINE_OPTIONS:
        raise ValueError(
            "index.url: passwords and keys belong into the environment, see docs/scaling.md"
        )
