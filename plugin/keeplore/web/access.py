"""Who may look: whoever has the one-time ticket of the address gets a session, and no one else."""

from __future__ import annotations

import secrets
import threading


class Access:
    """Access to one run of the server. The ticket opens one session; the CSRF token belongs to that
    session.
    """

    def __init__(self) -> None:
        self.ticket = secrets.token_urlsafe(24)
        self.csrf = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(32)
        self._lock = threading.Lock()

    def admit(self, ticket: str) -> str | None:
        """The session for a ticket, which is used up by that; None for any other text."""
        with self._lock:
            if not self.ticket or not _is_same(ticket, self.ticket):
                return None
            self.ticket = ""
            return self._session

    def is_session(self, text: str) -> bool:
        return _is_same(text, self._session)

    def is_csrf(self, text: str) -> bool:
        return _is_same(text, self.csrf)


def _is_same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
