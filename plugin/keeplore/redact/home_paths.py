"""Paths of the person's home directory, written as ``~``: their name on this machine is nobody's
business.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import PurePath, PurePosixPath, PureWindowsPath

# what looks like a home there is another machine's
_URL = r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s\"'<>`)\]]*"

_POSIX = re.compile(r"(/(?:Users|home)/(?!Shared(?:/|$))[^/]+|/root)(?:/|$)")
_WINDOWS = re.compile(
    r"([A-Za-z]:[\\/]Users[\\/](?!Public(?:[\\/]|$))[^\\/]+)(?:[\\/]|$)", re.IGNORECASE
)


class Homes:
    """``home`` as this system writes it; None, a root or a mere drive shorten nothing."""

    def __init__(self, home: PurePath | None) -> None:
        self._pattern: re.Pattern[str] | None = None
        if home is None or not home.is_absolute() or home.parent == home:
            return
        separator = r"\\{1,4}|/" if isinstance(home, PureWindowsPath) else "/"
        start = re.escape(home.anchor.rstrip("\\/"))
        parts = "".join(f"(?:{separator}){re.escape(part)}" for part in home.parts[1:])
        # neither a part of a longer path or name before, nor a longer name after: /mnt/home/ann,
        # /home/anna
        path = rf"(?<![\w.~/\\\]-]){start}{parts}(?![\w-]|\.\w)"
        self._pattern = re.compile(f"({_URL})|{path}", re.IGNORECASE if start else 0)

    def shorten(self, text: str) -> str:
        """The text with ``~`` for the home directory wherever it stands outside of a URL; again
        changes nothing.
        """
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: match[1] or "~", text)


def home_of(directory: str) -> PurePath | None:
    """The home directory that a directory of any machine lies in, None where systems have no
    homes.
    """
    if found := _POSIX.match(directory):
        return PurePosixPath(found[1])
    found = _WINDOWS.match(directory)
    return PureWindowsPath(found[1]) if found else None


def home_path_shortener(
    redact: Callable[[str, str], str], directory: str
) -> Callable[[str], str]:
    """``redact`` for words of a session in that directory, which may be one of another machine, of
    another name.
    """
    homes = _homes_around(directory)
    return lambda text: redact(homes.shorten(text), directory)


@functools.lru_cache(maxsize=16)
def _homes_around(directory: str) -> Homes:
    return Homes(home_of(directory))
