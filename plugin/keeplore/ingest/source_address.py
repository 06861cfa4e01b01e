"""What a person names as a source: a file, or the address of a page, in one spelling."""

from __future__ import annotations

import re
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import SourceRefused

PORTS = {"http": 80, "https": 443}
MAX_URL = 2_000  # characters
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\\)")
_NOT_IN_URLS = re.compile(r"[\s\\\x00-\x20\x7f]")
# how Python shows bytes of a name that are no UTF-8
_NO_TEXT = re.compile("[\ud800-\udfff]")
_SAFE = "/:?#[]@!$&'()*+,;=%~-._"
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?\Z|\[[0-9a-f:.]+\]\Z")
_REMEDY = "Give the address of a page as `https://host/path`, or the path of a file"


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """``name`` is the URL, or the absolute path of the file."""

    name: str
    is_url: bool

    @property
    def last(self) -> str:
        """What it is called where it says nothing of itself: the file, the last part of a URL's
        path, or its host.
        """
        if not self.is_url:
            return Path(self.name).name
        parts = urllib.parse.urlsplit(self.name)
        return (
            urllib.parse.unquote(parts.path.rstrip("/").rpartition("/")[2])
            or parts.netloc
        )


def origin_of(text: str, cwd: Path, home: Path) -> SourceAddress:
    """The source that a person means. Raises SourceRefused for an address that is none of
    the web.
    """
    scheme = _SCHEME.match(text)
    # a drive of Windows has one letter
    if scheme and len(scheme[1]) > 1 and not (cwd / text).exists():
        return SourceAddress(web_address(text), is_url=True)
    path = home / text[2:] if text.startswith("~/") else cwd / text
    name = str(path.resolve())
    if _NO_TEXT.search(name):
        raise SourceRefused(f"{name!r} is a name that is no text", "Rename the file")
    return SourceAddress(name, is_url=False)


def web_address(text: str, base: str = "") -> str:
    """An absolute URL in one spelling: ASCII, host in lower case, no default port, no fragment.

    ``base`` is the page that names it. Raises SourceRefused for anything but http and https, for
    credentials, and for what two programs may read differently.
    """
    try:
        whole = urllib.parse.urljoin(base, text) if base else text
        parts = urllib.parse.urlsplit(whole)
        port, host = parts.port, _host(parts.hostname or "")
    except ValueError as e:  # UnicodeError is one
        raise _no_address(text, f": {e}") from e
    _check_access(parts)
    _check_characters(text, host)
    place = host if port in (None, PORTS[parts.scheme]) else f"{host}:{port}"
    path, query = _percent_encoded(parts.path or "/"), _percent_encoded(parts.query)
    return urllib.parse.urlunsplit((parts.scheme, place, path, query, ""))


def _percent_encoded(text: str) -> str:
    """A part of an address with all in ASCII."""
    return urllib.parse.quote(text, safe=_SAFE)


def _no_address(text: str, why: str = "") -> SourceRefused:
    """The error for a text that is no address."""
    return SourceRefused(f"{text[:MAX_URL]!r} is no address of a page{why}", _REMEDY)


def _check_characters(text: str, host: str) -> None:
    """Refuse (SourceRefused) characters that no address of a page has."""
    has_strange = _NOT_IN_URLS.search(text.strip()) or not _HOST.match(host)
    if has_strange or len(text) > MAX_URL:
        raise _no_address(text)


def _check_access(parts: urllib.parse.SplitResult) -> None:
    """Refuse (SourceRefused) another scheme than the web's, and credentials."""
    if parts.scheme not in PORTS:
        raise SourceRefused(
            f"{parts.scheme or 'this'}: is no address of the web", _REMEDY
        )
    if parts.username is not None or parts.password is not None:
        raise SourceRefused(
            "the address holds a user or a password",
            "Leave out what stands before the @",
        )


def _host(name: str) -> str:
    """Lower case, ASCII, and an address of version 6 in brackets. Raises UnicodeError."""
    host = name.lower()
    if ":" in host:
        return f"[{host}]"
    return host if host.isascii() else host.encode("idna").decode().lower()
