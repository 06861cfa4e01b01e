"""Redaction: what must not be remembered is replaced before it is written, and looked for once more
before a push.

Three gates use it: the observer's text before it enters the workspace, every memory before it
becomes a file, and every text that a push would publish, where a hit stops the push. Each looks at
what was said, field by field; ids and marks of ours are never its input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

from keeplore.redact.field_redaction import FieldRedaction, NamedSpan, secrets_in
from keeplore.redact.home_paths import Homes
from keeplore.redact.rules import RedactionLists, name, redact, secrets_to_replace
from keeplore_hooks.specs import hookimpl_last

__all__ = ("Redactor", "is_secret_id", "project_of", "redact")

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
        self._lists = RedactionLists.of(deny, allow)
        self._allowed = replace(self._lists, deny=())  # what is denied is words
        self._homes = Homes(home)
        self._denied = denied

    @hookimpl_last
    def keeplore_redact(self, text: str, project: str) -> str | None:
        clean = self._clean(text, project)
        return None if clean == text else clean

    @hookimpl_last
    def keeplore_before_write(self, meta: Mapping[str, Any], body: str) -> str | None:
        project = str(meta.get("project", ""))
        fields = FieldRedaction(lambda text: self._clean(text, project), self.clean_id)
        clean = fields.body(body)
        return None if clean == body else clean

    def clean_id(self, text: str) -> str:
        """An id, or the mark of a vendor's token that somebody took for one."""
        return redact(text, self._key, self._allowed, is_id=True)

    def scan(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Where secrets of a whole file begin, in bytes, with kind and fingerprint as a marker
        would have them.
        """
        return ((start, name) for start, _, name in self.spans(data))

    def spans(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Where secrets of a whole file begin and end, in bytes, with kind and fingerprint as a
        marker would have them.
        """
        lists = self._lists_for(project_of(data))
        if not secrets_to_replace(data, self._key, lists):  # most files
            return iter(())
        return secrets_in(data, partial(self._named_spans, lists), self._named_ids)

    def _named_spans(self, lists: RedactionLists, said: bytes) -> Iterator[NamedSpan]:
        for hit in secrets_to_replace(said, self._key, lists):
            yield hit.start, hit.end, name(hit, said, self._key)

    def _named_ids(self, said: bytes) -> Iterator[NamedSpan]:
        for hit in secrets_to_replace(said, self._key, self._allowed, is_id=True):
            yield hit.start, hit.end, name(hit, said, self._key)

    def _clean(self, text: str, project: str) -> str:
        return redact(self._homes.shorten(text), self._key, self._lists_for(project))

    def _lists_for(self, project: str) -> RedactionLists:
        denied = self._denied(project) if self._denied and project else ()
        return self._lists.also(denied) if denied else self._lists


def is_secret_id(text: str) -> bool:
    """Whether somebody took a vendor's token for an id."""
    return redact(text, is_id=True) != text


def project_of(data: bytes) -> str:
    """The project that a memory's front matter names, ``""`` where there is none."""
    end = data.find(b"\n---\n") if data.startswith(b"---\n") else 0
    found = _PROJECT.search(data, 0, end) if end > 0 else None
    return found[1].decode() if found else ""
