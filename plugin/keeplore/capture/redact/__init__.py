"""Redaction: what must not be remembered is replaced before it is written.

Two gates use it: the observer's text before it enters the workspace, and every memory before it becomes a file.
"""

from __future__ import annotations

from keeplore.capture.redact.engine import redact
from keeplore_hooks.specs import hookimpl_last

__all__ = ("Redactor", "redact")


class Redactor:
    """Keeplore's own redaction as a plugin; ``key`` is this machine's and is never synced."""

    def __init__(self, key: bytes = b"") -> None:
        self._key = key

    @hookimpl_last
    def keeplore_redact(self, text: str) -> str | None:
        clean = redact(text, self._key)
        return None if clean == text else clean

    @hookimpl_last
    def keeplore_before_write(self, body: str) -> str | None:
        clean = redact(body, self._key)
        return None if clean == body else clean
