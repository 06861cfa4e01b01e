"""Ids and file names: the only places a memory's text or metadata can influence a path."""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Mapping

from keeplore.errors import UnsafePath
from keeplore.memory.model import Memory, MemoryKind, Scope

SLUG_CHARS = 60
_ID = re.compile(r"mem_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
# Han and Hangul, written without spaces
_SYLLABLE = re.compile("[\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0002fa1f]")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
# ours alone; changing it changes every derived id
_NAMESPACE = uuid.UUID("b7a1f6de-0d5a-5f0e-9a52-6f2d0c9e4b11")
_PROJECT = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
# names that Windows reserves whatever their extension
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
)
FOLDERS: Mapping[str, str] = {
    "architectural-decisions": "decisions",
    "project-conventions": "conventions",
    "coding-preferences": "preferences",
    "user-facts": "facts",
    "corrections": "corrections",
    "patterns": "patterns",
    "gotchas": "gotchas",
    "infrastructure": "infrastructure",
    "security": "security",
}


def new_id(*parts: str) -> str:
    """A memory id; the same parts give the same id on every machine, no parts give a random one."""
    return (
        f"mem_{uuid.uuid5(_NAMESPACE, chr(31).join(parts)) if parts else uuid.uuid4()}"
    )


def is_id(text: str) -> bool:
    return bool(_ID.match(text))


def slugify(text: str, limit: int = SLUG_CHARS) -> str:
    """Lower-case ASCII words joined by ``-``, cut between words, never empty and never a reserved
    name.

    Letters of other scripts are transliterated, a syllable that is one character being a word.
    """
    words = re.findall(r"[a-z0-9]+", _ascii(text[: 4 * limit]).lower())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:limit]
        if len(longer) > limit:
            break
        slug = longer
    return f"{slug}-x" if slug in _RESERVED else slug or "untitled"


def _ascii(text: str) -> str:
    """The text in ASCII letters."""
    if text.isascii():
        return text
    folded = unicodedata.normalize(
        "NFC", unicodedata.normalize("NFKC", text).casefold()
    )
    letters = "".join(
        c if c.isascii() or c.isalpha() or unicodedata.combining(c) else " "
        for c in folded
    )
    # here, because it costs 5 ms and most text is in ASCII
    from anyascii import anyascii

    # a lone surrogate is no letter, so what is left can be transliterated
    return anyascii(_SYLLABLE.sub(r" \g<0> ", letters))


def is_project_name(text: str) -> bool:
    return (
        bool(_PROJECT.match(text))
        and text.split(".")[0] not in _RESERVED
        and not text.endswith(".")
    )


def file_name(memory: Memory) -> str:
    """``YYYY-MM-DD-<slug>-<id8>.md``."""
    _check_id(memory)
    return f"{'-'.join(_date(memory))}-{slugify(memory.title)}-{memory.id[4:12]}.md"


def relative_path(memory: Memory) -> str:
    """Where the memory belongs in its workspace, with ``/`` on every system.

    Raises UnsafePath for an id or project name that is not a safe file name.
    """
    year, month, _ = _date(memory)
    name = file_name(memory)
    if memory.kind == MemoryKind.CONVERSATION:
        folder = f"conversations/{year}/{month}"
    elif memory.kind == MemoryKind.DOCUMENT:
        folder = "documents"
    else:
        folder = FOLDERS.get(memory.category, "facts")
    if memory.scope == Scope.PROJECT and not is_project_name(memory.project):
        raise UnsafePath(
            f"{memory.project!r} cannot be a project's folder name",
            "Use lower-case letters, digits, dots and dashes, 63 at most",
        )
    return f"{root_of(memory.scope, memory.project)}/{folder}/{name}"


def root_of(scope: str, project: str) -> str:
    """The folder below which memories of a scope lie."""
    if scope == Scope.USER:
        return "user/memory"
    return "memory" if scope == Scope.WORKSPACE else f"projects/{project}/memory"


def _check_id(memory: Memory) -> None:
    if not is_id(memory.id):
        raise UnsafePath(
            f"{memory.id!r} is not a memory id",
            "An id is mem_ and a UUID in lower case",
        )


def _date(memory: Memory) -> tuple[str, str, str]:
    """Year, month and day of a memory, zeros where it has none."""
    match = _DATE.match(memory.created_at)
    return (match[1], match[2], match[3]) if match else ("0000", "00", "00")
