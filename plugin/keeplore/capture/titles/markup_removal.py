"""A sentence as one would say it: without the marks, paths and addresses of what was typed."""

from __future__ import annotations

import functools
import re

from keeplore.text.folding import LEFT_OUT
from keeplore.text.sentences import bare

_CODE = re.compile(r"`+([^`]*)`+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_URL = re.compile(r"\b(?:https?|ssh|git|file)://\S+|\bwww\.\S+", re.IGNORECASE)
_NAME = re.compile(r"[a-z][a-z_.-]{3,40}", re.IGNORECASE)
_PATH = re.compile(  # in ASCII: scripts without spaces go on right after a path
    r"@?(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+([\w.@+-]*[\w+-])?/?(?::\d+(?:-\d+)?)?(?![\w/])",
    re.ASCII,
)
_WITH = re.compile(r"(?<![\w/.])w/(?=\s)")  # "w/ a name"
_CONTRACTED = re.compile(  # "doesnt", "whats": what is typed without an apostrophe
    r"\b(ca|do|does|did|is|are|was|were|wo|has|have|could|should|would)n(t)\b|"
    r"\b(what|that|where|there|who)(s)\b",
    re.IGNORECASE,
)
# owner/name, and/or
_SHORT_PATH = re.compile(r"(?=.{3,24}\Z)[A-Za-z][\w-]*/[A-Za-z][\w-]*")
_NOISE = re.compile(
    r"\[(?:Image|Pasted|Request "
    r"interrupted)[^\]]*\]|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|"
    r"\b[0-9a-f]{7,40}\b(?=\W|\Z)(?<![a-z]{7})|<[^>]{1,60}>|\((?:Recommended|"
    r"recommended)\)|:[a-z_]+:(?=\s)|(?<!\S)//(?=\s)|"
    r"\b(?:fuck(?:ing?|in)?|damn|goddamn|bloody|freaking)\s"
)


@functools.lru_cache(maxsize=8192)  # an open conversation is read again at every turn
def without_markup(text: str) -> str:
    """The text as one would say it: markers, addresses and pasted images gone, of paths only names
    kept, "w/" in letters, contractions with their apostrophes.
    """
    text = _LINK.sub(r"\1", LEFT_OUT.sub(" ", text))
    text = _CODE.sub(r"\1", text)
    text = _URL.sub(_name_of, text)
    text = _WITH.sub("with", text)
    text = _PATH.sub(_name_in_path, text)
    text = _CONTRACTED.sub(_with_apostrophe, _NOISE.sub("", text))
    text = re.sub(
        r"\*{2,}|__(?=\W|\Z)|(?<=\s)__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text
    )
    text = re.sub(r"(?<!\w)@(?=\w)", "", text)
    text = re.sub(r"\s+([,.;:!?)])(?!\w)", r"\1", " ".join(text.split()))
    return bare(re.sub(r"\(\s*\)", "", text))


def _name_of(url: re.Match[str]) -> str:
    """What an address names, by its last part, "" where that is no name."""
    last = url[0].partition("?")[0].rstrip("/.,;:)").rpartition("/")[2]
    return last.removesuffix(".git") if _NAME.fullmatch(last) else ""


def _name_in_path(path: re.Match[str]) -> str:
    """The file that a path names, or the directory of a relative one; a short one whole."""
    if _SHORT_PATH.fullmatch(path[0]):
        return path[0]
    if path[1] or path[0][0] in "/~.":
        return path[1] or ""
    return path[0].rstrip("/").rpartition("/")[2]


def _with_apostrophe(word: re.Match[str]) -> str:
    return f"{word[1]}n'{word[2]}" if word[1] else f"{word[3]}'{word[4]}"
