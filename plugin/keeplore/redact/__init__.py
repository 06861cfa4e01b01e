"""Redaction: what must not be remembered is replaced before it is written, and looked for once more
before a push.

Three gates use it: the observer's text before it enters the workspace, every memory before it
becomes a file, and every text that a push would publish, where a hit stops the push.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from keeplore.redact.home_paths import Homes
from keeplore.redact.rules import Wishes, name, redact, unwanted, without_own_names
from keeplore_hooks.specs import hookimpl_last

__all__ = ("Redactor", "project_of", "redact")

_PROJECT = re.compile(rb"(?m)^project: *[\"']?([a-z0-9._-]{1,100})[\"']? *$")


class Redactor:
    """Keeplore's own redaction as a plugin.

    ``key`` is this machine's and is never synced; ``deny`` and ``allow`` are the settings of those
    names; paths below ``home`` are written with ``~``; ``denied`` says what more the project of a
    name denies.
    """

    def __init__(
        self,
        key: bytes = b"",
        *,
        deny: Iterable[str] = (),
        allow: Iterable[str] = (),
        home: PurePath | None = None,
        denied: Callable[[str], tuple[str, ...]] | None = None,
    ) -> None:
        self._key = key
        self._wishes = Wishes.of(deny, allow)
        self._homes = Homes(home)
        self._denied = denied

    @hookimpl_last
    def keeplore_redact(self, text: str, project: str) -> str | None:
        return self._clean(text, project)

    @hookimpl_last
    def keeplore_before_write(self, meta: Mapping[str, Any], body: str) -> str | None:
        return self._clean(body, str(meta.get("project", "")))

    def scan(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Where secrets of a whole file begin, in bytes, with kind and fingerprint as a marker
        would have them.
        """
        return ((start, name) for start, _, name in self.spans(data))

    def spans(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """The same with where they end."""
        hits = unwanted(
            without_own_names(data), self._key, self._wishes_for(project_of(data))
        )
        return ((hit.start, hit.end, name(hit, data, self._key)) for hit in hits)

    def _clean(self, text: str, project: str) -> str | None:
        clean = redact(self._homes.shorten(text), self._key, self._wishes_for(project))
        return None if clean == text else clean

    def _wishes_for(self, project: str) -> Wishes:
        denied = self._denied(project) if self._denied and project else ()
        return self._wishes.also(denied) if denied else self._wishes


def project_of(data: bytes) -> str:
    """The project that a memory's front matter names, ``""`` where there is none."""
    end = data.find(b"\n---\n") if data.startswith(b"---\n") else 0
    found = _PROJECT.search(data, 0, end) if end > 0 else None
    return found[1].decode() if found else ""
