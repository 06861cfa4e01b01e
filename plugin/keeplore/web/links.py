"""Where pages are: addresses of the server, or names of files where they are exported."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import quote, urlencode

from keeplore.memory.names import short_id
from keeplore.text.slugs import slugify
from keeplore.text.turn_ids import short_turn


def anchor(turn: str) -> str:
    """The name of a turn's place in its page, however much of its id is given."""
    return f"turn-{quote(short_turn(turn))}"


class PageLinks(Protocol):
    """How templates name other pages; ``is_static`` where nothing answers questions."""

    is_static: bool

    def page(self, name: str, /, **query: str) -> str: ...

    def memory(self, memory_id: str, turn: str = "") -> str: ...

    def thread(self, memory_id: str) -> str: ...

    def asset(self, name: str) -> str: ...


class ServedLinks:
    is_static = False

    def page(self, name: str, /, **query: str) -> str:
        given = {key: value for key, value in query.items() if value}
        asked = f"?{urlencode(given)}" if given else ""
        return f"/{name}{asked}"

    def memory(self, memory_id: str, turn: str = "") -> str:
        return f"/m/{quote(short_id(memory_id))}{_at(turn)}"

    def thread(self, memory_id: str) -> str:
        return f"/threads/{quote(short_id(memory_id))}"

    def asset(self, name: str) -> str:
        return f"/static/{name}"


class FileLinks:
    """Relative to a page that lies ``depth`` folders below the top."""

    is_static = True

    def __init__(self, depth: int) -> None:
        self._top = "../" * depth

    def page(self, name: str, /, **query: str) -> str:
        """Of the choices that a timeline offers there are files for projects alone."""
        kept = (query.get(key, "") for key in ("project", "after"))
        chosen = (slugify(value) for value in kept if value)
        file = "-".join((name.replace("/", "-") or "index", *chosen))
        return f"{self._top}{file}.html"

    def memory(self, memory_id: str, turn: str = "") -> str:
        return f"{self._top}m/{quote(short_id(memory_id))}.html{_at(turn)}"

    def thread(self, memory_id: str) -> str:
        return f"{self._top}threads/{quote(short_id(memory_id))}.html"

    def asset(self, name: str) -> str:
        return f"{self._top}static/{name}"


def _at(turn: str) -> str:
    return f"#{anchor(turn)}" if turn else ""
