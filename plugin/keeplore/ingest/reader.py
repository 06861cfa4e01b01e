"""From a source to its text: bytes, what kind they are, and the reader of that kind."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from pathlib import Path

from keeplore.config.settings import DocumentSettings
from keeplore.errors import Corrupt, SourceRefused, SourceUnavailable
from keeplore.ingest.decode import charset_of, decoded, library_missing
from keeplore.ingest.document_body import Extracted, tidied_extract, too_large
from keeplore.ingest.json_outline import from_json, outline, title_in
from keeplore.ingest.markup import READERS
from keeplore.ingest.sandbox import extracted_in_sandbox
from keeplore.ingest.source_address import SourceAddress
from keeplore.memory.foreign_files import as_memory

_KINDS = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".xml", ".rss", ".atom", ".xsd", ".svg", ".rdf"), "xml"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson", ".jsonld"), "json"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    ".pdf": "pdf",
}
_TYPES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/xml": "xml",
    "application/xml": "xml",
    "application/json": "json",
    "text/json": "json",
    "application/x-ndjson": "json",
    "application/pdf": "pdf",
    "text/markdown": "markdown",
}
_SNIFFED = 1_024  # bytes
# a small file that git LFS leaves in the place of another
_LFS_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\s(?:[^\n]*\n)*?oid sha256:[0-9a-f]{64}\s"
)
_IS_HTML = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)


def extracted(origin: SourceAddress, limits: DocumentSettings) -> Extracted:
    """Title and markdown of a file or page, as it is kept; ``limits`` hold for the unpacked source,
    and from the first look-up to its text.

    Raises SourceRefused for what will never be taken as it is, SourceUnavailable where it may work
    later, or OSError.
    """
    until = time.monotonic() + limits.seconds
    if not origin.is_url:
        return text_of(_file(Path(origin.name), limits.bytes), "", origin.last, until)
    try:
        # here, because files need no network
        from keeplore.ingest.fetch import Limits, fetch
    except ImportError:
        raise library_missing("a web page", "pages") from None

    page = fetch(origin.name, Limits(limits.bytes, limits.seconds))
    return text_of(page.data, page.content_type, origin.last, until)


def text_of(data: bytes, content_type: str, name: str, until: float) -> Extracted:
    """The text in these bytes; ``name`` is what stands for a title, ``until`` a time of the
    monotonic clock.
    """
    if _LFS_POINTER.match(data[:_SNIFFED]):
        raise SourceRefused(
            "git LFS has only a pointer to it here",
            "Run `git lfs pull` there, then ingest it again",
        )
    kind = kind_of(data, content_type, name)
    if kind in READERS:
        left = until - time.monotonic()
        if left <= 0:
            raise SourceUnavailable(
                "there is no time left to read it", "Try again later"
            )
        found = extracted_in_sandbox(kind, data, content_type, left)
    else:
        found = _plain_extract(kind, decoded(data, charset_of(content_type)), name)
    return tidied_extract(found, name)


def kind_of(data: bytes, content_type: str, name: str) -> str:
    """html, xml, json, pdf, markdown or text: by its first bytes, what a server says, its name."""
    start = data[:_SNIFFED].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"%PDF-"):
        return "pdf"
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 (a URL's last part is no path)
    kind = _kind_stated(content_type) or _KINDS.get(suffix, "")
    if kind in ("", "xml") and _IS_HTML.search(start):
        return "html"
    if kind == "pdf":  # named so, and none
        return "text"
    return kind or ("xml" if start.startswith(b"<?xml") else "text")


def _kind_stated(content_type: str) -> str:
    """The kind of source that a server states, "" for none that is known."""
    stated = content_type.partition(";")[0].strip().lower()
    if stated in _TYPES:
        return _TYPES[stated]
    if stated.endswith("+json"):
        return "json"
    return "xml" if stated.endswith("+xml") else ""


def _plain_extract(kind: str, text: str, name: str) -> Extracted:
    if kind == "json":
        value = from_json(text)
        return Extracted(title_in(value), outline(value))
    if kind == "markdown" and text.strip():
        # what its front matter states of trust or place is not believed
        with contextlib.suppress(Corrupt):
            read = as_memory(text.lstrip("\n"), f"memory/documents/{name}")
            return Extracted(read.title, read.body)
    return Extracted("", text)


def _file(path: Path, most: int) -> bytes:
    handle = _open_source(path)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SourceRefused(
                f"{path} is no file",
                "Give its files one by one: `keeplore ingest docs/*.md`",
            )
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(handle)
    if len(data) > most:
        raise too_large(most)
    return data


def _open_source(path: Path) -> int:
    """A file's handle. Raises SourceRefused."""
    try:
        # O_NONBLOCK: opening a FIFO would wait for its writer
        return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError) as e:
        raise SourceRefused(
            "there is no such file",
            "Give the path of a file, or a URL that begins with https://",
        ) from e
