"""Bytes → text, whoever wrote them: marks of order, what the source states, UTF-8, and then a
guess.
"""

from __future__ import annotations

import codecs
import re

from keeplore.config.install_method import install_hint
from keeplore.errors import SourceRefused

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
# other codecs of Python unpack or run what they are given
_ENCODINGS = re.compile(
    r"(?:utf|iso|windows|cp|latin|koi8|gb|big5|euc|shift|mac|us-ascii|ascii|johab|hz)",
    re.IGNORECASE,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SAMPLE = 65_536  # bytes that are looked at for a guess
# share of control characters in a text; a program or a picture has a tenth and more
_MAX_CONTROLS = 0.002


def library_missing(what: str, extra: str) -> SourceRefused:
    """The error where what reads a kind of source is not installed."""
    needed = f"{what} needs a library that is not installed"
    return SourceRefused(needed, install_hint(extra))


def charset_of(content_type: str) -> str:
    """The encoding that a content type names, "" for none."""
    found = _CHARSET.search(content_type)
    return found[1] if found else ""


def decoded(data: bytes, stated: str = "") -> str:
    """The text of these bytes, line ends LF; ``stated`` is the encoding that their source names.

    Raises SourceRefused for what is no text.
    """
    text = (
        _decode_strictly(data, _encoding_by_mark(data))
        or _decode_strictly(data, stated)
        or _decode_strictly(data, _utf16_without_mark(data))
    )
    if text is None and b"\0" not in data[:_SAMPLE]:
        text = _decode_strictly(data, "utf-8") or _guess_decoded(data)
    if text is None or _is_binary(text[:_SAMPLE]):
        raise SourceRefused(
            "that is no text, and no format that Keeplore reads",
            "Save it as text, markdown, HTML or PDF",
        )
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _is_binary(text: str) -> bool:
    """Whether a text has more control characters than people write."""
    return len(_CONTROLS.findall(text)) > max(2, _MAX_CONTROLS * len(text))


def _encoding_by_mark(data: bytes) -> str:
    return next((name for mark, name in _MARKS if data.startswith(mark)), "")


def _utf16_without_mark(data: bytes) -> str:
    """UTF-16 without a mark: in most scripts nearly every second byte is zero."""
    sample = data[:_SAMPLE]
    halves = sample[0::2].count(0), sample[1::2].count(0)
    if (
        len(sample) < 4
        or max(halves) < 0.3 * len(sample) / 2
        or min(halves) > 0.02 * len(sample)
    ):
        return ""
    return "utf-16-be" if halves[0] > halves[1] else "utf-16-le"


def _decode_strictly(data: bytes, encoding: str) -> str | None:
    if not _ENCODINGS.match(encoding):
        return None
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _guess_decoded(data: bytes) -> str | None:
    """The text in the encoding that fits best; None where none does."""
    try:
        # here, because nearly every text is UTF-8
        from charset_normalizer import from_bytes
    except ImportError:
        raise library_missing("text that is not UTF-8", "pages") from None
    best = from_bytes(data[:_SAMPLE]).best()
    # a few broken bytes in a text of UTF-8 are less harm than all of it in another alphabet
    broken = data.decode("utf-8", "replace")
    if broken[:_SAMPLE].count("\ufffd") <= 0.001 * len(broken[:_SAMPLE]):
        return broken
    return data.decode(best.encoding, "replace") if best else None
