"""What the path of a memory says: whose it is, in which folder it lies, and which id stands
for it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from keeplore.memory.names import FOLDERS, new_id, short_id
from keeplore.text import agent_scope

ARCHIVE = "archive"
# how many parts of a path are the folder of memory
_ROOT_DEPTHS = {"user": 2, "projects": 3}
CATEGORY_OF = {folder: category for category, folder in FOLDERS.items()}
_UUID = re.compile(
    r"(?:mem_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"/(?:[0-9]{4}-[0-9]{2}-[0-9]{2}-[a-z0-9-]*-([0-9a-f]{8})|"
    r"mem_([0-9a-f]{8})[0-9a-f-]{28})\.md\Z",
    re.IGNORECASE,
)
_DATED = re.compile(r"(?a:(\d{4}-\d{2}-\d{2}))[-_ .T]*")


@dataclass(frozen=True, slots=True)
class Location:
    """The parts of ``<root>/[archive/][agents/<agent>/]<folder>/…/<stem>.md``; ``project`` is ""
    outside of project memory.
    """

    scope: str
    project: str
    root: str  # memory | user/memory | projects/<name>/memory
    rest: tuple[str, ...]  # below the root, the archive left out
    is_archived: bool

    @property
    def folder(self) -> str:
        own = self.rest[2:] if agent_scope.agent_of(self.scope) else self.rest
        return own[0] if len(own) > 1 else ""

    @property
    def home(self) -> str:
        """The folder below which all memories of this scope lie."""
        is_agents = agent_scope.agent_of(self.scope)
        return "/".join((self.root, *self.rest[:2])) if is_agents else self.root

    @property
    def stem(self) -> str:
        return self.rest[-1].removesuffix(".md") if self.rest else ""

    @property
    def category(self) -> str:
        """The category whose notes lie in this folder, "" for other folders."""
        return CATEGORY_OF.get(self.folder, "")

    @property
    def day(self) -> str:
        """The date that the name begins with, "" for none."""
        match = _DATED.match(self.stem)
        try:
            return date.fromisoformat(match[1]).isoformat() if match else ""
        except ValueError:
            return ""

    @property
    def words(self) -> str:
        """The name as a title; "" for one that holds an id alone."""
        name = _DATED.sub("", self.stem, count=1) if self.day else self.stem
        return "" if as_id(name) else " ".join(re.split(r"[\s_-]+", name)).strip()

    @property
    def id(self) -> str:
        """The id in the name ``mem_<uuid>.md``, else one made of the path, which is the same in the
        archive.
        """
        named = as_id(self.stem) if self.stem.lower().startswith("mem_") else ""
        return named or new_id(
            "path", _normalised_path("/".join((self.root, *self.rest)))
        )


def location_of(path: str) -> Location:
    """Read a path relative to the workspace, with ``/``; any text is a path."""
    parts = path.split("/")
    depth = _ROOT_DEPTHS.get(parts[0], 1)
    root, rest = parts[:depth], parts[depth:]
    project = root[1] if parts[0] == "projects" and len(parts) > 2 else ""
    is_archived = rest[:1] == [ARCHIVE] and len(rest) > 1
    below = tuple(rest[1:] if is_archived else rest)
    scope = _scope_of(parts[0], project, below)
    return Location(scope, project, "/".join(root), below, is_archived)


def _scope_of(top: str, project: str, below: tuple[str, ...]) -> str:
    if project:
        is_agents = len(below) > 2 and below[0] == agent_scope.FOLDER
        if is_agents and agent_scope.is_agent_name(below[1]):
            return agent_scope.key_of(below[1])
        return "project"
    return "user" if top == "user" else "workspace"


def archived_path(path: str) -> str:
    """The path of a memory under ``archive/``."""
    where = location_of(path)
    return path if where.is_archived else "/".join((where.root, ARCHIVE, *where.rest))


def code_path(path: str) -> str:
    """The path among the notes kept with a project's code, which have no folders of scopes."""
    return path.removeprefix(location_of(path).root.removesuffix("memory"))


def digits_of(path: str) -> str:
    """The first eight digits of the id in a name that Keeplore gave, or ``mem_<uuid>.md``; "" for
    other names.
    """
    match = _GIVEN.search(path)
    return (match[1] or match[2]).lower() if match else ""


def names_id(path: str, memory_id: str) -> bool:
    """Whether the name of a file tells the id, as those do that Keeplore gives: of two files of one
    id it is used.
    """
    return path.lower().endswith((f"-{short_id(memory_id)}.md", f"/{memory_id}.md"))


def precedence(
    path: str, memory_id: str, updated_at: str
) -> tuple[bool, bool, str, str]:
    """Which of several files of one id is used: the greatest, as for the index."""
    return (
        not location_of(path).is_archived,
        names_id(path, memory_id),
        updated_at,
        path,
    )


def as_id(value: object) -> str:
    """The memory id that another program meant by a UUID, with or without prefix and in any case;
    "" for none.
    """
    match = _UUID.fullmatch(value.strip()) if isinstance(value, str) else None
    return f"mem_{match[1].lower()}" if match else ""


def _normalised_path(path: str) -> str:
    # one name is written in two ways of Unicode, depending on the system; bytes that are no UTF-8
    # stay told apart
    return unicodedata.normalize(
        "NFC", path.encode("utf-8", "backslashreplace").decode()
    )
