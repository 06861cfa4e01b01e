"""Ids and file names: the only places a memory's text or metadata can influence a path."""

from __future__ import annotations

import re
import shlex
import uuid
from collections.abc import Mapping

from keeplore.errors import NotFound, UnsafePath
from keeplore.memory.model import Memory, MemoryKind, Scope
from keeplore.text import agent_scope
from keeplore.text.slugs import RESERVED, slugify

SHORT_ID = 8  # digits
LEAST_DIGITS = 4  # of an id that stand for it
_TOO_SHORT = re.compile(rf"(?:mem_)?[0-9a-f]{{0,{LEAST_DIGITS - 1}}}")
_ID = re.compile(r"mem_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
# ours alone; changing it changes every derived id
_NAMESPACE = uuid.UUID("b7a1f6de-0d5a-5f0e-9a52-6f2d0c9e4b11")
_PROJECT = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
FOLDERS: Mapping[str, str] = {
    "architectural-decisions": "decisions",
    "project-conventions": "conventions",
    "coding-preferences": "preferences",
    "user-facts": "facts",
    "corrections": "corrections",
    "patterns": "patterns",
    "gotchas": "gotchas",
    "infrastructure": "infrastructure",
    "security": "security",
}


def new_id(*parts: str) -> str:
    """A memory id; the same parts give the same id on every machine, no parts give a random one."""
    return (
        f"mem_{uuid.uuid5(_NAMESPACE, chr(31).join(parts)) if parts else uuid.uuid4()}"
    )


def is_id(text: str) -> bool:
    return bool(_ID.match(text))


def short_id(memory_id: str) -> str:
    """The digits of an id that a person reads and types, as file names have them."""
    return memory_id.removeprefix("mem_")[:SHORT_ID]


def no_such_memory(memory_id: str) -> NotFound:
    """The error for an id that no memory here has."""
    return NotFound(
        f"there is no memory {memory_id!r}",
        "`keeplore list` and `keeplore recall` print ids",
    )


def remedy_for_unknown(reference: str) -> str:
    """The next step where no memory has this id, path or name."""
    if _TOO_SHORT.fullmatch(reference.lower()):
        return f"An id needs at least {LEAST_DIGITS} of its digits; `keeplore list` prints them"
    return f"`keeplore recall {shlex.quote(reference)}` looks for those words"


def is_project_name(text: str) -> bool:
    return (
        bool(_PROJECT.match(text))
        and text.split(".")[0] not in RESERVED
        and not text.endswith(".")
    )


def file_name(memory: Memory) -> str:
    """``YYYY-MM-DD-<slug>-<id8>.md``."""
    _check_id(memory)
    return f"{'-'.join(_date(memory))}-{slugify(memory.title)}-{short_id(memory.id)}.md"


def relative_path(memory: Memory) -> str:
    """Where the memory belongs in its workspace, with ``/`` on every system.

    Raises UnsafePath for an id or project name that is not a safe file name.
    """
    year, month, _ = _date(memory)
    name = file_name(memory)
    if memory.kind == MemoryKind.CONVERSATION:
        folder = f"conversations/{year}/{month}"
    elif memory.kind == MemoryKind.DOCUMENT:
        folder = "documents"
    elif memory.kind == MemoryKind.DIGEST:
        folder = "digests"
    else:
        folder = FOLDERS.get(memory.category, "facts")
    if agent_scope.is_of_project(memory.scope) and not is_project_name(memory.project):
        raise UnsafePath(
            f"{memory.project!r} cannot be a project's folder name",
            "Use lower-case letters, digits, dots and dashes, 63 at most",
        )
    if memory.scope == agent_scope.PREFIX:
        raise UnsafePath(
            f"{memory.meta.get('agent')!r} cannot be an agent's folder name",
            "Use lower-case letters, digits and single dashes, 40 at most",
        )
    return f"{root_of(memory.scope, memory.project)}/{folder}/{name}"


def root_of(scope: str, project: str) -> str:
    """The folder below which memories of a scope lie."""
    if scope == Scope.USER:
        return "user/memory"
    if scope == Scope.WORKSPACE:
        return "memory"
    agent = agent_scope.agent_of(scope)
    below = f"/{agent_scope.FOLDER}/{agent}" if agent else ""
    return f"projects/{project}/memory{below}"


def _check_id(memory: Memory) -> None:
    if not is_id(memory.id):
        raise UnsafePath(
            f"{memory.id!r} is not a memory id",
            "An id is mem_ and a UUID in lower case",
        )


def _date(memory: Memory) -> tuple[str, str, str]:
    """Year, month and day of a memory, zeros where it has none."""
    match = _DATE.match(memory.created_at)
    return (match[1], match[2], match[3]) if match else ("0000", "00", "00")
