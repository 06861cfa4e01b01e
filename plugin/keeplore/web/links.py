"""Where pages are: addresses of the server, or names of files where they are exported."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import quote, urlencode

from keeplore.memory.model import without_empty
from keeplore.memory.names import short_id
from keeplore.text.slugs import slugify
from keeplore.text.turn_ids import short_turn


def anchor(turn: str) -> str:
    """The name of a turn's place in its page, however much of its id is given."""
    return f"turn-{quote(short_turn(turn))}"


OTHERS = "/w/"  # before the name of a workspace that is not the directory's


class PageLinks(Protocol):
    """How templates name other pages; ``is_static`` where nothing answers questions. All pages of a
    workspace are below ``top``.
    """

    is_static: bool
    top: str

    def page(self, name: str, /, **query: str) -> str: ...

    def memory(self, memory_id: str, turn: str = "") -> str: ...

    def thread(self, memory_id: str) -> str: ...

    def asset(self, name: str) -> str: ...


class ServedLinks:
    """``top`` stands before the addresses of a workspace's pages."""

    is_static = False

    def __init__(self, top: str = "") -> None:
        self.top = top

    def page(self, name: str, /, **query: str) -> str:
        parameters = without_empty(query)
        asked = f"?{urlencode(parameters)}" if parameters else ""
        return f"{self.top}/{name}{asked}"

    def memory(self, memory_id: str, turn: str = "") -> str:
        return f"{self.top}/m/{quote(short_id(memory_id))}{_turn_fragment(turn)}"

    def thread(self, memory_id: str) -> str:
        return f"{self.top}/threads/{quote(short_id(memory_id))}"

    def asset(self, name: str) -> str:
        return f"/static/{name}"


class FileLinks:
    """Links between pages in files, relative to a page that lies ``depth`` folders
    below the top.
    """

    is_static = True

    def __init__(self, depth: int) -> None:
        self.top = "../" * depth

    def page(self, name: str, /, **query: str) -> str:
        """The file of a page; of the choices that a timeline offers there are files for projects
        alone.
        """
        kept = (query.get(key, "") for key in ("project", "after"))
        chosen = (slugify(value) for value in kept if value)
        file = "-".join((name.replace("/", "-") or "index", *chosen))
        return f"{self.top}{file}.html"

    def memory(self, memory_id: str, turn: str = "") -> str:
        return f"{self.top}m/{quote(short_id(memory_id))}.html{_turn_fragment(turn)}"

    def thread(self, memory_id: str) -> str:
        return f"{self.top}threads/{quote(short_id(memory_id))}.html"

    def asset(self, name: str) -> str:
        return f"{self.top}static/{name}"


def _turn_fragment(turn: str) -> str:
    return f"#{anchor(turn)}" if turn else ""
