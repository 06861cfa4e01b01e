"""Redaction: what must not be remembered is replaced before it is written, and looked for once more before a push.

Three gates use it: the observer's text before it enters the workspace, every memory before it becomes a file, and
every text that a push would publish, where a hit stops the push.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from keeplore.capture.redact.engine import Wishes, name, redact, unwanted, without_own_names
from keeplore.capture.redact.homes import Homes
from keeplore_hooks.specs import hookimpl_last

__all__ = ("Redactor", "redact")


class Redactor:
    """Keeplore's own redaction as a plugin.

    ``key`` is this machine's and is never synced; ``deny`` and ``allow`` are the settings of those names; paths below
    ``home`` are written with ``~``.
    """

    def __init__(
        self, key: bytes = b"", *, deny: Iterable[str] = (), allow: Iterable[str] = (), home: PurePath | None = None
    ) -> None:
        self._key = key
        self._wishes = Wishes.of(deny, allow)
        self._homes = Homes(home)

    @hookimpl_last
    def keeplore_redact(self, text: str) -> str | None:
        return self._clean(text)

    @hookimpl_last
    def keeplore_before_write(self, body: str) -> str | None:
        return self._clean(body)

    def scan(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Where secrets of a whole file begin, in bytes, with kind and fingerprint as a marker would have them."""
        hits = unwanted(without_own_names(data), self._key, self._wishes)
        return ((hit.start, name(hit, data, self._key)) for hit in hits)

    def _clean(self, text: str) -> str | None:
        clean = redact(self._homes.shorten(text), self._key, self._wishes)
        return None if clean == text else clean
