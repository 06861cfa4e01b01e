"""Words of any script as a name that every file system takes."""

from __future__ import annotations

import re
import unicodedata

SLUG_CHARS = 60
# Han and Hangul, written without spaces
_SYLLABLE = re.compile("[\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0002fa1f]")
# names that Windows reserves whatever their extension
RESERVED = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
)


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
    return f"{slug}-x" if slug in RESERVED else slug or "untitled"


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


def hyphenated(text: str) -> str:
    """The runs of a text's letters a to z and digits, in small letters, joined by hyphens."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))
