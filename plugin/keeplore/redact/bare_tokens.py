"""Tokens of nobody's known format: what is so random that no person wrote it and no tool needs it
to be read.
"""

from __future__ import annotations

import base64
import binascii
import re
import string

from keeplore.redact.placeholders import is_placeholder
from keeplore.redact.randomness import entropy, is_sequence
from keeplore.redact.secret_checks import SecretCandidate, password_in_prose
from keeplore.redact.value_shapes import TIMED_ID

Span = tuple[int, int]
# characters of a run: after a prefix, alone, alone in one case
MIN_NAMED, MIN_BARE, MIN_ONE_CASE = 20, 32, 40
ID_DIGITS = 50  # of the ids that OpenAI gives to messages and calls
MAX_TOKEN = 300  # characters; what is longer is a file's content
MAX_OTHERS = 0.2  # of the bytes of a text are no ASCII; of random ones 62 %
TOLD_BYTES = 72  # after a word for a password in which one may follow
TOKEN_BYTES = 80  # of such a one

_TOKEN_BYTES = (string.ascii_letters + string.digits + "_-.~+/=%$:").encode()
_DIGITS = frozenset(string.digits.encode())
_RUN = re.compile(r"[A-Za-z0-9]+")
_PREFIX = re.compile(
    r"^[A-Za-z][A-Za-z0-9]{0,14}(?:[_\-.~:$][A-Za-z0-9]{0,14}){0,4}[_\-.~:$]+$"
)
# ids, digests and names of things that look as random as secrets and are none
_OTHER = re.compile(
    r"""(?:[_-](?:msg|toolu|call|req|run|id)_)|^(?:toolu|tool|msg|call|req|resp?|rs|fc|run|thread
      |asst|file|chatcmpl|gen|item|evt|event|cus|sub|pi|pm|price|prod
    |acct|ch|txn|seti|cs|in|il|si|step|vs|batch|env|ses|sess|session|prt|user|usr|org|team|proj
        |ws|chunk|index|main|vendor
    |bundle|assets?|sha\d*|sha-?\d+|md5|blake\w*|h1|crc\w*|etag|commit|tree|blob|rev|node|image
        |img|tmp|temp|cache|build
    |hash|integrity|digest|checksum|uuid|guid|id|v\d+|css|jsx?|kwDO\w*|ssh|ed25519|arn|urn|http
        |https
    |data|image)[_\-.:=]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PUBLIC = re.compile(
    r"^(?:AAAA[BCE]|Qm|baf|MII[A-Z]|[A-Z]{1,4}_kw|pk[_.-]|data:|base64|iVBOR|"
    r"0x)|sha\d{3}-|/{2}|\.\w{1,4}$"
)
_PUBLIC_BLOCK = re.compile(
    rb"-----BEGIN (?:CERTIFICATE|PUBLIC|RSA PUBLIC|SSH|PGP (?:MESSAGE|PUBLIC|SIGNATURE))|"
    rb"base64,\s*$"
)
_PRINTED = bytes(range(32, 127)) + b"\t\r\n"
_AS_LINES = bytes(c if c in _PRINTED else 10 for c in range(256))
_MAIL_HOST = re.compile(rb"@(?:[\w-]{1,63}\.){1,6}[A-Za-z]{2,}")
_HEX = re.compile(r"^[0-9a-f]+$|^[0-9A-F]+$")
_PIECES = re.compile(r"[0-9]+|[A-Z]?[a-z]+|[A-Z]+")  # of a name they are words
_FIRST = re.compile(
    r"^[A-Za-z][A-Za-z0-9]{0,14}(?:[_\-.~:$][A-Za-z]{1,14}(?=[_\-.~:$])){0,3}[_\-.~:$]+"
)
_ASSIGNED = re.compile(r"^(?:[A-Za-z_][\w.\-]{0,40}?(?:=|:{1,2}(?!//)))+(?=\S{20})")
_SEPARATORS = re.compile(r"[_\-.~+/=%$:]")
_ASCII_TOKEN = re.compile(rb"[!-~]{5,%d}" % TOKEN_BYTES)
_QUOTES = "\"'`([{<*.,;:!?)]}>|"


def bare(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """The token around a long run of letters and digits, where that is random enough for what
    stands before it.
    """
    start, end = match
    if start < examined:
        return [], examined
    if not _is_mixed_run(data[start:end]):
        return [], end
    left, right = _token_around(data, start, end)
    text = data[left:right].decode("ascii").rstrip(".:/-,")
    if _OTHER.search(text):
        return [], right
    if name := _ASSIGNED.match(text):
        left, text = left + name.end(), text[name.end() :]
    found = [(left, left + len(text))] if _is_secret(data, left, text) else []
    return found, right


def _is_mixed_run(run: bytes) -> bool:
    """Whether digits stand among letters."""
    return any(c in _DIGITS for c in run) and not run.isdigit()


def _is_secret(data: bytes, at: int, text: str) -> bool:
    """Whether the text at a place is a token, and none of a block that is meant for all."""
    if len(text) > MAX_TOKEN - 20 or not is_token(text) or is_text(text):
        return False
    if _MAIL_HOST.match(data, at + len(text)):
        return False
    return not _PUBLIC_BLOCK.search(data, max(0, at - 2048), at)


def is_text(packed: str) -> bool:
    """True for base64 of text, whose secrets are looked for when it is read."""
    whole = packed[: len(packed) // 4 * 4]
    return len(decoded_base64(whole.encode("ascii", "replace"))) >= 12


def decoded_base64(packed: bytes) -> bytes:
    """What base64 says where most of it is text, line ends for the rest; ``b""`` otherwise."""
    try:
        plain = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        return b""
    others = len(plain.translate(None, _PRINTED))
    return plain.translate(_AS_LINES) if others <= MAX_OTHERS * len(plain) else b""


def _token_around(data: bytes, start: int, end: int) -> Span:
    """The whole token that a run is part of, at most MAX_TOKEN bytes to either side."""
    before = data[max(0, start - MAX_TOKEN) : start]
    behind = data[end : end + MAX_TOKEN]
    left = start - len(before) + len(before.rstrip(_TOKEN_BYTES))
    right = end + len(behind) - len(behind.lstrip(_TOKEN_BYTES))
    return left + is_diff_mark(data, left), right


def is_diff_mark(data: bytes, place: int) -> bool:
    """Is this the plus at the beginning of a line that a diff adds?"""
    return data.startswith(b"+", place) and (
        place == 0 or data[place - 1 : place] == b"\n"
    )


def is_token(text: str) -> bool:
    """True for a random string, less of it being needed where it begins as vendors let their tokens
    begin.
    """
    if _is_harmless(text):
        return False
    run = max(_RUN.finditer(text), key=lambda m: len(m[0]), default=None)
    if run is None:
        return False
    prefix = text[: run.start()]
    if _PREFIX.match(prefix) and _is_hex_key(prefix, run[0]):
        return True
    first = _FIRST.match(text)
    if first and first.end() < len(text) and "/" not in first[0]:
        rest = _SEPARATORS.sub("", text[first.end() :])
        return _is_random(rest, MIN_NAMED, MIN_NAMED + 4)
    return "/" not in text and _is_random(run[0], MIN_BARE, MIN_ONE_CASE)


def _is_harmless(text: str) -> bool:
    """Whether a text is public by its form, or an example, or a path."""
    is_known = (
        TIMED_ID.match(text)
        or _PUBLIC.search(text)
        or _OTHER.search(text)
        or is_placeholder(text)
    )
    return bool(is_known) or text.count("/") > 3


def _is_random(run: str, mixed: int, one_case: int) -> bool:
    if _HEX.match(run) or is_sequence(run) or sum(c.isdigit() for c in run) < 2:
        return False
    is_one_case = run.isupper() or run.islower()
    least, longest = (one_case, 3.3) if is_one_case else (mixed, 2.9)
    return (
        len(run) >= least
        and longest * len(_PIECES.findall(run)) >= len(run)
        and entropy(run) >= 3.5
    )


def _is_hex_key(prefix: str, run: str) -> bool:
    """Whether a run of hex digits is a key by its prefix: those of keys are short and end in an
    underscore. What names a digest was left out before.
    """
    return (
        bool(_HEX.match(run))
        and len(run) >= 32
        and len(run) != ID_DIGITS
        and prefix[-1] == "_"
        and len(prefix) <= 10
        and prefix.islower()
    )


def announced_password(
    data: bytes, match: Span, examined: int
) -> tuple[list[Span], int]:
    """What looks like a password soon after a word for it, on the same line and in whatever
    language.
    """
    stop = min(len(data), match[1] + TOLD_BYTES)
    line_end = data.find(b"\n", match[1], stop)
    stop = line_end if line_end >= 0 else stop
    for token in _ASCII_TOKEN.finditer(
        data, max(match[1], examined), stop + TOKEN_BYTES
    ):
        if token.start() >= stop:
            break
        raw = token[0].decode()
        text = raw.lstrip(_QUOTES)
        if length := _password_length(text):
            begin = token.start() + len(raw) - len(text)
            return [(begin, begin + length)], token.end()
    return [], stop


def _password_length(text: str) -> int:
    """Characters of the password with which a text begins, 0 for none; a call is none."""
    candidate = SecretCandidate(key="password", gap=": ", value=text, after=" ")
    length = password_in_prose(candidate)
    is_call = re.match(r"[A-Za-z_]+[(\[=/]|.*[a-z]\(", text)
    return length if length >= 5 and not is_call else 0
